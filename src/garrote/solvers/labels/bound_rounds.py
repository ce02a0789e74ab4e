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
from typing import NamedTuple

import numpy as np
from scipy.special import xlog1py, xlogy

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.evidence.humps import SignedWeights, humps_of, log_cosh, signed_weights
from garrote.solvers.labels.jaakkola import Shortcut, Touching, touching_error
from garrote.solvers.labels.label_regression import LabelColumns, project_out_fixed
from garrote.solvers.labels.shared_switches import Measure, SwitchedGroup, moves

# Columns that matter are in with more than this; so many of the most probable ones at most.
_LIVELY, _MOST_LIVELY = 0.02, 256
# Rounds over them end at this share of what they moved the others by.
_SHARE = 0.1
# Rounds over the columns that matter between two over all, at most.
_BETWEEN = 100
# Coefficients move by no less than this share of the tolerance, in standard errors.
_RESOLUTION = 1e-3

# From a variance, the expected squares of coefficients, how many are in, and their sum times
# their signs to the next variance.
NextVariance = Callable[[float, float, float, float], float]


class Factors(NamedTuple):
    """What is believed of each column at hand; changed in place.

    ``spread`` is the variance of the weight given inclusion, ``coef`` what the residual knows of the
    column; ``narrow`` is the variance given the sign, too, which is less under a slab of two humps.
    """

    probability: Floats
    weight: Floats
    spread: Floats
    coef: Floats
    narrow: Floats

    @property
    def variance(self) -> Floats:
        """The variances of the coefficients, inclusion being uncertain too."""
        m, w = self.probability, self.weight
        return np.maximum(m * (w**2 + self.spread) - (m * w) ** 2, 0.0)

    def among(self, places: Array) -> "Factors":
        """Return copies for some columns."""
        return Factors(*(values[places] for values in self))

    def put(self, places: Array, other: "Factors") -> None:
        """Overwrite some columns."""
        for values, given in zip(self, other, strict=True):
            values[places] = given


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
        self.touching = Touching.at(columns, xi)
        inside = np.flatnonzero(factors.coef)
        self.fitted = columns.fitted(inside, factors.coef[inside])
        self.lively, self.quiet = self._divided()
        self.lively_variance = self._variance_of(self.lively)
        self.group_variance, self.group_gain = self._seen_groups()
        fixed_variance = self.touching.under.eta_variance(columns.rows)
        others = eta_variance - self.lively_variance - self.group_variance - fixed_variance
        self.quiet_variance = np.maximum(others, 0.0)
        self.best = xi

    def _variance_of(self, places: Array) -> Floats:
        """Return the variances that some columns add to linear predictors."""
        return self.columns.eta_variance(self.touching.under, places, self.factors.variance[places])

    def _divided(self) -> tuple[Array, Array]:
        """Tell the columns that matter from the others."""
        m = np.where(self.single, self.factors.probability, 0.0)
        lively = np.flatnonzero(m > _LIVELY)
        if len(lively) > _MOST_LIVELY:
            lively = np.sort(np.argpartition(-m, _MOST_LIVELY)[:_MOST_LIVELY])
        quiet = self.single.copy()
        quiet[lively] = False
        return lively, np.flatnonzero(quiet)

    def begin_with(self, places: Array, factors: Factors) -> None:
        """Take the factors of some columns, which then are those that matter, from another solution."""
        lively = places[self.single[places]]
        self._take_for_lively(lively, np.setdiff1d(np.flatnonzero(self.single), lively))
        moved = factors.coef[places] - self.factors.coef[places]
        self.fitted = self.fitted + self.columns.fitted(places, moved)
        self.factors.put(places, factors.among(places))
        self.group_variance, self.group_gain = self._seen_groups()

    @property
    def shared(self) -> Array:
        """The columns at hand that share a switch."""
        return np.flatnonzero(~self.single)

    def converge(self, accuracy: float, most: int, next_variance: NextVariance | None) -> None:
        """Repeat rounds until one over all columns moves nothing by more than the accuracy."""
        moved = np.inf
        while True:
            least = max(0.5 * accuracy, min(_SHARE * moved, 0.1))
            self.converge_lively(least, min(_BETWEEN, most - self.count), next_variance)
            moved = self.round(True, accuracy, next_variance)
            if moved <= accuracy or self.count >= most:
                return
            self._take_for_lively(*self._divided())

    def _take_for_lively(self, lively: Array, quiet: Array) -> None:
        """Choose anew which columns are swept often, and move their part of the predictors' variance."""
        came, went = np.setdiff1d(lively, self.lively), np.setdiff1d(self.lively, lively)
        moved = self._variance_of(went) - self._variance_of(came)
        self.lively_variance = self.lively_variance - moved
        self.quiet_variance = np.maximum(self.quiet_variance + moved, 0.0)
        self.lively, self.quiet = lively, quiet

    def converge_lively(
        self, accuracy: float, most: int, next_variance: NextVariance | None = None
    ) -> None:
        """Repeat rounds over the columns that matter, with a step further on after every third."""
        way, moved = Shortcut(self.columns.problem.weights), np.inf
        for _ in range(most):
            previous = moved
            moved = self.round(False, accuracy, next_variance)
            ratio = moved / previous
            # Steps shrink geometrically: what is still to come is moved * ratio / (1 - ratio).
            if moved <= accuracy and moved * ratio <= accuracy * (1.0 - ratio):
                return
            further = way.beyond(self.best)
            if further is not None:
                self._try(further, accuracy)

    def _try(self, further: Floats, accuracy: float) -> None:
        """Make a round with xi further on; take it back where the bound is lower then."""
        some, fitted, variance, best = self.lively, self.fitted, self.lively_variance, self.best
        of_groups, changed = (self.group_variance, self.group_gain), np.append(some, self.shared)
        kept = self.factors.among(changed)
        self.touching = before = Touching.at(self.columns, best)
        bound = self.bound(some)
        self.best = further
        self.round(False, accuracy, None)
        if not self.bound(some) >= bound:
            self.factors.put(changed, kept)
            self.fitted, self.lively_variance = fitted, variance
            self.group_variance, self.group_gain = of_groups
            self.best, self.touching = best, before

    def round(self, everywhere: bool, accuracy: float, next_variance: NextVariance | None) -> float:
        """Let the bound touch where it is best, and sweep; return how far anything is off."""
        if self.best is not self.touching.xi:
            self.touching = Touching.at(self.columns, self.best)
        touching, columns = self.touching, self.columns
        residual = touching.under.left(touching.response - self.fitted)
        moved = 0.0
        if everywhere:
            self.quiet_variance, moved = self._sweep(self.quiet, residual, accuracy)
        self.lively_variance, change = self._sweep(self.lively, residual, accuracy)
        change = max(change, self._sweep_groups(residual, accuracy))
        self.fitted = touching.response - residual
        self.best = np.sqrt(self.eta**2 + self.eta_variance)
        self.count += 1
        moved = max(moved, change)
        if next_variance is not None:
            m = self.factors.probability
            squares = float(m @ (self.factors.weight**2 + self.factors.spread))
            along = float(m @ self._signed(self.factors).along) if self.separation else 0.0
            variance = next_variance(self.variance, squares, float(m.sum()), along)
            moved = max(moved, abs(float(np.log(variance / self.variance))))
            self.variance = variance
        return max(moved, touching_error(touching.xi, self.best, columns.problem.weights))

    @property
    def humps(self) -> tuple[float, float, float]:
        """Ridge, lift and height of the slab; see `garrote.priors.evidence.humps`."""
        return humps_of(self.variance, self.separation)

    def _signed(self, factors: Factors) -> SignedWeights:
        """Return what weights say of their signs."""
        _, lift, _ = self.humps
        return signed_weights(factors.weight, lift * factors.narrow, lift)

    @property
    def eta(self) -> Floats:
        """The means of the linear predictors."""
        return self.fitted[: self.columns.rows] + self.columns.problem.known_part

    @property
    def eta_variance(self) -> Floats:
        """The variances of the linear predictors."""
        fixed_variance = self.touching.under.eta_variance(self.columns.rows)
        return fixed_variance + self.quiet_variance + self.lively_variance + self.group_variance

    def _sweep(self, places: Array, residual: Floats, accuracy: float) -> tuple[Floats, float]:
        """Update columns in turn; return their part of the variance of eta, and the largest change."""
        columns, eta_variance, moved = self.columns, np.zeros(len(residual)), 0.0
        for some in columns.in_parts(places):
            change = _visit(
                columns.block, self.touching.under, places[some], self.log_odds,
                self.humps, self.factors, self.least, residual, eta_variance,
                _RESOLUTION * accuracy,
            )  # fmt: skip
            moved = max(moved, change)
        return eta_variance[: columns.rows], moved

    def _sweep_groups(self, residual: Floats, accuracy: float) -> float:
        """Update groups that share a switch in turn; return the largest change."""
        moved, factors, ridge = 0.0, self.factors, self.humps[0]
        variance, gain = np.zeros(len(residual)), 0.0
        for group in self.groups:
            places = group.places
            measure = Measure.of(self.columns, self.touching.under, places, ridge)
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
            gain += measure.gain(m, w, log_odds, ridge)
        self.group_variance, self.group_gain = variance[: self.columns.rows], gain
        return moved

    def _state_group(self, places: Array, measure: Measure, m: float, w: Floats) -> None:
        """Write down what is believed of the columns of a group."""
        factors = self.factors
        factors.probability[places], factors.weight[places] = m, w
        factors.spread[places] = np.diag(measure.spread)
        factors.narrow[places] = 1.0 / (np.diag(measure.products) + self.humps[0])

    def _seen_groups(self) -> tuple[Floats, float]:
        """Return what groups as they are add to the variance of predictors, and to the bound."""
        variance, gain, ridge = (
            np.zeros(self.columns.rows + self.columns.pseudo),
            0.0,
            self.humps[0],
        )
        for group in self.groups:
            measure = Measure.of(self.columns, self.touching.under, group.places, ridge)
            m, w = self.factors.probability[group.places[0]], self.factors.weight[group.places]
            variance += measure.eta_variance(m, w)
            gain += measure.gain(m, w, self.log_odds[group.places[0]], ridge)
        return variance[: self.columns.rows], gain

    def bound(self, places: Array) -> float:
        """Return the bound on the log evidence, without the entropy and prior terms of other columns.

        Nor are the prior's normalisers in it.
        """
        touching, rows = self.touching, self.columns.rows
        residual = touching.under.left(touching.response - self.fitted)
        weights = touching.under.weights
        eta_variance = self.quiet_variance + self.lively_variance + self.group_variance
        squared = float(weights @ residual**2 + weights[:rows] @ eta_variance)
        places = places[self.single[places]]
        factors = self.factors.among(places)
        m = factors.probability
        slab = self._slab_gain(factors)
        gains = m * (self.log_odds[places] + slab) - xlogy(m, m) - xlog1py(1 - m, -m)
        return touching.level - 0.5 * squared + float(gains.sum()) + self.group_gain

    def _slab_gain(self, factors: Factors) -> Floats:
        """Return minus the divergence of weights, and signs, that are in from the slab."""
        if not self.separation:
            relative = factors.spread / self.variance
            away = factors.weight**2 / self.variance
            return np.asarray(0.5 * (np.log(relative) + 1.0 - relative - away))
        ridge, lift, height = self.humps
        relative, signed = factors.narrow * ridge, self._signed(factors)
        away = ridge * signed.square - 2.0 * lift * signed.along + height
        return np.asarray(0.5 * (np.log(relative) + 1.0 - relative - away) - signed.told)


