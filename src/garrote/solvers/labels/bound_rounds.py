"""Rounds of the bound on the columns at hand: a sweep over columns, then the bound moves with them.

Given xi every column in turn takes its best factor, as in a regression; then xi_i^2 becomes the expected
square of the linear predictor. Neither step lowers the bound on the evidence. Most rounds go over the
columns that matter, a few of many: the others answer to them almost linearly, and are swept when those
have come to rest.

These are kernels of their own, not the garrote's sweeps in a loop: those keep x'x and X'X, which belong
to one set of row weights. Here every round has weights of its own, and asks for the variance of each
row's linear predictor as well. All around them is shared: annealing, certificate, audit, description.
"""

from collections.abc import Callable

import numpy as np

from garrote.arrays import Array, Floats
from garrote.limits.budgets import ENTRIES_WEIGHED_PER_CALL
from garrote.priors.evidence.humps import SignedWeights, humps_of, signed_weights
from garrote.solvers.labels.compiled_rounds import (
    Factors,
    Labels,
    Moment,
    Slab,
    bound_of,
    close_round,
    open_round,
    repeat_rounds,
    visit,
)
from garrote.solvers.labels.jaakkola import Shortcut, fixed_level
from garrote.solvers.labels.label_regression import Fixed, LabelColumns
from garrote.solvers.labels.shared_switches import Measure, SwitchedGroup, moves

# Columns that matter are in with more than this; so many of the most probable ones at most. Where no
# more than a few are in at all, these are.
_LIVELY, _MOST_LIVELY, _FEW = 0.02, 256, 32
# Rounds over them end at this share of what they moved the others by.
_SHARE = 0.1
# Rounds over the columns that matter between two over all, at most.
_BETWEEN = 100

# From a variance, the expected squares of coefficients, how many are in, and their sum times
# their signs to the next variance.
NextVariance = Callable[[float, float, float, float], float]


