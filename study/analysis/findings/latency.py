"""How long a reader waits: time to the first token and time per later token, on one device and more."""

from study.analysis import caveats, claims, evidence
from study.analysis.parts import Parts
from study.analysis.trials import are_replicas
from study.domain.finding import Finding
from study.domain.summary import CellSummary, Latency
from study.domain.text import Slot

FACTS = {
    "summary": "Time to the first token and time per token, on one device and on more.",
    "section": "one_device",
    "rank": 11,
}

FRAMES = {
    "one": (
        "On one device, {workload} gives the first token after {first} and each later token after "
        "{later}, at batch {batch} ({strategy}, batches of requests one after another)."
    ),
    "each": (
        "On each of {devices} devices, {workload} gives the first token after {first} and each later "
        "token after {later}, at global batch {batch} ({strategy}, each device with batches of requests of "
        "its own, one after another)."
    ),
    "together": (
        "On {devices} devices together, {workload} gives the first token after {first} and each later "
        "token after {later}, at global batch {batch} ({strategy}, batches of requests one after another)."
    ),
    "one_too_few": (
        "On one device, {workload} gave the first token after {first_value} and each later token after "
        "{later_value}, at batch {batch} ({strategy}, batches of requests one after another); fewer than "
        "three trials do not allow an interval."
    ),
    "each_too_few": (
        "On each of {devices} devices, {workload} gave the first token after {first_value} and each later "
        "token after {later_value}, at global batch {batch} ({strategy}, each device with batches of "
        "requests of its own, one after another); fewer than three trials do not allow an interval."
    ),
    "together_too_few": (
        "On {devices} devices together, {workload} gave the first token after {first_value} and each later "
        "token after {later_value}, at global batch {batch} ({strategy}, batches of requests one after "
        "another); fewer than three trials do not allow an interval."
    ),
    "short_one": "On one device, {workload} gives a token every {later_value} after the first.",
    "short_each": (
        "On each of {devices} devices, {workload} gives a token every {later_value} after the first."
    ),
    "short_together": (
        "On {devices} devices together, {workload} gives a token every {later_value} after the first."
    ),
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each cell that decodes."""
    return [_claim(parts, cell, cell.latency) for cell in parts.cells if cell.latency is not None]


def _claim(parts: Parts, cell: CellSummary, latency: Latency) -> Finding:
    disturbed = (*caveats.disturbances(parts, cell.cell_id), *caveats.of_drift(parts))
    slots: dict[str, Slot] = {
        "workload": claims.workload(cell.cell),
        "devices": claims.whole(cell.cell.devices),
        "first": claims.milliseconds(latency.first_token_s),
        "later": claims.milliseconds(latency.token_s),
        "first_value": claims.bare_milliseconds(latency.first_token_s),
        "later_value": claims.bare_milliseconds(latency.token_s),
        "batch": claims.whole(cell.cell.batch),
        "strategy": claims.strategy(parts, cell.cell),
    }
    count = "one" if cell.cell.devices == 1 else "each" if are_replicas(cell.cell) else "together"
    frame = count if latency.token_s.low is not None else f"{count}_too_few"
    return claims.claim(
        key=f"latency.{cell.cell_id}",
        shelf="latency",
        section="one_device" if cell.cell.devices == 1 else "more_devices",
        sentence=claims.worded(FRAMES[frame], slots),
        short=claims.worded(FRAMES[f"short_{count}"], slots),
        evidence=evidence.of_value(latency.token_s, parts.margin, flagged=bool(disturbed)),
        note=evidence.trials(latency.token_s.n),
        estimate=latency.token_s,
        style="milliseconds",
        table="t-latency",
        figure="fig-latency",
        headline=cell.cell.devices == 1,
        weight=claims.fewer_first(cell.cell.devices),
        trials=cell.trials,
        caveats=disturbed,
    )
