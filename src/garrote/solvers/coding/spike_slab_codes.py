"""Mean field with a spike and a slab, for many signals over one dictionary.

x = sum of s_j w_j d_j + noise, every w_j from a Gaussian slab and every switch s_j with its probability
(Murphy 2012, section 13.2.2): factors of a posterior in which the pairs (w_j, s_j) are independent
(Titsias & Lazaro-Gredilla 2011; Carbonetto & Stephens 2012) are made to agree by sweeps over the atoms.
"""

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.designs.gram import GramColumns
from garrote.priors.garrote import SpikeRule
from garrote.rules import Residual, moments
from garrote.solvers.descent.sweep import sweep

# Sweeps of a signal at most, and the steps, in standard errors, at which they end.
_MOST_SWEEPS, _SMALL = 500, 1e-7
# Signals that one call of the kernel codes.
_TOGETHER = 64


def spike_rule(
    curvature: Floats, inclusion: float, slab_variance: float, noise_variance: float
) -> SpikeRule:
    """Return the rule of a slab, a probability of inclusion and a noise, for atoms' squared lengths."""
    ridge = noise_variance / slab_variance
    normaliser = 0.5 * np.log(ridge / (curvature + ridge))
    log_odds = np.log(inclusion) - np.log1p(-inclusion) + normaliser
    precision = np.array([1.0 / noise_variance])
    return SpikeRule(log_odds, np.zeros_like(curvature), precision, ridge)


def spike_slab_codes(
    gram: Floats, products: Floats, rule: SpikeRule, start: Floats
) -> tuple[Floats, Floats]:
    """Return the posterior means of codes and their inclusion probabilities, from given means."""
    means, probability = start.copy(), np.zeros_like(start)
    curvature = np.ascontiguousarray(np.diag(gram))
    for first in range(0, len(products), _TOGETHER):
        some = slice(first, first + _TOGETHER)
        left = products[some] - means[some] @ gram
        _agree(gram, rule, curvature, left, means[some], probability[some])
    return means, probability


@kernel
def _agree(gram, rule, curvature, left, means, probability):
    """Sweep over the atoms of each signal until its factors agree."""
    columns, target = np.arange(gram.shape[0]), np.zeros(gram.shape[0])
    small = _SMALL / np.sqrt(rule.precision[0])
    for s in range(means.shape[0]):
        coef, residual = means[s], Residual(left[s], np.zeros(1), np.zeros(0))
        for _ in range(_MOST_SWEEPS):
            step = sweep(GramColumns(gram), rule, columns, coef, target, residual, curvature, 0.0)
            if step <= small:
                break
        for j in range(coef.shape[0]):
            if curvature[j] > 0.0:
                z = coef[j] + left[s, j] / curvature[j]
                probability[s, j] = moments(rule, j, z, curvature[j])[0]
            else:
                probability[s, j] = moments(rule, j, 0.0, curvature[j])[0]
