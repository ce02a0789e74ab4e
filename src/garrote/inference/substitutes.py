"""What credible sets need of the data, kept with a posterior, which has no X.

That is the correlations among the variables that have some probability and, for posteriors over models,
in which models they are.
"""

from dataclasses import replace

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.models.representative_models import Components
from garrote.inference.resemblance import correlations_among, correlations_of_groups
from garrote.priors.column_groups import ColumnGroups
from garrote.problem import Problem
from garrote.results.credible_sets import Inclusions, Likeness, Substitutes
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.solvers.models.representatives import represent

# Variables whose correlations are kept, at most: 2 MB of them.
_MOST = 500
# Components of the mixture that are kept, as long as they have no more entries than this.
_MOST_COMPONENTS, _ENTRIES = 2**15, 2_500_000


def with_substitutes(
    problem: Problem,
    posterior: Posterior,
    components: Components | None = None,
    inclusion: Floats | None = None,
) -> Posterior:
    """Return the posterior with all that credible sets are made of.

    ``components`` are the models of a posterior that has some, or what draws use; ``inclusion`` are the
    inclusion probabilities of one that states none.
    """
    compared = posterior.law.compared_columns
    if compared is not None:
        columns = np.sort(compared[:_MOST])
        likeness = Likeness(columns, correlations_among(problem, columns))
        return replace(posterior, substitutes=Substitutes(likeness))
    stated = posterior.inclusion_probability if inclusion is None else inclusion
    groups, usable = posterior.groups, problem.usable
    if groups is not None:  # a column stands for all of its group
        usable = usable[np.unique(groups.numbers[usable], return_index=True)[1]]
    p = np.zeros(problem.n_features)
    p[usable] = stated[usable]
    columns = np.argsort(-p, kind="stable")[:_MOST]
    columns = np.sort(columns[p[columns] > IN_SUPPORT])
    if components is not None:
        inclusions = keep_inclusions(columns, components)
    else:
        inclusions = posterior.law.inclusions(columns, posterior.optima, len(posterior.mean))
    likeness = Likeness(columns, _correlations(problem, columns, groups))
    return replace(posterior, substitutes=Substitutes(likeness, inclusions))


def _correlations(problem: Problem, columns: Array, groups: ColumnGroups | None) -> Floats:
    """Return the correlations of columns, or of the groups that each stands for."""
    if groups is None:
        return correlations_among(problem, columns)
    usable, numbers = problem.usable, groups.numbers
    parts = [usable[numbers[usable] == numbers[j]] for j in columns]
    return correlations_of_groups(problem, parts)


def keep_inclusions(columns: Array, components: Components) -> Inclusions:
    """Return models by what they have of some columns, those that have the same taken together.

    Of too many the best are kept as they are, and others drawn: see
    `garrote.solvers.models.representatives`.
    """
    inside = components.inside[:, columns].toarray()
    known = len(inside) - components.drawn
    among, weight = _together(inside[:known], components.weight[:known])
    most = min(_MOST_COMPONENTS, max(_ENTRIES // max(len(columns), 1), 2))
    few = represent(weight, most // 2, most - most // 2, order=among.sum(axis=1))
    others, rest = _together(inside[known:], components.weight[known:])
    return Inclusions(
        columns,
        np.concatenate([few.weight * weight.sum(), rest]),
        np.concatenate([among[few.chosen], others]),
        len(few.chosen) - few.listed + len(others),
    )


def _together(inside: Array, weight: Floats) -> tuple[Array, Floats]:
    """Return the distinct rows, heaviest first, and their weights."""
    if not len(inside) or not inside.shape[1]:
        return inside[:1], weight[:1] + weight[1:].sum()
    packed = np.packbits(inside, axis=1)
    rows = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, group = np.unique(rows, return_index=True, return_inverse=True)
    total = np.asarray(np.bincount(group, weight), dtype=np.float64)
    order = np.argsort(-total, kind="stable")
    return inside[first[order]], total[order]
