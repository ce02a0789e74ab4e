"""Several settings of a penalty, each with its path: which of them is taken, and what is kept of all."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.penalties import Penalty
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.selecting.cross_validation import CrossValidation


class Tried(NamedTuple):
    """A penalty with its path, and the held-out errors of that path where there are folds."""

    penalty: Penalty
    path: Path[PenaltyFit]
    validation: CrossValidation | None


def least(tried: Sequence[Tried], score: Callable[[Path[PenaltyFit]], Floats]) -> Tried:
    """Return the one of least held-out error or, without folds, of least ``score`` along its path."""
    if len(tried) == 1:
        return tried[0]
    best = [
        np.nanmin(score(one.path) if one.validation is None else one.validation.mean)
        for one in tried
    ]
    return tried[int(np.argmin(best))]


def in_words(tried: Sequence[Tried], chosen: Tried) -> str:
    """Say which l1_ratio was taken, and of which; nothing where there was one."""
    if len(tried) == 1:
        return ""
    shares = [f"{_share(one):g}" for one in tried]
    return f", with l1_ratio = {_share(chosen):g} of {', '.join(shares)}"


def curves(tried: Sequence[Tried]) -> dict[str, Any]:
    """Return the held-out errors of all that was tried, a row each; NaN beyond the end of a path."""
    found = [(one, one.validation) for one in tried if one.validation is not None]
    most = max(len(held.strengths) for _, held in found)

    def stacked(rows: Sequence[Floats]) -> Floats:
        filled = np.full((len(rows), most), np.nan)
        for row, values in zip(filled, rows, strict=True):
            row[: len(values)] = values
        return filled

    return {
        "l1_ratio": np.array([_share(one) for one, _ in found]),
        "alphas": stacked([held.strengths for _, held in found]),
        "mean_errors": stacked([held.mean for _, held in found]),
        "standard_errors": stacked([held.standard_error for _, held in found]),
    }


def _share(one: Tried) -> float:
    penalty: Any = one.penalty
    return float(penalty.l1_ratio)
