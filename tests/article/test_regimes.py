"""Where a line between device counts means something."""

from study.article.regimes import joined, regime

PAIRS = (
    ("X", "NV4", "SYS", "SYS"),
    ("NV4", "X", "SYS", "SYS"),
    ("SYS", "SYS", "X", "NV4"),
    ("SYS", "SYS", "NV4", "X"),
)


def test_bridged_pairs_are_another_regime_than_four_cards(make):
    """Two bridged cards and four cards over two sockets are not joined by a line."""
    machine = make.machine(links=PAIRS)

    assert regime(machine, 2) == "NV"
    assert regime(machine, 4) == "SYS"
    assert not joined(machine, 2, 4)


def test_three_and_four_cards_share_the_slowest_link(make):
    """Counts whose slowest link is of one class lie in one regime."""
    assert joined(make.machine(links=PAIRS), 3, 4)


def test_one_device_uses_no_link(make):
    """One device is joined with the count that follows."""
    assert joined(make.machine(links=PAIRS), 1, 2)


def test_unknown_links_are_one_regime(make):
    """Without links, as on a CPU, all counts are joined."""
    assert joined(make.machine(), 2, 4)


def test_a_class_that_nobody_knows_counts_as_slowest(make):
    """A new class of link is not taken for a fast one."""
    machine = make.machine(links=(("X", "NV4", "NEW"), ("NV4", "X", "NEW"), ("NEW", "NEW", "X")))

    assert regime(machine, 3) == "NEW"
