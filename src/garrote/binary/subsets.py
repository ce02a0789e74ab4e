"""Which columns a regression with given coefficients should have: a binary programme."""

from typing import Any

import numpy as np

from garrote.binary.programme import BinaryProgramme
from garrote.problem import Problem
from garrote.settings import check_positive


def subset_programme(problem: Problem, coef: Any, price: float) -> BinaryProgramme:
    """Return the programme that selects columns whose coefficients are known, at a price for each.

    ::

        max_x  y'y / (2 N) - ||y - sum_j x_j w_j X_j||^2 / (2 N) - price sum_j x_j

    It is quadratic: A = -diag(w) X'X diag(w) / (2 N) and b = w X'y / N - price. Where columns are
    orthogonal and w are their least-squares coefficients, its maximum is the best subset itself.
    Otherwise the best subset of all coefficients is approached by turns: programme, least squares.

    Parameters
    ----------
    problem : Problem
        Of a Gaussian response.
    coef : array of shape (D,)
        w, of the columns and the response as ``problem`` has them, standardised.
    price : float
        What a column costs, the strength of `garrote.penalties.L0` and `BestSubset`.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import Problem
    >>> from garrote.binary import maximise_binary, subset_programme
    >>> problem = Problem.from_moments(100 * np.eye(3), [50.0, 5.0, 30.0], 100.0, 100)
    >>> programme = subset_programme(problem, problem.xty / problem.curvature, price=0.02)
    >>> maximise_binary(programme.A, programme.b).x.tolist()
    [1, 0, 1]
    """
    if not problem.likelihood.name == "gaussian":
        raise ValueError(
            f"a subset is a quadratic programme for family 'gaussian', not {problem.likelihood.name!r}"
        )
    w = np.asarray(coef, dtype=np.float64)
    if w.shape != (problem.n_features,) or not np.isfinite(w).all():
        raise ValueError(
            f"coef must hold {problem.n_features} finite numbers, one a column, got shape {w.shape}"
        )
    check_positive("price", price)
    gram = problem.known_block(np.arange(len(w)))
    together = -0.5 * w[:, None] * (gram / problem.n) * w
    return BinaryProgramme(together, w * problem.xty / problem.n - price)
