"""Spike-and-slab priors for mean-field solvers: the Variational Garrote's, and one with a Gaussian slab.

Each variable is in the model with prior log odds gamma (plus its own offset). The garrote has a flat
prior on its weight w and takes the best w; its inclusion s has a variational posterior probability m
(Kappen & Gomez 2014, Eqs. 2-10). With a slab N(0, noise / ridge) the pair (w, s) has a joint factor of
the posterior instead (Titsias & Lazaro-Gredilla 2011; Carbonetto & Stephens 2012): w given inclusion is
Gaussian with mean c z / (c + ridge), z the least-squares value and c the curvature, and variance
noise / (c + ridge). The slab's normaliser, log(ridge / (c + ridge)) / 2, is part of the offset. Nothing
else differs.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import exponential
from garrote.rules import inclusion, moments, noise_share, restricted, shrink


class SpikeRule(NamedTuple):
    """Prior log odds and allowed sign per variable, noise precision, and the slab's ridge (0: flat)."""

    log_odds: Floats
    sign: Floats
    precision: Floats
    ridge: float = 0.0


@inclusion.register
def _(rule: SpikeRule, j, weight, curvature):
    evidence = 0.5 * rule.precision[0] * (curvature + rule.ridge) * weight * weight
    log_odds = rule.log_odds[j] + evidence
    # Most columns of a wide problem are far out: an exponential saved.
    return 1.0 / (1.0 + np.exp(-log_odds)) if log_odds > -40.0 else 0.0


@moments.register
def _(rule: SpikeRule, j, z, curvature):
    weight = z if z * rule.sign[j] >= 0 else 0.0
    if rule.ridge > 0:
        weight *= curvature / (curvature + rule.ridge)
    probability = inclusion(rule, j, weight, curvature)
    variance = probability * (1.0 - probability) * weight * weight
    if rule.ridge > 0:
        variance += probability / (rule.precision[0] * (curvature + rule.ridge))
    return probability, weight, variance


@noise_share.register
def _(rule: SpikeRule, probability, weight, variance, curvature):
    share = variance * curvature
    if rule.ridge > 0:
        # The slab scales with the noise: a weight drawn from it tells of the noise like a row does.
        square = weight * weight + 1.0 / (rule.precision[0] * (curvature + rule.ridge))
        share += probability * (square * rule.ridge - 1.0 / rule.precision[0])
    return share


@shrink.register
def _(rule: SpikeRule, j, z, curvature):
    probability, weight, _ = moments(rule, j, z, curvature)
    return probability * weight


@restricted.register
def _(rule: SpikeRule, columns: Array) -> SpikeRule:
    # The precision stays the same array: solvers change it in place.
    return rule._replace(log_odds=rule.log_odds[columns], sign=rule.sign[columns])


