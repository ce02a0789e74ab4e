"""Times until an event as a response: read from arrays, records and data frames, and checked.

A row was watched from its start (left truncation; from the beginning, where there is none) to its stop,
when it had the event or left without (right censoring). Rows are compared within their stratum only.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats

# What fields and columns may be called, in lower case.
_NAMES = {
    "stop": ("stop", "time", "tstop", "time2", "exit", "duration"),
    "event": ("event", "status", "death", "observed"),
    "start": ("start", "tstart", "entry"),
    "stratum": ("stratum", "strata"),
}
_COLUMNS = {2: ("stop", "event"), 3: ("start", "stop", "event")}
_ACCEPTED = (
    "family='cox' needs a time and an event for each row: garrote.likelihoods.survival_times(time, "
    "event, start=..., strata=...), an array with columns (time, event) or (start, stop, event), or a "
    "data frame or record array with columns 'time', 'event' and, where there are such, 'start' and "
    "'stratum'"
)


class Times(NamedTuple):
    """Checked times: ``stratum`` are positions in ``strata``; ``start`` is -inf without truncation."""

    start: Floats
    stop: Floats
    event: Floats
    stratum: Array
    strata: tuple[str, ...]


def survival_times(time: Any, event: Any, *, start: Any = None, strata: Any = None) -> Array:
    """Return times and events as one response, an array of records with a field for each.

    Parameters
    ----------
    time : array of shape (N,)
        When the event came, or when the row was last seen without.
    event : array of shape (N,)
        1 or True where the event came, 0 or False where the row was censored.
    start : array of shape (N,), optional
        When a row came under observation (left truncation): it counts as at risk after that only.
    strata : array of shape (N,), optional
        Labels of strata: each has a baseline hazard of its own.

    Examples
    --------
    >>> from garrote.likelihoods import survival_times
    >>> survival_times([2.0, 5.0], [1, 0])["time"].tolist()
    [2.0, 5.0]
    """
    given = {"time": time, "event": event, "start": start, "stratum": strata}
    columns = {name: np.ravel(np.asarray(of)) for name, of in given.items() if of is not None}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"times, events and what goes with them differ in length: {lengths}")
    kinds = [
        (name, object if column.dtype.kind in "OUS" else column.dtype)
        for name, column in columns.items()
    ]
    made = np.empty(len(columns["time"]), dtype=kinds)
    for name, column in columns.items():
        made[name] = column
    return made


def read_times(y: Any) -> Times:
    """Return times as `survival_times` makes them, or as arrays and data frames hold them, checked."""
    fields = _fields(y)
    if not {"stop", "event"} <= fields.keys():
        raise ValueError(_ACCEPTED)
    stop = _numbers("time", fields["stop"])
    event = _events(fields["event"])
    start = np.full(len(stop), -np.inf)
    if "start" in fields:
        start = _numbers("start", fields["start"])
        _check_order(start, stop)
    earliest = np.where(np.isfinite(start), np.minimum(start, stop), stop)
    bad = np.flatnonzero(earliest < 0)
    if len(bad):
        raise ValueError(
            f"times must not be negative, got {earliest[bad[0]]:g} at row {bad[0]} "
            f"({len(bad)} in all): count them from when a row came under observation"
        )
    if not event.any():
        raise ValueError(
            f"all {len(event)} rows are censored: without an event there is nothing to explain"
        )
    stratum: Array = np.zeros(len(stop), np.int64)
    strata: tuple[str, ...] = ("",)
    if "stratum" in fields:
        stratum, strata = _strata(fields["stratum"])
    return Times(start, stop, event, stratum, strata)


def _fields(y: Any) -> dict[str, Any]:
    """Return what y holds, by what it is."""
    named = getattr(getattr(y, "dtype", None), "names", None)
    if named is None and hasattr(y, "columns"):
        named = [str(name) for name in y.columns]
    if named is not None:
        return _by_name(y, list(named))
    table = np.asarray(y)
    if table.dtype.names is not None:
        return _by_name(table, list(table.dtype.names))
    if table.ndim != 2 or table.shape[1] not in _COLUMNS:
        raise ValueError(f"{_ACCEPTED}; got shape {table.shape}")
    return dict(zip(_COLUMNS[table.shape[1]], table.T, strict=True))


def _by_name(y: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return fields by their names; of two with others, the one of truth values is the event."""
    found: dict[str, Any] = {}
    for name in names:
        for what, known in _NAMES.items():
            if name.lower() in known:
                if what in found:
                    raise ValueError(
                        f"y names its {what} twice, the second time {name!r}: keep one"
                    )
                found[what] = np.asarray(y[name])
    if {"stop", "event"} <= found.keys():
        return found
    columns = {name: np.asarray(y[name]) for name in names}
    truths = [name for name in names if columns[name].dtype == bool]
    if len(names) == 2 and len(truths) == 1:
        other = next(name for name in names if name != truths[0])
        return {"stop": columns[other], "event": columns[truths[0]]}
    raise ValueError(f"{_ACCEPTED}; got {tuple(names)}")


def _numbers(what: str, column: Any) -> Floats:
    """Return a column of times; refuse what is no finite number, naming the row."""
    try:
        numbers = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        cells = np.asarray(column).tolist()
        row = next(k for k, cell in enumerate(cells) if not _is_number(cell))
        raise ValueError(f"{what} must hold numbers, got {cells[row]!r} at row {row}") from None
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise ValueError(
            f"{what} is missing or not finite at row {bad[0]} ({len(bad)} in all): drop those rows"
        )
    return numbers


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _events(column: Any) -> Floats:
    """Return 0 and 1; refuse other codes with what they may mean."""
    values = np.asarray(column)
    if values.dtype == bool:
        return values.astype(np.float64)
    events = _numbers("event", column)
    codes = np.unique(events)
    if np.isin(codes, (0.0, 1.0)).all():
        return events
    shown = ", ".join(f"{code:g}" for code in codes[:5]) + (", ..." if len(codes) > 5 else "")
    remedy = "make it 1 where the event came and 0 where the row was censored"
    if np.array_equal(codes, (1.0, 2.0)):
        remedy = "where 1 is censored and 2 is the event, as in R's survival, subtract 1"
    elif len(codes) > 2 and np.array_equal(codes, np.arange(len(codes))):
        remedy = "of several kinds of events (competing risks) make one 1 and all others 0"
    raise ValueError(f"event must be 0 (censored) or 1, got {shown}: {remedy}")


def _check_order(start: Floats, stop: Floats) -> None:
    bad = np.flatnonzero(stop <= start)
    if len(bad):
        row = bad[0]
        raise ValueError(
            f"stop must be after start, got start {start[row]:g} and stop {stop[row]:g} at row {row} "
            f"({len(bad)} in all): such rows were never under observation, drop them"
        )


def _strata(column: Any) -> tuple[Array, tuple[str, ...]]:
    cells = np.asarray(column, dtype=object).tolist()
    missing = [k for k, cell in enumerate(cells) if cell is None or bool(cell != cell)]
    if missing:
        raise ValueError(
            f"stratum is missing at row {missing[0]} ({len(missing)} in all): drop those rows"
        )
    labels, codes = np.unique([_label(cell) for cell in cells], return_inverse=True)
    return codes.astype(np.int64), tuple(labels.tolist())


def _label(cell: Any) -> str:
    """Return a label as text: 1 and 1.0 are the same one."""
    return f"{cell:g}" if isinstance(cell, float) else str(cell)
