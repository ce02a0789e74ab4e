"""Who could stand in for a selected variable: its correlations with all columns."""

from collections.abc import Sequence

import numpy as np

from garrote.arrays import Array
from garrote.inference.resemblance import correlations, correlations_among
from garrote.problem import Problem
from garrote.results.posterior import Posterior
from garrote.results.selections.views import StandIns
from garrote.summaries import listing

# Columns correlated beyond this cannot be told apart by any data of this kind.
_INTERCHANGEABLE = 0.999
# Others count as near beyond this, and so many of them are named for each selected column.
_NEAR = 0.7
_MOST_NEAR = 5
# Beyond this a reader is told without asking.
_CLOSE = 0.95
# So many variables of at least this probability are compared with each other.
_MOST_COMPARED = 200
_LEAST_PROBABLE = 0.01


def find_stand_ins(
    problem: Problem, selected: Array, shown: Array
) -> tuple[StandIns, dict[int, Array]]:
    """Return who is near the selected columns, and what is interchangeable with them.

    The correlations are those among the selected, the near and then the other ``shown`` columns, as
    many in all as are shown.
    """
    correlation = correlations(problem, selected)
    near = {}
    interchangeable = {}
    for j, row in zip(selected, correlation, strict=True):
        size = np.abs(row)
        size[j] = 0.0
        close = np.flatnonzero(size > _NEAR)
        strongest = close[np.argsort(-size[close], kind="stable")[:_MOST_NEAR]]
        if len(strongest):
            near[int(j)] = tuple((int(k), float(row[k])) for k in strongest)
        same = np.flatnonzero(size > _INTERCHANGEABLE)
        if len(same):
            interchangeable[int(j)] = same
    others = [k for ks in near.values() for k, _ in ks]
    first = shown[np.isin(shown, selected)]
    wanted = dict.fromkeys([*first.tolist(), *others, *shown.tolist()])
    shown = np.array(list(wanted)[: len(shown)], dtype=np.int64)
    shown = shown[problem.curvature[shown] > 0]
    return StandIns(shown, correlations_among(problem, shown), near, _NEAR), interchangeable


def stand_in_notes(
    names: Sequence[str], near: StandIns, interchangeable: dict[int, Array], constant: Array
) -> list[str]:
    """Say who could replace a selected variable, and who could not be selected at all."""
    said = [
        f"{names[j]} could be replaced by {listing((names[k] for k in ks), str, 5)}"
        for j, ks in interchangeable.items()
    ]
    for j, others in near.near.items():
        close = [f"{names[k]} ({r:.2f})" for k, r in others if abs(r) > _CLOSE]
        if close and j not in interchangeable:
            said.append(
                f"{names[j]} is hard to tell from {listing(close, str, 5)}, by its correlation"
            )
    if len(constant):
        left_out = listing(names[j] for j in constant)
        said.append(f"left out, without variation of their own: {left_out}")
    return said


def shared_notes(problem: Problem, posterior: Posterior, names: Sequence[str]) -> list[str]:
    """Say which columns share a probability because none can be told from the others.

    Only groups of which one is probably in are told of, and only where models were kept or optima mixed:
    a single optimum has one of them.
    """
    inclusions = None if posterior.substitutes is None else posterior.substitutes.inclusions
    if inclusions is None or not posterior.law.mixes:
        return []
    probability = np.where(problem.curvature > 0, posterior.inclusion_probability, 0.0)
    likely = np.argsort(-probability, kind="stable")[:_MOST_COMPARED]
    likely = np.sort(likely[probability[likely] > _LEAST_PROBABLE])
    same = np.abs(correlations_among(problem, likely)) > _INTERCHANGEABLE
    said, free = [], np.ones(len(likely), dtype=bool)
    for k in range(len(likely)):
        group = likely[same[k] & free]
        free &= ~same[k]
        if len(group) < 2:
            continue
        inside = np.isin(inclusions.columns, group)
        any_in = 1.0 - float(
            inclusions.weight @ (1.0 - inclusions.probability[:, inside]).prod(axis=1)
        )
        if any_in > 0.5:
            listed = listing((names[j] for j in group), str, 5)
            said.append(
                f"{listed} are interchangeable and share their probability: one of them is in with "
                f"probability {any_in:.2f}"
            )
    return said
