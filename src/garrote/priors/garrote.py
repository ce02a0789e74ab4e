"""Spike-and-slab priors for mean-field solvers: the Variational Garrote's, and those with a slab.

Each variable is in the model with prior log odds gamma (plus its own offset). The garrote has a flat
prior on its weight w and takes the best w; its inclusion s has a variational posterior probability m
(Kappen & Gomez 2014, Eqs. 2-10). With a slab N(0, noise / ridge) the pair (w, s) has a joint factor of
the posterior instead (Titsias & Lazaro-Gredilla 2011; Carbonetto & Stephens 2012): w given inclusion is
Gaussian with mean c z / (c + ridge), z the least-squares value and c the curvature, and variance
noise / (c + ridge). The slab's normaliser, log(ridge / (c + ridge)) / 2, is part of the offset. Nothing
else differs.

A slab of two humps (`evidence.humps` has the names) has a sign t, which is +1 or -1, in the factor
too. With the noise's deviation s and x = lift c z / ((c + ridge) s), w given inclusion and sign is
Gaussian with mean

    (c z + t lift s) / (c + ridge),

the sign has mean tanh(x), its ``tilt``, and the log odds of inclusion are higher by log cosh(x), less
height c / (c + ridge) / 2, which is part of the offset. The noise has a share that falls with its own
deviation: its equation is quadratic in s. Without a lift this is the Gaussian slab.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import exponential
from garrote.priors.evidence.humps import (
    SignedWeights,
    humps_of,
    log_cosh,
    signed_weights,
    without_pull,
)
from garrote.rules import (
    inclusion,
    inclusion_among,
    moments,
    moments_among,
    noise_pull,
    noise_share,
    restricted,
    shrink,
)


class SpikeRule(NamedTuple):
    """Log odds and allowed sign per variable, noise precision, the slab's ridge (0: flat) and lift."""

    log_odds: Floats
    sign: Floats
    precision: Floats
    ridge: float = 0.0
    lift: float = 0.0


@kernel(inline=True)
def _with_humps(rule, z, curvature):
    """Return the weight without the pull, how far the humps pull, the tilt, and log cosh."""
    c, root = curvature + rule.ridge, np.sqrt(rule.precision[0])
    centre = z * (curvature / c)
    x = root * rule.lift * centre
    return centre, rule.lift / (root * c), np.tanh(x), log_cosh(x)


@inclusion.register
def _(rule: SpikeRule, j, weight, curvature):
    gain = 0.0
    if rule.lift > 0:
        root = np.sqrt(rule.precision[0])
        reach = rule.lift / (root * (curvature + rule.ridge))
        weight = without_pull(weight, reach, root * rule.lift)
        gain = log_cosh(root * rule.lift * weight)
    evidence = 0.5 * rule.precision[0] * (curvature + rule.ridge) * weight * weight
    log_odds = rule.log_odds[j] + evidence + gain
    # Most columns of a wide problem are far out: an exponential saved.
    return 1.0 / (1.0 + np.exp(-log_odds)) if log_odds > -40.0 else 0.0


@moments.register
def _(rule: SpikeRule, j, z, curvature):
    if rule.lift > 0:
        return _moments_with_humps(rule, j, z, curvature)
    weight = z if z * rule.sign[j] >= 0 else 0.0
    if rule.ridge > 0:
        weight *= curvature / (curvature + rule.ridge)
    probability = inclusion(rule, j, weight, curvature)
    variance = probability * (1.0 - probability) * weight * weight
    if rule.ridge > 0:
        variance += probability / (rule.precision[0] * (curvature + rule.ridge))
    return probability, weight, variance


@kernel(inline=True)
def _moments_with_humps(rule, j, z, curvature):
    centre, reach, tilt, gain = _with_humps(rule, z, curvature)
    spread = 1.0 / (rule.precision[0] * (curvature + rule.ridge))
    log_odds = rule.log_odds[j] + 0.5 * centre * centre / spread + gain
    probability = 1.0 / (1.0 + np.exp(-log_odds)) if log_odds > -40.0 else 0.0
    weight = centre + reach * tilt
    spread += reach * reach * (1.0 - tilt * tilt)
    return probability, weight, probability * ((1.0 - probability) * weight * weight + spread)


