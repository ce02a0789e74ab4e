"""The regression that stands for labels once rows have weights, beside intercept and covariates.

The intercept is flat. A covariate has N(0, 100) in standard deviations, which is one row of
pseudo-data: 0.1 in its own column, 0 in all others and in the response. Both are integrated out with
the weights of the moment, so they are projected out of the response and of all columns.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import pinvh

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.limits.budgets import ENTRIES_KEPT, ENTRIES_WEIGHED_PER_CALL
from garrote.priors.evidence.humps import without_pull
from garrote.problem import Problem

# Precision of a covariate's coefficient in standard deviations: proper, so that none runs to infinity.
COVARIATE_PRECISION = 0.01
# A column that the fixed ones explain up to this share of its square has nothing left to tell.
_EXPLAINED = 1e-7


class Fixed(NamedTuple):
    """The fixed columns under weights of the rows, those of pseudo-data being the last.

    ``columns`` (f x rows) are the fixed columns, ``held`` the same times the weights, ``inverse`` the
    covariance of their coefficients.
    """

    weights: Floats
    columns: Floats
    held: Floats
    inverse: Floats

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant of ``inverse``."""
        return -float(np.linalg.slogdet(self.held @ self.columns.T)[1]) if len(self.held) else 0.0

    def level(self, values: Floats) -> Floats:
        """Return the coefficients of the fixed columns that fit some values of all rows best."""
        return np.asarray(self.inverse @ (self.held @ values))

    def left(self, values: Floats) -> Floats:
        """Return what the fixed columns leave of values of all rows."""
        return values - self.level(values) @ self.columns

    def eta_variance(self, rows: int) -> Floats:
        """Return the variances of the fixed part of the first rows."""
        first = self.columns[:, :rows]
        return np.asarray(((self.inverse @ first) * first).sum(axis=0))


class Measured(NamedTuple):
    """Columns beside the fixed ones: squared lengths, and products with a residual, in the weights.

    ``eta_variance`` are the variances that they add to the linear predictor of the data's rows.
    """

    curvature: Floats
    products: Floats
    eta_variance: Floats


class FixedShares(NamedTuple):
    """What fixed columns make up of some others, under weights of the rows.

    ``inverse`` is the covariance of the fixed columns' coefficients, ``explained`` has their
    coefficients in the regression of each of the others on them.
    """

    inverse: Floats
    explained: Floats


