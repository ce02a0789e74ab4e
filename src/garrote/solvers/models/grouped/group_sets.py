"""All sets of groups that a law of inclusion allows, and the columns that each of them has."""

import numpy as np

from garrote.arrays import Array
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.solvers.models.scored_models import ModelList


def count_sets(law: InclusionOfGroups, most: int) -> int:
    """Return how many sets of groups are allowed, or a number beyond ``most``."""
    return len(_listed(law, most))


def allowed_sets(law: InclusionOfGroups) -> Array:
    """Return all allowed sets, a row of truth values for each: the empty one first."""
    return _listed(law, np.inf)


def _listed(law: InclusionOfGroups, most: float) -> Array:
    """Return all allowed sets; those of the first groups alone where they are beyond ``most``."""
    inside = np.zeros((1, len(law)), dtype=bool)
    for group in parents_first(law):
        more = inside.copy()
        more[:, group] = True
        inside = np.concatenate([inside, more[law.allowed(more, [group])]])
        if len(inside) > most:
            break
    return inside


def parents_first(law: InclusionOfGroups) -> list[int]:
    """Return the groups in an order in which parents come before their children."""
    order: list[int] = []
    while len(order) < len(law):
        known = set(order)
        order += [
            group
            for group in range(len(law))
            if group not in known and known.issuperset(law.parents[group].tolist())
        ]
    return order


def as_models(law: InclusionOfGroups, inside: Array) -> ModelList:
    """Return sets of groups as models of their columns, ascending."""
    columns = np.flatnonzero(law.of_column >= 0)
    there = inside[:, law.of_column[columns]]
    members = columns[np.nonzero(there)[1]].astype(np.int32)
    return ModelList.of_sizes(there.sum(axis=1), members)


def groups_inside(law: InclusionOfGroups, columns: Array) -> Array:
    """Return the set of groups of which some columns are, with all their parents."""
    inside = np.zeros(len(law), dtype=bool)
    inside[law.of_column[np.asarray(columns, dtype=np.intp)]] = True
    for group in reversed(parents_first(law)):
        if inside[group]:
            inside[law.parents[group]] = True
    return inside
