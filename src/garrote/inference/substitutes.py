"""What credible sets need of the data, kept with a posterior, which has no X.

That is the correlations among the variables that have some probability and, for posteriors over models,
in which models they are.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.credible_sets import MOST_COMPARED, Inclusions, Likeness
from garrote.posterior import IN_SUPPORT, Posterior
from garrote.problem import Problem

# Variables whose correlations are kept, at most: 2 MB of them.
_MOST = 500
# Components of the mixture that are kept, the most probable first.
_MOST_COMPONENTS = 5000
# Single effects are compared on as many of their variables as have this share of the probability.
_SHARE = 0.99


def with_substitutes(
    problem: Problem,
    posterior: Posterior,
    members: Sequence[Any] | None = None,
    probability: Floats | None = None,
    inclusion: Floats | None = None,
) -> Posterior:
    """Return the posterior with all that credible sets are made of.

    ``members`` and ``probability`` may give more models than the posterior keeps, ``inclusion`` the
    inclusion probabilities of a posterior that states none.
    """
    if posterior.effects is not None:
        return replace(posterior, likeness=_likeness(problem, _most_probable(posterior)))
    stated = posterior.inclusion_probability if inclusion is None else inclusion
    p = np.where(problem.curvature > 0, stated, 0.0)
    columns = np.argsort(-p, kind="stable")[:_MOST]
    columns = np.sort(columns[p[columns] > IN_SUPPORT])
    if members is None and posterior.found is not None:
        members, probability = posterior.found.members, posterior.found.probability
    if members is not None and probability is not None:
        inclusions = _of_models(columns, members, probability)
    else:
        inclusions = _of_optima(columns, posterior)
    return replace(posterior, likeness=_likeness(problem, columns), inclusions=inclusions)


def _most_probable(posterior: Posterior) -> Array:
    """Return the variables by which single effects are compared, those of the strongest first."""
    effects = posterior.effects
    assert effects is not None
    wanted: dict[int, None] = {}
    for k in np.argsort(-effects.log_bayes_factor, kind="stable"):
        order = np.argsort(-effects.probability[k], kind="stable")[:MOST_COMPARED]
        reached = np.cumsum(effects.probability[k][order])
        count = int(np.searchsorted(reached, _SHARE * effects.present[k])) + 1
        wanted |= dict.fromkeys(effects.columns[order[:count]].tolist())
    return np.sort(np.array(list(wanted)[:_MOST], dtype=np.intp))


def _likeness(problem: Problem, columns: Array) -> Likeness:
    size = np.sqrt(problem.curvature[columns])
    products = problem.known_block(columns) if len(columns) else np.zeros((0, 0))
    return Likeness(columns, np.clip(products / np.outer(size, size), -1.0, 1.0))


def _of_models(columns: Array, members: Sequence[Any], probability: Floats) -> Inclusions:
    """Return models by what they have of some columns, those that have the same taken together."""
    place = {int(j): k for k, j in enumerate(columns)}
    total: dict[tuple[int, ...], float] = {}
    for model, weight in zip(members, probability, strict=True):
        inside = tuple(sorted(place[int(j)] for j in model if int(j) in place))
        total[inside] = total.get(inside, 0.0) + float(weight)
    ranked = sorted(total.items(), key=lambda entry: (-entry[1], entry[0]))[:_MOST_COMPONENTS]
    weight = np.array([mass for _, mass in ranked])
    among = np.zeros((len(ranked), len(columns)), dtype=bool)  # a byte each
    for row, (inside, _) in zip(among, ranked, strict=True):
        row[list(inside)] = True
    return Inclusions(columns, weight / weight.sum(), among)


def _of_optima(columns: Array, posterior: Posterior) -> Inclusions:
    """Return the components of a factorised posterior, with their weights."""
    law = posterior.mixture
    if law is not None:
        place = np.searchsorted(law.columns, columns)
        return Inclusions(columns, law.weight, law.probability[:, place])
    everywhere = np.zeros((len(posterior.optima), len(posterior.mean)))
    for row, fit in zip(everywhere, posterior.optima, strict=True):
        row[fit.columns] = fit.probability
    return Inclusions(columns, posterior.optima_weights, everywhere[:, columns])
