"""Settings of Bayesian estimators: which cannot be meant, and the prior on models that they make."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.estimators.given.inputs import is_number
from garrote.inference.choosing import METHODS
from garrote.inference.generalized import GENERALIZED_METHODS
from garrote.inference.mean_field.averaged import HYPERPARAMETERS
from garrote.likelihoods import CANONICAL
from garrote.penalties.grouping import resolve_groups
from garrote.priors.inclusion import Inclusion
from garrote.priors.scale_mixture import SHRINKAGE_PRIORS, GroupLaplacePrior, ScaleMixturePrior
from garrote.priors.single_effects import SingleEffects
from garrote.priors.slab import HYPER_G, GPrior, Slab
from garrote.results.certificates import ALL_MODELS, MONTE_CARLO, SEARCH

# Monte Carlo errors beyond this are worth a warning.
_UNSETTLED = 0.1
# How an unknown g is treated by default.
DEFAULT_G = "hyper-g/n"
# Settings that a prior object brings of its own, and what they are where they are not given.
_OF_PRIORS = {"slab_variance": None, "noise_variance": None, "g": DEFAULT_G, "effects": None}
# States of a chain that count and that do not: flips of models, and draws of all coefficients.
_STATES, _SHRUNK_STATES = (10_000, 1000), (2000, 500)
# Where labels have the single effects that they are asked for.
_EFFECTS_OF_LABELS = (
    "; BayesianClassifier(method='single-effects') has them for labels (on the command line --family "
    "multinomial --set method=single-effects)"
)
# What priors without inclusion have no place for, and its defaults.
_OF_INCLUSION: dict[str, Any] = {
    "inclusion": None,
    "expected_size": None,
    "prior_log_odds": None,
    "slab_variance": None,
    "spike_variance": None,
    "g": DEFAULT_G,
    "hyperparameters": "average",
}


def check_settings(model: Any) -> None:
    """Refuse settings that cannot be meant, before any work."""
    _check_names(model)
    _check_prior(model)
    _check_family(model)
    _check_numbers(model)


def _check_names(model: Any) -> None:
    methods = METHODS if model.family == "gaussian" else GENERALIZED_METHODS
    for name, known in (
        ("family", tuple(CANONICAL)),
        ("method", methods),
        ("hyperparameters", HYPERPARAMETERS),
    ):
        if getattr(model, name) not in known:
            raise ValueError(f"{name} must be one of {known}, got {getattr(model, name)!r}")
    if isinstance(model.g, str):
        if model.g not in HYPER_G:
            raise ValueError(f"g must be a number or one of {HYPER_G}, got {model.g!r}")
    elif not (is_number(model.g) and model.g > 0):
        raise ValueError(f"g must be positive and finite, got {model.g!r}")


def _check_prior(model: Any) -> None:
    """Refuse an unknown prior, and settings that belong to another."""
    if isinstance(model.prior, Slab | SingleEffects):
        for name, default in _OF_PRIORS.items():
            if getattr(model, name) != default:
                raise ValueError(f"leave out {name}: the prior object given has its own settings")
    elif shrinks(model.prior):
        _check_shrinkage(model)
    elif model.prior not in ("spike-slab", "g-prior", "bic", "single-effects"):
        raise ValueError(
            "prior must be 'spike-slab', 'g-prior', 'bic', 'single-effects', one that shrinks ("
            f"{', '.join(map(repr, SHRINKAGE_PRIORS))}) or an object of garrote.priors, got "
            f"{model.prior!r}"
        )
    if sums_effects(model.prior):
        _check_single_effects(model)
    elif model.effects is not None:
        raise ValueError(
            f"effects is for prior='single-effects': leave it out with prior={model.prior!r}"
        )
    if model.slab_variance is not None and model.prior in ("g-prior", "bic"):
        raise ValueError(
            f"slab_variance is for prior='spike-slab': leave it out with prior={model.prior!r}"
        )
    if model.g != DEFAULT_G and model.prior in ("spike-slab", "bic"):
        raise ValueError(f"g is for prior='g-prior': leave it out with prior={model.prior!r}")
    if model.prior == "g-prior" and model.noise_variance is not None:
        raise ValueError("prior='g-prior' integrates the noise out: leave out noise_variance")
    if model.prior == "bic" and model.noise_variance is not None:
        raise ValueError("prior='bic' maximises over the noise: leave out noise_variance")


def _check_single_effects(model: Any) -> None:
    """Refuse settings of other priors and methods, and numbers of effects that are none."""
    SingleEffects(model.effects)
    others = {"slab_variance": None, "g": DEFAULT_G, "expected_size": None, "spike_variance": None}
    others |= {"method": "auto", "hyperparameters": "average"}
    for name, default in others.items():
        if getattr(model, name) != default:
            raise ValueError(
                f"{name} is not for prior='single-effects', which has a method and variances of its "
                f"own: leave it out, got {getattr(model, name)!r}"
            )


def sums_effects(prior: Any) -> bool:
    """Tell whether a prior is a sum of single effects."""
    return isinstance(prior, SingleEffects) or (
        isinstance(prior, str) and prior == "single-effects"
    )


def shrinks(prior: Any) -> bool:
    """Tell whether a prior shrinks all coefficients and leaves none out."""
    named = isinstance(prior, str) and prior in SHRINKAGE_PRIORS
    return named or isinstance(prior, ScaleMixturePrior)


def _check_shrinkage(model: Any) -> None:
    """Refuse, for a prior that shrinks, what only priors with models have."""
    for name, default in _OF_INCLUSION.items():
        value = getattr(model, name)
        if value is not default and not (isinstance(default, str) and value == default):
            raise ValueError(
                f"{name} is for priors that leave variables out: leave it out with prior={model.prior!r}"
            )
    if model.method not in ("auto", "gibbs"):
        raise ValueError(
            f"method={model.method!r} is for priors that leave variables out: prior={model.prior!r} is "
            "sampled, with method='gibbs' or 'auto'"
        )
    if model.prior == "group-laplace" or getattr(model.prior, "groups", ()) is None:
        raise ValueError(
            "prior='group-laplace' needs to know the groups: give GroupLaplacePrior(groups=...) of "
            "garrote.priors.scale_mixture"
        )


def shrinkage_prior(prior: Any, count: int, names: Array | None, X: Any) -> ScaleMixturePrior:
    """Return the prior that was named or given, its groups as numbers of columns."""
    made = SHRINKAGE_PRIORS[prior]() if isinstance(prior, str) else prior
    if isinstance(made, GroupLaplacePrior):
        return replace(made, groups=resolve_groups(made.groups, count, names, X))
    return made


def seed_of(random_state: Any) -> Any:
    """Return a random state of any of scikit-learn's kinds as a seed."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return random_state