@kernel
def _visit(
    block, under, places, log_odds, humps, factors, least, residual, eta_variance, resolution
):
    ridge, lift, height = humps
    rows = block.shape[0]
    left, shares = np.empty(rows), np.empty(2 * under.columns.shape[0])
    moved = 0.0
    for j in places:
        c = project_out_fixed(block, under, j, left, shares)
        old, m, w = factors.coef[j], 0.0, 0.0
        narrow = 1.0 / (c + ridge)
        spread = narrow
        if c > 0.0:
            product = c * old
            for i in range(rows):
                product += under.weights[i] * left[i] * residual[i]
            w = product / (c + ridge)
            odds = log_odds[j] + 0.5 * np.log(ridge / (c + ridge)) + 0.5 * product * w
            if lift > 0.0:
                tilt, reach = np.tanh(lift * w), lift * narrow
                odds += log_cosh(lift * w) - 0.5 * height * c * narrow
                spread += reach * reach * (1.0 - tilt * tilt)
                w += reach * tilt
            m = 1.0 / (1.0 + np.exp(-odds)) if odds > -40.0 else 0.0
        new = m * w if m > least else 0.0
        step, size = new - old, np.sqrt(c)
        moved = max(moved, abs(m - factors.probability[j]), abs(step) * size)
        factors.probability[j], factors.weight[j] = m, w
        factors.spread[j], factors.narrow[j] = spread, narrow
        if abs(step) * size > resolution:
            factors.coef[j] = new
            for i in range(rows):
                residual[i] -= step * left[i]
        variance = m * (w * w + spread) - new * new
        if m > least and variance * c > 1e-9:
            for i in range(rows):
                eta_variance[i] += variance * left[i] * left[i]
    return moved
