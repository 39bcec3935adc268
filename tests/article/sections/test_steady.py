"""The section on steadiness."""

from study.article.sections.steady import section


def test_it_says_that_nothing_was_tested(scene, words_in):
    """With a figure of steps and no finding the section says that steadiness was not tested."""
    steady = next(s for s in scene.article().sections if s.key == "steady")

    assert "was not tested" in words_in(steady)
    assert [b.figure.key for b in steady.blocks if hasattr(b, "figure")] == ["fig-steps"]


def test_left_out_without_a_figure(empty_scene, say):
    """Without step times the section is left out and named."""
    assert say(section(empty_scene.material())) == "There is no section on steadiness: no trial was measured."
