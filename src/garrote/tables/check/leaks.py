"""Columns from which the target may have been computed: they explain it nearly without error."""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from scipy.stats import rankdata

from garrote.arrays import Array, Floats
from garrote.results.selections.data_check import Finding
from garrote.summaries import listing
from garrote.tables.check.sentences import NAMED, named

_R2 = 0.999
_FEWEST_ROWS, _MOST_ROWS, _MOST_COLUMNS = 20, 4000, 300
_FEWEST_OF_A_CLASS = 5
_ROWS_A_COLUMN = 4  # least squares by fewer rows for each column would explain too much
_BLOCK = 256  # columns at a time, so that no second table lies in memory


def find_leaks(
    names: Sequence[str],
    X: Floats,
    y: Array | None,
    target: str,
    told: Collection[str] = (),
) -> list[Finding]:
    """Ask whether columns were computed from the target, or it from them.

    ``names`` may repeat: a column of words has several of numbers. Those in ``told`` are passed over.
    """
    if y is None or len(y) < _FEWEST_ROWS or not X.shape[1]:
        return []
    if len(y) > _MOST_ROWS:
        rows = np.linspace(0, len(y) - 1, _MOST_ROWS).astype(np.intp)
        X, y = X[rows], y[rows]
    if len(np.unique(y)) == 2:
        return _separating(names, X, y, target, told)
    if y.dtype.kind != "f" or y.std() == 0:
        return []
    some = _names_at(names, squared_correlations(X, y) > _R2, told)
    found = []
    if some:
        said = named(some)
        alone = "it alone explains" if len(some) == 1 else "each of them alone explains"
        are = "is" if len(some) == 1 else "are"
        text = (
            f"{are} {said} computed from {listing([target])}? {alone} more than {100 * _R2:g} % of its "
            "variance"
        )
        found.append(Finding("leak", text, {"--exclude": some}))
    found += _in_step(names, X, y, target, {*told, *some})
    return found or _together(names, X, y, target, told)


def squared_correlations(X: Floats, y: Floats) -> Floats:
    """Return the squared correlation of each column with y, over the rows where it is known."""
    parts = [_of_a_block(X[:, j : j + _BLOCK], y) for j in range(0, X.shape[1], _BLOCK)]
    return np.concatenate(parts)


def _of_a_block(X: Floats, y: Floats) -> Floats:
    there = ~np.isnan(X)
    count = np.maximum(there.sum(axis=0), 1)
    x = np.where(there, X, 0.0)
    x = np.where(there, x - x.sum(axis=0) / count, 0.0)
    away = np.where(there, y[:, None] - y @ there / count, 0.0)
    spread = (x**2).sum(axis=0) * (away**2).sum(axis=0)
    known = (spread > 0) & (count >= _FEWEST_ROWS)
    return np.where(known, (x * away).sum(axis=0) ** 2 / np.where(known, spread, 1.0), 0.0)


def _in_step(
    names: Sequence[str], X: Floats, y: Floats, target: str, told: Collection[str]
) -> list[Finding]:
    """Ask about columns that never turn back where the target rises: logarithms, classes, borders."""
    if X.shape[1] > len(y):  # among so many some do by chance
        return []
    some = _names_at(names, np.array([in_step(column, y) for column in X.T]), told)
    if not some:
        return []
    are, rise = ("is", "it rises or falls") if len(some) == 1 else ("are", "each rises or falls")
    text = (
        f"{are} {named(some)} computed from {listing([target])}, or the other way round? {rise} with it "
        "next to without exception"
    )
    return [Finding("leak", text, {"--exclude": some})]


def in_step(x: Floats, y: Floats) -> bool:
    """Tell whether one of two variables is a monotone function of the other, which chance does not make.

    That is so of a logarithm, where ranks agree but for roundings, and of a variable cut into classes,
    of which the outer two need a few rows: fewer could be in step by chance.
    """
    there = ~np.isnan(x)
    x, y = x[there], y[there]
    if len(x) < _FEWEST_ROWS or (x == x[0]).all():
        return False
    few, many = (x, y) if len(np.unique(x)) <= len(np.unique(y)) else (y, x)
    ranks = np.corrcoef(rankdata(x), rankdata(y))[0, 1]
    if ranks**2 > _R2:
        return True
    counts = np.unique(few, return_counts=True)[1]
    if min(counts[0], counts[-1]) < _FEWEST_OF_A_CLASS:
        return False
    steps = np.diff(few[np.lexsort((few, many))])
    falls = np.diff(few[np.lexsort((-few, many))])
    return bool((steps >= 0).all() or (falls <= 0).all())


