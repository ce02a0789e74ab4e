"""What y is: Gaussian, one of two classes, or a count."""

from garrote.likelihoods.base import (
    Likelihood,
    curvature,
    deviance,
    deviance_explained,
    gradient,
    inverse_link,
    log_likelihood,
    saturated,
    total_log_likelihood,
)
from garrote.likelihoods.binomial import Binomial
from garrote.likelihoods.gaussian import Gaussian
from garrote.likelihoods.poisson import Poisson

# Likelihoods by the name that users know them by. A new one is a new row here.
FAMILIES: dict[str, Likelihood] = {
    "gaussian": Gaussian(),
    "binomial": Binomial(),
    "poisson": Poisson(),
}

__all__ = [
    "FAMILIES",
    "Binomial",
    "Gaussian",
    "Likelihood",
    "Poisson",
    "curvature",
    "deviance",
    "deviance_explained",
    "gradient",
    "inverse_link",
    "log_likelihood",
    "saturated",
    "total_log_likelihood",
]
