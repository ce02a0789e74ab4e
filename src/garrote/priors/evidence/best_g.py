"""Marginal likelihoods under Zellner's prior with the g of largest evidence for each model.

Given g a model of k variables that leaves the share L of y'y has, beside the empty model, the evidence

    B(g) = (1 + g)^((n - k) / 2) (1 + g L)^(-n / 2),

n being the rows less those spent on means (Liang et al. 2008). The g of largest B has a closed form.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.priors.evidence.closed_forms import (
    SMALLEST_LEFT,
    log_evidence,
    noise_mean,
    slab_moments,
)


class BestG(NamedTuple):
    """Zellner's prior with the g of largest evidence for each model: max(F - 1, 0).

    F = (1 - L) / k / (L / (n - k)) is the model's F statistic. ``ridge`` is 0, ``total`` is y'y.
    """

    ridge: float
    total: float
    n: float


@kernel(inline=True)
def _best(n, size, share):
    """Return the g of largest evidence."""
    if size == 0 or size >= n:
        return 0.0
    return max((1.0 - share) / share * (n - size) / size - 1.0, 0.0)


@kernel(inline=True)
def floored(left, total):
    """Return what is left of y'y as a share of it that is not 0."""
    return min(max(left / total, SMALLEST_LEFT), 1.0)


@log_evidence.register
def _(rule: BestG, size, log_det, left):
    share = floored(left, rule.total)
    g = _best(rule.n, size, share)
    return 0.5 * (rule.n - size) * np.log1p(g) - 0.5 * rule.n * np.log1p(g * share)


@slab_moments.register
def _(rule: BestG, size, left):
    g = _best(rule.n, size, floored(left, rule.total))
    kept = g / (1.0 + g)
    return kept, kept * kept, kept * noise_mean(rule, size, left)


@noise_mean.register
def _(rule: BestG, size, left):
    share = floored(left, rule.total)
    g = _best(rule.n, size, share)
    return (1.0 + g * share) / (1.0 + g) * rule.total / (rule.n - 2.0)
