"""Evidence under an unknown g, one model at a time: slow, and independent of the tables of `tabled_g`.

The evidence given g is computed at many values of x = log(g - g0), around the largest. Its prior is
integrated by Gauss and Legendre's rule, piece by piece; or the largest value is taken.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Floats
from garrote.priors.evidence.closed_forms import SMALLEST_LEFT, log_evidence
from garrote.priors.evidence.law_of_g import LawOfG, log_prior

# The x that are looked at first, and how far below the largest value nothing counts.
_FIRST = np.linspace(-640.0, 640.0, 25601)
_NEGLIGIBLE = 45.0
# Pieces of the integral, and places in each.
_PIECES = 60
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


class ScannedG(NamedTuple):
    """Zellner's prior with g integrated out or, without a law, the best g.

    ``law`` are the settings of a law; ``rows`` are all rows, n those less ``spent`` ones.
    """

    ridge: float
    total: float
    n: float
    law: Any
    rows: float
    spent: float


@log_evidence.register
def _(rule: ScannedG, size, log_det, left):
    if size == 0:
        return 0.0
    share = min(max(left / rule.total, 0.0 if size >= rule.n else SMALLEST_LEFT), 1.0)
    if share < SMALLEST_LEFT:
        share = 0.0
    if rule.law is None:
        return _largest(rule.n, size, share)
    sizes = np.array([float(size)])
    law = LawOfG(*map(float, rule.law.numbers(sizes, rule.rows, rule.spent)[0]))
    with np.errstate(over="ignore"):
        whole = _integrated(lambda x: log_prior(law, x) + _given_g(rule.n, size, share, law, x))
        return whole - _integrated(lambda x: log_prior(law, x))


def _integrated(log_density: Any) -> float:
    """Return the log of an integral over x."""
    values = log_density(_FIRST)
    counts = np.flatnonzero(values > values.max() - _NEGLIGIBLE)
    ends = np.linspace(
        _FIRST[max(counts[0] - 1, 0)], _FIRST[min(counts[-1] + 1, len(_FIRST) - 1)], _PIECES + 1
    )
    half = 0.5 * np.diff(ends)
    places = (ends[:-1] + half)[:, None] + half[:, None] * _NODES
    return float(logsumexp(log_density(places), b=half[:, None] * _WEIGHTS))


def _given_g(n: float, size: int, share: float, law: LawOfG, x: Floats) -> Floats:
    """Return the log of the evidence given g, at log(g - g0)."""
    g = law.begin - 1.0 + np.exp(x)
    return np.asarray(0.5 * (n - size) * np.log1p(g) - 0.5 * n * np.log1p(g * share))


def _largest(n: float, size: int, share: float) -> float:
    """Return the largest evidence, close to the best of the first places; g = 0 has 0."""
    anywhere = LawOfG(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    places = _FIRST
    for reach in (0.05, 1e-4):
        best = places[np.argmax(_given_g(n, size, share, anywhere, places))]
        places = best + reach * np.linspace(-1.0, 1.0, 2001)
    return max(float(_given_g(n, size, share, anywhere, places).max()), 0.0)
