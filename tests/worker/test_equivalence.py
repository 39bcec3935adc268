"""Every strategy computes what one process computes on the same global batch, with every workload it can.

Strategies and workloads are found on their shelves; planning says which of them go together, on which
numbers of ranks. A strategy's switches and words are each tried. BatchNorm differs by nature, since each
rank normalises by its own share: it is frozen (`rank_pool.Spy`).

Every strategy is tried at its defaults with every workload, and in all its variants with one of them; the
whole matrix, `always` or not, runs by `pytest -m "by_hand or not by_hand" tests/worker/test_equivalence.py`.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
import torch

from study.domain import shelf
from study.domain.shelf import StrategyFacts
from study.domain.study import Matrix, Study, Task
from study.domain.trial import Cell
from study.planning.cells import Shelves, candidates
from study.planning.plan import read_shelves

pytestmark = pytest.mark.xdist_group("ranks")
"""One process runs this file, so that the ranks are started once and do not crowd one another."""

HERE = Path(__file__).parent
SHOWN = HERE.parent.parent / "docs" / "adding-a-strategy.md"
BROKEN = ("sum", "share", "order")

SHORT = {
    ("gpt", "train"): {"sequence": 16},
    ("gpt", "infer"): {"prompt": 8, "generate": 4},
    ("resnet", "train"): {"image": 16},
}
"""Options that make a workload's smallest size smaller still."""

FULLY = "gpt"
"""The workload with every seam, small enough to be tried with all variants, precisions and ranks."""


class Case(NamedTuple):
    """A cell, and whether its strategy's options are the defaults."""

    cell: Cell
    plain: bool

    def always(self, *, double: bool) -> bool:
        """Whether it is tried at every check; two axes need four ranks, else the second or the first is one.

        Single precision finds what is rounded too early, and that is the strategy's doing at its defaults.
        """
        axes = SHELVES.strategies[self.cell.strategy].axes
        enough = 4 if any(self.cell.mesh[axis] > 1 for axis in axes[1:]) else 2
        if self.cell.workload == FULLY and double:
            return self.plain or self.cell.devices == enough
        return self.plain and self.cell.devices == enough and (double or self.cell.workload == FULLY)


def variants(facts: StrategyFacts) -> list[dict[str, Any]]:
    """The defaults, then each switch turned, each other word, and two of each axis, one at a time."""
    turned = [{name: not value} for name, value in facts.options.items() if isinstance(value, bool)]
    words = [{name: word} for name, choice in facts.choices.items() for word in choice]
    twos = [{axis: 2} for axis in facts.axes[1:]]
    return [{}, *turned, *(option for option in words + twos if option.items() - facts.options.items())]


def cases_of(
    shelves: Shelves, workload: str, task: Task, strategy: str, devices: list[int]
) -> dict[str, Case]:
    """What a strategy can do on so many ranks, by its id, as planning has it."""
    size = next(iter(shelves.workloads[workload].sizes))
    found: dict[str, Case] = {}
    for options in variants(shelves.strategies[strategy]):
        matrix = Matrix(
            workload=workload,
            task=task,
            size=size,
            strategy=strategy,
            devices=devices,
            options=SHORT.get((workload, task), {}),
            strategy_options=options,
        )
        planned = candidates(Study(name="s", title="S", matrix=[matrix]), shelves, "cpu", 4, "here")
        for each in planned:
            if not each.reason:
                found.setdefault(each.id, Case(each.cell, plain=not options))
    return found


SHELVES = read_shelves()
CASES = {
    name: case
    for workload, facts in SHELVES.workloads.items()
    for task in facts.tasks
    if facts.needs_torch and task != "check"
    for strategy in SHELVES.strategies
    if strategy != "single"
    for name, case in cases_of(SHELVES, workload, task, strategy, [2, 4]).items()
}


def params() -> Iterator[object]:
    """Every case in both precisions; those that are not always tried are marked."""
    for name, case in CASES.items():
        for double in (True, False):
            marks = [] if case.always(double=double) else [pytest.mark.by_hand]
            yield pytest.param(
                case.cell, double, id=f"{name}-{'double' if double else 'single'}", marks=marks
            )


