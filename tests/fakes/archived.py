"""Records and runs to put into an archive."""

import json
from pathlib import Path

import msgspec
import pytest

from study.archive.encoding import content_hash
from study.domain.machine import Machine, Software
from study.domain.record import Record
from study.domain.run import RUN_SCHEMA, Run, Session
from study.domain.study import Matrix, Study
from study.domain.trial import Plan
from study.planning import make_plan
from study.planning.cells import Shelves

GOLDEN = Path(__file__).parent.parent / "data" / "golden" / "schema-1"
MACHINE = Machine(
    slug="2-core-cpu",
    cpu_model="A CPU",
    sockets=1,
    cores=2,
    logical_cpus=2,
    usable_cpus=2,
    memory_bytes=2**34,
    governor=None,
    virtualisation="kvm",
    container=None,
    os="Debian 12",
    kernel="6.1",
    architecture="x86_64",
    devices=(),
    unknown={"governor": "not readable here", "container": "none found"},
)
SOFTWARE = Software(
    study="0.1.0",
    python="CPython 3.11.7",
    torch="2.13.0",
    torch_git="abc",
    cuda=None,
    cudnn=None,
    nccl=None,
    driver=None,
    packages={"numpy": "2.0"},
    study_commit="c0ffee",
    study_dirty=False,
    measuring_sha256="0" * 64,
    unknown={"cuda": "a CPU build", "cudnn": "a CPU build", "nccl": "a CPU build", "driver": "no GPU"},
)


@pytest.fixture
def record() -> Record:
    """A measured record, as in the golden file."""
    return msgspec.json.decode((GOLDEN / "measured.json").read_bytes(), type=Record)


@pytest.fixture
def plan() -> Plan:
    """A plan of two cells in two blocks."""
    from study.domain.shelf import AcceleratorFacts, StrategyFacts, TaskFacts, WorkloadFacts

    shelves = Shelves(
        workloads={
            "gpt": WorkloadFacts(
                summary="a model",
                tasks={"train": TaskFacts(unit="tokens")},
                sizes={"tiny": {}, "small": {}},
                precisions=("fp32",),
                seams={"copies": ""},
            )
        },
        strategies={
            "single": StrategyFacts(
                summary="one", tasks=("train",), min_devices=1, max_devices=1, startup_s=0.0
            )
        },
        accelerators={
            "cpu": AcceleratorFacts(summary="cpu", backend="gloo", precisions=("fp32",), startup_s=0.1)
        },
    )
    return make_plan(study(), place="s.toml", gpus=0, cores=2, shelves=shelves, blocks=2)


def study() -> Study:
    """A study of two sizes on one device."""
    matrix = Matrix(workload="gpt", task="train", size=["tiny", "small"], devices=1)
    return Study(name="mine", title="Mine", matrix=[matrix])


@pytest.fixture
def run(plan: Plan) -> Run:
    """A run that has just begun."""
    session = Session(
        argv=("study", "run"),
        launcher="local",
        started_utc="2026-12-01T09:00:00Z",
        ended_utc=None,
        end="running",
        unknown={"ended_utc": "it is still going on"},
    )
    return Run(
        schema=RUN_SCHEMA,
        id="",
        study=study(),
        study_text="name = 'mine'",
        source="file",
        plan=plan,
        machine=MACHINE,
        software=SOFTWARE,
        sessions=(session,),
        status="running",
    )


def attempt_of(record: Record, plan: Plan, order: int, attempt: int = 1, outcome: object = None) -> Record:
    """The record of one planned trial."""
    trial = plan.trials[order - 1]
    made = msgspec.structs.replace(
        record,
        trial=trial.id,
        order=order,
        block=trial.block,
        attempt=attempt,
        cell_id=trial.cell_id,
        outcome=outcome or record.outcome,
    )
    return msgspec.structs.replace(made, content_sha256=content_hash(made))


def spoil(path: Path, **changes: object) -> None:
    """Change keys of a JSON file in place."""
    plain = json.loads(path.read_text())
    path.write_text(json.dumps({**plain, **changes}))
