"""The loss as a function of all coefficients, for solvers that move all of them at once.

They know X by two products only: the image of coefficients, and the gradient at an image. Images are
linear in the coefficients, so that a point between two others costs no product. Of a problem with rows
they are linear predictors; of one that is known by its moments they are the cross products times the
coefficients. The intercept is always the best one for the coefficients: what is left is a function of
these alone, whose gradient is the same.
"""

from collections.abc import Generator
from functools import singledispatch
from typing import Any, NamedTuple, Protocol

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods import Multinomial, SeveralResponses
from garrote.likelihoods.base import curvature, largest_curvature
from garrote.problem import Problem
from garrote.rules import Evaluated
from garrote.solvers.losses.coupled_rows import CoupledRows
from garrote.solvers.losses.generalised import GeneralisedLoss
from garrote.solvers.losses.least_squares import as_seen, null_squares
from garrote.solvers.losses.multinomial import MultinomialLoss
from garrote.solvers.losses.newton_loss import NewtonLoss
from garrote.solvers.losses.several_outputs import SeveralOutputs
from garrote.solvers.losses.several_responses import SeveralLeastSquares


class WholeLoss(Protocol):
    """A loss at some coefficients, which a solver places."""

    problem: Problem
    coef: Floats
    image: Floats
    curvature: Floats
    intercept: Any

    @property
    def columns(self) -> Array:
        """The number of every coefficient."""

    @property
    def null(self) -> Evaluated:
        """The fit without any column."""

    def product(self, coef: Floats) -> Floats:
        """Return the image of coefficients."""

    def place(self, coef: Floats, image: Floats) -> None:
        """Go to coefficients whose image is known."""

    def value(self) -> float:
        """Return the loss at the present coefficients."""

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients; yields the rows that are to be multiplied with X."""

    def curvature_along(self, change: Floats, before: Floats, after: Floats) -> float:
        """Return a bound of the second derivative along a change of coefficients, and its images."""


def whole_loss(problem: Problem) -> WholeLoss:
    """Return the loss of a problem at coefficients of 0."""
    if problem.likelihood.least_squares:
        return WholeSquares(problem)
    if problem.likelihood.several:
        return losses_of(problem.likelihood).whole(problem)
    return (WholeCoupled if problem.likelihood.coupled else WholeGeneralised)(problem)


class WholeSquares:
    """Half the mean squared residual."""

    intercept = 0.0

    def __init__(self, problem: Problem):
        self.problem, self.coef = problem, np.zeros(problem.n_features)
        self.columns = np.arange(problem.n_features)
        self.curvature = problem.curvature / problem.n
        self.image = np.zeros(len(problem.response) if problem.has_rows else problem.n_features)
        self.null = null_squares(problem)

    def product(self, coef: Floats) -> Floats:
        """Return the image of coefficients."""
        return image_of(self.problem, coef)

    def place(self, coef: Floats, image: Floats) -> None:
        """Go to coefficients whose image is known."""
        self.coef, self.image = coef, image

    def value(self) -> float:
        """Return the loss at the present coefficients."""
        if self.problem.has_rows:
            left = self.problem.response - self.image
            return 0.5 * float(self.problem.weights @ left**2) / self.problem.n
        return 0.5 * self._squared(self.problem.xty - self.image) / self.problem.n

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients; yields the rows that are to be multiplied with X."""
        if self.problem.has_rows:
            left = self.problem.response - self.image
            sums, products = yield from self.problem.evaluate_residuals(left[None, :])
            squared, gradient = float(sums[0]), products[0]
        else:
            gradient = self.problem.xty - self.image
            squared = self._squared(gradient)
        gradient[self.curvature <= 0] = 0.0
        explained = float(self.coef @ self.problem.xty)
        return as_seen(self.problem, squared, gradient, explained)

    def curvature_along(self, change: Floats, before: Floats, after: Floats) -> float:
        """Return a bound of the second derivative along a change of coefficients, and its images."""
        along = after - before
        other = self.problem.weights * along if self.problem.has_rows else change
        return float(other @ along) / self.problem.n

    def _squared(self, gradient: Floats) -> float:
        return max(self.problem.yty - float(self.coef @ (self.problem.xty + gradient)), 0.0)