@noise_share.register
def _(rule: SpikeRule, z, probability, weight, variance, curvature):
    share = variance * curvature
    if rule.lift > 0:
        square = variance + probability * probability * weight * weight
        share += square * rule.ridge - probability / rule.precision[0]
        share -= noise_pull(rule, z, probability, curvature) / np.sqrt(rule.precision[0])
    elif rule.ridge > 0:
        # The slab scales with the noise: a weight drawn from it tells of the noise like a row does.
        square = weight * weight + 1.0 / (rule.precision[0] * (curvature + rule.ridge))
        share += probability * (square * rule.ridge - 1.0 / rule.precision[0])
    return share


@noise_pull.register
def _(rule: SpikeRule, z, probability, curvature):
    if rule.lift > 0:
        centre, reach, tilt, _ = _with_humps(rule, z, curvature)
        return rule.lift * probability * (centre * tilt + reach)
    return 0.0


@kernel(inline=True)
def implied_noise(n, total, pull, outside, precision):
    """Return the noise variance that variables and squared residual imply.

    ``total`` are all shares at the present precision, ``outside`` those among them that are held,
    ``pull`` what of the others falls with the deviation s: n s^2 = total + (s0 - s) pull. Shares that
    are held and negative, as humps have them, go with s^2, or the equation would swing.
    """
    if pull == 0.0:
        return total / n
    held = min(outside, 0.0)
    rows, rest = n - held * precision, max(total - held + pull / np.sqrt(precision), 0.0)
    deviation = 2.0 * rest / (pull + np.sqrt(pull * pull + 4.0 * rows * rest))
    return deviation * deviation


@moments_among.register
def _(rule: SpikeRule, j, target, curvature):
    return moments(rule, j, target[j], curvature[j])


