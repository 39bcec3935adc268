"""The dated note on the software."""

import msgspec

from study.article.sections.software import section


def test_dated_versions(scene, words_in):
    """The note carries its date and the versions, and promises not to be edited."""
    words = words_in(section(scene.material(), "2026-11-29"))

    assert "As of 2026-11-29" in words
    assert "PyTorch 2.13.0 under CPython 3.11.2" in words
    assert "will not be edited" in words
    assert "CUDA" not in words


def test_cards_name_their_software(scene, words_in):
    """On cards the versions of their software are named, or that they were not recorded."""
    plan = msgspec.structs.replace(scene.run.plan, accelerator="cuda")

    words = words_in(section(scene.with_run(plan=plan).material(), "2026-11-29"))

    assert "CUDA Not recorded: there is no NVIDIA driver here" in words
