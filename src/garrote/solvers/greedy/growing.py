"""Searches that only ever take variables in: orthogonal matching pursuit and forward selection."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Floats
from garrote.settings import check_count
from garrote.solvers.greedy.base import GreedySearch, Limits, Points


@dataclass(frozen=True)
class OMP(GreedySearch):
    """Orthogonal matching pursuit: take in what resembles the residual most, then fit all anew.

    Of labels and counts the residual is the gradient of the log likelihood.
    """

    name: ClassVar[str] = "omp"
    reference: ClassVar[str] = (
        "Pati, Rezaiifar & Krishnaprasad (1993), Orthogonal matching pursuit: recursive function "
        "approximation with applications to wavelet decomposition. Asilomar Conference 27, 40-44"
    )
    for_labels: ClassVar[bool] = True

    def follow(self, regression: Any, limits: Limits) -> Points:
        """Grow by resemblance to what is left."""
        return (yield from _grow(regression, limits, regression.scores))


@dataclass(frozen=True)
class Forward(GreedySearch):
    """Forward selection, or orthogonal least squares: take in what lowers the error most (Eq. 13.28).

    Of labels and counts all columns are ranked by their score tests, and some of the first are fitted.

    Parameters
    ----------
    candidates : int, default=10
        Of labels and counts: how many columns are fitted at each step.
    """

    candidates: int = 10
    name: ClassVar[str] = "forward"
    reference: ClassVar[str] = (
        "Chen, Billings & Luo (1989), Orthogonal least squares methods and their application to "
        "non-linear system identification. International Journal of Control 50, 1873-1896"
    )
    for_labels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count("candidates", self.candidates, 1)

    def follow(self, regression: Any, limits: Limits) -> Points:
        """Grow by what the error falls by."""
        return (yield from _grow(regression, limits, partial(regression.gains, self.candidates)))


def _grow(regression: Any, limits: Limits, worth: Callable[[], Floats]) -> Points:
    """Take in the unit that is worth most, again and again."""
    points = [regression.point()]
    while limits.allow(regression):
        values = worth()
        best = int(np.argmax(values))
        if not values[best] > 0:
            break
        yield from regression.add(best)
        if regression.separated:
            break
        points.append(regression.point())
    return points