class LabelColumns:
    """Standardised columns of a problem as a dense block that only grows, beside the fixed ones."""

    def __init__(self, problem: Problem):
        self.problem = problem
        fixed, held = fixed_columns(problem)
        self.rows, self.count = fixed.shape
        self.pseudo = int(np.count_nonzero(held))
        pad = np.zeros((self.pseudo, self.count))
        pad[:, self.count - self.pseudo :] = np.sqrt(COVARIATE_PRECISION) * np.eye(self.pseudo)
        self._fixed = np.ascontiguousarray(np.vstack([fixed, pad]).T)
        self._room = np.zeros((self.rows + self.pseudo, 0), order="F")
        self.columns = np.zeros(0, dtype=np.intp)

    @property
    def fixed(self) -> Floats:
        """The fixed columns of the data's rows."""
        return self._fixed[:, : self.rows].T

    @property
    def block(self) -> Floats:
        """The columns, with the rows of pseudo-data."""
        return self._room[:, : len(self.columns)]

    def add(self, columns: Array) -> None:
        """Take in more columns."""
        known, wanted = len(self.columns), len(self.columns) + len(columns)
        height, room = self._room.shape
        if height * wanted > ENTRIES_KEPT:
            raise ValueError(
                f"{wanted:,} of {self.problem.n_features:,} columns matter at these prior odds, a dense "
                f"block of {8e-9 * height * wanted:.3g} GB: lower the prior odds, or screen the columns "
                "first"
            )
        if wanted > room:
            larger = np.zeros(
                (height, max(wanted, min(2 * room, len(self.problem.usable)))), order="F"
            )
            larger[:, :known] = self.block
            self._room = larger
        self._room[: self.rows, known:wanted] = self.problem.table.block(columns, projected=False)
        self.columns = np.concatenate([self.columns, columns])
        self._order = np.argsort(self.columns, kind="stable")
        self._sorted = self.columns[self._order]

    @property
    def others(self) -> Array:
        """The usable columns that are not in the block."""
        outside = np.ones(self.problem.n_features, dtype=bool)
        outside[self.columns] = False
        return np.asarray(self.problem.usable[outside[self.problem.usable]])

    def places(self, columns: Array) -> Array:
        """Return where some columns are in the block."""
        if not len(columns):
            return np.zeros(0, dtype=np.intp)
        return self._order[np.searchsorted(self._sorted, columns)]

    def fitted(self, places: Array, coef: Floats) -> Floats:
        """Return the linear predictor of some columns of the block, pseudo-data included."""
        if 2 * len(places) > len(self.columns):
            everywhere = np.zeros(len(self.columns))
            everywhere[places] = coef
            return np.asarray(self.block @ everywhere)
        return np.asarray(self.block[:, places] @ coef)

    def with_pseudo(self, values: Floats, value: float) -> Floats:
        """Return values of the data's rows followed by one for each row of pseudo-data."""
        return np.append(values, np.full(self.pseudo, value)) if self.pseudo else values

    def under(self, weights: Floats) -> Fixed:
        """Return the fixed columns under weights of the data's rows."""
        weights = self.with_pseudo(weights, 1.0)
        held = self._fixed * weights
        if not self.count:
            return Fixed(weights, self._fixed, held, np.zeros((0, 0)))
        products = held @ self._fixed.T
        return Fixed(
            weights, self._fixed, held, pinvh(products) if self.count > 1 else 1 / products
        )

    def measured(
        self,
        under: Fixed,
        residual: Floats,
        places: Array,
        probability: Floats,
        weight: Floats,
        humps: tuple[float, float, float],
    ) -> Measured:
        """Measure some columns of the block, beside the fixed ones.

        ``probability`` and ``weight`` are what is believed of them, under a slab by its humps.
        """  # fmt: skip
        curvature, products = np.zeros((2, len(places)))
        eta_variance = np.zeros(len(self._room))
        for some in self.in_parts(places):
            _measure(
                self.block, under, residual, places[some], probability[some], weight[some],
                humps, curvature[some], products[some], eta_variance,
            )  # fmt: skip
        return Measured(curvature, products, eta_variance[: self.rows])

    def lengths(self, under: Fixed) -> Floats:
        """Return the squared lengths of all columns beside the fixed ones, in the weights."""
        nothing, everyone = np.zeros(len(self.columns)), np.arange(len(self.columns))
        no_rows = np.zeros(len(self._room))
        return self.measured(under, no_rows, everyone, nothing, nothing, (1.0, 0.0, 0.0)).curvature

    def eta_variance(self, under: Fixed, places: Array, variance: Floats) -> Floats:
        """Return the variances that columns add to the linear predictor of the data's rows."""
        eta_variance = np.zeros(self.rows + self.pseudo)
        for some in self.in_parts(places):
            _add_eta_variance(self.block, under, places[some], variance[some], eta_variance)
        return eta_variance[: self.rows]

    def in_parts(self, places: Array) -> list[slice]:
        """Divide columns into what kernels look at in one call."""
        width = max(1, ENTRIES_WEIGHED_PER_CALL // len(self._room))
        return [slice(first, first + width) for first in range(0, len(places), width)]

    def fixed_shares(self, weights: Floats, columns: Array) -> FixedShares:
        """Return what the fixed columns make up of others, under weights of the data's rows."""
        under, places = self.under(weights), self.places(columns)
        if 2 * len(places) > len(self.columns):  # without a copy of them
            products = (under.held @ self.block)[:, places]
        else:
            products = under.held @ self.block[:, places]
        return FixedShares(under.inverse, under.inverse @ products)

    def cross_products(self, weights: Floats, columns: Array) -> Floats:
        """Return the cross products of what the fixed columns leave of some others."""
        under, block = self.under(weights), self.block[:, self.places(columns)]
        left = block - under.columns.T @ (under.inverse @ (under.held @ block))
        return np.asarray(left.T @ (left * under.weights[:, None]))


def fixed_columns(problem: Problem) -> tuple[Floats, Floats]:
    """Return the intercept and standardised covariates (N x f), and the precisions of their priors."""
    design = problem.table
    first = np.ones((design.shape[0], problem.scale.intercept_count))
    covariates = design.block(problem.scale.covariates, projected=False)
    held = np.repeat([0.0, COVARIATE_PRECISION], [first.shape[1], covariates.shape[1]])
    return np.hstack([first, covariates]), held


@kernel(inline=True)
def project_out_fixed(block, under, j, left, shares):
    """Put what the fixed columns leave of a column into ``left``; return its squared length.

    That is 0 where they explain the column. ``shares`` is room for two numbers a fixed column.
    """
    rows, count = block.shape[0], under.columns.shape[0]
    whole = 0.0
    for i in range(rows):
        x = block[i, j]
        left[i] = x
        whole += under.weights[i] * x * x
    if count == 0:
        return whole
    for f in range(count):
        product = 0.0
        for i in range(rows):
            product += under.held[f, i] * left[i]
        shares[count + f] = product
    for f in range(count):
        share = 0.0
        for g in range(count):
            share += under.inverse[f, g] * shares[count + g]
        shares[f] = share
    for f in range(count):
        share = shares[f]
        for i in range(rows):
            left[i] -= share * under.columns[f, i]
    length = 0.0
    for i in range(rows):
        length += under.weights[i] * left[i] * left[i]
    return length if length > _EXPLAINED * whole else 0.0


@kernel
def hold_fixed(under):
    """Hold the fixed columns by the weights anew; return the log determinant of their precision."""
    count, rows = under.columns.shape
    inverse, log_det = under.inverse, 0.0
    for f in range(count):
        for i in range(rows):
            under.held[f, i] = under.weights[i] * under.columns[f, i]
        for g in range(f + 1):
            total = 0.0
            for i in range(rows):
                total += under.held[f, i] * under.columns[g, i]
            inverse[f, g] = inverse[g, f] = total
    # Gauss and Jordan's inversion in place, without pivots: precisions are positive.
    for k in range(count):
        pivot = inverse[k, k]
        log_det += np.log(pivot)
        inverse[k, k] = 1.0
        for g in range(count):
            inverse[k, g] /= pivot
        for f in range(count):
            if f != k:
                share = inverse[f, k]
                inverse[f, k] = 0.0
                for g in range(count):
                    inverse[f, g] -= share * inverse[k, g]
    return log_det


@kernel
def leave_fixed(under, values):
    """Take the fixed columns out of values of all rows, in place."""
    count = under.columns.shape[0]
    products = np.zeros(count)
    for f in range(count):
        for i in range(values.shape[0]):
            products[f] += under.held[f, i] * values[i]
    for f in range(count):
        share = 0.0
        for g in range(count):
            share += under.inverse[f, g] * products[g]
        for i in range(values.shape[0]):
            values[i] -= share * under.columns[f, i]


@kernel(inline=True)
def beside_fixed(block, under, j, residual, shares):
    """Return the squared length of a column beside the fixed ones, and its product with a residual.

    The residual is one of which the fixed columns are left out already. ``shares`` is room for two
    numbers a fixed column, and gets their coefficients. Unlike `project_out_fixed` this reads the
    column once, and copies nothing.
    """
    rows, count = block.shape[0], under.columns.shape[0]
    length, product, along = 0.0, 0.0, 0.0
    if count == 1:
        for i in range(rows):
            x, held = block[i, j], under.weights[i] * block[i, j]
            length += held * x
            product += held * residual[i]
            along += under.held[0, i] * x
        shares[0] = under.inverse[0, 0] * along
        least = _EXPLAINED * length
        length -= shares[0] * along
    else:
        for i in range(rows):
            held = under.weights[i] * block[i, j]
            length += held * block[i, j]
            product += held * residual[i]
        for f in range(count):
            along = 0.0
            for i in range(rows):
                along += under.held[f, i] * block[i, j]
            shares[count + f] = along
        least = _EXPLAINED * length
        for f in range(count):
            share = 0.0
            for g in range(count):
                share += under.inverse[f, g] * shares[count + g]
            shares[f] = share
            length -= share * shares[count + f]
    return (length if length > least else 0.0), product


@kernel
def _measure(
    block, under, residual, places, probability, weight, humps, curvature, products, eta_variance
):
    ridge, lift, _ = humps
    left, shares = np.empty(block.shape[0]), np.empty(2 * under.columns.shape[0])
    for k in range(places.shape[0]):
        curvature[k] = project_out_fixed(block, under, places[k], left, shares)
        if curvature[k] > 0.0:
            total = 0.0
            for i in range(block.shape[0]):
                total += under.weights[i] * left[i] * residual[i]
            products[k] = total
            m, w = probability[k], weight[k]
            spread = 1.0 / (curvature[k] + ridge)
            if lift > 0.0:
                reach = lift * spread
                tilt = np.tanh(lift * without_pull(w, reach, lift))
                spread += reach * reach * (1.0 - tilt * tilt)
            variance = m * (w * w + spread) - m * w * m * w
            if variance > 0.0:
                for i in range(block.shape[0]):
                    eta_variance[i] += variance * left[i] * left[i]


@kernel
def _add_eta_variance(block, under, places, variance, eta_variance):
    left, shares = np.empty(block.shape[0]), np.empty(2 * under.columns.shape[0])
    for k in range(places.shape[0]):
        if variance[k] > 0.0 and project_out_fixed(block, under, places[k], left, shares) > 0.0:
            for i in range(block.shape[0]):
                eta_variance[i] += variance[k] * left[i] * left[i]
