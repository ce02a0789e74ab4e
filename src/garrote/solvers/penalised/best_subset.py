"""The best subset of every size, by leaps and bounds (Furnival & Wilson 1974).

From the model of all columns, columns are taken out one by one. What is left can only get worse: where
a model is already no better than the best known of the smallest size that could still be reached from
it, nothing below it is looked at. At each model the column that matters most comes first, so that the
largest branches, those without it, are the first to be left out. To take a column out is one step of
elimination on the inverse of the cross products.
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.limits.budgets import MODELS_PER_CALL
from garrote.penalties.base import Terms
from garrote.problem import Problem
from garrote.results.certificates import optimality
from garrote.results.fit import PenaltyFit
from garrote.solvers.control import Control

# More columns than this take too long to search.
MOST_COLUMNS = 40
# A column of which others leave less than this share depends on them.
_DEPENDENT = 1e-10
# Correlations that differ from 1 by less do so by the rounding of sums alone.
_ROUNDING = 1e-14


class Subsets(NamedTuple):
    """Of each size, 0 to D: the smallest squared error, and the model that has it."""

    squared: Floats
    members: list[Array]


def solve_best_subsets(
    problem: Problem, most: int | None, strengths: Floats, terms: Terms, control: Control
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Solve for every price of a variable, exactly, among models of ``most`` columns at most."""
    _check(problem, terms)
    subsets = best_subsets(problem)
    sizes = None if most is None else most + 1
    half = 0.5 * subsets.squared[:sizes] / problem.n
    largest = float(np.abs(problem.xty).max(initial=0.0)) or 1.0
    points = []
    for step, strength in enumerate(strengths):
        size = int(np.argmin(half + strength * np.arange(len(half))))
        columns = subsets.members[size]
        coef = np.asarray(
            np.linalg.solve(problem.known_block(columns), problem.xty[columns]), np.float64
        )
        squared, gradient = yield from problem.evaluate(columns, coef[:, None])
        loss = 0.5 * float(squared[0]) / problem.n
        off = float(np.abs(gradient[0][columns]).max(initial=0.0)) / largest
        certificate = optimality(np.nan, off)
        points.append(PenaltyFit(float(strength), columns, coef, 0.0, loss, certificate, 1))
        control.report("path", step + 1, len(strengths))
    return points


def _check(problem: Problem, terms: Terms) -> None:
    if np.isfinite(terms.lower).any() or np.isfinite(terms.upper).any():
        raise ValueError("penalty 'best subset' takes no bounds; leave them out or take MCP")
    if (terms.factor != 1).any():
        raise ValueError("penalty 'best subset' takes no penalty factors; leave them out")
    if len(problem.usable) > MOST_COLUMNS:
        raise ValueError(
            f"best subsets are searched among {MOST_COLUMNS} columns at most, got "
            f"{len(problem.usable)}; choose columns first, or take MCP"
        )


def best_subsets(problem: Problem) -> Subsets:
    """Return the subset of each size that leaves the smallest squared error.

    Of columns that are copies of each other the first stands for all: no best subset needs two.
    """
    usable, likeness, scale = _without_copies(problem)
    count = len(usable)
    try:
        root = cholesky(likeness)
        if not (np.diag(root) ** 2 > _DEPENDENT).all():
            raise LinAlgError
    except LinAlgError:
        raise ValueError(
            f"best subsets need columns that do not depend on each other; {count} columns over "
            f"{problem.n:g} rows do: drop some of them"
        ) from None
    inverse = cho_solve((root, False), np.eye(count))
    coef = inverse @ (problem.xty[usable] / scale)
    left = problem.yty - float(coef @ (problem.xty[usable] / scale))
    squared, models = np.full(count + 1, np.inf), np.zeros(count + 1, dtype=np.int64)
    squared[0] = problem.yty
    if count:
        squared[count], models[count] = left, (1 << count) - 1
        state = _begin(inverse, coef, left)
        while not _walk(*state, squared, models, MODELS_PER_CALL):
            pass
    bits = models[:, None] >> np.arange(count) & 1
    return Subsets(np.minimum.accumulate(squared), [usable[row == 1] for row in bits])


def _without_copies(problem: Problem) -> tuple[Array, Floats, Floats]:
    """Return columns that cross products tell apart, their correlations and their sizes."""
    gram = problem.known_block(problem.usable)
    scale = np.sqrt(np.diag(gram))
    likeness = gram / np.outer(scale, scale)
    earlier = np.tril(np.abs(likeness), -1)
    kept = np.flatnonzero(1.0 - earlier.max(axis=1, initial=0.0) > _ROUNDING)
    return problem.usable[kept], likeness[np.ix_(kept, kept)], scale[kept]


def _begin(inverse: Floats, coef: Floats, left: float) -> tuple[Array, ...]:
    """Return the walk's state: a model on each level, its columns ordered, the next one to take out."""
    count = len(coef)
    inverses = np.zeros((count + 1, count, count))
    coefs, ids = np.zeros((count + 1, count)), np.zeros((count + 1, count), dtype=np.int64)
    inverses[0], coefs[0], ids[0] = inverse, coef, np.arange(count)
    squared, following = np.zeros(count + 1), np.full(count + 1, -1)
    fixed = np.zeros(count + 1, dtype=np.int64)
    squared[0] = left
    level = np.zeros(1, dtype=np.int64)
    _arrange(inverses[0], coefs[0], ids[0], 0, count)
    following[0] = count - 1
    return inverses, coefs, ids, squared, fixed, following, level


@kernel
def _arrange(inverse, coef, ids, fixed, count):
    """Order the columns that may go by what taking them out costs, the dearest first."""
    for a in range(fixed, count):
        best, most = a, -1.0
        for b in range(a, count):
            loss = coef[b] * coef[b] / inverse[b, b]
            if loss > most:
                best, most = b, loss
        if best != a:
            ids[a], ids[best] = ids[best], ids[a]
            coef[a], coef[best] = coef[best], coef[a]
            for k in range(count):
                inverse[a, k], inverse[best, k] = inverse[best, k], inverse[a, k]
            for k in range(count):
                inverse[k, a], inverse[k, best] = inverse[k, best], inverse[k, a]


@kernel
def _walk(inverses, coefs, ids, squared, fixed, following, level, best, models, budget):
    """Look at so many more models; tell whether all have been seen."""
    full = coefs.shape[1]
    for _ in range(budget):
        at = level[0]
        i, count = following[at], full - at
        if i < fixed[at] or count <= 1:
            if at == 0:
                return True
            level[0] -= 1
            continue
        following[at] -= 1
        pivot = inverses[at, i, i]
        left = squared[at] + coefs[at, i] * coefs[at, i] / pivot
        if left < best[count - 1]:
            best[count - 1] = left
            model = 0
            for k in range(count):
                if k != i:
                    model |= 1 << ids[at, k]
            models[count - 1] = model
        # Below are the models of this size and smaller that keep the first i columns.
        if count - 1 <= max(i, 1) or left >= best[max(i, 1)]:
            continue
        below = at + 1
        a = 0
        for k in range(count):
            if k == i:
                continue
            share = inverses[at, k, i] / pivot
            ids[below, a] = ids[at, k]
            coefs[below, a] = coefs[at, k] - share * coefs[at, i]
            b = 0
            for m in range(count):
                if m != i:
                    inverses[below, a, b] = inverses[at, k, m] - share * inverses[at, i, m]
                    b += 1
            a += 1
        squared[below], fixed[below] = left, i
        _arrange(inverses[below], coefs[below], ids[below], i, count - 1)
        following[below] = count - 2
        level[0] = below
    return False
