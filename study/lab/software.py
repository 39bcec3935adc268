"""Versions of everything that a result depends on, and the state of the code that made it."""

import hashlib
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

import study
from study.domain.machine import Software, WorkerFacts
from study.domain.shelf import module_names, source_of
from study.domain.trial import Plan

PACKAGE = Path(study.__file__).resolve().parent
GIT_LIMIT_S = 10.0

NEEDED_BY_TORCH = re.compile(r"^(?:nvidia-|triton|pytorch-triton|intel-|mkl|torch)", re.IGNORECASE)
"""Distributions that torch brings along and that decide how fast it is."""


def describe_software(
    worker: WorkerFacts | None,
    driver: str | None,
    *,
    plan: Plan | None = None,
    why_no_driver: str = "",
    package: Path = PACKAGE,
) -> Software:
    """Versions now. `worker` is null where torch is missing; `driver` comes from `nvml.survey`.

    `package` is the folder that `study` runs from; its commit is null where it is not under git.
    """
    unknown: dict[str, str] = {}
    if worker is None:
        unknown |= dict.fromkeys(("torch", "torch_git", "cuda", "cudnn", "nccl"), "torch was not asked")
    else:
        unknown |= {key: why for key, why in worker.unknown.items() if key in Software.__struct_fields__}
    if driver is None:
        unknown["driver"] = why_no_driver or "there is no NVIDIA driver here"
    commit, dirty, why = _git_state(package)
    if why:
        unknown |= {"study_commit": why, "study_dirty": why}
    return Software(
        study=study.__version__,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        torch=worker.torch if worker else None,
        torch_git=worker.torch_git if worker else None,
        cuda=worker.cuda if worker else None,
        cudnn=worker.cudnn if worker else None,
        nccl=worker.nccl if worker else None,
        driver=driver,
        packages=_packages(),
        study_commit=commit,
        study_dirty=dirty,
        measuring_sha256=measuring_hash(plan, package),
        unknown=unknown,
    )


def measuring_hash(plan: Plan | None, package: Path = PACKAGE) -> str:
    """SHA-256 over the source files that measure the plan, each with its name."""
    files = {
        f"study/{path.relative_to(package)}": path
        for room in ("domain", "lab", "worker")
        for path in sorted((package / room).rglob("*.py"))
    }
    for planned in plan.cells if plan else ():
        for shelf, name in (("workloads", planned.cell.workload), ("strategies", planned.cell.strategy)):
            module = module_names(shelf)[name]
            if not module.startswith("study."):
                files[module] = source_of(module)
    total = hashlib.sha256()
    for name, path in sorted(files.items()):
        total.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _packages() -> dict[str, str]:
    """Versions of what `study` declares that it needs, and of what torch brings."""
    try:
        declared = metadata.requires("study") or []
    except metadata.PackageNotFoundError:
        declared = []
    wanted = {
        _normal(re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0])
        for line in declared
        if "extra ==" not in line
    }
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = _normal(distribution.metadata["Name"] or "")
        if name in wanted or NEEDED_BY_TORCH.match(name):
            found.setdefault(name, distribution.version)  # the first on the path is the one imported
    return dict(sorted(found.items()))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _git_state(package: Path) -> tuple[str | None, bool | None, str]:
    """Commit, whether the package's folder differs from it, and why neither is known.

    A package that merely lies inside somebody's checkout, as an installed one may, is not under git:
    hence the question whether its first file is tracked.
    """
    try:
        tracked = _git(package, "ls-files", "--", "__init__.py")
        if not tracked:
            return None, None, "study is installed, not run from a git checkout"
        commit = _git(package, "rev-parse", "HEAD")
        changed = _git(package, "status", "--porcelain", "--", ".")
    except FileNotFoundError:
        return None, None, "git is not installed"
    except subprocess.TimeoutExpired:
        return None, None, f"git did not answer within {GIT_LIMIT_S:.0f} s"
    except subprocess.CalledProcessError:
        return None, None, "study is not run from a git checkout that git will read"
    return commit, bool(changed), ""


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "--no-optional-locks", "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=GIT_LIMIT_S,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout.strip()
