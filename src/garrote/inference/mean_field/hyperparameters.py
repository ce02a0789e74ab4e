"""What EM learns beside the posterior: the slab's variance and the prior log odds, by their modes.

Both have the priors under which other methods average over them, of which the mode is taken in log
variance and log odds: there the priors are pseudo-counts. With K variables expected in, of squared
effects S in units of the noise variance, and D in all,

    variance = (S + 1) / (K + 1),        pi = (K + a) / (D + a + b)

for 1 / variance ~ Gamma(1/2, 1/2) and pi ~ Beta(a, b). Given values stay as they are. Under a slab of
two humps the variance is the root of a quadratic equation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, expit, logit

from garrote.arrays import Floats
from garrote.inference.beliefs import Beliefs
from garrote.priors.slab import IndependentSlab

_FIRST_VARIANCE = 1.0
# Log odds and log variances are sought between these.
_WIDEST = 40.0
# EM steps, at most, and the change of a hyperparameter at which they end.
_STEPS = 500
_STILL = 1e-4

Solution = TypeVar("Solution")


@dataclass(frozen=True)
class Hyperparameters:
    """A slab variance, in units of the noise variance, and the prior log odds gamma."""

    variance: float
    log_odds: float

    def in_words(self, separation: float) -> str:
        """Return both, and how far apart the humps of the slab are, where it has two."""
        humps = f"two humps of separation {separation:g}, " if separation else ""
        pi = float(expit(self.log_odds))
        return f"{humps}slab variance {self.variance:.3g}, prior probability {pi:.3g}"

    def distance(self, other: "Hyperparameters") -> float:
        """Return the larger of the changes in log variance and in log odds."""
        return max(
            abs(float(np.log(self.variance / other.variance))), abs(self.log_odds - other.log_odds)
        )


@dataclass(frozen=True)
class Learning:
    """How the hyperparameters of one analysis are found: where they begin, and their next values.

    ``offsets`` are the variables' own log odds, added to gamma; without a Beta law they are all there
    is, and gamma stays 0.
    """

    slab: IndependentSlab
    offsets: Floats
    shared: tuple[float, float] | None

    @classmethod
    def under(cls, beliefs: Beliefs, method: str) -> "Learning":
        """Take the priors of an analysis, for a method that needs independent slabs."""
        beliefs.prior.check_independent(method)
        beliefs.prior.check_flat_noise(method)
        return cls(beliefs.prior, beliefs.inclusion.log_odds, beliefs.inclusion.shared)

    def first(self) -> Hyperparameters:
        """Return the given values, or those to begin with."""
        variance = self.slab.variance or _FIRST_VARIANCE
        a, b = self.shared or (1.0, 1.0)
        return Hyperparameters(float(variance), float(logit(a / (a + b))))

    def log_prior(self, at: Hyperparameters) -> float:
        """Return the log density of what is learned, in log variance and log odds."""
        total = 0.0
        if self.slab.variance is None:
            total += float(self.slab.log_density(np.log(at.variance)))
        if self.shared is not None:
            a, b = self.shared
            p = float(expit(at.log_odds))
            total += float(a * np.log(p) + b * np.log1p(-p) - betaln(a, b))
        return total

    def never_in(self, log_odds: float) -> float:
        """Return the log prior probability of the empty model."""
        return -float(np.logaddexp(0.0, log_odds + self.offsets).sum())

    def next_variance(self, now: float, squares: float, count: float, along: float = 0.0) -> float:
        """Return the variance after ``count`` expected effects of summed squares ``squares``.

        ``along`` is the sum of these effects times their signs, which two humps ask for.
        """
        if self.slab.variance is not None:
            return now
        shape, rate = self.slab.law
        count = count + 2 * shape
        rho = self.slab.known_separation
        if not rho:
            return (squares + 2 * rate) / count
        # In u = 1 / sqrt(variance): count / u + lean = u spread.
        spread, lean = squares / (1 - rho) + 2 * rate, np.sqrt(rho) * along / (1 - rho)
        u = (lean + np.sqrt(lean**2 + 4 * spread * count)) / (2 * spread)
        return float(u**-2)

    def profiled_variance(self, now: float, squares: float, curvature: Floats) -> float:
        """Return the variance of the highest bound when the weights' own spreads follow it.

        Each of the ``curvature`` c then counts by how far the data outweigh the slab, v c / (1 + v c).
        """
        if self.slab.variance is not None:
            return now

        def slope(log_variance: float) -> float:
            v = np.exp(log_variance)
            return float((squares + 1.0) / v - np.sum(v * curvature / (1.0 + v * curvature)) - 1.0)

        return float(np.exp(brentq(slope, -_WIDEST, _WIDEST, xtol=1e-12)))

    def next_log_odds(self, now: float, count: float) -> float:
        """Return the log odds at which as many variables are expected as were found."""
        if self.shared is None:
            return now
        a, b = self.shared
        if not self.offsets.any():
            p = (count + a) / (len(self.offsets) + a + b)
            return float(logit(np.clip(p, 1e-15, 1 - 1e-15)))

        def short(gamma: float) -> float:
            expected = expit(gamma + self.offsets).sum() + (a + b) * expit(gamma)
            return float(expected - count - a)

        return float(brentq(short, -_WIDEST, _WIDEST, xtol=1e-12))


def em_steps(
    begin: Solution,
    at: Callable[[Solution], Hyperparameters],
    following: Callable[[Solution], Hyperparameters],
    solve: Callable[[Solution, Hyperparameters], Solution | None],
) -> tuple[list[Solution], bool]:
    """Alternate E and M steps from a solution; return all solutions, and whether the last one is still.

    Parameters
    ----------
    begin : solution
    at : callable
        The hyperparameters of a solution.
    following : callable
        Those of the highest objective, given its factors.
    solve : callable
        The solution there, from another one; None if it interpolates, which ends the steps.
    """
    steps, previous = [begin], np.inf
    for _ in range(_STEPS):
        after = following(steps[-1])
        change = after.distance(at(steps[-1]))
        # Steps shrink geometrically: what is still to come is change * ratio / (1 - ratio).
        ratio = min(change / previous, 0.999) if previous > 0 else 0.0
        if change <= _STILL and change * ratio <= _STILL * (1 - ratio):
            return steps, True
        again = solve(steps[-1], after)
        if again is None:
            break
        steps.append(again)
        previous = change
    return steps, False
