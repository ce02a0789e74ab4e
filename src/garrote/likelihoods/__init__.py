"""What y is: a number, with or without outliers, one of two classes, or a count."""

from garrote.likelihoods.base import (
    Likelihood,
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
    settled,
    total_log_likelihood,
)
from garrote.likelihoods.binomial import Binomial
from garrote.likelihoods.gaussian import Gaussian
from garrote.likelihoods.huber import Huber
from garrote.likelihoods.poisson import Poisson
from garrote.likelihoods.probit import Probit

# Likelihoods by the name that users know them by. A new one is a new row here: exponential families with
# their canonical links, compiled, for posteriors over models and penalised fits ...
CANONICAL: dict[str, Likelihood] = {
    "gaussian": Gaussian(),
    "binomial": Binomial(),
    "poisson": Poisson(),
}
# ... and all that penalised fits have.
FAMILIES: dict[str, Likelihood] = {**CANONICAL, "probit": Probit(), "huber": Huber()}

__all__ = [
    "CANONICAL",
    "FAMILIES",
    "Binomial",
    "Gaussian",
    "Huber",
    "Likelihood",
    "Poisson",
    "Probit",
    "conjugate",
    "curvature",
    "deviance",
    "deviance_explained",
    "gradient",
    "inverse_link",
    "largest_curvature",
    "log_likelihood",
    "majoriser",
    "null_mean",
    "saturated",
    "settled",
    "total_log_likelihood",
]
