"""The check that training was training."""

import subprocess
import sys

import pytest

from study.worker.contracts import Invalid
from study.worker.training import require_falling


def test_falling_losses_pass():
    """A loss that ends below its start is accepted, even if it wavers on the way."""
    require_falling(6.2, [6.3, 6.1, 6.4, 6.0, 5.9, 6.1, 5.8, 5.9])


def test_losses_that_end_where_they_began_are_refused():
    """The last quarter decides, equality is not a fall, and both numbers are told."""
    with pytest.raises(Invalid) as told:
        require_falling(6.2, [5.0] * 6 + [6.0, 6.4])

    assert str(told.value) == (
        "The loss did not fall: the mean of the window's last 2 steps is 6.2, "
        "the first warm-up step's was 6.2."
    )


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_is_refused_by_step(loss):
    """The step of the first loss that is not finite is told, counting from one."""
    with pytest.raises(Invalid, match=f"The loss of window step 3 is {loss}"):
        require_falling(6.2, [6.0, 5.9, loss, 5.0])
    with pytest.raises(Invalid, match="The loss of the first step is"):
        require_falling(loss, [6.0])


OVERFLOW = """
import sys, torch
import torch.distributed as dist
from study.worker.training import Scaler
rank, store, together = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "together"
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
weight = torch.nn.Parameter(torch.ones(2))
optimiser = torch.optim.AdamW([weight], lr=0.1, fused=True)
scaler = Scaler("cpu", enabled=True)
scaler.partners = dist.group.WORLD if together else None
scaler.scale((weight * (float("inf") if rank else 1.0)).sum()).backward()
scaler.step(optimiser)
scaler.update()
print(bool((weight == 1).all()), scaler.get_scale() < 65536, flush=True)
dist.barrier()
import os; os._exit(0)
"""


@pytest.mark.torch
@pytest.mark.parametrize(("together", "first"), [("together", "True True"), ("apart", "False False")])
def test_partners_skip_a_step_together_when_one_overflows(tmp_path, together, first):
    """The second rank's gradient is not finite: the first skips its step too if they are partners."""
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", OVERFLOW, str(rank), str(tmp_path / "store"), together],
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]

    said = [process.communicate(timeout=120)[0].strip() for process in ranks]

    assert said == [first, "True True"]
