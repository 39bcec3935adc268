"""The instrument finds a speed-up that is known in advance, and the page says so."""

from importlib.resources import files
from pathlib import Path

import pytest
from fakes.command import Study

from study.analysis import analyse
from study.archive import find_runs, load_records, load_run


@pytest.mark.slow
def test_the_intervals_at_two_and_four_ranks_contain_amdahls_values(study: Study, tmp_path: Path) -> None:
    """A serial share of a tenth: 1/(0.1 + 0.9/n) is 1.818 at two and 3.077 at four."""
    preset = files("study.planning").joinpath("presets/known-truth.toml").read_text()
    # A fixed seed fixes the jitter, a known noise: then the instrument alone decides. Of fresh seeds one
    # in ten misses at two or four ranks by chance; the coverage itself is tested by simulation.
    (tmp_path / "seeded.toml").write_text(preset.replace("[protocol]", "[protocol]\nseed = 5", 1))

    ran = study("run", "seeded.toml")
    rendered = study("render")

    assert (ran.returncode, rendered.returncode) == (0, 0), ran.stderr + rendered.stderr
    (folder,) = find_runs(tmp_path / "runs")
    (series,) = analyse(load_run(folder), load_records(folder)).series
    two, four = series.points[1:]
    for point, truth in ((two, 1 / (0.1 + 0.9 / 2)), (four, 1 / (0.1 + 0.9 / 4))):
        assert point.truth == pytest.approx(truth)
        assert point.speedup is not None
        assert point.speedup.n == 5
        assert point.speedup.low < truth < point.speedup.high
        assert point.speedup.high / point.speedup.low < 1.06
    (article,) = tmp_path.glob("site/studies/known-truth/*/article.md")
    text = article.read_text()
    assert text.count("its interval contains the truth") >= 2
    assert "does not contain the truth" not in text
