"""Priors by the name that estimators know them by."""

from typing import Any

from garrote.priors.base import Prior
from garrote.priors.relevance import RelevancePrior
from garrote.priors.scale_mixture import SHRINKAGE_PRIORS
from garrote.priors.single_effects import SingleEffects
from garrote.priors.slab import BIC
from garrote.priors.two_humped import TwoHumpedSlab
from garrote.priors.zellner import GPrior
from garrote.rules.integration import Integration

# A new prior is a new row here.
PRIORS: dict[str, type[Prior]] = {
    "spike-slab": TwoHumpedSlab,
    "g-prior": GPrior,
    "bic": BIC,
    "single-effects": SingleEffects,
    "relevance": RelevancePrior,
    **SHRINKAGE_PRIORS,
}


def prior_class(
    name: str, integration: Integration | None = Integration.CLOSED_FORM, shapes: bool = True
) -> type[Prior]:
    """Return the prior that a name stands for, where coefficients are integrated out in some way.

    Where ``shapes`` of slabs cannot be averaged over, it is the Gaussian one.
    """
    known = PRIORS[name] if shapes else PRIORS[name].of_one_shape()
    return known.for_integration(integration)


def as_prior(
    given: Any,
    kind: str,
    integration: Integration = Integration.CLOSED_FORM,
    shapes: bool = True,
) -> Prior:
    """Return a prior of one kind by itself or, with its default settings, by its name.

    ``shapes`` says whether a name may stand for a slab of unknown shape.

    Examples
    --------
    >>> from garrote.priors import as_prior
    >>> type(as_prior("horseshoe", "shrinkage")).__name__
    'HorseshoePrior'
    """
    names = [name for name, prior in PRIORS.items() if prior.kind == kind]
    if isinstance(given, str) and given in names:
        given = prior_class(given, integration, shapes)()
    if not isinstance(given, Prior) or given.kind != kind:
        classes = sorted({prior.__name__ for prior in PRIORS.values() if prior.kind == kind})
        raise ValueError(
            f"prior must be one of {tuple(names)}, or an object of garrote.priors such as "
            f"{', '.join(classes)}, got {given!r}"
        )
    given.check_integration(integration)
    return given
