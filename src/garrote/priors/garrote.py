"""The prior of the Variational Garrote: a spike at zero and a flat slab.

Each variable is in the model with prior log odds gamma (plus its own offset); its weight w has a flat
prior, its inclusion s a variational posterior probability m. Kappen & Gomez (2014), Eqs. 2-10.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.shrinkage import moments, shrink


class SpikeRule(NamedTuple):
    """The garrote's scalar rule: prior log odds and allowed sign per variable, noise precision."""

    log_odds: Floats
    sign: Floats
    precision: Floats


@moments.register
def _(rule: SpikeRule, j, z, curvature):
    weight = z if z * rule.sign[j] >= 0 else 0.0
    log_odds = rule.log_odds[j] + 0.5 * rule.precision[0] * curvature * weight * weight
    # Most columns of a wide problem are far out: an exponential saved.
    probability = 1.0 / (1.0 + np.exp(-log_odds)) if log_odds > -40.0 else 0.0
    return probability, weight, probability * (1.0 - probability) * weight * weight


@shrink.register
def _(rule: SpikeRule, j, z, curvature):
    probability, weight, _ = moments(rule, j, z, curvature)
    return probability * weight


@dataclass(frozen=True)
class GarrotePrior:
    """Settings of the garrote's prior that do not change along a path.

    Parameters
    ----------
    offsets : array of shape (D,)
        Added to gamma, variable by variable.
    signs : array of shape (D,)
        0 leaves an effect free, 1 keeps it non-negative, -1 non-positive.
    noise_variance : float or None
        A known noise variance (in units of the problem's response); None estimates it by Eq. 10.
    """

    offsets: Floats
    signs: Floats
    noise_variance: float | None = None

    def rule(
        self, gamma: float, precision: float, columns: Array | slice = slice(None)
    ) -> SpikeRule:
        """Return the scalar rule at one strength, for all or some of the variables."""
        return SpikeRule(
            np.ascontiguousarray(gamma + self.offsets[columns]),
            np.ascontiguousarray(self.signs[columns]),
            np.array([precision]),
        )

    def first_precision(self, response_variance: float) -> float:
        """Return the noise precision of the empty model."""
        return 1.0 / (self.noise_variance or response_variance)