@inclusion_among.register
def _(rule: SpikeRule, j, weight, curvature):
    return inclusion(rule, j, weight[j], curvature[j])


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
    lift : float
        The pull of the slab's two humps, if it has them, in units of the noise's deviation.
    """

    offsets: Floats
    signs: Floats
    noise_variance: float | None = None
    ridge: float = 0.0
    lift: float = 0.0
    strengths: ClassVar[str] = "gammas"
    # Which variables share a switch; see `garrote.priors.shared_switches`.
    groups: ClassVar[Array | None] = None

    @classmethod
    def with_slab(
        cls,
        variance: float,
        offsets: Floats,
        curvature: Floats,
        noise_variance: float | None = None,
        separation: float = 0.0,
    ) -> "SpikeTerms":
        """Return the prior with a slab, ``variance`` times the noise's, of two humps or one."""
        ridge, lift, height = humps_of(variance, separation)
        normaliser = 0.5 * np.log(ridge / (curvature + ridge))
        if separation:
            normaliser -= 0.5 * height * (curvature / (curvature + ridge))
        return cls(offsets + normaliser, np.zeros_like(offsets), noise_variance, ridge, lift)

    def rule(
        self, gamma: float, precision: float, columns: Array | slice = slice(None)
    ) -> SpikeRule:
        """Return the scalar rule at one strength, for all or some of the variables."""
        return SpikeRule(
            np.ascontiguousarray(gamma + self.offsets[columns]),
            np.ascontiguousarray(self.signs[columns]),
            np.array([precision]),
            self.ridge,
            self.lift,
        )

    def alone(self, gamma: float, precision: float) -> SpikeRule:
        """Return the rule of variables that have a switch of their own: here, of all."""
        return self.rule(gamma, precision)

    def pooled(self, values: Floats, columns: Array | slice = slice(None)) -> Floats:
        """Return for each variable the sum over all that share its switch: here, its own value."""
        return values

    def per_switch(self, values: Floats, columns: Array) -> Floats:
        """Return values of which those that share a switch have one together."""
        return values

    def agreed(self, probability: Floats) -> Floats:
        """Return probabilities that are equal where a switch is shared."""
        return probability

    def switches(self, usable: Array) -> Array:
        """Return one of the usable columns for each switch."""
        return usable

    def together(self, usable: Array) -> Array:
        """Return the usable columns that share a switch with others: here, none."""
        return usable[:0]

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
        if self.lift:
            rule = self.rule(gamma, precision)
            return float(_respond_with_humps(rule, target, curvature, skipped, probability, coef))
        return float(
            _respond(
                self.offsets, self.signs, gamma, precision, self.ridge, target, curvature, skipped,
                probability, coef,
            )
        )  # fmt: skip

    def first_precision(self, response_variance: float) -> float:
        """Return the noise precision of the empty model."""
        return 1.0 / (self.noise_variance or response_variance)

    def weights(
        self, target: Floats, curvature: Floats, columns: Array | slice, precision: float
    ) -> Floats:
        """Return the weights that least-squares values are shrunk to, given inclusion."""
        kept = np.where(target * self.signs[columns] < 0, 0.0, target)
        if not self.ridge:
            return kept
        centre = kept * curvature[columns] / (curvature[columns] + self.ridge)
        if not self.lift:
            return centre
        root = np.sqrt(precision)
        reach = self.lift / (root * (curvature[columns] + self.ridge))
        return np.asarray(centre + reach * np.tanh(root * self.lift * centre))

    def targets(self, weight: Floats, curvature: Floats, precision: float) -> Floats:
        """Return the least-squares values that weights were shrunk from."""
        if not self.ridge:
            return weight
        return self.signed(weight, curvature, precision).centre * (
            (curvature + self.ridge) / curvature
        )

    def signed(self, weight: Floats, curvature: Floats, precision: float) -> SignedWeights:
        """Return what weights given inclusion say of signs: nothing, without humps."""
        reach = self.lift / (np.sqrt(precision) * (curvature + self.ridge))
        return signed_weights(weight, reach, np.sqrt(precision) * self.lift)

    def spreads(self, weight: Floats, curvature: Floats, precision: float) -> Floats:
        """Return the variances of weights given inclusion."""
        spread = 1.0 / (precision * (curvature + self.ridge))
        if not self.lift:
            return spread
        reach = self.lift * spread * np.sqrt(precision)
        tilt = self.signed(weight, curvature, precision).tilt
        return np.asarray(spread + reach**2 * (1.0 - tilt**2))

    def variances(
        self, probability: Floats, weight: Floats, curvature: Floats, precision: float
    ) -> Floats:
        """Return the coefficients' variances."""
        variance = probability * (1 - probability) * weight**2
        if self.ridge:
            variance = variance + probability * self.spreads(weight, curvature, precision)
        return variance

    def slab_cost(self, weight: Floats, curvature: Floats, precision: float) -> Floats:
        """Return what inclusion costs beyond the odds and the normaliser: divergence from the slab."""
        if not self.ridge:
            return np.zeros_like(weight)
        kept = self.ridge / (curvature + self.ridge)
        if not self.lift:
            return 0.5 * (kept - 1.0 + precision * self.ridge * weight**2)
        signed = self.signed(weight, curvature, precision)
        away = precision * self.ridge * signed.square
        away -= 2.0 * np.sqrt(precision) * self.lift * signed.along
        away += self.lift**2 / (curvature + self.ridge)
        return np.asarray(0.5 * (kept - 1.0 + away) + signed.told)

    def noise_shares(
        self, probability: Floats, weight: Floats, curvature: Floats, precision: float
    ) -> Floats:
        """Return what each variable adds to the noise equation; see `noise_share`."""
        shares = self.variances(probability, weight, curvature, precision) * curvature
        if self.lift:
            square = weight**2 + self.spreads(weight, curvature, precision)
            shares = shares + probability * (square * self.ridge - 1.0 / precision)
            pulls = self.noise_pulls(probability, weight, curvature, precision)
            return np.asarray(shares - pulls / np.sqrt(precision))
        if self.ridge:
            square = weight**2 + 1.0 / (precision * (curvature + self.ridge))
            shares = shares + probability * (square * self.ridge - 1.0 / precision)
        return shares

    def noise_pulls(
        self, probability: Floats, weight: Floats, curvature: Floats, precision: float
    ) -> Floats:
        """Return what of each share falls with the noise's deviation; see `noise_pull`."""
        return self.lift * probability * self.signed(weight, curvature, precision).along


@kernel
def _respond_with_humps(rule, target, curvature, skipped, probability, coef):
    """Do as `_respond` does, for a slab of two humps."""
    total = 0.0
    for j in range(curvature.shape[0]):
        if curvature[j] > 0 and not skipped[j]:
            m, w, variance = moments(rule, j, target[j], curvature[j])
            total += noise_share(rule, target[j], m, w, variance, curvature[j])
            probability[j], coef[j] = m, m * w
    return total


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
