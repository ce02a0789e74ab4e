"""One feature of an orthonormal design: every solution, and where its branches end."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import entr, expit

from garrote.arrays import Floats
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class UnivariateSolutions(Shown):
    """Every solution of Eq. 15, in increasing order.

    Attributes
    ----------
    probability : ndarray of shape (1,) or (3,)
        The inclusion probabilities m.
    log_odds : ndarray of shape (1,) or (3,)
        logit(m), which still tells solutions apart where m rounds to 0 or 1.
    stable : ndarray of bool, shape (1,) or (3,)
        Whether m is a local minimum of the free energy, that is f'(m) < 1 for Eq. 15 as m = f(m).

    Examples
    --------
    >>> from garrote.orthogonal import univariate_solutions
    >>> solutions = univariate_solutions(rho=0.5, gamma=-35, n_samples=100)
    >>> solutions.stable
    array([ True, False,  True])
    """

    probability: Floats
    log_odds: Floats
    stable: NDArray[np.bool_]


def univariate_solutions(
    rho: float, gamma: float, n_samples: float, explained: float = 0.0
) -> UnivariateSolutions:
    """Find every solution of Eq. 15: one, or three where two stable ones coexist.

    There are three exactly when gamma lies strictly between the two `transition_lines`; the middle
    one is unstable. On a transition line itself the branch that ends there is left out.

    Parameters
    ----------
    rho : float
        Squared correlation with the response, 0 <= rho < 1 - explained.
    gamma : float
        Prior log odds.
    n_samples : float
        Number of samples.
    explained : float, default=0.0
        Share of the response's variance that other features explain, in [0, 1).

    Returns
    -------
    UnivariateSolutions
        The solutions in increasing order.

    Examples
    --------
    >>> from garrote.orthogonal import univariate_solutions
    >>> univariate_solutions(rho=0.5, gamma=-35, n_samples=100).probability.round(3)
    array([0.   , 0.585, 1.   ])
    """
    check_argument("gamma", gamma, bool(np.isfinite(gamma)), "finite")
    ratio, slack = _noise_shares(rho, explained)
    half = half_of(n_samples)

    def excess(log_odds: float) -> float:
        return float(_prior_log_odds(log_odds, ratio, slack, half) - gamma)

    # The log odds exceed gamma by N rho / (2 noise), and the noise lies between slack and 1.
    low, high = gamma + half * ratio, gamma + half * ratio / slack
    dense_end, sparse_end = (float(t) for t in _turning_points(ratio, slack, half))
    if excess(dense_end) < 0 < excess(sparse_end):
        ends = [min(low, sparse_end), sparse_end, dense_end, max(high, dense_end)]
    elif excess(sparse_end) <= 0:
        ends = [dense_end, max(high, dense_end)]
    elif excess(dense_end) >= 0:
        ends = [min(low, sparse_end), sparse_end]
    else:  # no turning points: comparisons with NaN are false
        ends = [low, high]
    log_odds = np.array([_root(excess, *piece) for piece in pairwise(ends)])
    stable = np.arange(log_odds.size) != 1
    return UnivariateSolutions(expit(log_odds), log_odds, stable)


def univariate_free_energy(
    m: ArrayLike, rho: ArrayLike, gamma: ArrayLike, n_samples: float, explained: float = 0.0
) -> Any:
    r"""Free energy of Eq. 7 with w and beta at their optima given m, up to constants.

    .. math:: F(m) = \frac N2 \log(1 - \delta - \rho m) - \gamma m + m \log m + (1-m) \log(1-m)

    Its stationary points are the solutions of Eq. 15. Arguments broadcast.

    Examples
    --------
    >>> from garrote.orthogonal import univariate_free_energy
    >>> univariate_free_energy([0.0, 1.0], rho=0.5, gamma=-35, n_samples=100).round(2)
    array([0.  , 0.34])
    """
    m, rho, gamma = (np.asarray(value, dtype=float) for value in (m, rho, gamma))
    check_argument("m", m, bool(np.all((m >= 0) & (m <= 1))), "in [0, 1]")
    ratio, slack = _noise_shares(rho, explained)
    noise = (1 - explained) * (slack + ratio * (1 - m))
    return half_of(n_samples) * np.log(noise) - gamma * m - entr(m) - entr(1 - m)


def best_univariate_solution(
    rho: float, gamma: float, n_samples: float, explained: float = 0.0
) -> float:
    """Inclusion probability of the stable solution of lowest free energy (ties: the sparser).

    Examples
    --------
    >>> from garrote.orthogonal import best_univariate_solution
    >>> round(best_univariate_solution(rho=0.5, gamma=-30, n_samples=100), 3)
    1.0
    """
    solutions = univariate_solutions(rho, gamma, n_samples, explained)
    m = solutions.probability[solutions.stable]
    return float(m[np.argmin(univariate_free_energy(m, rho, gamma, n_samples, explained))])


def critical_point(n_samples: float, explained: float = 0.0) -> tuple[float, float]:
    r"""Squared correlation and prior log odds at which the two branches merge.

    For rho < rho* or gamma > gamma* the solution is unique. With :math:`s = \sqrt{1 + N/2}`,
    Eq. 18 and Eq. 19 at the double root m* = (1 + 1/s) / 2 of Eq. 17 give

    .. math:: \rho^* = \frac{2 (1 - \delta)}{1 + s}, \qquad
              \gamma^* = \log\frac{s + 1}{s - 1} - 2 s.

    For large N these are about :math:`2 (1 - \delta) \sqrt{2/N}` and :math:`-\sqrt{2N}`.

    Notes
    -----
    Two slips of the text: gamma* does not depend on delta (the printed Eq. 20 has a factor
    1 - delta, but Eqs. 17 and 19 depend on rho and delta only through rho / (1 - delta)), and the
    rho* = 0.28 of its Fig. 1, for N = 100, is the large-N approximation; Eq. 18 gives 0.246.

    Examples
    --------
    >>> from garrote.orthogonal import critical_point
    >>> rho, gamma = critical_point(n_samples=100)
    >>> round(rho, 3), round(gamma, 1)
    (0.246, -14.0)
    """
    check_argument("explained", explained, 0 <= explained < 1, "in [0, 1)")
    s = np.sqrt(1 + half_of(n_samples))
    return float((1 - explained) * 2 / (1 + s)), float(2 * (np.arctanh(1 / s) - s))


def transition_lines(
    rho: ArrayLike, n_samples: float, explained: float = 0.0
) -> tuple[Floats, Floats]:
    """Prior log odds at which the sparse and the dense branch end (Eqs. 17-19).

    Raising gamma, the sparse solution (m near 0) persists until gamma_1, at the smaller root m_1 of
    Eq. 17, and then jumps up. Lowering gamma, the dense one (m near 1) persists until gamma_2, at
    the larger root m_2, and then jumps down. In between both exist. gamma_2 <= gamma_1; both
    decrease with rho, and gamma_2 tends to -inf as rho tends to 1 - explained.

    Notes
    -----
    The text calls m_1 "a local maximum of the free energy" that "can be discarded". It is an
    inflection, where the sparse minimum and the maximum annihilate, and its gamma_1 is needed.

    Returns
    -------
    gamma_1, gamma_2 : ndarray
        Of the shape of rho. NaN where rho < rho*: the solution is unique there for every gamma.

    Examples
    --------
    >>> from garrote.orthogonal import transition_lines
    >>> sparse_until, dense_until = transition_lines([0.2, 0.5], n_samples=100)
    >>> sparse_until.round(1), dense_until.round(1)
    (array([  nan, -28.5]), array([  nan, -45.1]))
    """
    ratio, slack = _noise_shares(np.asarray(rho, dtype=float), explained)
    half = half_of(n_samples)
    dense_end, sparse_end = _turning_points(ratio, slack, half)
    return (
        _prior_log_odds(sparse_end, ratio, slack, half),
        _prior_log_odds(dense_end, ratio, slack, half),
    )


def even_odds_line(rho: ArrayLike, n_samples: float, explained: float = 0.0) -> Floats:
    """Prior log odds for which m = 1/2 solves Eq. 15: below rho* the middle of a smooth transition.

    Examples
    --------
    >>> from garrote.orthogonal import even_odds_line
    >>> even_odds_line([0.1, 0.2], n_samples=100).round(1)
    array([ -5.3, -11.1])
    """
    ratio, slack = _noise_shares(rho, explained)
    return np.asarray(_prior_log_odds(0.0, ratio, slack, half_of(n_samples)))


def _prior_log_odds(log_odds: Any, ratio: Any, slack: Any, half: float) -> Any:
    """Eq. 19: the gamma for which m = expit(log_odds) solves Eq. 15, accurate also near m = 1."""
    return log_odds - half * ratio / (slack + ratio * expit(-log_odds))


def _turning_points(ratio: Any, slack: Any, half: float) -> tuple[Any, Any]:
    """Log odds of the larger and the smaller root of Eq. 17, NaN where there is none.

    m solves a m^2 - (2 a - c) m + 1 = 0 and 1 - m solves a u^2 - c u + slack^2 = 0: the smaller
    root of each is the product of the roots over the larger one, which keeps all its digits.
    """
    s = np.sqrt(1 + half)
    a = (s * ratio) ** 2
    c = ratio * (half * ratio - 2 * slack)
    discriminant = ratio**2 * half * (ratio - 2 / (1 + s)) * (half * ratio + 2 + 2 * s)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(np.where(discriminant >= 0, discriminant, np.nan))
        larger_m = (2 * a - c + spread) / (2 * a)
        larger_u = (c + spread) / (2 * a)
        dense = np.log(larger_m) - np.log(slack) * 2 + np.log(a * larger_u)
        sparse = -np.log(a * larger_m) - np.log(larger_u)
    return dense, sparse


def _root(function: Any, low: float, high: float) -> float:
    """Root of a function monotone on [low, high]; an end if rounding leaves no change of sign."""
    at_low, at_high = function(low), function(high)
    if at_low == 0 or at_high == 0 or (at_low > 0) == (at_high > 0):
        return low if abs(at_low) <= abs(at_high) else high
    return float(brentq(function, low, high, xtol=1e-300, rtol=1e-15, maxiter=2000))


def _noise_shares(rho: Any, explained: float) -> tuple[Any, Any]:
    """Rho / (1 - explained), and what that leaves of 1 (computed without cancellation)."""
    check_argument("explained", explained, 0 <= explained < 1, "in [0, 1)")
    rho, total = np.asarray(rho, dtype=float), 1 - explained
    allowed = f"in [0, 1 - explained) = [0, {total}), which leaves some noise"
    check_argument("rho", rho, bool(np.all((rho >= 0) & (rho < total))), allowed)
    return rho / total, (total - rho) / total


def half_of(n_samples: float) -> float:
    """Return half the number of samples."""
    check_argument("n_samples", n_samples, 0 < n_samples < np.inf, "> 0 and finite")
    return n_samples / 2


def check_argument(name: str, value: Any, holds: bool, allowed: str) -> None:
    """Refuse an argument that does not hold what is allowed."""
    if not holds:
        raise ValueError(f"{name} must be {allowed}, got {value}")
