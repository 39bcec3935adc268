"""The notebook: runs/ is written once, atomically, and read for ever."""

from study.archive.folder import RunFolder, create_run, open_run
from study.archive.reading import find_runs, load_records, load_run
from study.archive.resume import differences, is_done, newest, recorded_trials, resumable

__all__ = [
    "RunFolder",
    "create_run",
    "differences",
    "find_runs",
    "is_done",
    "load_records",
    "load_run",
    "newest",
    "open_run",
    "recorded_trials",
    "resumable",
]
