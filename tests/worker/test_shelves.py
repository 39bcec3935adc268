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
    "strategies": {"share", "apply", "JOINS_GROUP"},
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
def test_a_workload_names_strategies_that_exist(name):
    """A workload's strategies are on their shelf, and know one of its tasks at least."""
    facts = shelf.facts("workloads", name, WorkloadFacts)
    strategies = shelf.all_facts("strategies", StrategyFacts)

    for strategy in facts.strategies:
        assert set(strategies[strategy].tasks) & set(facts.tasks)


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

    shares = [ddp.share(8, rank, world_size) for rank in range(world_size)]

    assert [sample for share in shares for sample in share] == list(range(8))
    assert {len(share) for share in shares} == {8 // world_size}


def test_single_refuses_a_second_rank():
    """The strategy of one device is not silently run twice."""
    single = importlib.import_module("study.worker.strategies.single")

    with pytest.raises(Invalid, match="runs on one device, and 2 were ordered"):
        single.share(8, 0, 2)