def said_of_certificate(certificate: Any, n_steps: int, n_chains: int) -> str | None:
    """Return what to say of probabilities that are known too roughly; None if they are known well."""
    if not certificate.value > _UNSETTLED:
        return None
    if certificate.kind == SEARCH:
        return (
            f"the search has not found enough: {listing_of(certificate.parts)}; raise n_steps "
            f"({n_steps}), or use method='sample'"
        )
    if certificate.kind == ALL_MODELS:
        return (
            f"sums over models are off: {listing_of(certificate.parts)}; columns may be copies of each "
            "other beside an effect that leaves next to no noise: leave copies out, or give "
            "slab_variance"
        )
    if certificate.kind != MONTE_CARLO:
        return None
    return (
        f"sampled inclusion probabilities may be off by {certificate.value:.2f}: raise "
        f"n_steps ({n_steps}) or n_chains ({n_chains})"
    )


def listing_of(parts: dict[str, float]) -> str:
    """Return the parts of a certificate as words."""
    return ", ".join(f"{name} {value:.2g}" for name, value in parts.items())


def chain_lengths(model: Any) -> tuple[int, int]:
    """Return how many states of a chain count, and how many before them do not."""
    steps, burn_in = _SHRUNK_STATES if shrinks(model.prior) else _STATES
    given = model.n_steps, model.burn_in
    return int(steps if given[0] is None else given[0]), int(
        burn_in if given[1] is None else given[1]
    )