class Pool:
    """The ranks, from the test's side; what one process computes is asked for once."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path) -> None:
        self._process = process
        self.folder = folder
        self._alone: dict[bytes, dict[str, Any]] = {}

    def run(self, cell: Cell, module: str, *, double: bool) -> list[dict[str, Any]]:
        """What each rank has afterwards; raises with its words if one could not."""
        workload = shelf.module_names("workloads")[cell.workload]
        case = {"cell": cell, "strategy": module, "workload": workload, "double": double}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(case).decode() + "\n")
        self._process.stdin.flush()
        said = msgspec.json.decode(self._process.stdout.readline())
        assert said == "ok", said
        return [torch.load(self.folder / f"rank-{rank}.pt") for rank in range(cell.devices)]

    def alone(self, cell: Cell, *, double: bool) -> dict[str, Any]:
        """What one process has."""
        plain = msgspec.structs.replace(cell, strategy="single", devices=1, mesh={}, strategy_options={})
        key = msgspec.json.encode([plain, double])
        if key not in self._alone:
            (self._alone[key],) = self.run(plain, "study.worker.strategies.single", double=double)
        return self._alone[key]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """A pool of ranks that sees the strategies that are broken on purpose, and the one that is shown."""
    folder = tmp_path_factory.mktemp("pool")
    (code,) = re.findall(r"```python\n(.*?)```", SHOWN.read_text(), flags=re.DOTALL)
    (folder / "shown_by_hand.py").write_text(code)
    facts = folder / "shown-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: shown\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[study.strategies]\nby-hand = shown_by_hand\n")
    environment = {**os.environ, "PYTHONPATH": f"{HERE / 'extension'}{os.pathsep}{folder}"}
    with subprocess.Popen(
        [sys.executable, str(HERE / "rank_pool.py"), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        yield Pool(process, folder)


def require_equal(pool: Pool, cell: Cell, module: str, *, double: bool = True) -> None:
    """The contract: losses, every gradient, and parameters after five steps are those of one process."""
    truth, ranks = pool.alone(cell, double=double), pool.run(cell, module, double=double)
    if cell.task == "infer":
        require_same_answers(ranks, truth["answers"], 1e-10 if double else 1e-4)
        return
    losses = [rank["loss"] for rank in ranks if rank["loss"]]
    assert losses, "no rank has the loss"
    loss = torch.tensor(losses, dtype=torch.float64).mean(dim=0)
    right = torch.tensor(truth["loss"], dtype=torch.float64)
    assert (loss - right)[0].abs() <= (1e-10 if double else 1e-5) * right[0].abs(), "loss"
    require_close(ranks, truth, "grads", 1e-10 if double else 1e-4)
    if double:
        require_close(ranks, truth, "parameters", 1e-9)


def require_same_answers(ranks: list[dict[str, Any]], truth: list[Any], tolerance: float) -> None:
    """Each rank that has answers has those of its share of the batch, and all of the batch is answered."""
    answered = set()
    for rank in ranks:
        start, stop = rank["share"]
        for mine, right in zip(rank["answers"], truth, strict=True):
            if mine is not None:
                answered |= set(range(start, stop))
                share = right[start:stop]
                assert mine.shape == share.shape, "answers"
                assert (mine - share).abs().max() <= tolerance * share.abs().max(), "answers"
    assert answered == set(range(len(truth[0])))


def require_close(ranks: list[dict[str, Any]], truth: dict[str, Any], what: str, tolerance: float) -> None:
    """Each rank's part, of those together that have it, against the whole truth, relative to the largest."""
    assert {name for rank in ranks for name in rank[what]} == set(truth[what])
    largest = max(value.abs().max().item() for value in truth[what].values() if value is not None)
    assert largest > 1e-3
    for rank in ranks:
        for name, mine in rank[what].items():
            right = truth[what][name]
            assert (mine is None) == (right is None), f"{what}: {name}"
            if mine is None:
                continue
            assert mine.shape == right.shape, f"{what}: {name}"
            scale = max(right.abs().max().item(), 1e-3 * largest)
            assert (mine - right).abs().max().item() <= tolerance * scale, f"{what}: {name}"


@pytest.mark.torch
@pytest.mark.parametrize(("cell", "double"), list(params()))
def test_a_strategy_computes_what_one_process_computes(pool: Pool, cell: Cell, *, double: bool) -> None:
    """Loss, all gradients and five steps of SGD, or all answers."""
    module = shelf.module_names("strategies")[cell.strategy]

    require_equal(pool, cell, module, double=double)


@pytest.mark.torch
@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("workload", ["gpt", "resnet"])
def test_a_broken_strategy_is_found_out(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, broken: str, workload: str
) -> None:
    """A missing sum, a wrong share and stages in the wrong order each break the contract."""
    monkeypatch.syspath_prepend(str(HERE / "extension"))
    shelves, name = read_shelves(), f"broken-{broken}"
    (case,) = cases_of(shelves, workload, "train", name, [2]).values()

    with pytest.raises(AssertionError, match=r"loss|grads"):
        require_equal(pool, case.cell, shelf.module_names("strategies")[name])


@pytest.mark.torch
def test_the_strategy_that_is_shown_works(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one in docs/adding-a-strategy.md keeps the contract, as another distribution's."""
    monkeypatch.syspath_prepend(str(pool.folder))

    for workload in ("gpt", "resnet"):
        for case in cases_of(read_shelves(), workload, "train", "by-hand", [2, 4]).values():
            require_equal(pool, case.cell, "shown_by_hand")


def test_every_strategy_is_always_tried_with_every_workload_that_it_fits() -> None:
    """Nothing on a shelf is passed over because planning finds no cell for it, and no option with one."""
    kept = [case.cell for case in CASES.values() if case.always(double=True)]
    tried = {(cell.workload, cell.strategy) for cell in kept if cell.task == "train"}
    of_one = [case for case in CASES.values() if case.cell.workload == FULLY]

    for strategy, facts in SHELVES.strategies.items():
        for workload, of in SHELVES.workloads.items():
            fits = set(facts.needs) <= set(of.seams) and "train" in of.tasks and "train" in facts.tasks
            if fits and of.needs_torch and strategy != "single":
                assert (workload, strategy) in tried
    assert set(SHELVES.workloads[FULLY].seams) == {s for w in SHELVES.workloads.values() for s in w.seams}
    options = {(c.cell.strategy, str(c.cell.strategy_options)) for c in of_one}
    assert options == {(c.strategy, str(c.strategy_options)) for c in kept if c.workload == FULLY}
