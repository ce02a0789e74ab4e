"""Priors by the name that estimators know them by."""

from typing import Any

from garrote.priors.base import Prior
from garrote.priors.scale_mixture import SHRINKAGE_PRIORS
from garrote.priors.single_effects import SingleEffects
from garrote.priors.slab import BIC, EffectSlab, GaussianSlab, GPrior

# A new prior is a new row here. For labels and counts the slab is that of effects without noise.
PRIORS: dict[str, type[Prior]] = {
    "spike-slab": GaussianSlab,
    "g-prior": GPrior,
    "bic": BIC,
    "single-effects": SingleEffects,
    **SHRINKAGE_PRIORS,
}


def prior_class(name: str, family: str = "gaussian") -> type[Prior]:
    """Return the prior that a name stands for, for a likelihood of some name."""
    return EffectSlab if name == "spike-slab" and family != "gaussian" else PRIORS[name]


def as_prior(given: Any, kind: str, family: str = "gaussian") -> Prior:
    """Return a prior of one kind by itself or, with its default settings, by its name.

    Examples
    --------
    >>> from garrote.priors import as_prior
    >>> type(as_prior("horseshoe", "shrinkage")).__name__
    'HorseshoePrior'
    """
    names = [name for name, prior in PRIORS.items() if prior.kind == kind]
    if isinstance(given, str) and given in names:
        given = prior_class(given, family)()
    if not isinstance(given, Prior) or given.kind != kind:
        classes = sorted({prior.__name__ for prior in PRIORS.values() if prior.kind == kind})
        raise ValueError(
            f"prior must be one of {tuple(names)}, or an object of garrote.priors such as "
            f"{', '.join(classes)}, got {given!r}"
        )
    given.check_family(family)
    return given
