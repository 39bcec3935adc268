"""The sentinel on the command line: named by the plan, and known to globs and to the validator."""

import msgspec
import pytest
from fakes.records import Truth, cell, fake_run, quick_truths

from study.cli.plan import lines, require_match
from study.cli.validate import _against_the_plan
from study.domain.errors import BadUsage

OTHER = Truth(cell=cell("watcher"), scaling="strong", rate=4000.0, unit="tokens", work_per_sample=64)


def test_the_plan_names_it_or_says_why_there_is_none():
    """Its id with the number of its trials; else the reason; of an older plan nothing."""
    run, _ = fake_run(sentinel=OTHER)
    told = lines(run.study, run.plan)
    assert "Sentinel, first and last in each block (10 trials of the above, in no result):" in told
    assert sum("watcher" in line for line in told) == 1

    bare, _ = fake_run()
    assert not any("entinel" in line for line in lines(bare.study, bare.plan))
    off = msgspec.structs.replace(bare.plan, unknown={"sentinel": "the study switches it off"})
    assert "No sentinel: the study switches it off." in lines(bare.study, off)


def test_a_glob_that_fits_the_sentinel_alone_fits_no_cell():
    """It is no cell of the study."""
    run, _ = fake_run(sentinel=OTHER)

    require_match(run.plan, "gpt*")
    with pytest.raises(BadUsage, match="No cell of this study matches"):
        require_match(run.plan, "watcher*")


def test_the_validator_knows_its_cell_and_its_role(tmp_path):
    """A record of the sentinel that poses as one of a cell is found out, and the other way round."""
    run, records = fake_run(sentinel=quick_truths()[0])
    assert _against_the_plan(tmp_path, run, list(records)) == []

    posing = msgspec.structs.replace(records[0], role="cell")
    (found,) = _against_the_plan(tmp_path, run, [posing, *records[1:]])
    assert found.endswith("it is not the trial that was planned under this name")
