"""Mean field for labels: weighted regressions in a loop over the bound of Jaakkola & Jordan (2000).

For every xi the logistic likelihood lies above a Gaussian one,

    log p(y | eta) >= log sigmoid(xi) - xi / 2 + (y - 1/2) eta - lambda(xi) (eta^2 - xi^2),
    lambda(xi) = tanh(xi / 2) / (4 xi),

so that given xi labels are a regression with row weights 2 lambda, responses (y - 1/2) / (2 lambda)
and noise variance 1, which the solvers of the Variational Garrote settle. The best xi_i^2 is then the
expected square of the linear predictor. Neither step lowers the bound on the evidence.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from garrote.arrays import Array, Floats
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.certificates import UNKNOWN, equations
from garrote.results.fit import Fit
from garrote.solvers.control import Control, evaluate_solutions
from garrote.solvers.garrote.certificate import certify
from garrote.solvers.garrote.variational import Annealer
from garrote.solvers.labels.jaakkola import (
    Shortcut,
    bound_level,
    first_xi,
    labels_as_numbers,
    touching_error,
)
from garrote.solvers.labels.label_regression import LabelColumns, LabelRegression
from garrote.solvers.lockstep import run_together

# With at most so many columns all are at hand at once; of more, those that would be noticed.
_SMALL = 256
# What xi, m and w may still move by, as a share of the tolerance, when rounds end.
_STILL = 0.1
# A column joins those at hand when it is in with this share of the tolerance.
_JOINS = 0.5
# Columns with probabilities below this share of the tolerance are not listed in a solution.
_NEGLIGIBLE = 0.01

# From a variance, the expected squares of coefficients and how many are in, to the next variance.
NextVariance = Callable[[float, float, float], float]


@dataclass(frozen=True, kw_only=True)
class BoundSolution(Fit):
    """A fit to labels with the slab's variance and the bound's own parameters.

    Its free energy is minus the bound on the log evidence. ``spread`` are variances of weights given
    inclusion, ``fixed`` the coefficients of the intercept and of covariates; ``eta`` and ``doubt`` mean
    and variance of the linear predictor of all rows, ``xi`` where the bound touches.
    """

    variance: float
    spread: Floats
    fixed: Floats
    xi: Floats
    eta: Floats
    doubt: Floats

    @property
    def bound(self) -> float:
        """The bound on the log evidence."""
        return -self.free_energy

    @property
    def coef_variance(self) -> Floats:
        """The variances of the coefficients, inclusion being uncertain too."""
        return self.probability * (self.weight**2 + self.spread) - self.coef**2


class LogisticBound:
    """Labels of one problem, and the columns at hand, which only grow.

    Parameters
    ----------
    problem : Problem
        From rows: its weights, offset, columns and covariates are used, not its response.
    labels : array of shape (N,)
        0 or 1.
    offsets : array of shape (D,)
        Log odds of each variable, added to gamma.
    control : Control
    """

    def __init__(self, problem: Problem, labels: Floats, offsets: Floats, control: Control):
        self.problem, self.labels, self.offsets = problem, labels, offsets
        self.control = control
        self.at_hand = LabelColumns(problem)
        self._last: tuple[Floats, int, LabelRegression] | None = None
        if len(problem.usable) <= _SMALL:
            self.at_hand.add(problem.usable)

    def roughly(self, tol: float) -> "LogisticBound":
        """Return the same problem, and the same columns at hand, solved to no less than a tolerance."""
        rough = copy(self)
        rough.control = replace(self.control, tol=max(tol, self.control.tol))
        return rough

    def empty(self, gamma: float, variance: float) -> BoundSolution:
        """Return where to begin: no variable in, and the bound touching where the mean label says."""
        xi = first_xi(self.problem, self.labels)
        nothing, zero = np.zeros(0), np.zeros(len(self.labels))
        return BoundSolution(
            gamma, np.zeros(0, np.intp), nothing, nothing, 1.0, np.inf, 0.0, UNKNOWN, 0,
            variance=variance, spread=nothing, fixed=np.zeros(self.at_hand.count), xi=xi, eta=zero,
            doubt=zero,
        )  # fmt: skip

    def solve(
        self, gamma: float, start: BoundSolution, next_variance: NextVariance | None = None
    ) -> BoundSolution:
        """Settle at one gamma from another solution; the slab's variance may be learned on the way."""
        now = replace(start, strength=gamma, n_iter=0)
        while True:
            now = self._on_hand(now, next_variance)
            if len(self.at_hand.columns) == len(self.problem.usable):
                return now
            missing, size, energy, largest = self._outside(now)
            if not len(missing):
                inclusion = max(now.certificate["inclusion"], largest)
                kept = equations(now.certificate.parts | {"inclusion": inclusion})
                return replace(
                    now,
                    expected_size=now.expected_size + size,
                    free_energy=now.free_energy + energy,
                    certificate=kept,
                )
            self.at_hand.add(missing)

    def _on_hand(self, now: BoundSolution, next_variance: NextVariance | None) -> BoundSolution:
        """Alternate between the factors and the bound's parameters, on the columns at hand."""
        tolerance, way = _STILL * self.control.tol, Shortcut(self.problem.weights)
        accuracy = self.control.tol
        while True:
            now, moved = self._settled(self._weighted(now), now, accuracy)
            if next_variance is not None:
                squares = float(now.probability @ (now.weight**2 + now.spread))
                variance = next_variance(now.variance, squares, float(now.probability.sum()))
                moved = max(moved, abs(float(np.log(variance / now.variance))))
                now = replace(now, variance=variance)
            best = np.sqrt(now.eta**2 + now.doubt)
            moved = max(moved, touching_error(now.xi, best, self.problem.weights))
            if moved <= tolerance or now.n_iter >= self.control.max_iter:
                return self._certified(now)
            # Factors need more digits as xi gains them; with too few they would never be still.
            accuracy = min(max(_STILL * moved, tolerance), self.control.tol)
            now = replace(now, xi=best, n_iter=now.n_iter + 1)
            further = way.beyond(best)
            if further is not None:
                now = self._better(now, further, accuracy)

    def _better(self, now: BoundSolution, further: Floats, accuracy: float) -> BoundSolution:
        """Return the solution with xi further on, if the bound is no lower there; else as it is."""
        known, there = self._certified(now), replace(now, xi=further)
        there = self._settled(self._weighted(there), there, accuracy)[0]
        risen = self._certified(there).bound >= known.bound
        return there if risen else now

    def _weighted(self, now: BoundSolution) -> LabelRegression:
        """Return the regression that stands for the labels, given xi; it is settled, then certified."""
        count = len(self.at_hand.columns)
        if self._last is None or self._last[0] is not now.xi or self._last[1] != count:
            given = labels_as_numbers(self.at_hand, self.labels, now.xi)
            self._last = now.xi, count, given
        return self._last[2]

    def _prior(self, task: Problem, variance: float) -> SpikeTerms:
        lengths = np.where(task.curvature > 0, task.curvature, 1.0)
        offsets = np.zeros(task.n_features)
        offsets[: len(self.at_hand.columns)] = self.offsets[self.at_hand.columns]
        return SpikeTerms.with_slab(variance, offsets, lengths, 1.0)

    def _in_regression(self, now: BoundSolution) -> Fit:
        """Return a solution as one of the regression on the columns at hand."""
        columns = self.at_hand.places(now.columns)
        return Fit.uncertified(now.strength, columns, now.probability, now.weight, 1.0)

    def _settled(
        self, given: LabelRegression, now: BoundSolution, accuracy: float
    ) -> tuple[BoundSolution, float]:
        """Settle the factors given xi; return also how far they moved, in standard errors."""
        task, begin = given.task, self._in_regression(now)
        point = begin
        if len(task.usable):
            prior = self._prior(task, now.variance)
            annealer = Annealer(task, task.compressed(), prior, self.control)
            left = task.response - _fitted(task, begin)
            point = annealer.solve_further(begin, left, accuracy)
            listed = point.probability > _NEGLIGIBLE * self.control.tol
            point = replace(
                point, columns=point.columns[listed], probability=point.probability[listed],
                weight=point.weight[listed],
            )  # fmt: skip
        m, moved = np.zeros((2, task.n_features))
        m[point.columns], moved[point.columns] = point.probability, point.coef
        m[begin.columns] -= begin.probability
        moved[begin.columns] -= begin.coef
        change = max(
            float(np.abs(m).max(initial=0.0)),
            float((np.abs(moved) * np.sqrt(task.curvature)).max(initial=0.0)),
        )
        return self._seen(given, now, point), change

    def _seen(self, given: LabelRegression, now: BoundSolution, point: Fit) -> BoundSolution:
        """Return a solution with what it says of every row."""
        task, rows, fixed = given.task, len(self.labels), self.at_hand.fixed
        columns = self.at_hand.columns[point.columns]
        order = np.argsort(columns, kind="stable")
        places = point.columns[order]
        now = replace(
            now,
            columns=columns[order],
            probability=point.probability[order],
            weight=point.weight[order],
            spread=1.0 / (task.curvature[places] + 1.0 / now.variance),
            eta=_fitted(task, point)[:rows] + fixed @ given.level + self.problem.known_part,
            fixed=given.level - given.explained[:, places] @ point.coef[order],
        )
        own = np.einsum("if,fg,ig->i", fixed, given.inverse, fixed)
        block = task.table.stored.take(places, np.zeros(task.n_features))[:rows]
        return replace(now, doubt=own + block**2 @ now.coef_variance)

    def _certified(self, now: BoundSolution) -> BoundSolution:
        """Compute the bound and all violations anew, from the data and the stated solution."""
        given, point = self._weighted(now), self._in_regression(now)
        task = given.task
        step = evaluate_solutions(task, [point])
        ((squared, gradients, _),) = run_together([step], task.table.stored)
        fit = certify(task, self._prior(task, now.variance), point, squared[0], gradients[0])
        seen = self._seen(given, now, point)
        best = np.sqrt(seen.eta**2 + seen.doubt)
        off = touching_error(now.xi, best, self.problem.weights)
        parts = {name: fit.certificate[name] for name in ("inclusion", "weight")}
        certificate = equations(parts | {"bound": off})
        bound = -fit.free_energy + 0.5 * task.n * float(np.log(2 * np.pi))
        bound += bound_level(self.at_hand, given, now.xi)
        usable = self.problem.usable
        bound -= float(np.logaddexp(0.0, now.strength + self.offsets[usable]).sum())
        return replace(
            seen,
            free_energy=-float(bound),
            expected_size=fit.expected_size,
            certificate=certificate,
        )

    def curvature_of(self, solution: BoundSolution) -> Floats:
        """Return the rows' weights by the curvature of the likelihood itself, p (1 - p).

        The bound's are larger, so that variances by them would be too small.
        """
        return np.asarray(self.problem.weights * expit(solution.eta) * expit(-solution.eta))

    def widened(self, solution: BoundSolution) -> BoundSolution:
        """Return a solution whose variances are those by the likelihood's own curvature."""
        beside = self.at_hand.beside_fixed(self.curvature_of(solution), solution.columns)
        wide = replace(solution, spread=1.0 / (beside.lengths + 1.0 / solution.variance))
        fixed = self.at_hand.fixed
        doubt = np.einsum("if,fg,ig->i", fixed, beside.inverse, fixed)
        doubt += beside.left[: len(fixed)] ** 2 @ wide.coef_variance
        return replace(wide, doubt=doubt)

    def _outside(self, now: BoundSolution) -> tuple[Array, float, float, float]:
        """Look at all columns that are not at hand.

        Returns those that would be noticed, the expected number of the others, their part of the free
        energy, and the largest of their inclusion probabilities.
        """
        given, design, fixed = self._weighted(now), self.problem.table, self.at_hand.fixed
        rows = len(self.labels)
        left = (given.task.response - _fitted(given.task, self._in_regression(now)))[:rows]
        weights = given.task.weights[:rows]
        products = np.vstack([left, fixed.T]) * weights
        products = design.stored.tdot(products) - np.outer(products.sum(axis=1), design.mean)
        products /= design.scale
        measured = design.stored.moments(weights)
        c = measured.deviation**2 + (measured.mean - design.mean) ** 2
        c = weights.sum() * c / design.scale**2
        c -= np.einsum("fj,fg,gj->j", products[1:], given.inverse, products[1:])
        others = self.at_hand.others
        c = np.maximum(c[others], 0.0) + 1.0 / now.variance
        odds = now.strength + self.offsets[others] - 0.5 * np.log(now.variance * c)
        odds = odds + 0.5 * products[0, others] ** 2 / c
        p = expit(odds)
        noticed = p > _JOINS * self.control.tol
        energy = -float(np.logaddexp(0.0, odds[~noticed]).sum())
        rest = p[~noticed]
        return others[noticed], float(rest.sum()), energy, float(rest.max(initial=0.0))


def _fitted(task: Problem, point: Fit) -> Floats:
    return np.asarray(task.table.dot(point.columns, point.coef[:, None])[:, 0])
