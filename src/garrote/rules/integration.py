"""How coefficients are integrated out of a likelihood, by which posteriors are found."""

from enum import Enum


class Integration(Enum):
    """How the probability of a model is found, whose coefficients are unknown.

    A likelihood names one of them, a prior those that it has a meaning for, and a method of inference
    exists for some. In closed form: the response is Gaussian. By Polya-Gamma variables: labels become
    weighted regressions, given a latent variable each or a quadratic bound. By Laplace's approximation,
    or BIC: each model is fitted, and its likelihood taken for Gaussian around the maximum. The values
    are the words for error messages.
    """

    CLOSED_FORM = "a gaussian response"
    POLYA_GAMMA = "a binomial response"
    LAPLACE = "a response whose models are fitted one by one"
