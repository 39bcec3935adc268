"""How many GPUs PyTorch could use here, told without importing it: a guess that the worker's probe corrects.

Planning has to know before anything runs, and where torch is not installed. A build of torch without
CUDA or ROCm can use none, whatever cards there are.
"""

import ast
import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from study.lab.nvml import gpus

NODES = Path("/sys/class/kfd/kfd/topology/nodes")
"""Where AMD's kernel driver lists processors; those with SIMD units are GPUs."""


def usable_gpus(environ: Mapping[str, str] = os.environ, nodes: Path = NODES) -> int:
    """GPUs of the kind that the installed torch was built for, less those that the environment hides."""
    kind = build()
    if kind == "cuda":
        return _shown(len(gpus()), environ, ("CUDA_VISIBLE_DEVICES",))
    if kind == "hip":
        variables = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
        return _shown(_amd(nodes), environ, variables)
    return 0


def build(version_file: Path | None = None) -> str:
    """What the installed torch was built for: "cuda", "hip", or nothing (also where there is no torch)."""
    path = version_file or _version_file()
    if path is None or not path.is_file():
        return ""
    found: dict[str, object] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node.value.value if isinstance(node.value, ast.Constant) else None
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            found |= {target.id: node.value.value for target in node.targets if isinstance(target, ast.Name)}
    return next((kind for kind in ("cuda", "hip") if found.get(kind)), "")


def _version_file() -> Path | None:
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "version.py"


def _shown(present: int, environ: Mapping[str, str], variables: tuple[str, ...]) -> int:
    """Every variable that is set narrows further; a list ends at the first entry that is no device (-1)."""
    for variable in variables:
        if variable in environ:
            entries = [entry.strip() for entry in environ[variable].split(",")]
            valid = 0
            for entry in entries:
                if entry in ("", "-1"):
                    break
                valid += 1
            present = min(present, valid)
    return present


def in_torchs_order(uuids: Sequence[str | None], environ: Mapping[str, str]) -> tuple[int | None, ...]:
    """The management library's number of each GPU that torch sees, in torch's order by bus.

    An entry of CUDA_VISIBLE_DEVICES is a number or the beginning of one GPU's UUID; for anything else, such
    as a part of a GPU (MIG), it is null. The first entry that is no device hides all after it.
    """
    entries = environ.get("CUDA_VISIBLE_DEVICES")
    if entries is None:
        return tuple(range(len(uuids)))
    found: list[int | None] = []
    for entry in (each.strip() for each in entries.split(",")):
        fitting = [index for index, uuid in enumerate(uuids) if uuid and entry and uuid.startswith(entry)]
        if entry.isdigit():
            if int(entry) >= len(uuids):
                break
            found.append(int(entry))
        elif len(fitting) == 1:
            found.append(fitting[0])
        elif entry.startswith("MIG-"):
            found.append(None)
        else:
            break
    return tuple(found)


def _amd(nodes: Path) -> int:
    def simds(properties: Path) -> int:
        try:
            lines = properties.read_text(encoding="utf-8").splitlines()
        except OSError:
            return 0
        return next((int(line.split()[1]) for line in lines if line.startswith("simd_count ")), 0)

    return sum(simds(node / "properties") > 0 for node in nodes.glob("*"))
