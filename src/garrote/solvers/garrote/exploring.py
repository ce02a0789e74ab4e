"""What else could have been found: solutions from other starts and in other orders of updating.

A mean field has several optima, and which one sweeps end in depends on where they start and on the
order in which variables are updated. Both are tried here, on the columns that matter: from the empty
model in the order in which variables enter the annealed path, in the reverse of it and in random
orders, and from random inclusion probabilities, soft (between 0 and 1) and hard (0 or 1); then from what
these lead to, with a variable in the place of another that resembles it. What is found is then solved
on all columns and certified on the data.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.solvers.control import Control, same_solution
from garrote.solvers.garrote.coordinate_annealing import Annealer
from garrote.solvers.garrote.starts import solve_from

# Columns that other starts and orders are tried on.
_SCREENED = 100
_STARTS = 4
_RANDOM_ORDERS = 2
# Variables that are swapped have at least this absolute correlation. Each solution has its variables
# swapped one by one, in so many ways at most, until so many are found.
_RESEMBLING = 0.8
_WAYS, _EXCHANGED = 24, 16
# Solutions that differ by less than this, in probability and standard errors, are taken for one.
_ALIKE = 1e-3


def explore(
    problem: Problem,
    prior: SpikeTerms,
    gamma: float,
    annealed: Sequence[Fit],
    control: Control,
    seed: int = 0,
) -> Generator[Floats, Floats, dict[str, Fit]]:
    """Solve from other starts and in other orders; return solutions by how they were reached.

    ``annealed`` are solutions from sparse to dense, which tell when variables enter.
    """
    ranked = entry_order(problem, annealed)[:_SCREENED]
    rng = np.random.default_rng(seed)
    # In the order of the columns, so that a start means the same however variables are named.
    by_column = np.sort(ranked)
    orders = {"entry order": ranked, "reversed order": ranked[::-1]}
    for number in range(_RANDOM_ORDERS):
        orders[f"random order {number + 1}"] = rng.permutation(by_column)
    starts = [rng.uniform(size=len(ranked)) for _ in range(_STARTS)]
    starts[1::2] = [np.round(m) for m in starts[1::2]]
    tries = {how: (columns, [np.zeros(len(columns))]) for how, columns in orders.items()}
    tries["start"] = (by_column, starts)
    # Ways that lead to one solution are solved on all columns once.
    found: list[tuple[Fit, list[str]]] = []

    def note(point: Fit, label: str) -> None:
        for known, ways in found:
            if same_solution(known, point, problem, _ALIKE):
                ways.append(label)
                return
        found.append((point, [label]))

    for how, (columns, begins) in tries.items():
        small, narrow = problem.among(columns), prior.among(columns)
        solved = yield from solve_from(small, narrow, gamma, begins, control)
        for name, fit in solved.items():
            note(_among_all(fit, columns), name if how == "start" else how)
    twins, exchanges = _resembling(small), count(1)
    for point, _ in found:  # which grows meanwhile
        ways_on = _WAYS if len(found) < _EXCHANGED else 0
        begins = list(islice(_exchanges(point, by_column, twins), ways_on))
        solved = yield from solve_from(small, narrow, gamma, begins, control)
        for fit in solved.values():
            note(_among_all(fit, by_column), f"exchange {next(exchanges)}")
    annealer = Annealer(problem, prior, control)
    fits = yield from annealer.certified([point for point, _ in found])
    most = max(problem.most_variables, 1.0)
    return {
        how: fit
        for (_, ways), fit in zip(found, fits, strict=True)
        for how in _in_short(ways)
        if fit.expected_size <= most and fit.certificate.value <= control.tol
    }


def _in_short(ways: list[str]) -> list[str]:
    """Leave out exchanges where there are other ways, and all but the first where there are none."""
    others = [how for how in ways if not how.startswith("exchange")]
    return others or ways[:1]


def _resembling(problem: Problem) -> Array:
    """Return which columns of a small problem could stand in for which."""
    products = problem.known_block(np.arange(problem.n_features))
    size = np.sqrt(problem.curvature)
    alike = np.abs(products) >= _RESEMBLING * np.outer(size, size)
    np.fill_diagonal(alike, False)
    return alike


def _exchanges(point: Fit, columns: Array, twins: Array) -> Iterator[Floats]:
    """Yield the inclusions of a solution, with one variable in the place of another like it."""
    m = np.zeros(len(columns))
    listed = np.isin(point.columns, columns)
    m[np.searchsorted(columns, point.columns[listed])] = point.probability[listed]
    for j in np.flatnonzero(m > 0.5):
        for k in np.flatnonzero(twins[j] & (m <= 0.5)):
            swapped = m.copy()
            swapped[j], swapped[k] = m[k], m[j]
            yield swapped


def entry_order(problem: Problem, annealed: Sequence[Fit]) -> Array:
    """Return the usable columns by when they enter: those that come in at the sparsest gamma first.

    Columns that never enter follow, by their largest inclusion probability, then by their own fit.
    """
    entered = np.full(problem.n_features, np.inf)
    highest = np.zeros(problem.n_features)
    for fit in annealed:
        inside = fit.columns[fit.probability > 0.5]
        entered[inside] = np.minimum(entered[inside], fit.strength)
        highest[fit.columns] = np.maximum(highest[fit.columns], fit.probability)
    usable = problem.usable
    alone = np.abs(problem.xty[usable]) / np.sqrt(problem.curvature[usable])
    return usable[np.lexsort((-alone, -highest[usable], entered[usable]))]


def _among_all(fit: Fit, columns: Array) -> Fit:
    """Return a solution on some columns, in the order of all columns."""
    listed = columns[fit.columns]
    order = np.argsort(listed)
    return replace(
        fit,
        columns=listed[order],
        probability=fit.probability[order],
        weight=fit.weight[order],
        n_iter=0,
    )
