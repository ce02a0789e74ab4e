"""Other optima of the mean field for labels than the annealed and the reheated one, at one prior.

Each variable of a solution is exchanged for those that resemble it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from garrote.arrays import Array
from garrote.inference.mean_field.following import add_distinct
from garrote.inference.resemblance import correlations
from garrote.solvers.labels.bound_annealing import same_label_fit
from garrote.solvers.labels.bound_rounds import NextVariance
from garrote.solvers.labels.logistic_bound import LabelFit, LogisticBound

# Variables that are exchanged have at least this absolute correlation.
_RESEMBLING = 0.8
# Optima that are looked for at one prior, at most, and exchanges that are tried from each.
_MOST, _WAYS = 8, 12


def look_around(
    bound: LogisticBound, known: Sequence[LabelFit], next_variance: NextVariance | None
) -> list[LabelFit]:
    """Return the distinct solutions at one prior: those known, and what exchanges lead to."""
    found: list[LabelFit] = []
    for one in known:
        add_distinct(found, one, same_label_fit)
    limit = max(bound.problem.most_variables, 1.0)
    for one in found:  # which grows meanwhile
        for start in islice(_exchanges(bound, one), _WAYS):
            if len(found) >= _MOST:
                return found
            other = bound.solve(one.strength, start, next_variance)
            if other.expected_size <= limit:
                add_distinct(found, other, same_label_fit)
    return found


def _exchanges(bound: LogisticBound, one: LabelFit) -> Iterator[LabelFit]:
    """Yield starts that have a variable in the place of another like it."""
    inside: Array = one.columns[one.probability > 0.5]
    alike = correlations(bound.problem, inside)
    for j, row in zip(inside, alike, strict=True):
        twins = np.setdiff1d(np.flatnonzero(np.abs(row) >= _RESEMBLING), inside)
        missing = np.setdiff1d(twins, bound.at_hand.columns)
        if len(missing):
            bound.at_hand.add(missing)
        for k in twins:
            yield _with_other(one, int(j), int(k), float(np.sign(row[k])))


def _with_other(one: LabelFit, j: int, k: int, sign: float) -> LabelFit:
    """Return a solution with column k in the place of j, and j left out."""
    others = (one.columns != j) & (one.columns != k)
    place = int(np.searchsorted(one.columns, j))
    columns = np.append(one.columns[others], k)
    order = np.argsort(columns)
    probability = np.append(one.probability[others], one.probability[place])
    weight = np.append(one.weight[others], sign * one.weight[place])
    spread = np.append(one.spread[others], one.spread[place])
    narrow = np.append(one.narrow[others], one.narrow[place])
    return replace(
        one, columns=columns[order], probability=probability[order], weight=weight[order],
        spread=spread[order], narrow=narrow[order],
    )  # fmt: skip
