"""The shelf of figures: one file a chart, as data."""
