"""The best subset of every size, by leaps and bounds (Furnival & Wilson 1974).

From the model of all columns, columns are taken out one by one. What is left can only get worse: where
a model is already no better than the best known of the smallest size that could still be reached from
it, nothing below it is looked at. At each model the column that matters most comes first, so that the
largest branches, those without it, are the first to be left out. To take a column out is one step of
elimination on the inverse of the cross products.
"""

from collections.abc import Generator, Sequence
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
    """Of each size, 0 to the largest: the smallest squared error, and the model that has it.

    ``bound`` is what no subset of a size can be below: the same where all were searched.
    """

    squared: Floats
    members: list[Array]
    bound: Floats


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


def best_subsets(
    problem: Problem,
    most: int | None = None,
    nodes: int | None = None,
    known: Sequence[Array] = (),
) -> Subsets:
    """Return the subset of each size that leaves the smallest squared error.

    Of columns that are copies of each other the first stands for all: no best subset needs two.

    Parameters
    ----------
    problem : Problem
    most : int, optional
        The largest size that is looked for.
    nodes : int, optional
        After so many models the search ends, and says how much smaller errors could be.
    known : sequence of arrays
        Good subsets of some sizes, from which the search learns early what it may leave out.
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
    squared, models = np.full(count + 1, np.inf), np.zeros((count + 1, count), dtype=np.bool_)
    squared[0], largest = problem.yty, count if most is None else min(most, count)
    squared[count], models[count] = left, True
    for members in known:
        _take_known(problem, usable, members, squared, models)
    bound = squared.copy()
    if count:
        state = _begin(inverse, coef, left)
        done, seen = False, 0
        while not done and (nodes is None or seen < nodes):
            done = _walk(*state, squared, models, largest, MODELS_PER_CALL)
            seen += MODELS_PER_CALL
        bound = squared.copy() if done else _bounds(state, squared)
        for size, least in _smallest(likeness, problem.xty[usable] / scale, problem.yty).items():
            bound[size] = max(bound[size], least)
    squared = np.minimum.accumulate(squared)[: largest + 1]
    subsets = [usable[row] for row in models[: largest + 1]]
    return Subsets(squared, subsets, np.minimum(bound[: largest + 1], squared))


def _take_known(
    problem: Problem, usable: Array, members: Array, squared: Floats, models: Array
) -> None:
    """Take a subset that is known for the best of its size so far, if it is."""
    places = np.flatnonzero(np.isin(usable, members))
    if not len(places) or len(places) < len(members):
        return
    gram, xty = problem.known_block(usable[places]), problem.xty[usable[places]]
    # A little more than it is, so that the search finds it again, or one as good, by its own sums.
    left = problem.yty - float(xty @ np.linalg.solve(gram, xty)) + _ROUNDING * problem.yty
    if left < squared[len(places)]:
        squared[len(places)], models[len(places)] = left, False
        models[len(places), places] = True


def _smallest(likeness: Floats, product: Floats, yty: float) -> dict[int, float]:
    """Return the smallest squared errors of one column and of two, by looking at all."""
    found = {1: yty - float((product**2).max())}
    above, below = np.triu_indices(len(product), 1)
    if len(above):
        alike = likeness[above, below]
        explained = (
            product[above] ** 2 + product[below] ** 2 - 2 * alike * product[above] * product[below]
        )
        found[2] = yty - float((explained / (1.0 - alike**2)).max())
    return found


def _bounds(state: tuple[Array, ...], squared: Floats) -> Floats:
    """Return what no subset of each size can be below, by the branches that are still open.

    What a branch leaves without its column is the least that any subset below it can leave.
    """
    inverses, coefs, _, at_level, fixed, following, level = state
    bound, full = squared.copy(), coefs.shape[1]
    for at in range(int(level[0]) + 1):
        count = full - at
        for i in range(int(fixed[at]), int(following[at]) + 1):
            left = at_level[at] + coefs[at, i] ** 2 / inverses[at, i, i]
            least = max(i, 1)
            bound[least:count] = np.minimum(bound[least:count], left)
    return bound


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
def _walk(inverses, coefs, ids, squared, fixed, following, level, best, models, most, budget):
    """Look at so many more models; tell whether all of the sizes looked for have been seen."""
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
            for k in range(full):
                models[count - 1, k] = False
            for k in range(count):
                models[count - 1, ids[at, k]] = k != i
        # Below are the models of this size and smaller that keep the first i columns.
        if count - 1 <= max(i, 1) or i > most or left >= best[max(i, 1)]:
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
