"""The machine and its software, described by facts and without names of hosts or people."""

from study.domain.fact import Fact


class Device(Fact, frozen=True, kw_only=True):
    """One accelerator device: a GPU, or on `cpu` one rank's share of the cores."""

    index: int
    name: str
    memory_bytes: int | None
    power_limit_w: float | None
    vbios: str | None
    unknown: dict[str, str] = {}


class Machine(Fact, frozen=True, kw_only=True):
    """What a run was made on. `slug` is made of the hardware's names, never of a host name."""

    slug: str
    cpu_model: str | None
    sockets: int | None
    cores: int
    logical_cpus: int
    usable_cpus: int
    memory_bytes: int
    governor: str | None
    virtualisation: str | None
    container: str | None
    os: str
    kernel: str
    architecture: str
    devices: tuple[Device, ...]
    links: tuple[tuple[str, ...], ...] = ()
    numa_nodes: int | None = None
    unknown: dict[str, str] = {}


class Software(Fact, frozen=True, kw_only=True):
    """Versions of everything that a result depends on.

    `measuring_sha256` is the hash of the source files that measure: domain, lab and worker of this
    package, and every planned workload and strategy that comes from elsewhere.
    """

    study: str
    python: str
    torch: str | None
    torch_git: str | None
    cuda: str | None
    cudnn: str | None
    nccl: str | None
    driver: str | None
    packages: dict[str, str]
    study_commit: str | None
    study_dirty: bool | None
    measuring_sha256: str
    unknown: dict[str, str] = {}


class WorkerFacts(Fact, frozen=True, kw_only=True):
    """What only the worker can see: torch's versions and the devices that it can use.

    `devices` maps each accelerator that works here to the names of its devices.
    """

    torch: str
    torch_git: str | None
    cuda: str | None
    cudnn: str | None
    nccl: str | None
    devices: dict[str, tuple[str, ...]]
    cpu_capability: str | None
    unknown: dict[str, str] = {}
