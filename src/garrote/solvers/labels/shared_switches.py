"""Groups of columns of labels that share one switch: each is updated as a whole in every round.

Given xi a group is a weighted regression of its own. With Z the group's coordinates (those of
`garrote.designs.rotation`) beside the fixed columns, C = Z'WZ, u = Z'W (residual + Z coef) and a slab
N(0, I / ridge) on them, weights given inclusion are Gaussian with covariance S = (C + ridge I)^-1 and
mean S u, and the log odds of the switch are

    gamma_g + log(ridge^L |S|) / 2 + u'Su / 2

which is what a single column has, for L = 1.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, xlog1py, xlogy

from garrote.arrays import Array, Floats
from garrote.results.certificates import equations
from garrote.results.fit import Fit
from garrote.solvers.labels.label_regression import Fixed, LabelColumns

# Coefficients of a group that move by less than this share of the accuracy stay where they are.
_RESOLUTION = 1e-3


class SwitchedGroup(NamedTuple):
    """One group: where its columns are in the block, and the log odds of its switch beside gamma."""

    places: Array
    offset: float


class Measure(NamedTuple):
    """A group beside the fixed columns under some weights.

    ``left`` is what these leave of its columns, ``weighted`` the same times the weights, ``products``
    are C, ``spread`` is S, ``log_spread`` the logarithm of ridge^L |S|.
    """

    left: Floats
    weighted: Floats
    products: Floats
    spread: Floats
    log_spread: float

    @classmethod
    def of(cls, columns: LabelColumns, under: Fixed, places: Array, ridge: float) -> "Measure":
        """Measure the columns at some places of the block."""
        block = columns.block[:, places]
        left = block - under.columns.T @ (under.inverse @ (under.held @ block))
        weighted = under.weights[:, None] * left
        products = left.T @ weighted
        factor = cho_factor(products + ridge * np.eye(len(places)), lower=True)
        log_spread = len(places) * np.log(ridge) - 2.0 * np.log(np.diag(factor[0])).sum()
        spread = cho_solve(factor, np.eye(len(places)))
        return cls(left, weighted, products, spread, float(log_spread))

    def implied(self, residual: Floats, coef: Floats, log_odds: float) -> tuple[float, Floats]:
        """Return the inclusion probability and the weights that follow from the residual."""
        u = self.weighted.T @ residual + self.products @ coef
        weight = self.spread @ u
        return float(expit(log_odds + 0.5 * self.log_spread + 0.5 * u @ weight)), weight

    def implied_by(self, weight: Floats, log_odds: float, ridge: float) -> float:
        """Return the inclusion probability that follows from weights."""
        evidence = weight @ (self.products @ weight + ridge * weight)
        return float(expit(log_odds + 0.5 * self.log_spread + 0.5 * evidence))

    def eta_variance(self, probability: float, weight: Floats) -> Floats:
        """Return the variances that the group adds to the linear predictors of all rows."""
        m = probability
        square = np.einsum("ij,ij->i", self.left @ self.spread, self.left)
        return np.asarray(m * square + m * (1.0 - m) * (self.left @ weight) ** 2)

    def gain(self, probability: float, weight: Floats, log_odds: float, ridge: float) -> float:
        """Return what the switch and the weights add to the bound on the log evidence.

        Less their divergence from the prior, but for its normaliser; without the expected squares.
        """
        m, size = probability, len(weight)
        away = ridge * float(np.trace(self.spread) + weight @ weight)
        slab = 0.5 * (self.log_spread + size - away)
        return float(m * (log_odds + slab) - xlogy(m, m) - xlog1py(1 - m, -m))

    def expected_square(self, probability: float, weight: Floats) -> float:
        """Return what the group's variance adds to the expected squared residual."""
        m = probability
        along = float(weight @ self.products @ weight)
        return float(m * np.sum(self.products * self.spread) + m * (1.0 - m) * along)


