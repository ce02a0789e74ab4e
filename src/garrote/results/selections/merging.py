"""A selection by variables instead of columns: each group of columns becomes one entry.

A group is selected as a whole, so that its columns share selection, evidence and refits; they do not
share effects, and that of a group of several columns is NaN.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from garrote.arrays import Array
from garrote.results.credible_sets import CredibleSet
from garrote.results.selections.groups import VariableGroups
from garrote.results.selections.views import ModelsView

if TYPE_CHECKING:
    from garrote.results.selections.selection import Selection


def by_variable(selection: Selection) -> Selection:
    """Return a selection whose entries are variables: itself where every variable is one column."""
    groups = selection.groups
    if groups is None or not groups.several:
        return selection
    names = np.array(selection.names, dtype=object)
    fixed = groups.any_of(np.isin(names, selection.always_in))
    stability, classes = selection.stability, selection.by_class
    deviation, z = selection.deviation, selection.marginal_z
    effect, error = groups.alone(selection.effect), groups.alone(selection.standard_error)
    return replace(
        selection,
        names=groups.names,
        selected=groups.any_of(selection.selected),
        probability=groups.most(selection.probability),
        effect=effect,
        standard_error=error,
        lower=groups.alone(selection.lower),
        upper=groups.alone(selection.upper),
        always_in=tuple(name for name, kept in zip(groups.names, fixed, strict=True) if kept),
        stability=stability and replace(stability, found=groups.most(stability.found)),
        by_class=classes and replace(classes, effect=groups.most(np.abs(classes.effect))),
        deviation=None if deviation is None else groups.alone(deviation),
        marginal_z=None if z is None else groups.most(np.abs(z)),
        credible_sets=tuple(_merged_set(groups, one) for one in selection.credible_sets),
        models=selection.models and _merged_models(groups, selection.models),
        positions=None if selection.positions is None else selection.positions[groups.first],
        path=None,
        groups=None,
    )


def _merged_set(groups: VariableGroups, one: CredibleSet) -> CredibleSet:
    """Return a credible set of variables; copies of one variable's columns count once."""
    numbers = groups.number[one.variables]
    kept = np.sort(np.unique(numbers, return_index=True)[1])
    members = numbers[kept]
    return replace(
        one,
        variables=members,
        names=tuple(groups.names[g] for g in members),
        probability=one.probability[kept],
    )


def _merged_models(groups: VariableGroups, models: ModelsView) -> ModelsView:
    """Return models as sets of variables; 0 stands for the effect of one of several columns."""
    numbers = groups.number[models.columns]
    kept = np.sort(np.unique(numbers, return_index=True)[1])
    members: Array = numbers[kept]
    inside = ~np.isnan(models.effect)
    single = np.bincount(groups.number, minlength=len(groups)) == 1
    effect = np.full((len(models.size), len(members)), np.nan)
    for k, g in enumerate(members):
        there = inside[:, numbers == g].any(axis=1)
        effect[there, k] = models.effect[there, kept[k]] if single[g] else 0.0
    beyond = models.size - inside.sum(axis=1)
    size = (~np.isnan(effect)).sum(axis=1) + beyond
    return replace(models, columns=members, effect=effect, size=size)
