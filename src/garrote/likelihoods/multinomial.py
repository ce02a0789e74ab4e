"""Several classes: P(y = k) is proportional to exp(eta_k). Arrays of eta have a row for each class."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods.base import Likelihood, largest_curvature


@dataclass(frozen=True)
class Multinomial(Likelihood):
    """P(y = k) = exp(eta_k) / sum_l exp(eta_l), every class with coefficients of its own.

    Responses are the positions 0, 1, ... of the classes. Unlike the other likelihoods it has several
    linear predictors a row, so that its functions are methods.
    """

    classes: int
    name = "multinomial"
    several = True
    effect_scale = "class score"

    @property
    def outputs(self) -> int:
        """A linear predictor for each."""
        return self.classes

    def check_response(self, y: Floats) -> None:
        """Refuse responses that are no positions of classes, and classes without rows."""
        found = np.unique(y)
        if not np.array_equal(found, np.arange(self.classes)):
            raise ValueError(
                f"family='multinomial' needs every class 0 to {self.classes - 1} among the rows, got "
                f"{len(found)} different values"
            )

    def of_classes(self, count: int) -> Likelihood:
        """Return the likelihood of labels of so many classes."""
        if count == self.classes > 2:
            return self
        raise ValueError(
            f"Multinomial({self.classes}) is for y of {self.classes} classes, more than 2, but y has "
            f"{count}: Binomial() takes any number"
        )

    def mean(self, eta: Floats) -> Floats:
        """Return the probability of every class (K x N)."""
        raised = np.exp(eta - eta.max(axis=0))
        return np.asarray(raised / raised.sum(axis=0))

    def loss(self, y: Floats, eta: Floats) -> Floats:
        """Return minus the log probability of the class of every row."""
        observed = y.astype(np.intp), np.arange(len(y))
        beyond = eta - eta[observed]
        beyond[observed] = -np.inf
        # log(1 + sum of the others' odds) keeps its digits where a class is almost certain.
        largest = np.maximum(beyond.max(axis=0), 0.0)
        odds = np.exp(beyond - largest).sum(axis=0)
        return np.asarray(largest + np.log1p(odds + np.expm1(-largest)))

    def gradient(self, y: Floats, eta: Floats) -> Floats:
        """Return the derivative of the log likelihood in every linear predictor (K x N)."""
        return self.gradient_at(y, self.mean(eta))

    def gradient_at(self, y: Floats, mean: Floats) -> Floats:
        """Return the same where the probabilities of all classes are known."""
        observed = y.astype(np.intp), np.arange(len(y))
        rows = -mean
        # 1 - p of the observed class is what the others have: no digits are lost where p is almost 1.
        rows[observed] = 0.0
        rows[observed] = -rows.sum(axis=0)
        return rows

    def entropy(self, mean: Floats) -> Floats:
        """Return sum_k p_k log p_k of every row: what a likelihood's conjugate is at its means."""
        return np.asarray(np.sum(mean * np.log(np.maximum(mean, 1e-300)), axis=0))


@largest_curvature.register
def _(likelihood: Multinomial):
    return 0.5  # the largest eigenvalue of diag(p) - p p', at even odds of two classes
