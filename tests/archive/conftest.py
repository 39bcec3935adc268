"""Runs and records for the archive's tests."""

from fakes.archived import plan, record, run

__all__ = ["plan", "record", "run"]
