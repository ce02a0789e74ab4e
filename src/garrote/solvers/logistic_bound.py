"""Mean field for labels: weighted least squares inside a loop over the bound of Jaakkola & Jordan (2000).

For every xi the logistic likelihood lies above a Gaussian one,

    log p(y | eta) >= log sigmoid(xi) - xi / 2 + (y - 1/2) eta - lambda(xi) (eta^2 - xi^2),
    lambda(xi) = tanh(xi / 2) / (4 xi),

so that given xi labels are a regression with row weights 2 lambda, responses (y - 1/2) / (2 lambda) and noise
variance 1, which the solvers of the Variational Garrote settle. The best xi_i^2 is then the expected square of
the linear predictor. Neither step lowers the bound on the evidence.

The intercept (flat) and covariates (N(0, 100) in standard deviations, as one row of pseudo-data each) are
integrated out with the weights of the moment: they are projected out of everything else.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import pinvh
from scipy.special import expit, log_expit

from garrote.arrays import Array, Floats
from garrote.designs import DenseDesign
from garrote.priors.garrote import GarrotePrior
from garrote.problem import Problem
from garrote.results import BoundCertificate
from garrote.solvers.annealing import Control, evaluate_solutions
from garrote.solvers.certificate import Candidate, certify
from garrote.solvers.lockstep import run_together
from garrote.solvers.variational import Annealer

# Precision of a covariate's coefficient in standard deviations: proper, so that none runs to infinity.
COVARIATE_PRECISION = 0.01
# With at most so many columns all are at hand at once; of more, those that would be noticed.
_SMALL = 256
# Entries of the dense copy of the columns at hand, at most.
_MOST_ENTRIES = 150_000_000
# What xi, m and w may still move by, as a share of the tolerance, when rounds end.
_STILL = 0.1
# Extrapolations further than so many rounds are not tried.
_FURTHEST = 1e4
# A column joins those at hand when it is in with this share of the tolerance.
_JOINS = 0.5
# Columns with probabilities below this share of the tolerance are not listed in a solution.
_NEGLIGIBLE = 0.01

# From a variance, the expected squares of coefficients and how many are in, to the next variance.
NextVariance = Callable[[float, float, float], float]


class BoundSolution(NamedTuple):
    """Factors of the posterior at one prior, with the bound's own parameters, in standardised units.

    ``spread`` are variances of weights given inclusion, ``fixed`` the coefficients of the intercept and of
    covariates; ``eta`` and ``doubt`` mean and variance of the
    linear predictor of all rows, ``xi`` where the bound touches; ``bound`` is that on the log evidence.
    """

    strength: float
    variance: float
    columns: Array
    probability: Floats
    weight: Floats
    spread: Floats
    fixed: Floats
    xi: Floats
    eta: Floats
    doubt: Floats
    bound: float
    expected_size: float
    certificate: BoundCertificate
    rounds: int

    @property
    def coef(self) -> Floats:
        """The coefficients m w."""
        return self.probability * self.weight

    @property
    def coef_variance(self) -> Floats:
        """The variances of the coefficients, inclusion being uncertain too."""
        return self.probability * (self.weight**2 + self.spread) - self.coef**2


def bend(xi: Floats) -> Floats:
    """Return 2 lambda(xi) = tanh(xi / 2) / (2 xi), the weight of a row."""
    half = 0.5 * np.asarray(xi)
    small = half < 1e-4
    ratio = np.where(small, 1.0 - half**2 / 3.0, np.tanh(half) / np.where(small, 1.0, half))
    return np.asarray(0.25 * ratio)


class LogisticBound:
    """Labels of one problem, and the columns at hand, which only grow.

    Parameters
    ----------
    problem : Problem
        From rows: its weights, columns and covariates are used, not its response.
    labels : array of shape (N,)
        0 or 1.
    offsets : array of shape (D,)
        Log odds of each variable, added to gamma.
    control : Control
    """

    def __init__(self, problem: Problem, labels: Floats, offsets: Floats, control: Control):
        self.problem, self.labels, self.offsets = problem, labels, offsets
        self.control = control
        self.fixed, self.held = fixed_columns(problem)
        self.pseudo = np.count_nonzero(self.held)
        pad = np.zeros((self.pseudo, self.fixed.shape[1]))
        pad[:, len(self.held) - self.pseudo :] = np.sqrt(COVARIATE_PRECISION) * np.eye(self.pseudo)
        self._values = np.asfortranarray(np.vstack([self.fixed, pad]))
        self.columns = np.zeros(0, dtype=np.intp)
        if len(problem.usable) <= _SMALL:
            self._add(problem.usable)

    def _add(self, columns: Array) -> None:
        rows = len(self._values)
        entries = rows * (len(self.columns) + len(columns))
        if entries > _MOST_ENTRIES:
            raise ValueError(
                f"{len(self.columns) + len(columns):,} of {self.problem.n_features:,} columns matter at "
                f"these prior odds, a dense block of {8e-9 * entries:.3g} GB: lower the prior odds, or "
                "screen the columns first"
            )
        block = self.problem.table.block(columns, projected=False)
        pad = np.zeros((self.pseudo, len(columns)))
        self._values = np.asfortranarray(np.hstack([self._values, np.vstack([block, pad])]))
        self.columns = np.concatenate([self.columns, columns])

    def empty(self, gamma: float, variance: float) -> BoundSolution:
        """Return where to begin: no variable in, and the bound touching where the mean label says."""
        weights = self.problem.weights
        share = float(np.clip(np.average(self.labels, weights=weights), 1e-6, 1 - 1e-6))
        level = abs(float(np.log(share / (1 - share)))) if self.problem.scale.intercept_count else 0.0
        xi = np.full(len(self.labels), max(level, 0.1))
        nothing, zero = np.zeros(0), np.zeros(len(self.labels))
        unknown = BoundCertificate(np.inf, np.inf, 0.0, np.inf)
        return BoundSolution(
            gamma, variance, np.zeros(0, np.intp), nothing, nothing, nothing, np.zeros(len(self.held)),
            xi, zero, zero, -np.inf, 0.0, unknown, 0,
        )  # fmt: skip

    def solve(
        self, gamma: float, start: BoundSolution, next_variance: NextVariance | None = None
    ) -> BoundSolution:
        """Settle at one gamma from another solution; the slab's variance may be learned on the way."""
        now = start._replace(strength=gamma, rounds=0)
        while True:
            now = self._on_hand(now, next_variance)
            if len(self.columns) == len(self.problem.usable):
                return now
            missing, size, energy, largest = self._outside(now)
            if not len(missing):
                certificate = now.certificate
                kept = BoundCertificate(
                    max(certificate.inclusion, largest), certificate.weight, 0.0, certificate.bound
                )
                return now._replace(
                    expected_size=now.expected_size + size, bound=now.bound - energy, certificate=kept
                )
            self._add(missing)

    def _on_hand(self, now: BoundSolution, next_variance: NextVariance | None) -> BoundSolution:
        """Alternate between the factors and the bound's parameters, on the columns at hand."""
        tolerance, way = _STILL * self.control.tol, _Shortcut()
        while True:
            now, moved = self._settled(self._weighted(now), now)
            if next_variance is not None:
                squares = float(now.probability @ (now.weight**2 + now.spread))
                variance = next_variance(now.variance, squares, float(now.probability.sum()))
                moved = max(moved, abs(float(np.log(variance / now.variance))))
                now = now._replace(variance=variance)
            best = np.sqrt(now.eta**2 + now.doubt)
            if max(moved, self._off(now.xi, best)) <= tolerance or now.rounds >= self.control.max_iter:
                return self._certified(now)
            now = now._replace(xi=best, rounds=now.rounds + 1)
            further = way.beyond(best)
            if further is not None:
                now = self._better(now, further)

    def _off(self, xi: Floats, best: Floats) -> float:
        """Return how far the bound touches from where it should, at the worst row."""
        counted = self.problem.weights > 0
        return float((np.abs(best - xi) / np.maximum(best, 1.0))[counted].max())

    def _better(self, now: BoundSolution, further: Floats) -> BoundSolution:
        """Return the solution with xi further on, if the bound is no lower there; else as it is."""
        there = self._settled(self._weighted(now._replace(xi=further)), now._replace(xi=further))[0]
        risen = self._certified(there).bound >= self._certified(now).bound
        return there if risen else now

    def _weighted(self, now: BoundSolution) -> Problem:
        """Return the regression that stands for the labels, given xi."""
        bent = bend(now.xi)
        response = np.append((self.labels - 0.5) / bent, np.zeros(self.pseudo))
        weights = np.append(self.problem.weights * bent, np.ones(self.pseudo))
        return Problem.from_rows(
            DenseDesign(self._values), response, weights, fit_intercept=False, standardize=False,
            covariates=np.arange(self.fixed.shape[1]), scale_response=False,
        )  # fmt: skip

    def _prior(self, task: Problem, variance: float) -> GarrotePrior:
        offsets = np.append(np.zeros(self.fixed.shape[1]), self.offsets[self.columns])
        lengths = np.where(task.curvature > 0, task.curvature, 1.0)
        return GarrotePrior.with_slab(variance, offsets, lengths, 1.0)

    def _candidate(self, now: BoundSolution) -> Candidate:
        """Return a solution as the regression's own: its columns follow the fixed ones."""
        places = np.searchsorted(self._order[1], now.columns) if len(self.columns) else now.columns
        columns = self._order[0][places] + self.fixed.shape[1]
        return Candidate(now.strength, columns, now.probability, now.weight, 1.0, 0)

    @property
    def _order(self) -> tuple[Array, Array]:
        """The places of the columns at hand in ascending order, and those columns."""
        order = np.argsort(self.columns, kind="stable")
        return order, self.columns[order]

    def _settled(self, task: Problem, now: BoundSolution) -> tuple[BoundSolution, float]:
        """Settle the factors given xi; return also how far they moved, in standard errors."""
        prior, begin = self._prior(task, now.variance), self._candidate(now)
        point = begin
        if len(task.usable):
            annealer = Annealer(task, task.compressed(), prior, self.control)
            rows = task.response - _fitted(task, begin)
            point = annealer.settled_further(begin, rows, self.control.tol)
            listed = point.probability > _NEGLIGIBLE * self.control.tol
            point = point._replace(
                columns=point.columns[listed], probability=point.probability[listed],
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
        return self._seen(task, now, point), change

    def _seen(self, task: Problem, now: BoundSolution, point: Candidate) -> BoundSolution:
        """Return a solution with what it says of every row."""
        rows, count = len(self.labels), self.fixed.shape[1]
        columns = self.columns[point.columns - count]
        order = np.argsort(columns, kind="stable")
        spread = 1.0 / (task.curvature[point.columns] + 1.0 / now.variance)
        shown = (self.labels - 0.5) / bend(now.xi)
        eta = shown - (task.response - _fitted(task, point))[:rows]
        now = now._replace(
            columns=columns[order], probability=point.probability[order], weight=point.weight[order],
            spread=spread[order], eta=eta,
        )  # fmt: skip
        block = self._values[:, point.columns[order]]
        inverse, explained = self._beside_fixed(task, block)
        block = block - self._values[:, :count] @ explained
        right = np.append(shown, np.zeros(self.pseudo)) * task.weights @ self._values[:, :count]
        doubt = block[:rows] ** 2 @ now.coef_variance
        doubt += np.einsum("if,fg,ig->i", self.fixed, inverse, self.fixed)
        return now._replace(fixed=inverse @ right - explained @ now.coef, doubt=doubt)

    def _beside_fixed(self, task: Problem, block: Floats) -> tuple[Floats, Floats]:
        """Return the covariance of the fixed columns' coefficients, and what they explain of others."""
        count = self.fixed.shape[1]
        held = self._values[:, :count] * task.weights[:, None]
        inverse = pinvh(held.T @ self._values[:, :count]) if count else np.zeros((0, 0))
        return inverse, inverse @ (held.T @ block)

    def beside_fixed(self, solution: BoundSolution) -> tuple[Floats, Floats]:
        """Return the covariance of the fixed columns' coefficients given the others at 0.

        And what the fixed columns explain of each listed column, in the weights of the solution.
        """
        columns = self._candidate(solution).columns
        return self._beside_fixed(self._weighted(solution), self._values[:, columns])

    def products(self, solution: BoundSolution, chosen: Array) -> Floats:
        """Return cross products of some listed columns beside the fixed ones, in the solution's weights."""
        task = self._weighted(solution)
        return task.known_block(self._candidate(solution).columns[chosen])

    def _certified(self, now: BoundSolution) -> BoundSolution:
        """Compute the bound and all violations anew, from the data and the stated solution."""
        task = self._weighted(now)
        prior, point = self._prior(task, now.variance), self._candidate(now)
        step = evaluate_solutions(task, [point])
        ((squared, gradients, _),) = run_together([step], task.table.stored)
        fit = certify(task, prior, point, squared[0], gradients[0])
        seen = self._seen(task, now, point)
        off = self._off(now.xi, np.sqrt(seen.eta**2 + seen.doubt))
        certificate = BoundCertificate(fit.certificate.inclusion, fit.certificate.weight, 0.0, off)
        bound = -fit.free_energy + 0.5 * task.n * float(np.log(2 * np.pi)) + self._level(task, now)
        usable = self.problem.usable
        bound -= float(np.logaddexp(0.0, now.strength + self.offsets[usable]).sum())
        return seen._replace(
            bound=float(bound), expected_size=fit.expected_size, certificate=certificate
        )

    def _level(self, task: Problem, now: BoundSolution) -> float:
        """Return what the bound has beside the regression: xi's own terms and the fixed columns'."""
        bent = bend(now.xi)
        rows = log_expit(now.xi) - 0.5 * now.xi + 0.5 * bent * now.xi**2 + 0.125 / bent
        level = float(self.problem.weights @ rows)
        count = self.fixed.shape[1]
        if count:
            level += 0.5 * count * float(np.log(2 * np.pi))
            level -= 0.5 * float(np.linalg.slogdet(task.raw_gram(np.arange(count)))[1])
        return level + 0.5 * self.pseudo * float(np.log(COVARIATE_PRECISION / (2 * np.pi)))

    def _outside(self, now: BoundSolution) -> tuple[Array, float, float, float]:
        """Look at all columns that are not at hand.

        Returns those that would be noticed, the expected number of the others, their part of the free
        energy, and the largest of their inclusion probabilities.
        """
        task, design, rows = self._weighted(now), self.problem.table, len(self.labels)
        left = (task.response - _fitted(task, self._candidate(now)))[:rows]
        weights, basis = task.weights[:rows], task.table.basis[:rows]
        products = np.vstack([left, basis.T]) * weights
        products = design.stored.tdot(products) - np.outer(products.sum(axis=1), design.mean)
        products /= design.scale
        measured = design.stored.moments(weights)
        total = weights.sum()
        c = total * (measured.deviation**2 + (measured.mean - design.mean) ** 2) / design.scale**2
        c = np.maximum(c - np.sum(products[1:] ** 2, axis=0), 0.0) + 1.0 / now.variance
        others = np.setdiff1d(self.problem.usable, self.columns)
        c, product = c[others], products[0, others]
        odds = now.strength + self.offsets[others] - 0.5 * np.log(now.variance * c)
        odds = odds + 0.5 * product**2 / c
        p = expit(odds)
        missing = others[p > _JOINS * self.control.tol]
        rest = p <= _JOINS * self.control.tol
        energy = -float(np.logaddexp(0.0, odds[rest]).sum())
        return missing, float(p[rest].sum()), energy, float(p[rest].max(initial=0.0))


def fixed_columns(problem: Problem) -> tuple[Floats, Floats]:
    """Return the intercept and standardised covariates (N x f), and the precisions of their priors."""
    design = problem.table
    first = np.ones((design.shape[0], problem.scale.intercept_count))
    covariates = design.block(problem.scale.covariates, projected=False)
    held = np.repeat([0.0, COVARIATE_PRECISION], [first.shape[1], covariates.shape[1]])
    return np.hstack([first, covariates]), held


def _fitted(task: Problem, point: Candidate) -> Floats:
    return np.asarray(task.table.dot(point.columns, point.coef[:, None])[:, 0])


class _Shortcut:
    """Where rounds that shrink slowly lead to: squared extrapolation (Varadhan & Roland 2008) of log xi."""

    def __init__(self) -> None:
        self.seen: list[Floats] = []

    def beyond(self, xi: Floats) -> Floats | None:
        """Take the next xi; after every third return a place further on, if there is one."""
        self.seen.append(np.log(np.maximum(xi, 1e-8)))
        if len(self.seen) < 3:
            return None
        first, second, third = self.seen
        step, turn = second - first, third - 2 * second + first
        length = float(np.sqrt(step @ step / max(turn @ turn, 1e-300)))
        self.seen = []
        if not 1.0 < length < _FURTHEST:
            return None
        return np.asarray(np.exp(first + 2 * length * step + length**2 * turn))
