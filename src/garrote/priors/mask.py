"""The Bernoulli-Gaussian model's mask: inclusion of one variable while all weights stay as they are.

y = sum of s_j w_j x_j + noise (Murphy 2012, Eqs. 13.20-13.22), with factors of its own for every s_j and
every w_j. Given that w_j has mean mu_j and variance noise * spread_j,

    logit m_j = log odds_j + c_j (mu_j z_j - mu_j^2 / 2) / noise - c_j spread_j / 2

with c_j = x_j'x_j and z_j the least-squares value of the coefficient beside the others' means.
"""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.rules import moments, shrink


class MaskRule(NamedTuple):
    """Prior log odds, weights' means and spreads per variable, and the noise precision."""

    log_odds: Floats
    weight: Floats
    spread: Floats
    precision: Floats


@moments.register
def _(rule: MaskRule, j, z, curvature):
    weight = rule.weight[j]
    evidence = rule.precision[0] * curvature * weight * (z - 0.5 * weight)
    log_odds = rule.log_odds[j] + evidence - 0.5 * curvature * rule.spread[j]
    # Either way no exponential overflows.
    if log_odds > 0:
        probability = 1.0 / (1.0 + np.exp(-log_odds))
    else:
        probability = np.exp(log_odds) / (1.0 + np.exp(log_odds))
    variance = probability * (1.0 - probability) * weight * weight
    variance += probability * rule.spread[j] / rule.precision[0]
    return probability, weight, variance


@shrink.register
def _(rule: MaskRule, j, z, curvature):
    probability, weight, _ = moments(rule, j, z, curvature)
    return probability * weight
