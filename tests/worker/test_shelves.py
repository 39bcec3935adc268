"""Every file on the worker's shelves keeps its shelf's contract."""

import importlib
import inspect
import subprocess
import sys

import msgspec
import pytest

from study.domain import shelf
from study.domain.shelf import AcceleratorFacts, StrategyFacts, WorkloadFacts
from study.worker import contracts
from study.worker.contracts import Invalid

KINDS = {"workloads": WorkloadFacts, "strategies": StrategyFacts, "accelerators": AcceleratorFacts}
FILES = [(kind, name) for kind in KINDS for name in shelf.module_names(kind)]

ASKED = {
    "accelerators": {n for n in vars(contracts.Accelerator) if not n.startswith("_")} | {"visible_devices"},
    "strategies": {"share", "counted", "apply", "JOINS_GROUP"},
    "workloads": {"build"},
}


@pytest.mark.parametrize(("kind", "name"), FILES)
class TestContract:
    """What holds for any file on any of the three shelves."""

    def test_facts_read_are_facts_imported(self, kind, name):
        """What planning reads from the file without importing it is what the module says."""
        module = importlib.import_module(shelf.module_names(kind)[name])

        assert shelf.facts(kind, name, KINDS[kind]) == msgspec.convert(module.FACTS, KINDS[kind])

    def test_it_offers_what_its_shelf_asks_for(self, kind, name):
        """All names of the contract are there, and the file says what it is for."""
        module = importlib.import_module(shelf.module_names(kind)[name])

        assert {asked for asked in ASKED[kind] if not hasattr(module, asked)} == set()
        assert module.__doc__

    def test_functions_take_what_the_contract_gives(self, kind, name):
        """Parameters are those of the contract, in its order."""
        module = importlib.import_module(shelf.module_names(kind)[name])
        protocol = {"accelerators": contracts.Accelerator, "strategies": contracts.Strategy}.get(kind)

        for asked in ASKED[kind]:
            promised = getattr(protocol, asked, None)
            if inspect.isfunction(promised) and len(inspect.signature(promised).parameters) > 1:
                wanted = list(inspect.signature(promised).parameters)[1:]
                assert list(inspect.signature(getattr(module, asked)).parameters) == wanted, asked


@pytest.mark.parametrize("name", shelf.module_names("workloads"))
def test_a_workloads_seams_are_limited_by_what_its_sizes_say(name):
    """Each dimension that limits a seam is a whole number of every size."""
    facts = shelf.facts("workloads", name, WorkloadFacts)

    for limit in filter(None, facts.seams.values()):
        assert all(isinstance(size[limit], int) for size in facts.sizes.values())


@pytest.mark.parametrize("name", shelf.module_names("strategies"))
def test_a_strategys_facts_agree_with_each_other(name):
    """Axes, options and rules name what is there, and some workload has the seams."""
    facts = shelf.facts("strategies", name, StrategyFacts)
    workloads = shelf.all_facts("workloads", WorkloadFacts)

    assert set(facts.shares_batch) <= set(facts.axes)
    assert {*facts.axes[1:], *facts.ranges, *facts.choices, *facts.at_least, *facts.applies} <= set(
        facts.options
    )
    assert set(facts.at_least.values()) <= set(facts.axes)
    for option, words in facts.choices.items():
        assert facts.options[option] in words
    assert any(set(facts.needs) <= set(workload.seams) for workload in workloads.values())


def test_strategies_accelerators_and_sleep_are_read_without_torch():
    """What a rank without torch imports, and what the probe lists, does not load torch."""
    modules = [m for kind in ("strategies", "accelerators") for m in shelf.module_names(kind).values()]
    modules += ["study.worker.workloads.sleep", "study.worker.ranks", "study.worker.probe"]
    code = (
        f"import importlib, sys\nfor module in {modules}: importlib.import_module(module)\n"
        "sys.exit('torch' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_shares_of_ddp_cover_each_sample_once(world_size):
    """All ranks' shares, in order, are the batch."""
    ddp = importlib.import_module("study.worker.strategies.ddp")

    shares = [ddp.share(8, rank, {"data": world_size}) for rank in range(world_size)]

    assert [sample for share in shares for sample in share] == list(range(8))
    assert {len(share) for share in shares} == {8 // world_size}


def test_single_refuses_a_second_rank():
    """The strategy of one device is not silently run twice."""
    single = importlib.import_module("study.worker.strategies.single")

    with pytest.raises(Invalid, match="runs on one device, and 2 were ordered"):
        single.share(8, 0, {"data": 2})
