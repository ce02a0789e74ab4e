"""No prior on coefficients and no price of them: models count by their largest likelihood alone."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from garrote.elementary import logarithm
from garrote.priors.base import Slab
from garrote.priors.evidence import SMALLEST_LEFT, log_evidence, noise_mean, slab_moments
from garrote.priors.slab import largest_fitted


@dataclass(frozen=True)
class LargestLikelihood(Slab):
    """Models count by their largest likelihood, and by the odds of their variables.

    It is what the Variational Garrote's free energy becomes where every variable is in or out for sure:
    its weights are the best ones, and only the prior log odds of inclusion hold models back (Kappen &
    Gomez 2014, Eq. 6). Models of more than half of the rows that are left are ruled out.
    """

    noise_variance: float | None = None
    integrated: ClassVar[bool] = False
    has_noise: ClassVar[bool] = True

    def rule(self, n: float, yty: float, most: int, spent: float = 0.0) -> "Peak":
        """Return the criterion for n rows (less those spent on means)."""
        noise = np.nan if self.noise_variance is None else self.noise_variance
        return Peak(0.0, n + spent, spent, SMALLEST_LEFT * (yty or 1.0), largest_fitted(n), noise)


class Peak(NamedTuple):
    """The log likelihood at its maximum over coefficients and, where it is not known, the noise.

    ``ridge`` is 0. ``noise`` is NaN where it is unknown; what is left counts as ``least`` then where it
    is less. Coefficients are those of least squares with their usual covariance. Models of more than
    ``most`` variables have no probability.
    """

    ridge: float
    rows: float
    spent: float
    least: float
    most: float
    noise: float


@log_evidence.register
def _(rule: Peak, size, log_det, left):
    if size > rule.most:
        return -np.inf
    if not np.isnan(rule.noise):
        return -0.5 * left / rule.noise
    return -0.5 * rule.rows * logarithm(max(left, rule.least) / rule.rows)


@slab_moments.register
def _(rule: Peak, size, left):
    return 1.0, 1.0, noise_mean(rule, size, left)


@noise_mean.register
def _(rule: Peak, size, left):
    if not np.isnan(rule.noise):
        return rule.noise
    return max(left, rule.least) / max(rule.rows - rule.spent - size, 1.0)
