"""EM for the lasso that learns the noise as well (Murphy 2012, section 13.4.4).

Two things are hidden: the coefficients' variances, as in `scale_mixture_em`, and the noise variance,
inverse Gamma a priori. The E step expects 1 / sigma^2 = a_N / b_N (Eqs. 13.92 and 13.93), the M step is
the same with the strength alpha = rate b_N / (a_N N). Summed over both, what rises is the log posterior

    -(shape + N / 2) log(scale + ||y - Xw||^2 / 2) - rate sum_j factor_j p(w_j).

A fixed point is the penalised fit at its own alpha, whose duality gap therefore certifies it. Means that
were taken off y are not known, but integrated out: N counts what they leave.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms
from garrote.problem import Problem
from garrote.results.certificates import Certificate
from garrote.rules import first_guess, total_cost
from garrote.solvers.classical.first_order import Goal, make_steps
from garrote.solvers.classical.iterated_ridge import multiply, typical_size
from garrote.solvers.classical.scale_mixture_em import START, ScaleMixtureEM
from garrote.solvers.control import Control
from garrote.solvers.losses.whole_loss import WholeLoss, whole_loss

# A noise variance below this share of the response's has run away to 0.
_NO_NOISE = 1e-12


class NoiseLaw(NamedTuple):
    """The rate of the coefficients' prior, and the law of the noise variance: IG(shape, scale)."""

    rate: float
    shape: float = 0.0
    scale: float = 0.0

    def shape_after(self, problem: Problem) -> float:
        """Return a_N."""
        taken = problem.scale.intercept_count + len(problem.scale.covariates)
        return self.shape + 0.5 * max(problem.n - taken, 0.0)

    def variance(self, problem: Problem, squared: float) -> float:
        """Return b_N / a_N, one over what 1 / sigma^2 is expected to be, given the squared error."""
        return (self.scale + 0.5 * squared) / self.shape_after(problem)


class Learned(NamedTuple):
    """What EM has learned: the strength, the noise variance, coefficients, and the way there."""

    alpha: float
    noise_variance: float
    coef: Floats
    certificate: Certificate
    log_posterior: Floats


@dataclass(frozen=True)
class LearningGoal(Goal):
    """A penalty whose strength is that of the noise at the loss's present coefficients."""

    loss: WholeLoss
    law: NoiseLaw

    @property
    def alpha(self) -> float:
        """The strength at the present coefficients."""
        problem = self.loss.problem
        variance = self.law.variance(problem, 2.0 * problem.n * self.loss.value())
        return self.law.rate * variance / problem.n

    @property
    def rule(self) -> Any:
        """The penalty's rule at the present coefficients."""
        return self.penalty.at(self.alpha, self.terms)

    def objective(self, loss: WholeLoss) -> float:
        """Return minus the log posterior of the present coefficients."""
        problem = loss.problem
        left = self.law.scale + problem.n * loss.value()
        charged = float(total_cost(self.penalty.at(1.0, self.terms), loss.columns, loss.coef))
        return (
            self.law.shape_after(problem) * float(np.log(max(left, 1e-300)))
            + self.law.rate * charged
        )


def learn_noise(
    problem: Problem, penalty: Penalty, terms: Terms, law: NoiseLaw, control: Control
) -> Generator[Floats, Floats, Learned]:
    """Alternate both steps from the noise of the null model; see `garrote.paths.PriorRate`.

    Yields vectors to be multiplied with X; see `garrote.solvers.lockstep`.
    """
    bounded = np.isfinite(terms.lower) | np.isfinite(terms.upper)
    if bounded.any():
        raise ValueError(
            "noise is learned by EM, which has no bounds on coefficients: leave out the bounds, or "
            "give alpha"
        )
    loss = whole_loss(problem)
    steps = yield from make_steps(loss)
    method = ScaleMixtureEM(loss, steps)
    goal = LearningGoal(penalty, terms, np.nan, control.tol, control.max_iter, loss, law)
    coef = first_guess(goal.rule, loss.coef, START * typical_size(loss))
    coef, way = method.maximise(goal.rule, coef), list[float]()

    def make_round(_: Any, present: Floats) -> Floats:
        loss.place(present, loss.product(present))
        way.append(-goal.objective(loss))
        return method.maximise(goal.rule, present)

    seen, _ = yield from multiply(loss, steps, goal, coef, make_round)
    way.append(-goal.objective(loss))
    variance = law.variance(problem, 2.0 * problem.n * loss.value())
    if variance <= _NO_NOISE * problem.yty / problem.n and problem.yty > 0:
        raise ValueError(
            "the noise that is learned runs away to 0, as the coefficients match y: give PriorRate a "
            "scale above 0, a larger rate, or give alpha"
        )
    certificate = goal.certificate(loss, seen, steps.steepness)
    return Learned(goal.alpha, variance, loss.coef.copy(), certificate, np.array(way))
