"""Two classes: y is 1 with probability 1 / (1 + exp(-eta)), else 0."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods.base import (
    Likelihood,
    curvature,
    gradient,
    inverse_link,
    largest_curvature,
    log_likelihood,
    saturated,
)
from garrote.likelihoods.multinomial import Multinomial
from garrote.rules.integration import Integration
from garrote.summaries import listing

# Probabilities are this far from 0 and 1 at least when log odds are taken of them.
_LEAST = 1e-15
# 0 log 0 is 0.
_TINY = 1e-300


class _Named(NamedTuple):
    name: str = "binomial"


class Binomial(_Named, Likelihood):
    """P(y = 1) = 1 / (1 + exp(-eta)), the logistic regression of labels 0 and 1.

    Examples
    --------
    >>> from garrote.likelihoods import Binomial, inverse_link
    >>> float(inverse_link(Binomial(), 0.0))
    0.5
    """

    effect_scale = "log odds"
    integration = Integration.POLYA_GAMMA
    without_maximum = "the classes are separated"

    def check_response(self, y: Floats) -> None:
        """Refuse labels other than 0 and 1, and labels of one class only."""
        check_labels(self.name, y)

    def of_classes(self, count: int) -> Likelihood:
        """Return the likelihood of labels of so many classes."""
        return self if count == 2 else Multinomial(count)

    def left_out(self, y: Floats) -> Floats:
        """Return zeros: the log likelihood is the log probability of a label."""
        return np.zeros_like(y)

    def link(self, mean: Floats) -> Floats:
        """Return log odds."""
        inside = np.clip(mean, _LEAST, 1.0 - _LEAST)
        return np.log(inside) - np.log1p(-inside)

    def variance(self, mean: Floats) -> Floats:
        """Return p (1 - p)."""
        return mean * (1.0 - mean)

    def predictive_variance(self, mean: Floats, uncertainty: Floats) -> Floats:
        """Return p (1 - p): a label is 0 or 1, whatever its probability p is uncertain by."""
        return self.variance(mean)


def check_labels(family: str, y: Floats) -> None:
    """Refuse labels other than 0 and 1, and labels of one class only."""
    found = np.unique(y)
    if not np.isin(found, (0.0, 1.0)).all():
        raise ValueError(
            f"family={family!r} needs labels 0 and 1 in y, got {listing(found.tolist(), str, 5)}: "
            "code one class as 1 and the other as 0"
        )
    if len(found) < 2:
        raise ValueError(f"every label in y is {found[0]:g}: rows of both classes are needed")


# exp of minus an absolute value cannot overflow, and small probabilities keep their digits.


@log_likelihood.register
def _(likelihood: Binomial, y, eta):
    return y * eta - np.maximum(eta, 0.0) - np.log1p(np.exp(-np.abs(eta)))


@saturated.register
def _(likelihood: Binomial, y):
    rest = 1.0 - y
    return y * np.log(np.maximum(y, _TINY)) + rest * np.log(np.maximum(rest, _TINY))


@inverse_link.register
def _(likelihood: Binomial, eta):
    t = np.exp(-np.abs(eta))
    return np.minimum(t + (eta >= 0), 1.0) / (1.0 + t)


@gradient.register
def _(likelihood: Binomial, y, eta):
    t = np.exp(-np.abs(eta))
    # y - p, from 1 - p where y is 1: the difference would lose the digits of a sure prediction.
    up, down = np.minimum(t + (eta >= 0), 1.0), np.minimum(t + (eta <= 0), 1.0)
    return (y * down - (1.0 - y) * up) / (1.0 + t)


@curvature.register
def _(likelihood: Binomial, y, eta):
    t = np.exp(-np.abs(eta))
    return t / (1.0 + t) ** 2


@largest_curvature.register
def _(likelihood: Binomial):
    return 0.25  # at even odds
