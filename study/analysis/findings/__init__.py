"""The shelf of findings: one file a claim, number and sentence together."""
