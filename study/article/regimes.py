"""Which device counts lie in one topology regime, so that a line between them means something.

A regime is the slowest class of link among the devices used (Hoefler & Belli 2015, rule 12: join
points only where interpolation is possible). The devices of a trial are the first ones of the machine.
"""

from study.domain.machine import Machine

SLOWER = ("NV", "XGMI", "PIX", "PXB", "PHB", "NODE", "SYS")
"""Link classes as the driver's topology names them, from the fastest to the slowest."""


def regime(machine: Machine, devices: int) -> str:
    """The slowest link class among the first `devices` devices; empty if none is known."""
    classes = {
        _link_class(link)
        for row, links in enumerate(machine.links[:devices])
        for column, link in enumerate(links[:devices])
        if row != column
    }
    return max(classes, key=_slowness, default="")


def joined(machine: Machine, fewer: int, more: int) -> bool:
    """Whether the line between two device counts may be drawn.

    One device uses no link, so it is joined with the count that follows it.
    """
    return fewer == 1 or regime(machine, fewer) == regime(machine, more)


def _link_class(link: str) -> str:
    return link.rstrip("0123456789")


def _slowness(link: str) -> tuple[int, str]:
    return (SLOWER.index(link) if link in SLOWER else len(SLOWER), link)
