"""Mean field for labels: weighted regressions in a loop over the bound of Jaakkola & Jordan (2000).

For every xi the logistic likelihood lies above a Gaussian one,

    log p(y | eta) >= log sigmoid(xi) - xi / 2 + (y - 1/2) eta - lambda(xi) (eta^2 - xi^2),
    lambda(xi) = tanh(xi / 2) / (4 xi)

so that given xi labels are a regression with row weights 2 lambda, responses (y - 1/2) / (2 lambda)
and noise variance 1. The best xi_i^2 is then the expected square of the linear predictor.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from garrote.arrays import Array, Floats
from garrote.limits.budgets import ENTRIES_AT_HAND
from garrote.priors.evidence.humps import humps_of
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.certificates import UNKNOWN, equations
from garrote.results.fit import Fit
from garrote.solvers.control import Control
from garrote.solvers.garrote.certificate import Regression, certify
from garrote.solvers.labels.bound_rounds import NextVariance, Rounds
from garrote.solvers.labels.compiled_rounds import Factors
from garrote.solvers.labels.jaakkola import Touching, first_xi, touching_error
from garrote.solvers.labels.label_regression import LabelColumns
from garrote.solvers.labels.shared_switches import StatedGroups, SwitchedGroup, groups_at_hand

# What a round may still move anything by, as a share of the tolerance, when rounds end. When a
# certificate fails then they go on, each time to so much less, down to what rounding allows.
_STILL, _TIGHTER, _TIGHTEST = 0.3, 0.3, 1e-13
# A column joins those at hand when it is in with this share of the tolerance.
_JOINS = 0.5
# Columns with probabilities below this share of the tolerance count as out, and are not listed.
_NEGLIGIBLE = 0.01


@dataclass(frozen=True, kw_only=True)
class LabelFit(Fit):
    """A fit to labels with the slab's variance and the bound's own parameters.

    Its free energy is minus the bound on the log evidence. ``spread`` are variances of weights given
    inclusion, ``narrow`` given the sign too, ``fixed`` the coefficients of the intercept and of
    covariates; ``eta`` and ``eta_variance`` mean and variance of the linear predictor of all rows;
    ``xi`` is where the bound touches.
    """

    variance: float
    spread: Floats
    narrow: Floats
    fixed: Floats
    xi: Floats
    eta: Floats
    eta_variance: Floats

    @property
    def bound(self) -> float:
        """The bound on the log evidence."""
        return -self.free_energy


class LogisticBound:
    """The bound of one problem, and the columns at hand, which only grow.

    Parameters
    ----------
    problem : Problem
        From rows, with labels that are 0 or 1.
    offsets : array of shape (D,)
        Log odds of each variable, added to gamma.
    control : Control
    certifies : bool
        Whether solutions get a certificate, which costs a pass over all columns, and are solved on until
        it is as it should be.
    separation : float
        Of the slab's two humps; 0 is one hump.
    groups : array of int of shape (D,), optional
        The number of each column's switch, where some are shared. The problem is then the one in
        coordinates of these groups, and the slab has one hump.
    """

    def __init__(
        self,
        problem: Problem,
        offsets: Floats,
        control: Control,
        certifies: bool = True,
        separation: float = 0.0,
        groups: Array | None = None,
    ):
        self.groups = groups
        self.problem, self.offsets, self.separation = problem, offsets, separation
        self.control, self.certifies = control, certifies
        self.at_hand = LabelColumns(problem)
        if self.at_hand.rows * len(problem.usable) <= ENTRIES_AT_HAND:
            self.at_hand.add(problem.usable)
        elif groups is not None:  # so that columns outside have switches of their own
            shared = np.bincount(groups[problem.usable], minlength=groups.max() + 1) > 1
            self.at_hand.add(problem.usable[shared[groups[problem.usable]]])

    @property
    def switched(self) -> tuple[SwitchedGroup, ...]:
        """The groups at hand that share a switch."""
        return groups_at_hand(self.at_hand, self.groups, self.offsets)

    def empty(self, gamma: float, variance: float) -> LabelFit:
        """Return where to begin: no variable in, and the bound touching where the mean label says."""
        xi = first_xi(self.problem)
        nothing, zero = np.zeros(0), np.zeros(self.at_hand.rows)
        return LabelFit(
            gamma, np.zeros(0, np.intp), nothing, nothing, 1.0, np.inf, 0.0, UNKNOWN, 0,
            variance=variance, spread=nothing, narrow=nothing, fixed=np.zeros(self.at_hand.count),
            xi=xi, eta=zero, eta_variance=zero,
        )  # fmt: skip

    def solve(
        self, gamma: float, start: LabelFit, next_variance: NextVariance | None = None
    ) -> LabelFit:
        """Solve at one gamma from another solution; the slab's variance may be learned on the way."""
        now = replace(start, strength=gamma, n_iter=0)
        while True:
            now = self._on_hand(now, next_variance)
            if len(self.at_hand.columns) == len(self.problem.usable):
                return now
            missing, size, energy, largest = self._outside(now)
            if not len(missing):
                size, energy = now.expected_size + size, now.free_energy + energy
                now = replace(now, expected_size=size, free_energy=energy)
                if not self.certifies:
                    return now
                inclusion = max(now.certificate["inclusion"], largest)
                kept = equations(now.certificate.parts | {"inclusion": inclusion})
                return replace(now, certificate=kept)
            self.at_hand.add(missing)

    def _on_hand(self, now: LabelFit, next_variance: NextVariance | None) -> LabelFit:
        """Make rounds on the columns at hand until the certificate is as it should be."""
        rounds, accuracy = self._rounds(now.strength, now, now.xi), _STILL * self.control.tol
        while True:
            rounds.converge(accuracy, self.control.max_iter, next_variance)
            found = self._listed(now, rounds)
            if not self.certifies:
                return found
            found = self._certified(found)
            exhausted = rounds.count >= self.control.max_iter or accuracy < _TIGHTEST
            if found.certificate.value <= self.control.tol or exhausted:
                return found
            accuracy *= _TIGHTER

    def _rounds(self, gamma: float, start: LabelFit, xi: Floats) -> Rounds:
        """Return rounds at one gamma that begin with a solution."""
        places, nothing = self.at_hand.places(start.columns), np.zeros(len(self.at_hand.columns))
        factors = Factors(*(nothing.copy() for _ in Factors._fields))
        stated = start.probability, start.weight, start.spread, start.coef, start.narrow
        factors.put(places, Factors(*stated))
        log_odds = gamma + self.offsets[self.at_hand.columns]
        least = _NEGLIGIBLE * self.control.tol
        return Rounds(
            self.at_hand, log_odds, start.variance, factors, xi, start.eta_variance, least,
            self.separation, self.switched,
        )  # fmt: skip

    def _humps(self, solution: LabelFit) -> tuple[float, float, float]:
        return humps_of(solution.variance, self.separation)

    def _listed(self, now: LabelFit, rounds: Rounds) -> LabelFit:
        """Return what rounds have found, without columns that count as out."""
        factors, columns = rounds.factors, self.at_hand.columns
        everyone = np.arange(len(columns))
        places = np.flatnonzero(factors.probability > rounds.least)
        places = places[np.argsort(columns[places], kind="stable")]
        listed = factors.among(places)
        return replace(
            now,
            columns=columns[places],
            probability=listed.probability,
            weight=listed.weight,
            spread=listed.spread,
            narrow=listed.narrow,
            variance=rounds.variance,
            xi=rounds.moment.xi.copy(),
            eta=rounds.eta,
            eta_variance=rounds.eta_variance,
            n_iter=rounds.count,
            expected_size=float(factors.probability.sum()),
            free_energy=self._prior_normaliser(now.strength) - rounds.bound(everyone),
        )

    def _prior_normaliser(self, gamma: float) -> float:
        """Return the logarithm of the sum of all models' prior odds."""
        usable = self.problem.usable
        if self.groups is not None:  # one of each group
            usable = usable[np.unique(self.groups[usable], return_index=True)[1]]
        log_odds = gamma + self.offsets[usable]
        return float(np.logaddexp(0.0, log_odds).sum())

    def leads_to(self, known: LabelFit, start: LabelFit, tol: float) -> bool:
        """Tell whether the columns that matter, begun with another solution, lead to a known one.

        The other columns stay as they are in the known one, to whose gamma the question belongs.
        """
        rounds, other = (self._rounds(known.strength, one, start.xi) for one in (known, start))
        lively = np.union1d(np.union1d(rounds.lively, other.lively), rounds.shared)
        expected = rounds.factors.among(lively)
        rounds.begin_with(lively, other.factors)
        rounds.converge_lively(_TIGHTER * tol, self.control.max_iter)
        found = rounds.factors.among(lively)
        apart = np.abs(found.probability - expected.probability).max(initial=0.0)
        size = np.sqrt(np.maximum(1.0 / found.narrow - self._humps(known)[0], 0.0))
        moved = (np.abs(found.coef - expected.coef) * size).max(initial=0.0)
        return bool(max(apart, moved) <= tol)

    def _certified(self, now: LabelFit) -> LabelFit:
        """Compute the bound and all violations anew, from the data and the stated solution."""
        columns, problem = self.at_hand, self.problem
        touching, places = Touching.at(columns, now.xi), columns.places(now.columns)
        under, fitted = touching.under, columns.fitted(places, now.coef)
        residual = under.left(touching.response - fitted)
        everyone = np.arange(len(columns.columns))
        m, w = np.zeros((2, len(everyone)))
        m[places], w[places] = now.probability, now.weight
        humps = self._humps(now)
        stated = StatedGroups.of(columns, under, self.switched, m, w, humps[0])
        alone = np.where(stated.shared, 0.0, m)
        curvature, products, added = columns.measured(under, residual, everyone, alone, w, humps)
        eta_variance = added + stated.eta_variance + under.eta_variance(columns.rows)
        squared, weight = float(under.weights @ residual**2), float(under.weights.sum())
        lengths = np.where(curvature > 0, curvature, 1.0)
        prior = SpikeTerms.with_slab(
            now.variance, self.offsets[columns.columns], lengths, 1.0, self.separation
        )
        unshared = ~stated.shared[places]
        point = Fit.uncertified(
            now.strength, places[unshared], now.probability[unshared], now.weight[unshared], 1.0
        )
        single = Regression(np.where(stated.shared, 0.0, curvature), weight)
        fit = stated.certified(
            certify(single, prior, point, squared, products), residual, now.strength
        )
        fixed = under.level(touching.response - fitted)
        seen = replace(
            now,
            spread=stated.spreads(places, prior.spreads(now.weight, curvature[places], 1.0)),
            narrow=1.0 / (curvature[places] + humps[0]),
            fixed=fixed,
            eta=fitted[: columns.rows] + columns.fixed @ fixed + problem.known_part,
        )
        best = np.sqrt(seen.eta**2 + eta_variance)
        parts = {name: fit.certificate[name] for name in ("inclusion", "weight")}
        off = touching_error(now.xi, best, problem.weights)
        bound = -fit.free_energy + 0.5 * weight * float(np.log(2 * np.pi)) + touching.level
        return replace(
            seen,
            eta_variance=eta_variance,
            free_energy=self._prior_normaliser(now.strength) - float(bound),
            expected_size=fit.expected_size,
            certificate=equations(parts | {"bound": off}),
        )

    def curvature_of(self, solution: LabelFit) -> Floats:
        """Return the rows' weights by the curvature of the likelihood itself, p (1 - p).

        The bound's are larger, so that variances by them would be too small.
        """
        return np.asarray(self.problem.weights * expit(solution.eta) * expit(-solution.eta))

    def widened(self, solution: LabelFit) -> LabelFit:
        """Return a solution whose variances are those by the likelihood's own curvature."""
        columns, places = self.at_hand, self.at_hand.places(solution.columns)
        under = columns.under(self.curvature_of(solution))
        m, w = np.zeros((2, len(columns.columns)))
        m[places], w[places] = solution.probability, solution.weight
        humps = self._humps(solution)
        stated = StatedGroups.of(columns, under, self.switched, m, w, humps[0])
        curvature, _, added = columns.measured(
            under, np.zeros_like(under.weights), places,
            np.where(stated.shared[places], 0.0, solution.probability), solution.weight, humps,
        )  # fmt: skip
        prior = SpikeTerms.with_slab(
            solution.variance, np.zeros(0), np.zeros(0), 1.0, self.separation
        )
        spread = stated.spreads(places, prior.spreads(solution.weight, curvature, 1.0))
        eta_variance = added + stated.eta_variance + under.eta_variance(columns.rows)
        return replace(solution, spread=spread, eta_variance=eta_variance)

    def _outside(self, now: LabelFit) -> tuple[Array, float, float, float]:
        """Look at all columns that are not at hand.

        Returns those that would be noticed, the expected number of the others, their part of the free
        energy, and the largest of their inclusion probabilities.
        """
        columns, design = self.at_hand, self.problem.table
        touching, rows = Touching.at(columns, now.xi), columns.rows
        under, weights = touching.under, touching.under.weights[:rows]
        fitted = columns.fitted(columns.places(now.columns), now.coef)
        left = under.left(touching.response - fitted)[:rows]
        products = np.vstack([left * weights, under.held[:, :rows]])
        products = design.stored.tdot(products) - np.outer(products.sum(axis=1), design.mean)
        products /= design.scale
        measured = design.stored.moments(weights)
        c = measured.deviation**2 + (measured.mean - design.mean) ** 2
        c = weights.sum() * c / design.scale**2
        c -= np.einsum("fj,fg,gj->j", products[1:], under.inverse, products[1:])
        others = columns.others
        ridge, lift, height = self._humps(now)
        c = np.maximum(c[others], 0.0) + ridge
        odds = now.strength + self.offsets[others] - 0.5 * np.log(c / ridge)
        odds = odds + 0.5 * products[0, others] ** 2 / c
        if lift:
            x = lift * np.abs(products[0, others]) / c
            odds += x + np.log(0.5 + 0.5 * np.exp(-2.0 * x)) - 0.5 * height * (1.0 - ridge / c)
        p = expit(odds)
        noticed = p > _JOINS * self.control.tol
        energy = -float(np.logaddexp(0.0, odds[~noticed]).sum())
        rest = p[~noticed]
        return others[noticed], float(rest.sum()), energy, float(rest.max(initial=0.0))
