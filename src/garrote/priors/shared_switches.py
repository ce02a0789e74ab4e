"""The garrote's prior where groups of columns share one switch: they are in together, or out.

The model is y = sum_g s_g X_g w_g + noise. Solvers see each group in coordinates in which its columns
are orthogonal (`garrote.designs.rotation`). There weights are as if every coordinate had a switch of its
own, and the evidence of all coordinates goes to the one that they share:

    w_k = z_k,    m_g = sigmoid(gamma_g + beta / 2 sum_k c_k w_k^2)

with z_k the least-squares value and c_k the curvature of coordinate k. It follows from the free energy
(Kappen & Gomez 2014, Eq. 7), in which a group has one entropy, one prior odds, and the variance
m_g (1 - m_g) sum_k c_k w_k^2.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from garrote.arrays import Array, Floats
from garrote.priors.garrote import SpikeRule, SpikeTerms
from garrote.rules import inclusion_among, moments_among, noise_pull, noise_share


class SharedSwitchRule(NamedTuple):
    """As `SpikeRule`, and the number of each variable's switch.

    ``order`` has the variables switch by switch, ``starts`` where those of each switch begin in it.
    """

    log_odds: Floats
    sign: Floats
    precision: Floats
    ridge: float
    switch: Array
    order: Array
    starts: Array


@inclusion_among.register
def _(rule: SharedSwitchRule, j, weight, curvature):
    log_odds, beta, g = rule.log_odds[j], rule.precision[0], rule.switch[j]
    for place in range(rule.starts[g], rule.starts[g + 1]):
        k = rule.order[place]
        if curvature[k] > 0:
            log_odds += 0.5 * beta * (curvature[k] + rule.ridge) * weight[k] * weight[k]
    return 1.0 / (1.0 + np.exp(-log_odds)) if log_odds > -40.0 else 0.0


@moments_among.register
def _(rule: SharedSwitchRule, j, target, curvature):
    log_odds, beta, g = rule.log_odds[j], rule.precision[0], rule.switch[j]
    coef = 0.0
    for place in range(rule.starts[g], rule.starts[g + 1]):
        k = rule.order[place]
        c = curvature[k]
        if c > 0:
            w = target[k] * (c / (c + rule.ridge)) if target[k] * rule.sign[k] >= 0 else 0.0
            log_odds += 0.5 * beta * (c + rule.ridge) * w * w
            if k == j:
                coef = w
    m = 1.0 / (1.0 + np.exp(-log_odds)) if log_odds > -40.0 else 0.0
    variance = m * (1.0 - m) * coef * coef
    if rule.ridge > 0:
        variance += m / (beta * (curvature[j] + rule.ridge))
    return m, coef, variance


@noise_share.register
def _(rule: SharedSwitchRule, z, probability, weight, variance, curvature):
    share = variance * curvature
    if rule.ridge > 0:
        square = weight * weight + 1.0 / (rule.precision[0] * (curvature + rule.ridge))
        share += probability * (square * rule.ridge - 1.0 / rule.precision[0])
    return share


@noise_pull.register
def _(rule: SharedSwitchRule, z, probability, curvature):
    return 0.0


@dataclass(frozen=True)
class SharedSwitchTerms(SpikeTerms):
    """What each variable has of its own, and which share a switch.

    Offsets of variables that share one are equal, and their signs 0. With a slab an offset has the
    normalisers of all of them.

    Parameters
    ----------
    groups : array of int of shape (D,)
        The number of each column's switch.
    """

    groups: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # type: ignore[misc]

    @classmethod
    def with_shared_slab(
        cls, variance: float, offsets: Floats, curvature: Floats, usable: Array, groups: Array
    ) -> "SharedSwitchTerms":
        """Return the prior with a slab, ``variance`` times the noise's, on every usable coordinate."""
        one = SpikeTerms.with_slab(variance, np.zeros(len(offsets)), curvature)
        made = cls(offsets, one.signs, None, one.ridge, groups=groups)
        return replace(made, offsets=offsets + made.pooled(np.where(usable, one.offsets, 0.0)))

    def rule(  # type: ignore[override]
        self, gamma: float, precision: float, columns: Array | slice = slice(None)
    ) -> SharedSwitchRule:
        """Return the rule at one strength, for all or some of the variables."""
        single = super().rule(gamma, precision, columns)
        _, switch = np.unique(self.groups[columns], return_inverse=True)
        order = np.argsort(switch, kind="stable")
        starts = np.searchsorted(switch[order], np.arange(switch.max(initial=-1) + 2))
        return SharedSwitchRule(
            single.log_odds, single.sign, single.precision, self.ridge, switch, order, starts
        )

    def alone(self, gamma: float, precision: float) -> SpikeRule:
        """Return the rule of variables that have a switch of their own."""
        return super().rule(gamma, precision)

    def among(self, columns: Array) -> "SharedSwitchTerms":
        """Return the prior of some of the variables, in the order given."""
        return replace(
            self, offsets=self.offsets[columns], signs=self.signs[columns],
            groups=self.groups[columns],
        )  # fmt: skip

    def pooled(self, values: Floats, columns: Array | slice = slice(None)) -> Floats:
        """Return for each variable the sum over all that share its switch."""
        _, switch = np.unique(self.groups[columns], return_inverse=True)
        return np.asarray(np.bincount(switch, values)[switch])

    def per_switch(self, values: Floats, columns: Array) -> Floats:
        """Return values of which those that share a switch have one together."""
        return values / self.pooled(np.ones(len(values)), columns)

    def agreed(self, probability: Floats) -> Floats:
        """Return probabilities of which those that share a switch have the mean."""
        return self.pooled(probability) / self.pooled(np.ones(len(probability)))

    def switches(self, usable: Array) -> Array:
        """Return one of the usable columns for each switch."""
        return np.asarray(usable[np.unique(self.groups[usable], return_index=True)[1]])

    def together(self, usable: Array) -> Array:
        """Return the usable columns that share a switch with others."""
        return np.asarray(usable[self.pooled(np.ones(len(usable)), usable) > 1])

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

        Returns the sum of their `noise_share`.
        """
        used = np.flatnonzero((curvature > 0) & ~skipped)
        c = curvature[used]
        weight = self.weights(target[used], curvature, used, precision)
        evidence = self.pooled(0.5 * precision * (c + self.ridge) * weight**2, used)
        log_odds = gamma + self.offsets[used] + evidence
        m = np.where(log_odds > -40.0, expit(log_odds), 0.0)
        probability[used], coef[used] = m, m * weight
        return float(self.noise_shares(m, weight, c, precision).sum())
