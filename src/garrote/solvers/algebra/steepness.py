"""How steep a quadratic loss can be: the largest eigenvalue of X'WX / n, by Lanczos' method.

Power iteration with memory: all products so far span the space in which the largest eigenvalue is
sought, so that a dozen products give it to a percent. What is left over bounds the error; it is
added, since a step that is a little too short is safe and one that is too long is not.
"""

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

from garrote.arrays import Floats
from garrote.problem import Problem
from garrote.solvers.losses.whole_loss import image_of

# Products with X at most; and the share of the eigenvalue that may be left over.
_PRODUCTS, _LEFT = 30, 0.01


def largest_eigenvalue(problem: Problem) -> Generator[Floats, Floats, float]:
    """Return the largest eigenvalue of X'WX / n, from above in all likelihood.

    Yields vectors to be multiplied with X; see `garrote.solvers.lockstep`.
    """
    usable = problem.curvature > 0
    if not usable.any():
        return 0.0
    start = np.where(usable, np.random.default_rng(0).standard_normal(len(usable)), 0.0)

    def applied(direction: Floats) -> Generator[Floats, Floats, Floats]:
        product = yield from _applied(problem, direction)
        product[~usable] = 0.0
        return product

    return (yield from lanczos(applied, start, int(usable.sum())))


def lanczos(
    apply: Callable[[Any], Generator[Any, Any, Any]], start: Any, rank: int | None = None
) -> Generator[Any, Any, float]:
    """Return the largest eigenvalue of a positive semidefinite matrix, and what it may be more.

    ``apply(vector)`` gives the matrix times a vector, ``start`` is one that has a part of everything,
    and ``rank`` how many eigenvalues there can be. Vectors may be arrays of any library.
    """
    basis = [start / _length(start)]
    most = min(_PRODUCTS, start.shape[0] if rank is None else rank)
    diagonal: list[float] = []
    beside: list[float] = []
    while True:
        applied = yield from apply(basis[-1])
        diagonal.append(float(applied @ basis[-1]))
        # Twice is enough to make it orthogonal to all before, up to rounding.
        for _ in range(2):
            for known in basis:
                applied = applied - (known @ applied) * known
        left = _length(applied)
        values, vectors = eigh_tridiagonal(diagonal, beside)
        largest, error = float(values[-1]), left * abs(float(vectors[-1, -1]))
        if error <= _LEFT * largest or len(basis) == most:
            return largest + error
        beside.append(left)
        basis.append(applied / left)


def _length(vector: Any) -> float:
    return float(vector @ vector) ** 0.5


def _applied(problem: Problem, direction: Floats) -> Generator[Floats, Floats, Floats]:
    """Return X'WX / n times a vector."""
    image = image_of(problem, direction)
    if not problem.has_rows:
        return image / problem.n
    _, products = yield from problem.evaluate_residuals(image[None, :])
    return products[0] / problem.n
