"""The evidence of variances and noise, with the laws that these may have, and its gradient.

    log p(y) = -1/2 [n log(2 pi s) + log |C / s| + y'C^-1 y]
               + sum_j (a log(1/t_j) - b / t_j) + c log(1/s) - d / s

is Murphy's (2012) Eq. 13.154, the factor -1/2 of 13.151 kept (13.153 and 13.155 drop it) and terms
without t and s left out. n are the rows less those that means and covariates took.
"""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.relevance.given_variances import Given


class Hyperpriors(NamedTuple):
    """The laws of precisions: a, b of the coefficients', c, d of the noise's; and the rows that count.

    ``noise`` is that of the data where it is known. Where the data determine more than ``spendable``
    coefficients, the noise does not fall any further: beyond, fits interpolate. It never falls below
    ``least_noise``, and no variance rises above ``most_variance``.
    """

    a: float
    b: float
    c: float
    d: float
    rows: float
    noise: float | None = None
    spendable: float = np.inf
    least_noise: float = 0.0
    most_variance: float = np.inf


class Solution(NamedTuple):
    """Variances of the coefficients and of the noise, and the log evidence that they have.

    ``held`` says that the noise is not where the evidence is level: it is known, at its least, or
    (``cut``) held above that of fits which interpolate.
    """

    variance: Floats
    noise: float
    log_evidence: float
    held: bool = False
    cut: bool = False


def solution_of(
    given: Given, variance: Floats, noise: float, laws: Hyperpriors, cut: bool = False
) -> Solution:
    """Return variances with their evidence, and whether the noise was held."""
    cut = cut or (laws.noise is None and is_spent(given, variance, laws))
    held = cut or laws.noise is not None or noise <= laws.least_noise
    return Solution(variance, noise, log_evidence(given, variance, noise, laws), held, cut)


def log_evidence(given: Given, variance: Floats, noise: float, laws: Hyperpriors) -> float:
    """Return the log evidence of variances, all of them positive where b is."""
    found = -0.5 * (laws.rows * np.log(2 * np.pi * noise) + given.log_determinant + given.left)
    if laws.a or laws.b:
        found -= float((laws.a * np.log(variance) + laws.b / variance).sum())
    if laws.c or laws.d:
        found -= laws.c * np.log(noise) + laws.d / noise
    return float(found)


def gradient(
    given: Given, variance: Floats, noise: float, laws: Hyperpriors
) -> tuple[Floats, float]:
    """Return the derivatives of the log evidence by the logarithms of variances and of the noise.

    A variance that is as large as it may be, and would be larger, counts as level.
    """
    by_variance = 0.5 * (variance * given.pull**2 - variance * given.strength)
    if laws.b:
        by_variance += laws.b / variance - laws.a
    by_variance = np.where(variance >= laws.most_variance, np.minimum(by_variance, 0), by_variance)
    determined = determined_by(given, variance)
    by_noise = 0.5 * (squared_residual(given, variance, noise) / noise - laws.rows + determined)
    return by_variance, by_noise + laws.d / noise - laws.c


def determined_by(given: Given, variance: Floats) -> float:
    """Return how many coefficients the data determine, all together (Eq. 13.171, summed)."""
    return float((variance * given.strength).sum())


def squared_residual(given: Given, variance: Floats, noise: float) -> float:
    """Return ||y - X mean||^2 = s (y'C^-1 y - sum t_j Q_j^2)."""
    return max(noise * (given.left - float(variance @ given.pull**2)), 0.0)


def next_noise(given: Given, variance: Floats, noise: float, laws: Hyperpriors) -> float:
    """Return the noise variance by the fixed point (Eq. 13.170)."""
    determined = determined_by(given, variance)
    rows = laws.rows - determined + 2 * laws.c
    left = squared_residual(given, variance, noise) + 2 * laws.d
    return _allowed(left / max(rows, 1e-3), determined, noise, laws)


def expected_noise(given: Given, variance: Floats, noise: float, laws: Hyperpriors) -> float:
    """Return the noise variance by a step of EM (Eq. 13.168), which never lowers the evidence."""
    determined = determined_by(given, variance)
    left = squared_residual(given, variance, noise) + noise * determined + 2 * laws.d
    return _allowed(left / (laws.rows + 2 * laws.c), determined, noise, laws)


def is_spent(given: Given, variance: Floats, laws: Hyperpriors) -> bool:
    """Tell whether the data determine more coefficients than they may."""
    return determined_by(given, variance) > laws.spendable


def _allowed(found: float, determined: float, noise: float, laws: Hyperpriors) -> float:
    if laws.noise is not None:
        return laws.noise
    found = max(found, laws.least_noise)
    return max(found, noise) if determined > laws.spendable else found


def gain_of_one(strength: Floats, pull: Floats) -> Floats:
    """Return what the log evidence gains by the best variance of a variable that is out.

    It is 0 where S_j >= Q_j^2: no variance is the best one then (Tipping & Faul 2003).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(strength > 0, pull**2 / strength, 0.0)
        gain = 0.5 * (ratio - 1.0 - np.log(ratio))
    return np.where(ratio > 1.0, gain, 0.0)


def without_itself(given: Given, variance: Floats) -> tuple[Floats, Floats]:
    """Return S_j and Q_j with the variance of column j taken for 0, every column on its own."""
    kept = np.maximum(1.0 - variance * given.strength, 1e-12)
    return given.strength / kept, given.pull / kept
