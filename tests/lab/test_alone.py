"""Two runs do not measure at once."""

from pathlib import Path

import pytest

from study.domain.errors import NotReady
from study.lab.alone import alone_on_this_machine


def test_a_second_run_is_told_to_wait_and_gets_in_afterwards(tmp_path: Path) -> None:
    """Exit code 3: the machine is not ready."""
    with (
        alone_on_this_machine(tmp_path),
        pytest.raises(NotReady, match="disturb each other"),
        alone_on_this_machine(tmp_path),
    ):
        pass

    with alone_on_this_machine(tmp_path):
        assert list(tmp_path.iterdir())