def _together(
    names: Sequence[str], X: Floats, y: Floats, target: str, told: Collection[str]
) -> list[Finding]:
    """Ask about columns that explain the target together, in rows that were held out."""
    if X.shape[1] > _MOST_COLUMNS:
        return []
    others = [j for j, name in enumerate(names) if name not in told]
    if len(others) > len(y) // _ROWS_A_COLUMN:  # without the many columns of words
        coded = {name for name, count in Counter(names).items() if count > 1}
        others = [j for j in others if names[j] not in coded]
    names, X = [names[j] for j in others], X[:, others]
    complete = ~np.isnan(X).any(axis=1)
    X, y = X[complete], y[complete]
    rows, columns = X.shape
    if rows < max(_FEWEST_ROWS, _ROWS_A_COLUMN * columns):
        return []
    spread = X.std(axis=0)
    usable = np.flatnonzero(spread > 0)
    Z = (X[:, usable] - X[:, usable].mean(axis=0)) / spread[usable]
    share = held_out_r2(Z, y)
    if share <= _R2:
        return []
    few = [usable[j] for j in _fewest(Z, y)]
    parts = named([names[j] for j in few]) if few else "all columns together"
    text = (
        f"is {listing([target])} computed from other columns? {parts} explain"
        f"{'' if few else 's'} it nearly without error (held-out R^2 {share:.5f})"
    )
    return [Finding("leak", text, {})]


def held_out_r2(Z: Floats, y: Floats) -> float:
    """Return R^2 of least squares, each half of the rows predicted by the other."""
    errors = 0.0
    odd = np.arange(len(y)) % 2 == 1
    for held in (odd, ~odd):
        X = np.column_stack([np.ones(len(y)), Z])
        coef = np.linalg.lstsq(X[~held], y[~held], rcond=None)[0]
        errors += float(((y[held] - X[held] @ coef) ** 2).sum())
    return 1.0 - errors / float(((y - y.mean()) ** 2).sum())


def _fewest(Z: Floats, y: Floats) -> list[int]:
    """Return up to three columns, found one after another, that explain y; none if it takes more."""
    chosen: list[int] = []
    for _ in range(NAMED):
        chosen.append(int(np.argmax(squared_correlations(Z, _residual(Z[:, chosen], y)))))
        if _explain(Z[:, chosen], y):
            spare = [j for j in chosen if _explain(Z[:, [k for k in chosen if k != j]], y)]
            return [j for j in chosen if j not in spare[:1]]
    return []


def _explain(Z: Floats, y: Floats) -> bool:
    rest = _residual(Z, y)
    return float(rest @ rest) < (1 - _R2) * float(((y - y.mean()) ** 2).sum())


def _residual(Z: Floats, y: Floats) -> Floats:
    X = np.column_stack([np.ones(len(y)), Z])
    return np.asarray(y - X @ np.linalg.lstsq(X, y, rcond=None)[0])


def _separating(
    names: Sequence[str], X: Floats, y: Array, target: str, told: Collection[str]
) -> list[Finding]:
    """Ask about columns with a border that has one class on either side."""
    first = y == np.unique(y)[0]
    if X.shape[1] > len(y) or min(first.sum(), (~first).sum()) < _FEWEST_OF_A_CLASS:
        return []
    lows, highs = ([f.reduce(X[side]) for side in (first, ~first)] for f in (np.fmin, np.fmax))
    with np.errstate(invalid="ignore"):
        apart = (highs[0] < lows[1]) | (highs[1] < lows[0])
    some = _names_at(names, apart, told)
    if not some:
        return []
    alone = "its values alone tell" if len(some) == 1 else "the values of each tell"
    are = "is" if len(some) == 1 else "are"
    text = (
        f"{are} {named(some)} computed from {listing([target])}, or the other way round? {alone} the "
        "classes apart without error"
    )
    return [Finding("leak", text, {"--exclude": some})]


def _names_at(names: Sequence[str], flags: Array, told: Collection[str]) -> tuple[str, ...]:
    """Return the names of flagged columns, each once, but for those told of."""
    found = dict.fromkeys(names[j] for j in np.flatnonzero(flags).tolist())
    return tuple(name for name in found if name not in told)