class Rounds:
    """A solution on the columns at hand while it is found.

    Parameters
    ----------
    columns : LabelColumns
    log_odds : array
        Prior log odds of the columns at hand.
    variance : float
        Of the slab.
    factors : Factors
        To begin with.
    xi : array of shape (N,)
        Where the bound touches.
    eta_variance : array of shape (N,)
        The variances of linear predictors to begin with.
    least : float
        Columns with probabilities up to this count as out. Many such might add up to something.
    separation : float
        Of the slab's two humps; 0 is one hump.
    groups : tuple of SwitchedGroup
        Groups of the columns at hand that share a switch, which only a slab of one hump has.
    """

    def __init__(
        self, columns: LabelColumns, log_odds: Floats, variance: float, factors: Factors, xi: Floats,
        eta_variance: Floats, least: float, separation: float = 0.0,
        groups: tuple[SwitchedGroup, ...] = (),
    ):  # fmt: skip
        self.columns, self.log_odds, self.variance = columns, log_odds, variance
        self.separation, self.groups = separation, groups
        self.single = np.ones(len(log_odds), dtype=bool)
        for group in groups:
            self.single[group.places] = False
        self.factors, self.least, self.count = factors, least, 0
        self.group_gain = 0.0
        problem = columns.problem
        self.rows = Labels(problem.response, problem.weights, problem.known_part)
        self.moment = _moment(columns, xi)
        inside = np.flatnonzero(factors.coef)
        self.moment.fitted[:] = columns.fitted(inside, factors.coef[inside])
        open_round(self.rows, self.moment)
        self.lively, self.quiet = self._divided()
        self.moment.lively_variance[:] = self._variance_of(self.lively)
        self._see_groups()
        others = eta_variance - self.eta_variance
        self.moment.quiet_variance[:] = np.maximum(others, 0.0)

    @property
    def under(self) -> Fixed:
        """The fixed columns in the weights of the last round."""
        return self.moment.under

    def _variance_of(self, places: Array) -> Floats:
        """Return the variances that some columns add to linear predictors."""
        return self.columns.eta_variance(self.under, places, self.factors.variance[places])

    def _divided(self) -> tuple[Array, Array]:
        """Tell the columns that matter from the others."""
        m = np.where(self.single, self.factors.probability, 0.0)
        lively = np.flatnonzero(m > self.least)
        if len(lively) > _FEW:
            lively = lively[m[lively] > _LIVELY]
        if len(lively) > _MOST_LIVELY:
            lively = np.sort(np.argpartition(-m, _MOST_LIVELY)[:_MOST_LIVELY])
        quiet = self.single.copy()
        quiet[lively] = False
        return lively, np.flatnonzero(quiet)

    def begin_with(self, places: Array, factors: Factors) -> None:
        """Take the factors of some columns, which then are those that matter, from another solution."""
        lively = places[self.single[places]]
        self._take_for_lively(lively, self._without(np.flatnonzero(self.single), lively))
        moved = factors.coef[places] - self.factors.coef[places]
        self.moment.fitted[:] += self.columns.fitted(places, moved)
        self.factors.put(places, factors.among(places))
        self._see_groups()

    @property
    def shared(self) -> Array:
        """The columns at hand that share a switch."""
        return np.flatnonzero(~self.single)

    def converge(self, accuracy: float, most: int, next_variance: NextVariance | None) -> None:
        """Repeat rounds until one over all columns moves nothing by more than the accuracy."""
        # The others can move by no more than they are in.
        moved = float(self.factors.probability[self.quiet].max(initial=0.0))
        while True:
            least = max(0.5 * accuracy, min(_SHARE * moved, 0.1))
            self.converge_lively(least, min(_BETWEEN, most - self.count), next_variance)
            moved = self.round(True, accuracy, next_variance)
            if moved <= accuracy or self.count >= most:
                return
            self._take_for_lively(*self._divided())

    def _take_for_lively(self, lively: Array, quiet: Array) -> None:
        """Choose anew which columns are swept often, and move their part of the predictors' variance."""
        came, went = self._without(lively, self.lively), self._without(self.lively, lively)
        moved = self._variance_of(went) - self._variance_of(came)
        of_lively, of_quiet = self.moment.lively_variance, self.moment.quiet_variance
        of_lively -= moved
        np.maximum(of_quiet + moved, 0.0, out=of_quiet)
        self.lively, self.quiet = lively, quiet

    def _without(self, places: Array, others: Array) -> Array:
        """Return those of some columns at hand that are not among others, in order."""
        left = np.zeros(len(self.single), dtype=bool)
        left[places] = True
        left[others] = False
        return np.flatnonzero(left)

    def converge_lively(
        self, accuracy: float, most: int, next_variance: NextVariance | None = None
    ) -> None:
        """Repeat rounds over the columns that matter, with a step further on after every third.

        In one piece, where nothing but these columns moves.
        """
        entries = max(1, len(self.lively)) * len(self.moment.residual)
        if self.groups or next_variance is not None or entries > ENTRIES_WEIGHED_PER_CALL:
            self._converge_with_others(accuracy, most, next_variance)
            return
        seen, pace = np.empty((3, self.columns.rows)), np.array([0.0, np.inf])
        per_call, settled = max(1, ENTRIES_WEIGHED_PER_CALL // entries), False
        while most > 0 and not settled:
            count, settled = repeat_rounds(
                self.columns.block, self.rows, self.moment, self.lively, self.slab,
                self.factors, accuracy, min(most, per_call), seen, pace,
            )  # fmt: skip
            self.count += count
            most -= per_call

    def _converge_with_others(
        self, accuracy: float, most: int, next_variance: NextVariance | None
    ) -> None:
        """Do the same round by round, with groups and the slab's variance between."""
        way, moved = Shortcut(self.columns.problem.weights), np.inf
        for _ in range(most):
            previous = moved
            moved = self.round(False, accuracy, next_variance)
            ratio = moved / previous
            if moved <= accuracy and moved * ratio <= accuracy * (1.0 - ratio):
                return
            further = way.beyond(self.moment.best)
            if further is not None:
                self._try(further, accuracy)

    def _try(self, further: Floats, accuracy: float) -> None:
        """Make a round with xi further on; take it back where the bound is lower then."""
        some, changed = self.lively, np.append(self.lively, self.shared)
        moment, kept, gain = self.moment, self.factors.among(changed), self.group_gain
        open_round(self.rows, moment)
        bound = self.bound(some)
        moving = moment.fitted, moment.best, moment.lively_variance, moment.group_variance
        before = [values.copy() for values in moving]
        moment.best[:] = further
        self.round(False, accuracy, None)
        if not self.bound(some) >= bound:
            self.factors.put(changed, kept)
            self.group_gain = gain
            for values, old in zip(moving, before, strict=True):
                values[:] = old

    def round(self, everywhere: bool, accuracy: float, next_variance: NextVariance | None) -> float:
        """Let the bound touch where it is best, and sweep; return how far anything is off."""
        moment, moved = self.moment, 0.0
        open_round(self.rows, moment)
        if everywhere:
            moved = self._sweep(self.quiet, moment.quiet_variance, accuracy)
        moved = max(moved, self._sweep(self.lively, moment.lively_variance, accuracy))
        moved = max(moved, self._sweep_groups(accuracy))
        moved = max(moved, close_round(self.rows, moment))
        self.count += 1
        if next_variance is not None:
            m = self.factors.probability
            squares = float(m @ (self.factors.weight**2 + self.factors.spread))
            along = float(m @ self._signed(self.factors).along) if self.separation else 0.0
            variance = next_variance(self.variance, squares, float(m.sum()), along)
            moved = max(moved, abs(float(np.log(variance / self.variance))))
            self.variance = variance
        return moved

    @property
    def humps(self) -> tuple[float, float, float]:
        """Ridge, lift and height of the slab; see `garrote.priors.evidence.humps`."""
        return humps_of(self.variance, self.separation)

    def _signed(self, factors: Factors) -> SignedWeights:
        """Return what weights say of their signs."""
        _, lift, _ = self.humps
        return signed_weights(factors.weight, lift * factors.narrow, lift)

    @property
    def slab(self) -> Slab:
        """The slab and the log odds of columns, as kernels are told of them."""
        return Slab(*self.humps, self.log_odds, self.least)

    @property
    def eta(self) -> Floats:
        """The means of the linear predictors."""
        return self.moment.fitted[: self.columns.rows] + self.columns.problem.known_part

    @property
    def eta_variance(self) -> Floats:
        """The variances of the linear predictors."""
        moment, fixed = self.moment, self.under.eta_variance(self.columns.rows)
        return fixed + moment.quiet_variance + moment.lively_variance + moment.group_variance

    def _sweep(self, places: Array, eta_variance: Floats, accuracy: float) -> float:
        """Update columns in turn, and fill in what they add to the variance of predictors."""
        eta_variance[:], moved = 0.0, 0.0
        for some in self.columns.in_parts(places):
            change = visit(
                self.columns.block, self.under, places[some], self.slab, self.factors,
                self.moment.residual, eta_variance, accuracy,
            )  # fmt: skip
            moved = max(moved, change)
        return moved

    def _sweep_groups(self, accuracy: float) -> float:
        """Update groups that share a switch in turn; return the largest change."""
        moved, factors, ridge, residual = 0.0, self.factors, self.humps[0], self.moment.residual
        variance, self.group_gain = np.zeros(len(residual)), 0.0
        for group in self.groups:
            places = group.places
            measure = Measure.of(self.columns, self.under, places, ridge)
            log_odds, old = self.log_odds[places[0]], factors.coef[places]
            m, w = measure.implied(residual, old, log_odds)
            new = m * w if m > self.least else np.zeros(len(w))
            takes, size = moves(measure, new - old, accuracy)
            moved = max(moved, abs(m - factors.probability[places[0]]), size)
            if takes:
                factors.coef[places] = new
                residual -= measure.left @ (new - old)
            self._state_group(places, measure, m, w)
            variance += measure.eta_variance(m, w) if m > self.least else 0.0
            self.group_gain += measure.gain(m, w, log_odds, ridge)
        self.moment.group_variance[:] = variance[: self.columns.rows]
        return moved

    def _state_group(self, places: Array, measure: Measure, m: float, w: Floats) -> None:
        """Write down what is believed of the columns of a group."""
        factors = self.factors
        factors.probability[places], factors.weight[places] = m, w
        factors.spread[places] = np.diag(measure.spread)
        factors.narrow[places] = 1.0 / (np.diag(measure.products) + self.humps[0])

    def _see_groups(self) -> None:
        """Take down what groups as they are add to the variance of predictors, and to the bound."""
        variance, self.group_gain, ridge = np.zeros(len(self.moment.residual)), 0.0, self.humps[0]
        for group in self.groups:
            measure = Measure.of(self.columns, self.under, group.places, ridge)
            m, w = self.factors.probability[group.places[0]], self.factors.weight[group.places]
            variance += measure.eta_variance(m, w)
            self.group_gain += measure.gain(m, w, self.log_odds[group.places[0]], ridge)
        self.moment.group_variance[:] = variance[: self.columns.rows]

    def bound(self, places: Array) -> float:
        """Return the bound on the log evidence, without the entropy and prior terms of other columns.

        Nor are the prior's normalisers in it.
        """
        places = places[self.single[places]]
        bound = bound_of(self.rows, self.moment, places, self.slab, self.factors)
        return float(bound) + fixed_level(self.columns) + self.group_gain


def _moment(columns: LabelColumns, xi: Floats) -> Moment:
    """Return room for the regression that stands for labels, with the bound to touch at xi."""
    response, residual, fitted = np.zeros((3, columns.rows + columns.pseudo))
    variances = np.zeros((3, columns.rows))
    under = columns.under(np.ones(columns.rows))
    under = under._replace(inverse=np.empty((columns.count, columns.count)))
    return Moment(
        under, response, residual, fitted, np.zeros(1), np.empty(columns.rows),
        np.array(xi, dtype=np.float64), *variances,
    )  # fmt: skip
