"""Priors on which variables are in the model: independent odds, or one shared unknown probability."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, log_expit, logsumexp

from garrote.arrays import Floats

# Up to so many variables models are summed size by size, which costs the square of their number.
_SUMMED = 2000
# Beyond, places at which the integrand over a shared probability is looked at, how far they go in log
# odds beyond the largest offset, how often they close in on its peak, and what is negligible beside it.
_PLACES, _BEYOND, _CLOSER, _NEGLIGIBLE = 801, 60.0, 4, 45.0


@dataclass(frozen=True)
class Inclusion:
    """A prior on models: by their size, and by the odds of each variable.

    Attributes
    ----------
    by_size : array of shape (D + 1,)
        Log prior of any one model of each size, before the variables' own odds. With these the
        probabilities of all models add up to 1.
    log_odds : array of shape (D,)
        Added for each variable that is in.
    shared : (float, float) or None
        The Beta law of a shared inclusion probability, where there is one.
    """

    by_size: Floats
    log_odds: Floats
    shared: tuple[float, float] | None = None

    @classmethod
    def independent(cls, probability: Floats, offsets: Floats) -> "Inclusion":
        """Give each variable its own probability (Murphy 2012, Eq. 13.6)."""
        log_odds = np.log(probability) - np.log1p(-probability) + offsets
        nothing = -float(np.logaddexp(0.0, log_odds).sum())
        return cls(np.full(len(probability) + 1, nothing), log_odds)

    @classmethod
    def beta(cls, a: float, b: float, offsets: Floats) -> "Inclusion":
        """Give all variables one probability ~ Beta(a, b), integrated out (exercise 13.7).

        ``offsets`` multiply the odds of all models that have the variable.
        """
        D = len(offsets)
        sizes = np.arange(D + 1)
        by_size = betaln(a + sizes, b + D - sizes) - betaln(a, b)
        return cls(by_size - _log_sum(by_size, offsets, a, b), offsets, (a, b))

    @classmethod
    def of_few(cls, offsets: Floats) -> "Inclusion":
        """Expect few variables, and assume little on how few: one probability ~ Beta(1, sqrt(D))."""
        return cls.beta(1.0, float(np.sqrt(max(len(offsets), 1))), offsets)

    def odds_of_one_more(self, size: int) -> float:
        """Return the prior log odds of one more variable in a model of some size."""
        return float(self.by_size[size + 1] - self.by_size[size])


def _log_sum(by_size: Floats, offsets: Floats, a: float, b: float) -> float:
    """Return the log of the sum over all models of what they have by their size and by their odds."""
    if not np.any(offsets):
        return 0.0
    if len(offsets) > _SUMMED:
        return _log_mean(offsets, a, b)
    total = np.full(len(by_size), -np.inf)
    total[0] = 0.0
    for k, offset in enumerate(
        offsets
    ):  # the odds of all models of each size of the first variables
        total[1 : k + 2] = np.logaddexp(total[1 : k + 2], total[: k + 1] + offset)
    return float(logsumexp(by_size + total))


def _log_mean(offsets: Floats, a: float, b: float) -> float:
    """Return the same sum as the mean over p ~ Beta(a, b) of the product of 1 - p + p exp(offset).

    Of many variables it has a peak in log odds of p for which the trapezoidal rule does.
    """
    distinct, count = np.unique(offsets, return_counts=True)
    end = _BEYOND / min(a, b, 1.0) + float(np.abs(distinct).max())
    places = np.linspace(-end, end, _PLACES)
    for _ in range(_CLOSER + 1):
        inside, outside, step = log_expit(places), log_expit(-places), places[1] - places[0]
        logs = a * inside + b * outside - betaln(a, b)
        for offset, times in zip(distinct, count, strict=True):
            logs += times * np.logaddexp(outside, inside + offset)
        near = np.flatnonzero(logs > logs.max() - _NEGLIGIBLE)
        places = np.linspace(places[near[0]] - step, places[near[-1]] + step, _PLACES)
    return float(logsumexp(logs) + np.log(step))
