"""The hallway: one module a command; each opens the rooms that it needs inside its handler."""

from study.cli.app import main

__all__ = ["main"]
