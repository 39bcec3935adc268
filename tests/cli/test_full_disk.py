"""`study run` on a disk that fills up, or turns read-only: exit code 3, and the same command goes on."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.command import Study

from study.archive import find_runs, load_records, load_run
from study.domain.record import Measured


def plan_then_spoil(folder: Path, study: Study, position: int) -> Path:
    """Measure the first cell alone, then make the record at `position` of the run meet a full disk."""
    assert study("run", "sleepy.toml", "--only", "0001-*").returncode == 0
    (run,) = find_runs(folder / "runs")
    trial = load_run(run).plan.trials[position - 1].id
    # only when the run has begun: at its beginning it clears such leftovers away
    (folder / "spoil.sh").write_text(
        f'while [ ! -f "{run}/trials/"0002-*.json ]; do sleep 0.005; done\n'
        f'ln -s /dev/full "{run}/trials/.{trial}.json.tmp"\n'
    )
    return run


def test_a_disk_that_fills_up_stops_the_run_and_the_same_command_goes_on(study: Study, sleepy: Path) -> None:
    """One sentence and a remedy, what was stored stays as it was, and nothing half-written is left."""
    folder = sleepy.parent
    run = plan_then_spoil(folder, study, 4)
    spoiler = subprocess.Popen(["sh", str(folder / "spoil.sh")])
    stopped = study("run", "sleepy.toml")
    spoiler.wait()
    kept = {path: path.read_bytes() for path in run.rglob("trials/*.json")}

    assert stopped.returncode == 3, stopped.stderr
    assert "nothing more can be stored there: No space left on device" in stopped.stderr
    assert "the same command goes on" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert len(kept) == 3
    assert list(run.rglob(".*.tmp")) == []
    assert study("validate").returncode == 0

    assert study("run", "sleepy.toml").returncode == 0
    assert {path: path.read_bytes() for path in kept} == kept
    assert [record.order for record in load_records(run)] == list(range(1, 7))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, where the machine allows one to be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", str(place)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", str(place)], check=False, capture_output=True)


def fill(place: Path) -> None:
    """Write until there is not a byte left."""
    descriptor = os.open(place / "filler", os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(descriptor, bytes(1 << 20))
    except OSError:
        os.close(descriptor)


def take_away(place: Path) -> None:
    """Unmount it under the run, as when a network disk is lost."""
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("spoil", [fill, take_away])
def test_a_real_file_system_that_refuses_in_the_middle(
    study: Study, sleepy: Path, small_disk: Path, spoil: Callable[[Path], None]
) -> None:
    """Filled to the last byte, or gone: exit code 3 with a sentence; with room again the run goes on."""

    def wait_and_spoil() -> None:
        deadline = time.monotonic() + 60
        while not list(small_disk.glob("*/*/trials/0002-*.json")) and time.monotonic() < deadline:
            time.sleep(0.005)
        spoil(small_disk)

    spoiling = threading.Thread(target=wait_and_spoil)
    spoiling.start()
    stopped = study("run", "sleepy.toml", "--runs", str(small_disk))
    spoiling.join()

    assert stopped.returncode == 3, stopped.stderr
    assert "nothing more can be stored there" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    if spoil is fill:
        (small_disk / "filler").unlink()
        assert study("run", "sleepy.toml", "--runs", str(small_disk)).returncode == 0
        (run,) = find_runs(small_disk)
        assert load_run(run).status == "complete"
        assert [type(record.outcome) for record in load_records(run)] == [Measured] * 6


def test_a_file_system_that_turned_read_only_between_two_sessions(
    study: Study, sleepy: Path, small_disk: Path
) -> None:
    """The second session measures nothing, says why, and a third one goes on."""
    arguments = ("run", "sleepy.toml", "--runs", str(small_disk))
    assert study(*arguments, "--only", "*.x2.*").returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    refused = study(*arguments)
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)

    assert refused.returncode == 3
    assert "nothing more can be stored there: Read-only file system" in refused.stderr
    assert study(*arguments).returncode == 0
    assert [len(load_records(run)) for run in find_runs(small_disk)] == [6]
