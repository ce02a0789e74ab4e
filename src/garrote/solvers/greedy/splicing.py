"""Splicing: for each size, exchange columns of the model for others until no exchange helps.

Each size begins with the answer of the size before and the best newcomer. Columns that the fit would
miss least are exchanged for those that would explain most, several at once; and of single columns the
best of all exchanges of one for one is made, until none improves the answer.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Floats
from garrote.settings import check_count
from garrote.solvers.greedy.base import NOTHING, GreedySearch, Limits, Points
from garrote.solvers.greedy.subset_regression import Step

# An exchange has to lower the error by this share of the null model's, so that rounding makes none.
_WORTH_IT = 1e-10


@dataclass(frozen=True)
class Splicing(GreedySearch):
    """Best subsets of every size at scale, up to exchanges.

    Parameters
    ----------
    exchange : int, default=5
        So many columns at most are exchanged at once.
    """

    exchange: int = 5
    name: ClassVar[str] = "splicing"
    reference: ClassVar[str] = (
        "Zhu, Wen, Zhu, Zhang & Wang (2020), A polynomial algorithm for best-subset selection problem. "
        "PNAS 117, 33117-33123"
    )
    for_labels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count("exchange", self.exchange, 1)

    def follow(self, regression: Any, limits: Limits) -> Points:
        """Solve size after size."""
        points = [regression.point()]
        while limits.allow(regression):
            gains = regression.gains()
            best = int(np.argmax(gains))
            if not gains[best] > NOTHING * regression.whole:
                break
            yield from regression.add(best)
            if regression.separated:
                break
            yield from _splice(regression, self.exchange)
            points.append(regression.point())
        return points

    def promises(self, regression: Any, strength: float, limits: Limits) -> dict[str, float]:
        """Return what the best exchange of one for one would still gain."""
        if not regression.exact_swaps:
            return {}
        better = max(regression.best_swap()[0], 0.0)
        return {"best exchange": better / (regression.whole or 1.0)}


def _splice(regression: Any, most: int) -> Step:
    """Exchange until nothing helps."""
    least = _WORTH_IT * regression.whole
    while True:
        changed = yield from _exchange_several(regression, most, least)
        if changed:
            continue
        better, leaves, comes = regression.best_swap()
        if not better > least:
            return
        inside = [*np.flatnonzero(regression.inside).tolist(), comes]
        inside.remove(leaves)
        # What rounding promises is not believed.
        if not regression.left_by(inside) < regression.left - 0.5 * least:
            return
        regression.remove(leaves)
        yield from regression.add(comes)


def _exchange_several(regression: Any, most: int, least: float) -> Generator[Floats, Floats, bool]:
    """Exchange the units that are missed least for those that promise most, the most of them first."""
    units, rises = regression.losses()
    gains = regression.gains()
    leaving = units[np.argsort(rises, kind="stable")[:most]].tolist()
    some = np.arange(len(gains))
    if len(gains) > most:
        some = np.sort(np.argpartition(-gains, most)[:most])
    promising = some[np.argsort(-gains[some], kind="stable")]
    coming = promising[gains[promising] > 0].tolist()
    inside = np.flatnonzero(regression.inside).tolist()
    fewest = 2 if regression.exact_swaps else 1  # one for one is looked for among all
    for count in range(min(len(leaving), len(coming)), fewest - 1, -1):
        gone = set(leaving[:count])
        trial = [unit for unit in inside if unit not in gone] + coming[:count]
        if regression.left_by(trial) < regression.left - least:
            yield from regression.become(trial)
            return True
    return False
