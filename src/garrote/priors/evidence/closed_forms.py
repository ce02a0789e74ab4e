"""Marginal likelihoods of Gaussian models with spike-and-slab priors, as scalar rules for kernels.

A model is a set of k columns. All that a rule has to know of it are k, log |G + ridge I| and what is
left of y'y, S = y'y - b'(G + ridge I)^{-1} b, with G = X'WX and b = X'Wy of its columns. It registers

* ``log_evidence``, log p(y | model) up to a constant that all models share;
* ``slab_moments``, with which the coefficients' posterior follows from the ridge solution v and its
  inverse V = (G + ridge I)^{-1}: three numbers f such that E[w] = f1 v and E[ww'] = f2 vv' + f3 V.

Rules for an unknown g are in `garrote.priors.evidence.tabled_g`.

Murphy (2012), Eqs. 13.13-13.18 and exercise 13.4; Liang et al. (2008).
"""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import generic, kernel
from garrote.elementary import logarithm

# A model that explains y up to this share of y'y counts as one that leaves so much: with a flat prior on
# the noise, one that interpolates would have infinite evidence.
SMALLEST_LEFT = 1e-6


@generic
def log_evidence(rule: Any, size: int, log_det: float, left: float) -> float:
    """Return the log marginal likelihood of a model, up to a constant."""
    raise TypeError(f"no evidence is registered for {type(rule).__name__}")


@kernel(inline=True)
def log_evidence_ratio(rule, size, left, pivot, drop):
    """Return by how much one more variable raises the log evidence of a model.

    ``pivot`` is what the variable has beyond the others, ``drop`` what it takes off ``left``. Thousands
    of nats are common with many rows: the ratio itself would not be a number.
    """
    more = log_evidence(rule, size + 1, logarithm(pivot), max(left - drop, 0.0))
    return more - log_evidence(rule, size, 0.0, left) if more > -np.inf else -np.inf


@generic
def slab_moments(rule: Any, size: int, left: float) -> tuple[float, float, float]:
    """Return the factors of the coefficients' first and second posterior moments."""
    raise TypeError(f"no moments are registered for {type(rule).__name__}")


@generic
def noise_mean(rule: Any, size: int, left: float) -> float:
    """Return the posterior mean of the noise variance, given a model."""
    raise TypeError(f"no noise is registered for {type(rule).__name__}")


@singledispatch
def has_signs(rule: Any) -> bool:
    """Tell whether coefficients have signs, which are summed over: under slabs of two humps."""
    return False


@singledispatch
def noise_floor(rule: Any) -> float | None:
    """Return what every model leaves of y'y at least, beside a ridge; None for rules without a floor."""
    return None


class KnownNoise(NamedTuple):
    """Slab N(0, noise / ridge) for each coefficient, noise variance known (Eq. 13.13)."""

    ridge: float
    noise: float


@log_evidence.register
def _(rule: KnownNoise, size, log_det, left):
    return -0.5 * (log_det - size * logarithm(rule.ridge)) - 0.5 * left / rule.noise


@slab_moments.register
def _(rule: KnownNoise, size, left):
    return 1.0, 1.0, rule.noise


@noise_mean.register
def _(rule: KnownNoise, size, left):
    return rule.noise


class UnknownNoise(NamedTuple):
    """Slab N(0, noise / ridge), noise ~ inverse gamma, integrated out (Eq. 13.16).

    ``shape`` is the posterior's, a + n / 2 with n the rows less those spent on means; ``rate`` the
    prior's, b. What is left counts as ``least`` where it is less.
    """

    ridge: float
    shape: float
    rate: float
    least: float


@log_evidence.register
def _(rule: UnknownNoise, size, log_det, left):
    fit = -rule.shape * logarithm(rule.rate + 0.5 * max(left, rule.least))
    return fit - 0.5 * (log_det - size * logarithm(rule.ridge))


@slab_moments.register
def _(rule: UnknownNoise, size, left):
    return 1.0, 1.0, noise_mean(rule, size, left)


@noise_mean.register
def _(rule: UnknownNoise, size, left):
    return (rule.rate + 0.5 * max(left, rule.least)) / (rule.shape - 1.0)


@noise_floor.register
def _(rule: UnknownNoise):
    return rule.least


class FixedG(NamedTuple):
    """Zellner's prior N(0, g noise G^{-1}) with one g, noise ~ inverse gamma (exercise 13.4).

    ``ridge`` is 0; ``total`` is y'y.
    """

    ridge: float
    g: float
    total: float
    shape: float
    rate: float


@log_evidence.register
def _(rule: FixedG, size, log_det, left):
    unexplained = (rule.total + rule.g * left) / (1.0 + rule.g)
    fit = -rule.shape * logarithm(rule.rate + 0.5 * unexplained)
    return fit - 0.5 * size * logarithm(1.0 + rule.g)


@slab_moments.register
def _(rule: FixedG, size, left):
    kept = rule.g / (1.0 + rule.g)
    return kept, kept * kept, kept * noise_mean(rule, size, left)


@noise_mean.register
def _(rule: FixedG, size, left):
    unexplained = (rule.total + rule.g * left) / (1.0 + rule.g)
    return (rule.rate + 0.5 * unexplained) / (rule.shape - 1.0)


class Peak(NamedTuple):
    """The log likelihood at its maximum, less a ``price`` of each variable: log(rows) / 2 is BIC's.

    Murphy (2012), Eq. 13.18. ``ridge`` is 0. ``noise`` is NaN where it is unknown: the likelihood is
    maximised over it too, and what is left counts as ``least`` where it is less. Coefficients are those
    of least squares with their usual covariance, noise (X'X)^{-1}, an unknown noise being estimated from
    what is left on rows - ``spent`` - size degrees of freedom: what the Gaussian around the maximum, of
    which BIC keeps the leading terms, says of them. Models of more than ``most`` variables have no
    probability: with as many variables as rows they would interpolate.
    """

    ridge: float
    rows: float
    spent: float
    least: float
    most: float
    price: float
    noise: float


@log_evidence.register
def _(rule: Peak, size, log_det, left):
    if size > rule.most:
        return -np.inf
    if np.isnan(rule.noise):
        fit = -0.5 * rule.rows * logarithm(max(left, rule.least) / rule.rows)
    else:
        fit = -0.5 * left / rule.noise
    return fit - rule.price * size


@slab_moments.register
def _(rule: Peak, size, left):
    return 1.0, 1.0, noise_mean(rule, size, left)


@noise_mean.register
def _(rule: Peak, size, left):
    if np.isnan(rule.noise):
        return max(left, rule.least) / max(rule.rows - rule.spent - size, 1.0)
    return rule.noise


@kernel
def add_evidences(rule, size, log_dets, lefts, logs):
    """Add the log marginal likelihoods of models of one size."""
    for m in range(logs.shape[0]):
        logs[m] += log_evidence(rule, size, log_dets[m], lefts[m])


@kernel
def fill_moments(rule, size, lefts, factors):
    """Fill in the factors of models' moments, and the means of their noise variance."""
    for m in range(lefts.shape[0]):
        factors[0, m], factors[1, m], factors[2, m] = slab_moments(rule, size, lefts[m])
        factors[3, m] = noise_mean(rule, size, lefts[m])