class Placed(NewtonLoss):
    """What losses of linear predictors do at coefficients that a solver places; goes before the loss."""

    image: Any = 0.0

    def place(self, coef: Floats, image: Floats) -> None:
        """Go to coefficients whose image is known."""
        self.coef, self.image = coef, image

    def value(self) -> float:
        """Return the loss at the present coefficients."""
        return self._loss(self._fit_intercept())

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients; yields the rows that are to be multiplied with X."""
        seen = yield from super().evaluate()
        # Gradients are exactly 0 for columns without content.
        return seen._replace(gradient=np.where(self.curvature > 0, seen.gradient, 0.0))


class WholeGeneralised(Placed, GeneralisedLoss):
    """Half the mean deviance of one linear predictor."""

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.coef, self.image = np.zeros(problem.n_features), np.zeros(len(self.y))
        self._steepest = largest_curvature(self.likelihood)

    @property
    def columns(self) -> Array:
        """The number of every coefficient."""
        return np.arange(len(self.coef))

    def product(self, coef: Floats) -> Floats:
        """Return the image of coefficients."""
        return image_of(self.problem, coef)

    def curvature_along(self, change: Floats, before: Floats, after: Floats) -> float:
        """Return a bound of the second derivative along a change of coefficients, and its images."""
        row_curvature: Any = self._steepest
        if np.isinf(row_curvature):  # it only grows with the predictor: an end has the largest
            known = self.offset + self.intercept
            ends = (curvature(self.likelihood, self.y, known + end) for end in (before, after))
            row_curvature = np.maximum(*ends)
        with np.errstate(over="ignore"):
            return float(np.sum(self.share * row_curvature * (after - before) ** 2))

    def _eta(self) -> Floats:
        return np.asarray(self.offset + self.intercept + self.image)


class WholeCoupled(WholeGeneralised, CoupledRows):
    """The same of rows that are coupled."""

    def curvature_along(self, change: Floats, before: Floats, after: Floats) -> float:
        """Return a bound of the second derivative along a change of coefficients, and its images.

        That of a logarithm of a sum over rows is a variance, at most a quarter of the squared range.
        """
        along = (after - before)[self.share > 0]
        return 0.25 * float(self.share @ self.y) * float(np.ptp(along)) ** 2


class WholeOutputs(Placed, SeveralOutputs):
    """A loss of several outputs; images have a row for each of them."""

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.columns = np.arange(self.outputs * self.count)
        self.inside = np.ones(len(self.columns), dtype=bool)
        self.coef = np.zeros(len(self.columns))
        self.image = np.zeros((self.outputs, len(self.y)))

    def product(self, coef: Floats) -> Floats:
        """Return the image of coefficients."""
        each = coef.reshape(self.outputs, self.count)
        used = np.flatnonzero(each.any(axis=0))
        return np.ascontiguousarray(self.problem.table.dot(used, each[:, used].T).T)

    def curvature_along(self, change: Floats, before: Floats, after: Floats) -> float:
        """Return a bound of the second derivative along a change of coefficients, and its images."""
        along = ((after - before) ** 2).sum(axis=0)
        return largest_curvature(self.likelihood) * float(self.share @ along)

    def _eta(self) -> Floats:
        return np.asarray(self._known() + self.image)


class WholeMultinomial(WholeOutputs, MultinomialLoss):
    """The mean of minus the log probabilities."""


class WholeResponses(WholeOutputs, SeveralLeastSquares):
    """Half the mean squared residual, summed over responses."""


class Losses(NamedTuple):
    """The loss of a likelihood with several outputs: on a working set, and of all coefficients."""

    working: type[SeveralOutputs]
    whole: type[WholeOutputs]


@singledispatch
def losses_of(likelihood: Any) -> Losses:
    """Return the losses of a likelihood with several outputs."""
    raise TypeError(f"no loss is registered for {type(likelihood).__name__}")


@losses_of.register
def _(likelihood: Multinomial) -> Losses:
    return Losses(MultinomialLoss, WholeMultinomial)


@losses_of.register
def _(likelihood: SeveralResponses) -> Losses:
    return Losses(SeveralLeastSquares, WholeResponses)


def image_of(problem: Problem, coef: Floats) -> Floats:
    """Return the linear predictors of coefficients, or their cross products without rows."""
    used = np.flatnonzero(coef)
    if problem.has_rows:
        return problem.table.dot(used, coef[used, None])[:, 0]
    return np.asarray(problem.design.dot(used, coef[used, None])[:, 0])
