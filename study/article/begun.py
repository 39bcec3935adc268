"""When each trial began, in seconds from the first: by the monotonic clock, since a date may be set back."""

from collections.abc import Sequence
from datetime import datetime

from study.domain.record import Record
from study.domain.summary import TrialSummary


def begun_s(trials: Sequence[TrialSummary], records: Sequence[Record]) -> dict[str, float]:
    """Seconds by trial. Within a session they are exact; dates place the sessions, one behind the other.

    Records of before they had their session's number are placed by their dates alone.
    """
    of = {(record.trial, record.attempt): record for record in records}
    placed = [(trial, of.get((trial.trial, trial.attempt))) for trial in trials]
    sessions: dict[int, list[Record]] = {}
    for _, record in placed:
        if record is None or record.session is None:
            return _by_date(trials)
        sessions.setdefault(record.session, []).append(record)
    found: dict[str, float] = {}
    start_s, date = 0.0, None
    for _, members in sorted(sessions.items()):
        members.sort(key=lambda record: record.started_ns)
        first = members[0]
        if date is not None:
            later_s = (datetime.fromisoformat(first.started_utc) - date).total_seconds()
            start_s = max(start_s + later_s, *found.values())
        date = datetime.fromisoformat(first.started_utc)
        for record in members:
            found[record.trial] = start_s + (record.started_ns - first.started_ns) / 1e9
    return found


def _by_date(trials: Sequence[TrialSummary]) -> dict[str, float]:
    dates = {trial.trial: datetime.fromisoformat(trial.started_utc) for trial in trials}
    first = min(dates.values())
    return {trial: (date - first).total_seconds() for trial, date in dates.items()}
