"""Searches that take in and leave out: single best replacement, and forward with backward steps."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from garrote.arrays import Floats
from garrote.problem import Problem
from garrote.settings import check_count, is_number
from garrote.solvers.greedy.base import (
    NOTHING,
    GreedySearch,
    Limits,
    Points,
    smallest_of_each_size,
)
from garrote.solvers.greedy.column_units import ColumnUnits
from garrote.solvers.greedy.subset_regression import SubsetRegression

# The last price of a grid as a share of the first.
_EPS = 1e-3


@dataclass(frozen=True)
class SingleBestReplacement(GreedySearch):
    """Hill climbing on 1/(2N) ||y - Xw||^2 + price times the number of variables (Eq. 13.27).

    At each step the one flip, of a variable in or out, that lowers the objective most is made, until
    none does. At price 0 that is least squares on all columns.

    Parameters
    ----------
    price : float, optional
        That of a variable, or of a group; None takes a grid, each search from the answer before.
    n_prices : int, default=50
        Of the grid, from the price at which none is worth it to a thousandth of that.
    """

    price: float | None = None
    n_prices: int = 50
    name: ClassVar[str] = "single-best-replacement"
    reference: ClassVar[str] = (
        "Soussen, Idier, Brie & Duan (2011), From Bernoulli-Gaussian deconvolution to sparse signal "
        "restoration. IEEE Transactions on Signal Processing 59, 4572-4584"
    )
    strength: ClassVar[str] = "price"

    def __post_init__(self) -> None:
        check_count("n_prices", self.n_prices, 1)
        if self.price is not None and not (is_number(self.price) and self.price >= 0):
            raise ValueError(f"price must be a number >= 0 or None, got {self.price!r}")

    def grid(self, problem: Problem, units: ColumnUnits) -> Floats:
        """Return the prices, from the least at which no variable alone is worth it."""
        if self.price is not None:
            return np.array([float(self.price)])
        first = 0.5 * float(SubsetRegression(problem, units).gains().max()) / problem.n or 1.0
        return np.geomspace(first * (1 + 1e-10), _EPS * first, self.n_prices)

    def follow(self, regression: SubsetRegression, limits: Limits) -> Points:
        """Make the best flip until none helps, at each price."""
        assert limits.grid is not None
        points = []
        for price in limits.grid.tolist():
            while True:
                better, unit = self._best_flip(regression, limits, price)
                if not better > NOTHING * regression.whole:
                    break
                if regression.inside[unit]:
                    regression.remove(unit)
                else:
                    yield from regression.add(unit)
            points.append(regression.point(price))
            if not limits.allow(regression):
                break
        return points

    def promises(
        self, regression: SubsetRegression, strength: float, limits: Limits
    ) -> dict[str, float]:
        """Return what the best flip would still gain."""
        better, _ = self._best_flip(regression, limits, strength)
        return {"best flip": max(better, 0.0) / (regression.whole or 1.0)}

    @staticmethod
    def _best_flip(regression: SubsetRegression, limits: Limits, price: float) -> tuple[float, int]:
        """Return what the best flip takes off the squared error and the prices, and of which unit."""
        cost = 2.0 * regression.problem.n * price
        spared = np.full(len(regression.units), -np.inf)
        if limits.allow(regression):
            spared = regression.gains() - cost
        units, rises = regression.losses()
        spared[units] = cost - rises
        best = int(np.argmax(spared))
        return float(spared[best]), best


@dataclass(frozen=True)
class FoBa(GreedySearch):
    """Forward selection that looks back: what has become of little use leaves again.

    After each variable that comes in, others leave as long as the error rises by less than a share of
    what it fell by when the model had last grown to that size.

    Parameters
    ----------
    share : float, default=0.5
        Above 0 and below 1.
    """

    share: float = 0.5
    name: ClassVar[str] = "foba"
    reference: ClassVar[str] = (
        "Zhang (2011), Adaptive forward-backward greedy algorithm for learning sparse representations. "
        "IEEE Transactions on Information Theory 57, 4689-4708"
    )

    def __post_init__(self) -> None:
        if not (is_number(self.share) and 0 < self.share < 1):
            raise ValueError(f"share must be above 0 and below 1, got {self.share!r}")

    def follow(self, regression: SubsetRegression, limits: Limits) -> Points:
        """Go forward by the best gain, and back while little is lost."""
        seen = [(regression.left, regression.point())]
        gained = [0.0]
        while limits.allow(regression):
            gains = regression.gains()
            best = int(np.argmax(gains))
            if not gains[best] > NOTHING * regression.whole:
                break
            yield from regression.add(best)
            gained.append(float(gains[best]))
            seen.append((regression.left, regression.point()))
            while len(gained) > 2:
                units, rises = regression.losses()
                least = int(np.argmin(rises))
                if units[least] == best or rises[least] >= self.share * gained[-1]:
                    break
                regression.remove(int(units[least]))
                gained.pop()
                seen.append((regression.left, regression.point()))
        return smallest_of_each_size(seen)
