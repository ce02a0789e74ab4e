"""What y is: a number, a positive one, one of two classes, a count, or a time to an event."""

import re
from collections.abc import Mapping
from typing import Any

from garrote.likelihoods.base import (
    Likelihood,
    adapt_to_data,
    conjugate,
    curvature,
    deviance,
    deviance_explained,
    gradient,
    inverse_link,
    largest_curvature,
    learn_from_fit,
    log_likelihood,
    majoriser,
    null_mean,
    saturated,
)
from garrote.likelihoods.binomial import Binomial
from garrote.likelihoods.gaussian import Gaussian
from garrote.likelihoods.huber import Huber
from garrote.likelihoods.multinomial import Multinomial
from garrote.likelihoods.poisson import Poisson
from garrote.likelihoods.probit import Probit
from garrote.likelihoods.quantile import Quantile
from garrote.likelihoods.rates.gamma import Gamma
from garrote.likelihoods.rates.inverse_gaussian import InverseGaussian
from garrote.likelihoods.rates.negative_binomial import NegativeBinomial
from garrote.likelihoods.rates.tweedie import Tweedie
from garrote.likelihoods.several import SeveralResponses
from garrote.likelihoods.survival.cox import Cox
from garrote.likelihoods.survival.times import survival_times

# Likelihoods of one linear predictor a row, by the name that users know them by. A new one is a new row.
FAMILIES: dict[str, Likelihood] = {
    known.name: known
    for known in (
        Gaussian(),
        Binomial(),
        Poisson(),
        Probit(),
        Huber(),
        Quantile(),
        NegativeBinomial(),
        Gamma(),
        Tweedie(),
        InverseGaussian(),
        Cox(),
    )
}


def families_with_posteriors() -> tuple[str, ...]:
    """Return the names of the likelihoods whose coefficients can be integrated out."""
    return tuple(name for name, known in FAMILIES.items() if known.integration is not None)


def as_likelihood(family: Any, known: Mapping[str, Likelihood] = FAMILIES) -> Any:
    """Return the likelihood that a family's name stands for, or the object that was given.

    A name may have settings behind it, in their order: "tweedie(1.6)".

    Examples
    --------
    >>> from garrote.likelihoods import Huber, as_likelihood
    >>> as_likelihood("poisson").name, as_likelihood(Huber(2.0)).corner
    ('poisson', 2.0)
    >>> as_likelihood("tweedie(1.6)").power
    1.6
    """
    if isinstance(family, str) and family in known:
        return known[family]
    named = re.fullmatch(r"([a-z-]+)\(([^()]*)\)", family) if isinstance(family, str) else None
    if named and named[1] in known:
        return _with_settings(known[named[1]], named[2], family)
    if hasattr(family, "check_response") and not isinstance(family, type):
        return family
    raise ValueError(
        f"family must be one of {tuple(known)} or an object of garrote.likelihoods, got {family!r}"
    )


def _with_settings(kind: Likelihood, typed: str, family: str) -> Likelihood:
    """Return a likelihood with the numbers that were typed behind its name."""
    settings = [name for name in kind.get_params(deep=False) if name not in ("classes",)]
    try:
        numbers = [float(part) for part in typed.split(",")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= len(settings):
        has = f"numbers for {', '.join(settings)}" if settings else "no settings"
        raise ValueError(f"family={kind.name!r} takes {has} in parentheses, got {family!r}")
    return type(kind)(*numbers)


__all__ = [
    "FAMILIES",
    "Binomial",
    "Cox",
    "Gamma",
    "Gaussian",
    "Huber",
    "InverseGaussian",
    "Likelihood",
    "Multinomial",
    "NegativeBinomial",
    "Poisson",
    "Probit",
    "Quantile",
    "SeveralResponses",
    "Tweedie",
    "adapt_to_data",
    "as_likelihood",
    "conjugate",
    "curvature",
    "deviance",
    "deviance_explained",
    "families_with_posteriors",
    "gradient",
    "inverse_link",
    "largest_curvature",
    "learn_from_fit",
    "log_likelihood",
    "majoriser",
    "null_mean",
    "saturated",
    "survival_times",
]