def _check_family(model: Any) -> None:
    """Refuse for labels and counts what only Gaussian models have."""
    effects = sums_effects(model.prior)
    other = model.prior == "g-prior" or isinstance(model.prior, GPrior) or shrinks(model.prior)
    gaussian_only = effects or other
    if model.family != "gaussian" and gaussian_only:
        remedy = _EFFECTS_OF_LABELS if model.family == "binomial" and effects else ""
        raise ValueError(
            f"family={model.family!r} needs prior='bic' or 'spike-slab', got prior={model.prior!r}: "
            f"only Gaussian models have it{remedy}"
        )
    if model.family != "gaussian" and not (
        model.hyperparameters == "average"
        and model.spike_variance is None
        and model.noise_variance is None
    ):
        raise ValueError(
            "hyperparameters, spike_variance and noise_variance are for Gaussian models: "
            f"family={model.family!r} has none of them"
        )


def _check_numbers(model: Any) -> None:
    check_positive(model, ("slab_variance", "spike_variance", "noise_variance", "expected_size"))
    check_chains(model, may_be_none=True)
    check_inclusion(model)
    spike, slab = model.spike_variance, model.slab_variance
    if spike is not None and slab is not None and spike >= slab:
        raise ValueError(
            f"spike_variance = {spike} must be below slab_variance = {slab}, the wider of the two"
        )


def check_positive(model: Any, settings: Sequence[str]) -> None:
    """Refuse settings that are given and are no positive numbers."""
    for name in settings:
        value = getattr(model, name)
        if value is not None and not (is_number(value) and value > 0):
            raise ValueError(f"{name} must be positive and finite, got {value!r}")


def check_chains(model: Any, may_be_none: bool = False) -> None:
    """Refuse chains that are too short or too few; lengths may be None where they are chosen later."""
    for name, least in (("n_steps", 100), ("burn_in", 0), ("n_chains", 1)):
        value = getattr(model, name)
        if may_be_none and value is None and name != "n_chains":
            continue
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")


def check_inclusion(model: Any) -> None:
    """Refuse two ways of saying how many variables are expected."""
    if model.inclusion is not None and model.expected_size is not None:
        raise ValueError("inclusion and expected_size say the same thing: give one of them")


def inclusion_prior(
    given: Any, expected_size: float | None, count: int, usable: Array, offsets: Floats
) -> Inclusion:
    """Return the prior on models of the usable columns."""
    D = max(len(usable), 1)
    if expected_size is not None:
        if expected_size >= D:
            raise ValueError(
                f"expected_size = {expected_size} must be below the number of columns that may be in "
                f"or out, {D}"
            )
        given = (1.0, D / expected_size - 1.0)
    if given is None:
        return Inclusion.of_few(offsets[usable])
    if isinstance(given, str):  # as the command line has it
        given = given.strip("()[] ").split(",")
        given = tuple(float(v) if _is_float(v) else v for v in given)
    if isinstance(given, tuple) or (isinstance(given, list) and len(given) == 2 != count):
        if len(given) != 2 or not all(is_number(v) and v > 0 for v in given):
            raise ValueError(
                "inclusion must be a probability, one for each column, or the pair (a, b) of a Beta "
                f"law, both positive; got {given!r}"
            )
        return Inclusion.beta(float(given[0]), float(given[1]), offsets[usable])
    probability = np.asarray(given, dtype=np.float64)
    if probability.ndim and probability.shape != (count,):
        raise ValueError(
            f"inclusion must have {count} entries, one a column, got shape {probability.shape}"
        )
    probability = np.broadcast_to(probability, (count,))[usable]
    if not ((probability > 0) & (probability < 1)).all():
        raise ValueError("inclusion must lie between 0 and 1; name certain columns as covariates")
    return Inclusion.independent(probability, offsets[usable])


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
