r"""Orthogonal designs: where the variational garrote, and its hysteresis, can be written down.

With orthonormal columns (X'X / N = I) a feature meets the others only through the noise variance,
so that everything reduces to scalar equations. They show when two solutions coexist and serve as
oracles for the solvers.

Throughout, N is the number of samples, gamma the prior log odds of a feature, b = x'y / N its
least squares coefficient, rho = b^2 / var(y) its squared correlation with the response, and
`explained` (delta) the share of var(y) that the other features explain. The inclusion probability
m solves

.. math:: m = \sigma\left(\gamma + \frac N2 \frac{\rho}{1 - \delta - \rho m}\right). \tag{15}

Read from right to left, gamma is a function of m with at most two turning points, which are the
ends of the sparse and of the dense branch. Equation numbers are those of Kappen & Gómez (2014),
"The Variational Garrote", Machine Learning 96, section 4 and Appendix A.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import entr, expit

from garrote.arrays import Floats

__all__ = [
    "OrthogonalSolution",
    "UnivariateSolutions",
    "best_univariate_solution",
    "breiman_garrote_curve",
    "critical_point",
    "even_odds_line",
    "exact_subset",
    "lasso_curve",
    "orthogonal_solution",
    "ridge_curve",
    "shrinkage_curves",
    "transition_lines",
    "univariate_free_energy",
    "univariate_solutions",
    "variational_garrote_curve",
]


@dataclass(frozen=True)
class UnivariateSolutions:
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


@dataclass(frozen=True)
class OrthogonalSolution:
    """A solution of Eqs. 8-10 for an orthonormal design.

    Attributes
    ----------
    probability : ndarray of shape (n_features,)
        The inclusion probabilities m.
    noise_variance : float
        1 / beta.
    violation : float
        What is left of Eq. 10, relative to the response's variance; Eqs. 8 and 9 hold exactly.

    Examples
    --------
    >>> from garrote.orthogonal import orthogonal_solution
    >>> solution = orthogonal_solution([0.8, 0.1], response_variance=1.0, gamma=-5, n_samples=100)
    >>> round(solution.noise_variance, 3)
    0.36
    """

    probability: Floats
    noise_variance: float
    violation: float


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
    _check("gamma", gamma, bool(np.isfinite(gamma)), "finite")
    ratio, slack = _noise_shares(rho, explained)
    half = _half(n_samples)

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
    _check("m", m, bool(np.all((m >= 0) & (m <= 1))), "in [0, 1]")
    ratio, slack = _noise_shares(rho, explained)
    noise = (1 - explained) * (slack + ratio * (1 - m))
    return _half(n_samples) * np.log(noise) - gamma * m - entr(m) - entr(1 - m)


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
    _check("explained", explained, 0 <= explained < 1, "in [0, 1)")
    s = np.sqrt(1 + _half(n_samples))
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
    half = _half(n_samples)
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
    return np.asarray(_prior_log_odds(0.0, ratio, slack, _half(n_samples)))


def exact_subset(
    b: ArrayLike,
    response_variance: float,
    gamma: float,
    n_samples: float,
    rule: Literal["stationary", "maximum"] = "stationary",
) -> tuple[NDArray[np.bool_], float]:
    r"""Subset of an orthonormal design by its posterior, without the variational approximation.

    With w and beta at their optima a subset of size k has :math:`L = -\frac N2 \log(1/\beta) +
    \gamma k`, with :math:`1/\beta = \sigma_y^2 - \sum_{i \in s} b_i^2`; only the k largest
    \|b\| compete.

    Parameters
    ----------
    b : array_like of shape (n_features,)
        x'y / N for each column.
    response_variance : float
        Variance of the response, at least the sum of b^2 (up to rounding).
    gamma, n_samples
        As in `univariate_solutions`.
    rule : {"stationary", "maximum"}, default="stationary"
        "stationary" is the text's rule: the smallest k with beta N b_{k+1}^2 / 2 + gamma < 0
        (Eq. 14), beta belonging to the k features already in. It promises that every chosen
        feature has beta N b^2 / 2 + gamma >= 0 and every other one < 0, and that L rises with each
        feature it takes. It does not promise the maximum of L, since beta grows with the next
        feature: it may stop too early, never too late (its subset lies within the maximiser).
        "maximum" is the maximiser of L over all subsets, the sparsest in case of ties; it takes
        whatever makes 1 / beta zero, L being infinite there.

    Returns
    -------
    support : ndarray of bool, shape (n_features,)
        The chosen features, in the order of `b`.
    noise_variance : float
        1 / beta, possibly 0.

    Examples
    --------
    >>> from garrote.orthogonal import exact_subset
    >>> support, noise = exact_subset([0.8, 0.1], response_variance=1.0, gamma=-5, n_samples=100)
    >>> support, round(noise, 3)
    (array([ True, False]), 0.36)
    """
    b, half = _checked_moments(b, response_variance, gamma, n_samples)
    order = np.argsort(-np.abs(b), kind="stable")
    square = b[order] ** 2
    noise = np.maximum(response_variance - np.concatenate([[0.0], np.cumsum(square)]), 0.0)
    if rule == "stationary":
        # Multiplied by the noise, which may be 0; a column with b = 0 explains nothing even then.
        stop = (half * square + gamma * noise[:-1] < 0) | ((square == 0) & (gamma < 0))
        size = int(np.argmax(np.append(stop, True)))
    elif rule == "maximum":
        with np.errstate(divide="ignore"):
            size = int(np.argmax(gamma * np.arange(noise.size) - half * np.log(noise)))
    else:
        raise ValueError(f"rule must be 'stationary' or 'maximum', got {rule!r}")
    support = np.zeros(b.size, dtype=bool)
    support[order[:size]] = True
    return support, float(noise[size])


def orthogonal_solution(
    b: ArrayLike,
    response_variance: float,
    gamma: float,
    n_samples: float,
    start: Literal["sparse", "dense"] = "sparse",
    max_iter: int = 100_000,
) -> OrthogonalSolution:
    r"""Variational garrote for an orthonormal design, by iterating on the noise variance alone.

    .. math:: m_i = \sigma(\gamma + \beta N b_i^2 / 2), \qquad
              1/\beta = \sigma_y^2 - \sum_i b_i^2 m_i

    The right-hand side increases with 1/beta, so the iteration is monotone: from m = 0 ("sparse")
    it falls to the largest solution 1/beta, from m = 1 ("dense") it rises to the smallest. Equal
    answers prove that the solution is unique. Where the features explain everything, the dense
    answer is 1/beta = 0.

    Parameters
    ----------
    b, response_variance, gamma, n_samples
        As in `exact_subset`.
    start : {"sparse", "dense"}, default="sparse"
        The side to come from.
    max_iter : int, default=100_000
        Many are needed only close to the end of a branch; look at `violation` there.

    Examples
    --------
    >>> from garrote.orthogonal import orthogonal_solution
    >>> solution = orthogonal_solution([0.8, 0.1], response_variance=1.0, gamma=-5, n_samples=100)
    >>> solution.probability.round(3)
    array([1.   , 0.026])
    """
    b, half = _checked_moments(b, response_variance, gamma, n_samples)
    if start not in ("sparse", "dense"):
        raise ValueError(f"start must be 'sparse' or 'dense', got {start!r}")
    square = b**2
    full = max(response_variance - square.sum(), 0.0)

    def log_odds(noise: float) -> Any:
        with np.errstate(divide="ignore", over="ignore"):
            return gamma + np.divide(half * square, noise, out=0 * square, where=square > 0)

    def updated(noise: float) -> float:
        # A sum of positive terms does not cancel where the noise is small.
        return float(full + square @ expit(-log_odds(noise)))

    direction = -1 if start == "sparse" else 1
    noise = float(response_variance if start == "sparse" else full)
    for _ in range(max_iter):
        new = updated(noise)
        if direction * (new - noise) <= 0:
            break
        noise = new
    violation = abs(updated(noise) - noise) / response_variance
    return OrthogonalSolution(expit(log_odds(noise)), noise, violation)


def ridge_curve(w: ArrayLike, factor: float = 0.5) -> Floats:
    """Ridge estimate as a function of the least squares estimate: factor * w.

    Examples
    --------
    >>> from garrote.orthogonal import ridge_curve
    >>> ridge_curve([0.4, 2.0])
    array([0.2, 1. ])
    """
    return factor * np.asarray(w, dtype=float)


def lasso_curve(w: ArrayLike, threshold: float = 0.5) -> Floats:
    """Lasso estimate as a function of the least squares one: sign(w) (abs(w) - threshold)^+.

    Examples
    --------
    >>> from garrote.orthogonal import lasso_curve
    >>> lasso_curve([0.4, 2.0])
    array([0. , 1.5])
    """
    w = np.asarray(w, dtype=float)
    return np.sign(w) * np.maximum(np.abs(w) - threshold, 0.0)


def breiman_garrote_curve(w: ArrayLike, threshold: float = 0.25) -> Floats:
    """Breiman's garrote as a function of the least squares estimate: (1 - threshold / w^2)^+ w.

    Examples
    --------
    >>> from garrote.orthogonal import breiman_garrote_curve
    >>> breiman_garrote_curve([0.4, 2.0])
    array([0.   , 1.875])
    """
    w = np.asarray(w, dtype=float)
    kept = w**2 > threshold
    return np.where(kept, w - threshold / np.where(kept, w, 1.0), 0.0)


def variational_garrote_curve(
    w: ArrayLike,
    gamma: float = -10.0,
    n_samples: float = 100,
    response_variance: float | None = None,
    branch: Literal["best", "sparse", "dense"] = "best",
) -> Floats:
    """Variational garrote as a function of the least squares estimate: m w, m from Eq. 15.

    Parameters
    ----------
    w : array_like
        Least squares estimates for y = w x + noise, where x and the noise have variance 1.
    gamma, n_samples
        As in `univariate_solutions`; the defaults are those of the text's Fig. 2.
    response_variance : float, optional
        Variance of y; rho = w^2 / response_variance. By default 1 + w^2, as the model says: the
        caption's "sigma_y^2 = 1" is the unexplained variance, and taken as the variance of y it
        would leave no solution for abs(w) >= 1.
    branch : {"best", "sparse", "dense"}, default="best"
        Which stable solution to follow where two exist.

    Returns
    -------
    ndarray
        Odd in w.

    Examples
    --------
    >>> from garrote.orthogonal import variational_garrote_curve
    >>> variational_garrote_curve([0.2, 2.0]).round(3)
    array([0., 2.])
    """
    w = np.asarray(w, dtype=float)
    rho = w**2 / (1 + w**2 if response_variance is None else response_variance)
    if branch == "best":
        m = [best_univariate_solution(r, gamma, n_samples) for r in rho.flat]
    elif branch in ("sparse", "dense"):
        end = 0 if branch == "sparse" else -1
        m = [univariate_solutions(r, gamma, n_samples).probability[end] for r in rho.flat]
    else:
        raise ValueError(f"branch must be 'best', 'sparse' or 'dense', got {branch!r}")
    return np.reshape(m, w.shape) * w


def shrinkage_curves(
    w: ArrayLike,
    *,
    ridge: float = 0.5,
    lasso: float = 0.5,
    garrote: float = 0.25,
    gamma: float = -10.0,
    n_samples: float = 100,
) -> dict[str, Floats]:
    """Estimates of all four methods as functions of the least squares one, by method.

    Parameters
    ----------
    w : array_like
        Least squares estimates.
    ridge : float, default=0.5
        Factor of `ridge_curve`; the defaults are those of the text's Fig. 2.
    lasso, garrote : float
        Thresholds of `lasso_curve` and `breiman_garrote_curve`.
    gamma, n_samples : float
        As in `variational_garrote_curve`.

    Examples
    --------
    >>> from garrote.orthogonal import shrinkage_curves
    >>> curves = shrinkage_curves([0.4, 2.0])
    >>> {method: float(curve[-1].round(3)) for method, curve in curves.items()}
    {'ridge': 1.0, 'lasso': 1.5, 'garrote': 1.875, 'VG': 2.0}
    """
    return {
        "ridge": ridge_curve(w, ridge),
        "lasso": lasso_curve(w, lasso),
        "garrote": breiman_garrote_curve(w, garrote),
        "VG": variational_garrote_curve(w, gamma, n_samples),
    }


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
    _check("explained", explained, 0 <= explained < 1, "in [0, 1)")
    rho, total = np.asarray(rho, dtype=float), 1 - explained
    allowed = f"in [0, 1 - explained) = [0, {total}), which leaves some noise"
    _check("rho", rho, bool(np.all((rho >= 0) & (rho < total))), allowed)
    return rho / total, (total - rho) / total


def _checked_moments(
    b: ArrayLike, response_variance: float, gamma: float, n_samples: float
) -> tuple[Floats, float]:
    b = np.asarray(b, dtype=float)
    _check("b", b, b.ndim == 1 and bool(np.all(np.isfinite(b))), "finite and one-dimensional")
    _check("gamma", gamma, bool(np.isfinite(gamma)), "finite")
    _check("response_variance", response_variance, 0 < response_variance < np.inf, "> 0 and finite")
    explained = float(b @ b)
    if explained > response_variance * (1 + 1e-9):
        raise ValueError(
            f"the sum of b^2 is {explained}, more than the response's variance "
            f"{response_variance}: these are not the coefficients of orthonormal columns"
        )
    return b, _half(n_samples)


def _half(n_samples: float) -> float:
    _check("n_samples", n_samples, 0 < n_samples < np.inf, "> 0 and finite")
    return n_samples / 2


def _check(name: str, value: Any, holds: bool, allowed: str) -> None:
    if not holds:
        raise ValueError(f"{name} must be {allowed}, got {value}")