def groups_at_hand(
    columns: LabelColumns, groups: Array | None, offsets: Floats
) -> tuple[SwitchedGroup, ...]:
    """Return the groups of two or more of the columns at hand."""
    if groups is None:
        return ()
    numbers = groups[columns.columns]
    order = np.argsort(numbers, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
    return tuple(
        SwitchedGroup(places, float(offsets[columns.columns[places[0]]]))
        for places in parts
        if len(places) > 1
    )


def moves(measure: Measure, step: Floats, accuracy: float) -> tuple[bool, float]:
    """Return whether a step is worth taking, and its size in standard errors."""
    size = float(np.sqrt(max(float(step @ measure.products @ step), 0.0)))
    return size > _RESOLUTION * accuracy, size


class StatedGroups(NamedTuple):
    """Groups as a solution states them, measured under some weights.

    ``probability`` and ``weight`` are those of all columns at hand, ``shared`` tells which of them
    share a switch, ``eta_variance`` is what groups add to the variance of the rows' linear predictors.
    """

    groups: tuple[SwitchedGroup, ...]
    measures: tuple[Measure, ...]
    probability: Floats
    weight: Floats
    shared: Array
    ridge: float
    eta_variance: Floats

    @classmethod
    def of(
        cls,
        columns: LabelColumns,
        under: Fixed,
        groups: tuple[SwitchedGroup, ...],
        probability: Floats,
        weight: Floats,
        ridge: float,
    ) -> "StatedGroups":
        """Measure groups of the columns at hand."""
        measures = tuple(Measure.of(columns, under, group.places, ridge) for group in groups)
        shared, variance = np.zeros(len(weight), dtype=bool), np.zeros(len(under.weights))
        for group, measure in zip(groups, measures, strict=True):
            shared[group.places] = True
            m, w = probability[group.places[0]], weight[group.places]
            variance += measure.eta_variance(m, w) if m > 0 else 0.0
        return cls(groups, measures, probability, weight, shared, ridge, variance[: columns.rows])

    def spreads(self, places: Array, spreads: Floats) -> Floats:
        """Return the variances of weights at some places, given those of columns by themselves."""
        if not self.groups:
            return spreads
        everywhere = np.zeros(len(self.weight))
        everywhere[places] = spreads
        for group, measure in zip(self.groups, self.measures, strict=True):
            everywhere[group.places] = np.diag(measure.spread)
        return everywhere[places]

    def covariance(self, places: Array, spreads: Floats) -> Floats:
        """Return the covariance of weights at some places, given that all of them are in."""
        covariance = np.diag(spreads)
        for group, measure in zip(self.groups, self.measures, strict=True):
            if np.isin(group.places[0], places):
                here = np.array([np.flatnonzero(places == place)[0] for place in group.places])
                covariance[np.ix_(here, here)] = measure.spread
        return covariance

    def certified(self, fit: Fit, residual: Floats, gamma: float) -> Fit:
        """Return the certified solution of the other columns with the groups' violations and energy."""
        off_m, off_w = fit.certificate["inclusion"], fit.certificate["weight"]
        size, energy = fit.expected_size, fit.free_energy
        for group, measure in zip(self.groups, self.measures, strict=True):
            m, w = float(self.probability[group.places[0]]), self.weight[group.places]
            log_odds = gamma + group.offset
            implied, weight = measure.implied(residual, m * w, log_odds)
            if m > 0:
                implied = measure.implied_by(w, log_odds, self.ridge)
                _, off = moves(measure, weight - w, 0.0)
                off_w = max(off_w, off)
            off_m, size = max(off_m, abs(m - implied)), size + m * len(w)
            energy += 0.5 * measure.expected_square(m, w)
            gain = measure.gain(m, w, log_odds, self.ridge) if m > 0 else -np.log1p(-implied)
            energy -= gain
        parts = fit.certificate.parts | {"inclusion": off_m, "weight": off_w}
        return replace(fit, free_energy=energy, expected_size=size, certificate=equations(parts))
