"""The shelf of launchers: one file each, found by its name."""
