"""All features of an orthonormal design together: the garrote's solution, and the best subset."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from garrote.arrays import Floats
from garrote.orthogonal.univariate import check_argument, half_of
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class OrthogonalSolution(Shown):
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


def _checked_moments(
    b: ArrayLike, response_variance: float, gamma: float, n_samples: float
) -> tuple[Floats, float]:
    b = np.asarray(b, dtype=float)
    check_argument(
        "b", b, b.ndim == 1 and bool(np.all(np.isfinite(b))), "finite and one-dimensional"
    )
    check_argument("gamma", gamma, bool(np.isfinite(gamma)), "finite")
    check_argument(
        "response_variance", response_variance, 0 < response_variance < np.inf, "> 0 and finite"
    )
    explained = float(b @ b)
    if explained > response_variance * (1 + 1e-9):
        raise ValueError(
            f"the sum of b^2 is {explained}, more than the response's variance "
            f"{response_variance}: these are not the coefficients of orthonormal columns"
        )
    return b, half_of(n_samples)
