"""What the shelf of findings is given: the run and everything that was computed from its records."""

from study.analysis.drift import SessionDrift
from study.domain.fact import Fact
from study.domain.run import Run
from study.domain.summary import CellSummary, Comparison, SentinelSummary, SeriesSummary, TrialSummary


class Parts(Fact, frozen=True, kw_only=True):
    """The desk's answer for one run before anything is said about it."""

    run: Run
    trials: tuple[TrialSummary, ...]
    cells: tuple[CellSummary, ...]
    series: tuple[SeriesSummary, ...]
    comparisons: tuple[Comparison, ...]
    drift: SessionDrift
    sentinel: SentinelSummary | None = None

    @property
    def margin(self) -> float:
        """The margin of practical size, set in the plan before any data."""
        return self.run.plan.protocol.margin

    def cell(self, cell_id: str) -> CellSummary:
        return next(cell for cell in self.cells if cell.cell_id == cell_id)

    def trials_of(self, *cell_ids: str) -> tuple[TrialSummary, ...]:
        return tuple(trial for trial in self.trials if trial.cell_id in cell_ids)

    def measured_of(self, *cell_ids: str) -> tuple[TrialSummary, ...]:
        return tuple(trial for trial in self.trials_of(*cell_ids) if trial.rate is not None)
