"""The shelf of figures: one file a chart, as data, found by its name.

A file states `FACTS` as one literal (`study.domain.shelf.PageFacts`): `section` is the key of the
article's section in which the figure stands (one, more, steady, checks), `rank` its place there. It has

- `draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None`: the chart with
  its table, or None when what it needs was not measured. Its key is `fig-<name>`, its table's begins
  with `t-` and is no other table's. It draws every trial as a point, never joins categories by
  lines, and lets units that differ share no axis.
- `MISSING: Text`: the sentence that stands under "What we cannot say" when there is nothing to draw.
"""
