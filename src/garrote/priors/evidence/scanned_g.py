"""Evidence under an unknown g, one model at a time: slow, and independent of the tables of `hyper_g`.

The evidence given g is computed at many values of log g, around the largest. Its prior is integrated
by Gauss and Legendre's rule, piece by piece; or the largest value is taken.
"""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.priors.evidence.closed_forms import SMALLEST_LEFT, log_evidence

# Log g that are looked at first, and how far below the largest value nothing counts.
_FIRST = np.linspace(-60.0, 640.0, 14001)
_NEGLIGIBLE = 45.0
# Pieces of the integral, and places in each.
_PIECES = 60
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


class ScannedG(NamedTuple):
    """Zellner's prior with g integrated out under a prior (1 + g / scale)^(-a / 2), or the best g.

    ``scale`` is 1 for hyper-g, the number of rows for hyper-g/n, and 0 for the best g.
    """

    ridge: float
    total: float
    n: float
    a: float
    scale: float


@log_evidence.register
def _(rule: ScannedG, size, log_det, left):
    if size == 0:
        return 0.0
    share = min(max(left / rule.total, 0.0 if size >= rule.n else SMALLEST_LEFT), 1.0)
    if share < SMALLEST_LEFT:
        share = 0.0
    values = _log_values(rule, size, share, _FIRST)
    if rule.scale == 0.0:
        return _largest(rule, size, share, _FIRST[np.argmax(values)])
    counts = np.flatnonzero(values > values.max() - _NEGLIGIBLE)
    ends = np.linspace(
        _FIRST[max(counts[0] - 1, 0)], _FIRST[min(counts[-1] + 1, len(_FIRST) - 1)], _PIECES + 1
    )
    half = 0.5 * np.diff(ends)
    places = (ends[:-1] + half)[:, None] + half[:, None] * _NODES
    inside = _log_values(rule, size, share, places)
    top = inside.max()
    return float(top + np.log(np.sum(half[:, None] * _WEIGHTS * np.exp(inside - top))))


def _log_values(rule: ScannedG, size: int, share: float, log_g: Floats) -> Floats:
    """Return the log of what is integrated over log g, or of what is made large."""
    g = np.exp(log_g)
    values = 0.5 * (rule.n - size) * np.log1p(g) - 0.5 * rule.n * np.log1p(g * share)
    if rule.scale == 0.0:
        return np.asarray(values)
    prior = np.log(0.5 * (rule.a - 2.0) / rule.scale) - 0.5 * rule.a * np.log1p(g / rule.scale)
    return np.asarray(values + prior + log_g)


def _largest(rule: ScannedG, size: int, share: float, near: float) -> float:
    """Return the largest evidence, close to the best of the first places; g = 0 has 0."""
    places = np.linspace(near - 0.05, near + 0.05, 2001)
    return max(float(_log_values(rule, size, share, places).max()), 0.0)
