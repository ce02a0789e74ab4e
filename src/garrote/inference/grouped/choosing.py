"""Which ways there are to a posterior over sets of groups, and which one fits their number."""

from collections.abc import Callable
from typing import Any

from garrote.inference.effects.label_effects import label_effects_posterior
from garrote.inference.effects.single_effects import single_effects_posterior
from garrote.inference.grouped.fitted import enumerate_fitted_sets, walk_fitted_sets
from garrote.inference.grouped.labels import sample_label_sets
from garrote.inference.grouped.ways import enumerate_number_sets, sample_number_sets
from garrote.inference.mean_field.tied import tied_mean_field
from garrote.inference.methods import (
    EffectByEffect,
    Enumerate,
    MeanField,
    Method,
    Metropolis,
    Sample,
)
from garrote.inference.task import Inferred, Task
from garrote.priors.base import Prior
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.single_effects import SingleEffects
from garrote.rules.integration import Integration
from garrote.solvers.models.grouped.group_sets import count_sets

Way = Callable[[Task, Any], Inferred]

_FITTED: dict[tuple[str, type[Method]], Way] = {
    ("models", Enumerate): enumerate_fitted_sets,
    ("models", Metropolis): walk_fitted_sets,
}
# The ways to a posterior over sets of groups; `garrote.inference.choosing.WAYS` has those over models.
WAYS_OF_GROUPS: dict[Integration, dict[tuple[str, type[Method]], Way]] = {
    Integration.CLOSED_FORM: {
        ("models", Enumerate): enumerate_number_sets,
        ("models", Sample): sample_number_sets,
        ("models", Metropolis): sample_number_sets,
        ("models", MeanField): tied_mean_field,
        ("effects", EffectByEffect): single_effects_posterior,
    },
    Integration.POLYA_GAMMA: {
        ("models", Sample): sample_label_sets,
        **_FITTED,
        ("effects", EffectByEffect): label_effects_posterior,
    },
    Integration.LAPLACE: _FITTED,
}

# "auto" sums over up to so many sets of groups where each is a few products, and fits up to so many.
_FEW_SUMMED, _FEW_FITTED = 2**15, 2**10


def choose_for_groups(prior: Prior, integration: Integration, law: InclusionOfGroups) -> Method:
    """Return the method for a law over groups: all sets of few groups, and walks over those of many.

    Single effects have one method.
    """
    if prior.kind == SingleEffects.kind:
        return EffectByEffect()
    closed = integration is Integration.CLOSED_FORM
    few = _FEW_SUMMED if closed else _FEW_FITTED
    if count_sets(law, few) <= few:
        return Enumerate()
    sampled = closed or (integration is Integration.POLYA_GAMMA and prior.independent)
    return Sample() if sampled else Metropolis()
