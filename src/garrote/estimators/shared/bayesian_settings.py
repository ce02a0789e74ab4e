"""Settings of Bayesian estimators: which cannot be meant, and the prior on models that they make."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.estimators.given.inputs import is_number
from garrote.inference import METHODS, Method, choose_method
from garrote.inference.choosing import methods_for
from garrote.inference.generalized import choose_for_fits
from garrote.inference.methods import HYPERPARAMETERS
from garrote.likelihoods import CANONICAL
from garrote.penalties.grouping import resolve_groups
from garrote.priors import PRIORS, SHRINKAGE_PRIORS, EffectSlab, ExpectedSize, Prior, as_inclusion
from garrote.priors.inclusion import Inclusion
from garrote.priors.single_effects import SingleEffects
from garrote.priors.slab import HYPER_G
from garrote.results.certificates import ALL_MODELS, FITTED, MONTE_CARLO, SEARCH

# Monte Carlo errors beyond this are worth a warning.
_UNSETTLED = 0.1
# How an unknown g is treated by default.
DEFAULT_G = "hyper-g/n"
# Settings that a prior object brings of its own, and what they are where they are not given.
_OF_PRIORS = {"slab_variance": None, "noise_variance": None, "g": DEFAULT_G, "effects": None}
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
    _check_numbers(model)
    _check_prior(model)
    _check_family(model)


def _check_names(model: Any) -> None:
    families = tuple(CANONICAL)
    if model.family not in families:
        raise ValueError(f"family must be one of {families}, got {model.family!r}")
    # Models of labels are fitted here, as those of counts are; a classifier has more for them.
    methods = methods_for("gaussian" if model.family == "gaussian" else "poisson", "models")
    for name, known in (("method", methods), ("hyperparameters", HYPERPARAMETERS)):
        if getattr(model, name) not in known:
            raise ValueError(f"{name} must be one of {known}, got {getattr(model, name)!r}")
    if isinstance(model.g, str):
        if model.g not in HYPER_G:
            raise ValueError(f"g must be a number or one of {HYPER_G}, got {model.g!r}")
    elif not (is_number(model.g) and model.g > 0):
        raise ValueError(f"g must be positive and finite, got {model.g!r}")


def _check_prior(model: Any) -> None:
    """Refuse an unknown prior, and settings that belong to another."""
    if isinstance(model.prior, Prior) and model.prior.kind != "shrinkage":
        for name, default in _OF_PRIORS.items():
            if getattr(model, name) != default:
                raise ValueError(f"leave out {name}: the prior object given has its own settings")
    elif shrinks(model.prior):
        _check_shrinkage(model)
    elif not isinstance(model.prior, str) or model.prior not in PRIORS:
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
    return _kind(prior) == "effects"


def shrinks(prior: Any) -> bool:
    """Tell whether a prior shrinks all coefficients and leaves none out."""
    return _kind(prior) == "shrinkage"


def _kind(prior: Any) -> str | None:
    if isinstance(prior, str):
        return PRIORS[prior].kind if prior in PRIORS else None
    return prior.kind if isinstance(prior, Prior) else None


def make_prior(model: Any) -> Prior:
    """Return the prior of coefficients that an estimator's settings stand for."""
    if isinstance(model.prior, Prior):
        prior: Prior = model.prior
    elif model.prior == "spike-slab" and model.family != "gaussian":
        prior = EffectSlab(model.slab_variance)
    else:
        own = {
            "spike-slab": {"variance": model.slab_variance},
            "g-prior": {"g": model.g},
            "single-effects": {"effects": model.effects},
        }
        prior = PRIORS[model.prior](**own.get(model.prior, {}))
    return prior if model.noise_variance is None else prior.holding_noise(model.noise_variance)


def make_method(model: Any, prior: Prior, usable: int) -> Method:
    """Return the method that an estimator's settings stand for, for so many columns."""
    if model.method != "auto":
        chosen = METHODS[model.method]()
    elif model.family != "gaussian":
        chosen = choose_for_fits(usable, prior.variance_is_unknown)
    else:
        chosen = choose_method(prior, model.family, usable, 0)
    if model.hyperparameters != "average" and chosen.name != "mean-field":
        raise ValueError(
            f"hyperparameters={model.hyperparameters!r} needs method='mean-field', but method is "
            f"{chosen.name!r}, which treats them in its own way"
        )
    if model.spike_variance is not None and chosen.name != "em":
        raise ValueError(
            f"spike_variance={model.spike_variance} needs method='em', but method is "
            f"{chosen.name!r}, in which variables that are out have no effect at all"
        )
    return with_settings(chosen, model)


def with_settings(method: Method, model: Any) -> Method:
    """Return a method with those of its settings that an estimator has and that are given."""
    own = {name: getattr(model, name, None) for name in method.get_params(deep=False)}
    return type(method)(**{name: value for name, value in own.items() if value is not None})


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
    make_prior(model).with_groups(lambda groups: groups)  # which are needed


def with_groups(prior: Prior, count: int, names: Array | None, X: Any) -> Prior:
    """Return a prior with its groups, where it has any, as numbers: one a column."""
    return prior.with_groups(lambda groups: resolve_groups(groups, count, names, X))


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
    if certificate.kind == FITTED:
        return (
            f"fits of models, started afresh, differ: {listing_of(certificate.parts)}; rows may weigh "
            "too much for logs of likelihoods to have digits left: lower sample_weight, or give "
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


def _check_family(model: Any) -> None:
    """Refuse for labels and counts what only Gaussian models have."""
    effects = sums_effects(model.prior)
    other = effects or model.family not in make_prior(model).families
    if model.family != "gaussian" and other:
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
    law = ExpectedSize(expected_size) if expected_size is not None else as_inclusion(given, count)
    return law.over(usable, count, offsets[usable])
