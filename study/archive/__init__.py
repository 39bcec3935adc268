"""The notebook: runs/ is written once, atomically, and read for ever."""

from study.archive.folder import RunFolder, create_run, open_run
from study.archive.reading import find_runs, load_records, load_run
from study.archive.resume import resumable

__all__ = ["RunFolder", "create_run", "find_runs", "load_records", "load_run", "open_run", "resumable"]