@dataclass(frozen=True)
class SpikeTerms:
    """What each variable has of its own in `SpikeRule`, and the noise: the same along a path of gammas.

    Parameters
    ----------
    offsets : array of shape (D,)
        Added to gamma, variable by variable.
    signs : array of shape (D,)
        0 leaves an effect free, 1 keeps it non-negative, -1 non-positive.
    noise_variance : float or None
        A known noise variance (in units of the problem's response); None estimates it.
    ridge : float
        The noise variance over the slab's; 0 is the garrote's flat slab with the best weights.
    """

    offsets: Floats
    signs: Floats
    noise_variance: float | None = None
    ridge: float = 0.0

    @classmethod
    def with_slab(
        cls,
        variance: float,
        offsets: Floats,
        curvature: Floats,
        noise_variance: float | None = None,
    ) -> "SpikeTerms":
        """Return the prior with a Gaussian slab, ``variance`` times the noise's."""
        ridge = 1.0 / variance
        normaliser = 0.5 * np.log(ridge / (curvature + ridge))
        return cls(offsets + normaliser, np.zeros_like(offsets), noise_variance, ridge)

    def rule(
        self, gamma: float, precision: float, columns: Array | slice = slice(None)
    ) -> SpikeRule:
        """Return the scalar rule at one strength, for all or some of the variables."""
        return SpikeRule(
            np.ascontiguousarray(gamma + self.offsets[columns]),
            np.ascontiguousarray(self.signs[columns]),
            np.array([precision]),
            self.ridge,
        )

    def among(self, columns: Array) -> "SpikeTerms":
        """Return the prior of some of the variables, in the order given."""
        return replace(self, offsets=self.offsets[columns], signs=self.signs[columns])

    def respond(
        self,
        gamma: float,
        precision: float,
        target: Floats,
        curvature: Floats,
        skipped: Array,
        probability: Floats,
        coef: Floats,
    ) -> float:
        """Set inclusion probabilities and coefficients by least-squares values, but for some variables.

        What `moments` does for one of them, for many at a time. Returns the sum of their `noise_share`.
        """
        return float(
            _respond(
                self.offsets, self.signs, gamma, precision, self.ridge, target, curvature, skipped,
                probability, coef,
            )
        )  # fmt: skip

    def first_precision(self, response_variance: float) -> float:
        """Return the noise precision of the empty model."""
        return 1.0 / (self.noise_variance or response_variance)

    def weights(self, target: Floats, curvature: Floats, columns: Array | slice) -> Floats:
        """Return the weights that least-squares values are shrunk to, given inclusion."""
        kept = np.where(target * self.signs[columns] < 0, 0.0, target)
        if not self.ridge:
            return kept
        return kept * curvature[columns] / (curvature[columns] + self.ridge)

    def targets(self, weight: Floats, curvature: Floats) -> Floats:
        """Return the least-squares values that weights were shrunk from."""
        return weight * ((curvature + self.ridge) / curvature) if self.ridge else weight

    def variances(
        self, probability: Floats, weight: Floats, curvature: Floats, precision: float
    ) -> Floats:
        """Return the coefficients' variances."""
        variance = probability * (1 - probability) * weight**2
        if self.ridge:
            variance = variance + probability / (precision * (curvature + self.ridge))
        return variance

    def slab_cost(self, weight: Floats, curvature: Floats, precision: float) -> Floats:
        """Return what inclusion costs beyond the odds and the normaliser: divergence from the slab."""
        if not self.ridge:
            return np.zeros_like(weight)
        kept = self.ridge / (curvature + self.ridge)
        return 0.5 * (kept - 1.0 + precision * self.ridge * weight**2)

    def noise_shares(
        self, probability: Floats, weight: Floats, curvature: Floats, precision: float
    ) -> Floats:
        """Return what each variable adds to the noise equation; see `noise_share`."""
        shares = self.variances(probability, weight, curvature, precision) * curvature
        if self.ridge:
            square = weight**2 + 1.0 / (precision * (curvature + self.ridge))
            shares = shares + probability * (square * self.ridge - 1.0 / precision)
        return shares


@kernel
def _respond(
    offsets, signs, gamma, precision, ridge, target, curvature, skipped, probability, coef
):
    """Do as `moments` and `noise_share` do, without a branch, so that several columns go at a time."""
    total = 0.0
    slab = 1.0 if ridge > 0 else 0.0
    for j in range(curvature.shape[0]):
        used = curvature[j] > 0 and not skipped[j]
        c = curvature[j] if used else 1.0
        w = target[j] * (c / (c + ridge))
        w = w if w * signs[j] >= 0 else 0.0
        log_odds = gamma + offsets[j] + 0.5 * precision * (c + ridge) * w * w
        m = 1.0 / (1.0 + exponential(-log_odds))
        m = m if used and log_odds > -40.0 else 0.0
        spread = slab / (precision * (c + ridge))
        total += c * m * ((1.0 - m) * w * w + spread)
        total += slab * m * ((w * w + spread) * ridge - 1.0 / precision)
        probability[j] = m if used else probability[j]
        coef[j] = m * w if used else coef[j]
    return total
