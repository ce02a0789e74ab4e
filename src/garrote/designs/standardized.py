"""A design seen through centring, scaling, row weights and projection, none of which touches X.

Column j reads (x_j - mean_j) / scale_j, less its weighted projection on the covariates. Products
with all columns run on the stored matrix and are corrected afterwards; only small blocks of columns
are ever copied, and those are centred before they are multiplied, so that a column of mean 1e6 and
deviation 1 keeps its digits.
"""

from collections.abc import Generator
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design, Moments, block_width

# A column whose deviation is below this share of its mean is constant up to rounding.
_CONSTANT = 1e-13
# A column that covariates explain up to this share of its deviation has nothing left to tell.
_EXPLAINED = 1e-7


# Below this share of a sum of squares, what a subtraction leaves has lost too many digits.
_CANCELLED = 1e-4

# Means of up to so many deviations cost products of columns that are not centred no more than 2 digits.
_FAR = 10.0
_LARGE = 1e100

SharedProduct = Generator[Floats, Floats, Floats]
Evaluation = Generator[Floats, Floats, tuple[Floats, Floats]]


class StandardizedDesign:
    """A stored design together with its centre, scale, weights and covariates.

    Parameters
    ----------
    stored : Design
        The matrix as the user keeps it.
    weights : array of shape (N,)
        Row weights; zero takes a row out.
    center, scale : bool
        Whether columns lose their weighted mean, and are divided by their weighted deviation.
    covariates : array of int
        Columns whose span (with the intercept, if centring) is projected out of all others.
    """

    has_rows = True

    def __init__(
        self,
        stored: Design,
        weights: Floats,
        *,
        center: bool = True,
        scale: bool = True,
        covariates: Array | None = None,
    ):
        self.stored = stored
        self.weights = weights
        self.shape = stored.shape
        self.dtype = stored.dtype
        self.total_weight = float(weights.sum())
        self.covariates = np.asarray([] if covariates is None else covariates, dtype=np.intp)
        self.centered = center
        measured = stored.moments(weights)
        self.mean = measured.mean if center else np.zeros(self.shape[1])
        self.deviation = measured.deviation if center else _root_mean_square(measured)
        deviation = self.deviation
        self.constant = ~(deviation > _CONSTANT * np.abs(self.mean))
        spread = np.where(self.constant, 1.0, deviation)
        self.scale = spread if scale else np.ones_like(spread)
        self._spread = np.where(self.constant, 0.0, deviation / self.scale)

    @cached_property
    def basis(self) -> Floats:
        """Orthonormal (in the weights) basis of the standardised covariates, one column each."""
        if not len(self.covariates):
            return np.empty((self.shape[0], 0))
        block = self._standardize(self.covariates)
        root = np.sqrt(self.weights)[:, None]
        _, singular, right = np.linalg.svd(root * block, full_matrices=False)
        kept = singular > singular.max(initial=0.0) * 1e-10
        # The same combination for all rows: those of weight zero are predicted, not fitted.
        return block @ (right[kept].T / singular[kept])

    @cached_property
    def curvature(self) -> Floats:
        """The diagonal x_j'W x_j of the standardised Gram matrix; 0 for columns without content."""
        whole = self.total_weight * self._spread**2
        if not self.basis.shape[1]:
            return whole
        shares = self.covariate_products
        left_over = whole - np.sum(shares**2, axis=0)
        left_over[left_over < _EXPLAINED * whole] = 0.0
        left_over[self.covariates] = 0.0
        return left_over

    @cached_property
    def covariate_products(self) -> Floats:
        """Products of the covariate basis with every standardised column."""
        return self.tdot(self.basis.T)

    def in_columns(self) -> "StandardizedDesign":
        """Return the same columns, stored as column-wise methods read them best."""
        stored = self.stored.in_columns()
        if stored is self.stored:
            return self
        turned = copy(self)
        turned.stored = stored
        return turned

    def columns(self) -> Any:
        """Return what kernels read, or None where only `block` gives the columns at a fair price.

        That is so when covariates have to be projected out, and where the stored design says so.
        """
        if self.basis.shape[1]:
            return None
        return self.stored.columns(self.mean, self.scale, self.weights)

    def dot(self, columns: Array, coef: Floats, picked: Design | None = None) -> Floats:
        """Return the fitted values of ``coef`` (one column each), centred and projected.

        ``picked`` may give the columns as `stored.pick` does, to spare picking them again.
        """
        scaled = coef / self.scale[columns, None]
        scaled[self.constant[columns]] = 0.0
        if picked is None:
            product = self.stored.dot(columns, scaled)
        else:
            product = picked.dot(np.arange(len(columns)), scaled)
        return self.project(product - self.mean[columns] @ scaled)

    def project(self, values: Floats) -> Floats:
        """Take out of ``values`` (N x K) what the covariates explain."""
        if not self.basis.shape[1]:
            return values
        return values - self.basis @ (self.basis.T @ (self.weights[:, None] * values))

    def tdot(self, residuals: Floats) -> Floats:
        """Return residuals @ W @ X for residuals (K x N) that are orthogonal to the covariates."""
        return self._finish(self.stored.tdot(self._prepare(residuals)), residuals)

    def tdot_steps(self, residuals: Floats) -> SharedProduct:
        """Yield the product that the stored matrix has to do, so that several callers can share it."""
        product = yield self._prepare(residuals)
        return self._finish(product, residuals)

    def products(self, columns: Array, residuals: Floats, picked: Design | None = None) -> Floats:
        """Return residuals @ W @ X for some columns, of one vector; see `dot` on ``picked``."""
        picked = picked or self.stored.pick(columns)
        product = picked.tdot(self._prepare(residuals[None, :]))[0]
        product -= (residuals @ self.weights) * self.mean[columns]
        product[self.constant[columns]] = 0.0
        return product / self.scale[columns]

    def _prepare(self, residuals: Floats) -> Floats:
        return residuals * self.weights

    def _finish(self, product: Floats, residuals: Floats) -> Floats:
        if self.centered:
            product -= (residuals @ self.weights)[:, None] * self.mean
        product /= self.scale
        product[:, self.constant] = 0.0  # what centring leaves of a constant is rounding
        return product

    def block(self, columns: Array, projected: bool = True) -> Floats:
        """Return the columns, standardised and projected, as a dense float64 array."""
        standardized = self._standardize(columns)
        return self.project(standardized) if projected else standardized

    def _standardize(self, columns: Array) -> Floats:
        block = self.stored.take(columns, self.mean)
        block /= self.scale[columns]
        block[:, self.constant[columns]] = 0.0
        return block

    def gram(self, left: Array, right: Array, projected: bool = True) -> Floats:
        """Return the standardised cross products of two sets of columns."""
        product = self.stored.gram(left, right, self.mean, self.scale, self.weights)
        if projected and self.basis.shape[1]:
            shares = self.covariate_products
            product -= shares[:, left].T @ shares[:, right]
        return product

    def gram_rows(self, columns: Array) -> Floats:
        """Return the cross products of some columns with all of them."""
        together = self.columns_together
        groups = np.split(columns, range(together, len(columns), together))
        return np.vstack([self.tdot(np.ascontiguousarray(self.block(g).T)) for g in groups])

    def whole_gram(self) -> Floats:
        """Return all cross products."""
        whole = self._corrected_gram()
        if whole is None:
            whole = self._gram_in_one_pass()
        whole = self._gram_by_stripes() if whole is None else whole
        whole[~(self.curvature > 0)] = 0.0
        whole[:, ~(self.curvature > 0)] = 0.0
        return whole

    def _corrected_gram(self) -> Floats | None:
        """Return the products of stored columns, corrected; None where that would lose digits."""
        spread = self._spread[~self.constant] * self.scale[~self.constant]
        safe = not len(self.covariates) and (self.weights == 1.0).all()
        safe &= bool((np.abs(self.mean[~self.constant]) <= _FAR * spread).all())
        # Squares of such numbers would overflow, or vanish.
        extreme = (np.abs(self.mean) > _LARGE).any() or (spread > _LARGE).any()
        if not safe or extreme or (spread < 1.0 / _LARGE).any():
            return None
        whole = self.stored.cross_products()
        if whole is not None:
            width = block_width(len(whole))
            for start in range(0, len(whole), width):
                part = slice(start, start + width)
                whole[part] -= np.outer(self.total_weight * self.mean[part], self.mean)
            whole /= self.scale
            whole /= self.scale[:, None]
        return whole

    def _gram_in_one_pass(self) -> Floats | None:
        """Return the products of columns that are stored so that all of them are read at once."""
        whole = self.stored.whole_gram(self.mean, self.scale, self.weights)
        if whole is not None and len(self.covariates):
            whole -= self.covariate_products.T @ self.covariate_products
        return whole

    def _gram_by_stripes(self) -> Floats:
        """Return all cross products, block by block of columns, each multiplied once."""
        count = self.shape[1]
        whole = np.empty((count, count))
        width = 2 * block_width(self.shape[0])
        for start in range(0, count, width):
            stop = min(start + width, count)
            rest = np.arange(start, count)
            part = self._gram_stripe(rest, stop - start)
            whole[start:, start:stop] = part
            whole[start:stop, start:] = part.T
        return whole

    def gram_without(self, gram: Floats, part: "StandardizedDesign", left: Floats) -> Floats:
        """Return the Gram matrix of ``part``, which is this design with weights ``left`` taken off.

        Costs only the rows taken off. ``gram`` is this design's own.
        """
        taken = np.flatnonzero(left)
        block = self.stored.some_rows(taken) - self.mean
        block /= self.scale
        rest = gram - block.T @ (left[taken, None] * block)
        moved = (part.mean - self.mean) / self.scale
        rest -= part.total_weight * np.outer(moved, moved)
        used = part.curvature > 0
        if (np.diag(rest)[used] < _CANCELLED * np.diag(gram)[used]).any():
            return part.whole_gram()
        factor = self.scale / part.scale
        rest *= np.outer(factor, factor)
        rest[~used] = 0.0
        rest[:, ~used] = 0.0
        rest[np.diag_indices_from(rest)] = part.curvature
        return rest

    def _gram_stripe(self, rest: Array, width: int) -> Floats:
        """Return the products of columns ``rest`` with the first ``width`` of them."""
        block = self.block(rest[:width]) * self.weights[:, None]
        product = self.stored.tdot_from(int(rest[0]), block)
        product -= np.outer(self.mean[rest], block.sum(axis=0))
        return product / self.scale[rest, None]

    @property
    def table(self) -> "StandardizedDesign":
        """The design itself, as it has rows."""
        return self

    def evaluate(
        self, problem: Any, columns: Array, coef: Floats, fitted: Floats | None
    ) -> Evaluation:
        """Yield the product needed, return squared residuals (K,) and X'Wr (K x D) of K solutions."""
        fitted = self.dot(columns, coef) if fitted is None else fitted
        residuals = np.ascontiguousarray((problem.response[:, None] - fitted).T)
        return (yield from problem.evaluate_residuals(residuals))

    @property
    def columns_together(self) -> int:
        """How many vectors of length N and D may be held at once beside the data."""
        return int(np.clip(self.stored.nbytes // (64 * max(self.shape)), 8, 64))

    @property
    def column_cost(self) -> float:
        """What a product with one column costs; see `Design`."""
        return self.stored.column_cost

    @property
    def keeps_blocks(self) -> bool:
        """Whether dense blocks of columns are cheap beside the matrix itself."""
        return self.stored.keeps_blocks or bool(self.basis.shape[1])

    def max_rank(self, n: float) -> int:
        """Return how many columns suffice to interpolate: distinct rows less those spent on means."""
        return max(0, self.distinct_rows() - int(self.centered) - self.basis.shape[1])

    def distinct_rows(self) -> int:
        """Count the different rows of positive weight, by one random projection."""
        if self.stored.known_distinct_rows is not None:
            return self.stored.known_distinct_rows
        direction = np.random.default_rng(0).standard_normal((self.shape[1], 1))
        used = ~self.constant
        direction = direction * used[:, None] / self.scale[:, None]
        shadow = self.stored.dot(np.arange(self.shape[1]), direction)[:, 0]
        shadow = np.sort(shadow[self.weights > 0])
        resolution = 1e-10 * max(np.ptp(shadow), np.abs(shadow).max() * 1e-4)
        return 1 + int(np.count_nonzero(np.diff(shadow) > resolution))


def _root_mean_square(measured: Moments) -> Floats:
    return np.hypot(measured.mean, measured.deviation)
