"""What y is: a number, with or without outliers, one of two classes, a count, or a time to an event."""

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
from garrote.likelihoods.several import SeveralResponses
from garrote.likelihoods.survival.cox import Cox
from garrote.likelihoods.survival.times import survival_times

# Likelihoods of one linear predictor a row, by the name that users know them by. A new one is a new row.
FAMILIES: dict[str, Likelihood] = {
    known.name: known for known in (Gaussian(), Binomial(), Poisson(), Probit(), Huber(), Cox())
}


def families_with_posteriors() -> tuple[str, ...]:
    """Return the names of the likelihoods whose coefficients can be integrated out."""
    return tuple(name for name, known in FAMILIES.items() if known.integration is not None)


def as_likelihood(family: Any, known: Mapping[str, Likelihood] = FAMILIES) -> Any:
    """Return the likelihood that a family's name stands for, or the object that was given.

    Examples
    --------
    >>> from garrote.likelihoods import Huber, as_likelihood
    >>> as_likelihood("poisson").name, as_likelihood(Huber(2.0)).corner
    ('poisson', 2.0)
    """
    if isinstance(family, str) and family in known:
        return known[family]
    if hasattr(family, "check_response") and not isinstance(family, type):
        return family
    raise ValueError(
        f"family must be one of {tuple(known)} or an object of garrote.likelihoods, got {family!r}"
    )


__all__ = [
    "FAMILIES",
    "Binomial",
    "Cox",
    "Gaussian",
    "Huber",
    "Likelihood",
    "Multinomial",
    "Poisson",
    "Probit",
    "SeveralResponses",
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
    "log_likelihood",
    "majoriser",
    "null_mean",
    "saturated",
    "survival_times",
]
