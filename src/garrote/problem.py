"""The data of one regression, standardised once: what every solver is given."""

import warnings
from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.designs import DenseDesign, GramDesign, SparseDesign, StandardizedDesign
from garrote.designs.base import Design, is_design
from garrote.likelihoods import Gaussian, as_likelihood, settled
from garrote.limits.magnitudes import (
    LINKS,
    MOMENTS,
    VALUES,
    WEIGHTS,
    refuse_large,
    refuse_small_response,
    refuse_small_spread,
)
from garrote.results.fit import Scale
from garrote.zscores.summary_statistics import check_zscores

_GAUSSIAN = Gaussian()
Evaluation = Generator[Floats, Floats, tuple[Floats, Floats]]

# What covariates leave of a response is rounding below this share of it.
_EXPLAINED = 1e-12
# 1/beta is kept above this share of the response's variance: noiseless data have none.
_SMALLEST_NOISE = 1e-10
# With at most so many columns, and no fewer rows, X'X costs less than the passes over X it saves.
_MOST_COMPRESSED = 1500


@dataclass(frozen=True)
class Problem:
    """A regression of a standardised response on a standardised design.

    Made by `from_rows`, `from_moments` or `from_zscores`. ``n`` is the total weight, ``xty`` and
    ``yty`` the standardised cross products, ``curvature`` the diagonal of X'WX (0 for a column without
    content).

    ``likelihood`` says what the response is. A Gaussian ``response`` is in standard deviations (or only
    centred), less what covariates explain of it. Any other is as it was given, but for the level that
    ``scale`` states, and ``xty`` and ``yty`` are those of the same numbers if they were Gaussian.

    ``offset`` is the known part of the linear predictor as it was given, with a row for each of several
    outputs. Of an additive likelihood ``response`` is what the offset leaves of y. Solvers add
    `known_part`, which is 0 there; predictions of y add ``offset``.

    Examples
    --------
    Rows and their cross products are the same problem:

    >>> from garrote import Problem
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
    >>> rows = Problem.from_rows(X, y)
    >>> moments = Problem.from_moments(X.T @ X, X.T @ y, y @ y, n=len(y))
    >>> bool(abs(rows.xty - moments.xty).max() < 1e-10)
    True
    """

    design: StandardizedDesign | GramDesign
    response: Floats
    weights: Floats
    xty: Floats
    yty: float
    n: float
    curvature: Floats
    scale: Scale
    known_gram: Floats | None = None
    likelihood: Any = _GAUSSIAN
    offset: Floats | None = None

    @classmethod
    def from_rows(
        cls,
        X: Any,
        y: Array,
        sample_weight: Array | None = None,
        *,
        fit_intercept: bool = True,
        standardize: bool = True,
        covariates: Array | None = None,
        scale_response: bool = True,
        likelihood: Any = "gaussian",
        offset: Array | None = None,
    ) -> "Problem":
        """Standardise X and y without copying or densifying X.

        Parameters
        ----------
        X : array, SciPy sparse matrix or Design of shape (N, D)
        y : array of shape (N,), or (N, K) for K responses
        sample_weight : array of shape (N,), optional
            A weight of k counts as k repeats of the row.
        fit_intercept, standardize : bool
            Whether to centre, and to divide columns by their standard deviation.
        covariates : array of int, optional
            Columns that are always in the model and are projected out of everything else. Posteriors
            of another likelihood take them in beside the others; penalised fits of one refuse them.
        scale_response : bool
            Whether to divide a Gaussian y by its standard deviation.
        likelihood : str or object of `garrote.likelihoods`
            What y is.
        offset : array of shape (N,), optional
            A known part of the linear predictor; (N, K) where it has K outputs.
        """
        likelihood = as_likelihood(likelihood)
        stored = as_design(X)
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        known = None if offset is None else np.asarray(offset, dtype=np.float64)
        if known is not None and likelihood.several:
            known = known.reshape(len(known), -1)
        _check_rows(stored, y, weights, known, likelihood)
        likelihood = settled(likelihood, y, weights, known)
        design = StandardizedDesign(
            stored, weights, center=fit_intercept, scale=standardize, covariates=covariates
        )
        _check_columns(design)
        # The one place where an offset is taken off: of what is a sum of it and the rest.
        left = y - known if likelihood.additive and known is not None else y
        numbers, mean, spread = _as_numbers(left, weights, fit_intercept)
        spread = spread if scale_response else 1.0
        centered = numbers / spread
        explained = design.project(centered[:, None])[:, 0]
        if _root_mean_square(explained, weights) <= _EXPLAINED * _root_mean_square(
            centered, weights
        ):
            explained = np.zeros_like(explained)
        response = explained
        if not likelihood.least_squares:
            mean, spread = _level(likelihood, left, weights) if fit_intercept else 0.0, 1.0
            response = left - mean
        scale = Scale(
            design.mean, design.scale, mean, spread, design.covariates,
            *_covariate_maps(design, centered), int(fit_intercept),
        )  # fmt: skip
        return cls(
            design=design,
            response=response,
            weights=weights,
            xty=design.tdot(explained[None, :])[0],
            yty=float(weights @ explained**2),
            n=design.total_weight,
            curvature=design.curvature,
            scale=scale,
            likelihood=likelihood,
            # Linear predictors of several outputs have a row for each.
            offset=None if known is None else known.T,
        )

    @classmethod
    def from_moments(
        cls, gram: Array, xty: Array, yty: float, n: float, *, standardize: bool = True
    ) -> "Problem":
        """Take sufficient statistics of centred data: X'X, X'y, y'y and the number of rows."""
        gram, xty, yty, n = _check_moments(gram, xty, yty, n)
        diagonal = np.sqrt(np.maximum(np.diag(gram), 0.0) / n)
        spread = np.where(diagonal > 0, diagonal, 1.0)
        spread = spread if standardize else np.ones_like(spread)
        response_scale = float(np.sqrt(yty / n)) or 1.0
        scaled = gram / np.outer(spread, spread)
        nothing = np.array([], dtype=np.intp)
        scale = Scale(
            np.zeros(len(xty)), spread, 0.0, response_scale, nothing, np.zeros(0),
            np.zeros((0, len(xty))),
        )  # fmt: skip
        return cls(
            design=GramDesign(scaled),
            response=np.zeros(0),
            weights=np.zeros(0),
            xty=xty / spread / response_scale,
            yty=float(yty / response_scale**2),
            n=n,
            curvature=np.ascontiguousarray(np.diag(scaled)),
            scale=scale,
        )

    @classmethod
    def from_zscores(
        cls, z: Any, ld: Any, n: float | None, *, mismatch: float | str = "estimate"
    ) -> "Problem":
        """Take z-scores of the variables one by one, their correlations and the number of samples.

        Columns and response are in standard deviations then, and so are coefficients. Given the
        correlations of the same samples, the problem is that of their rows.

        Parameters
        ----------
        z : array of shape (D,)
        ld : array of shape (D, D)
            Correlations of the variables, in the same or in other samples.
        n : float
            The samples behind the z-scores.
        mismatch : float between 0 and 1, or "estimate"
            How far ``ld`` is from the correlations behind z: it is used as (1 - s) R + s I. 0 says that
            both are from the same samples. See `garrote.zscores.summary_statistics.check_zscores`.
        """
        scores = check_zscores(z, ld, n, mismatch=mismatch)
        moments = scores.moments()
        for text in scores.cautions:
            warnings.warn(f"{text}. Hold the noise variance at 1", UserWarning, stacklevel=2)
        return cls.from_moments(*moments)

    def in_response_units(self) -> "Problem":
        """Return the same problem with a response in its own units, not in standard deviations.

        The strength of a penalty has units: 1/(2n) ||y - Xw||^2 + alpha * penalty is that of the user
        for the user's y only.
        """
        unit = self.scale.response_scale
        if unit == 1.0:
            return self
        scale = replace(
            self.scale,
            response_scale=1.0,
            covariate_response=self.scale.covariate_response * unit,
        )
        return replace(
            self,
            response=self.response * unit,
            xty=self.xty * unit,
            yty=self.yty * unit**2,
            scale=scale,
        )

    def compressed(self) -> "Problem":
        """Return the same problem by its moments, where those are smaller and cheap to have."""
        if not self.compressible:
            return self
        gram = GramDesign(self.whole_gram())
        return replace(self, design=gram, response=np.zeros(0), weights=np.zeros(0))

    def among(self, columns: Array) -> "Problem":
        """Return the regression on some columns alone, in the order given, by its moments."""
        scale = replace(
            self.scale,
            column_mean=self.scale.column_mean[columns],
            column_scale=self.scale.column_scale[columns],
            covariate_columns=self.scale.covariate_columns[:, columns],
        )
        return replace(
            self,
            design=GramDesign(np.ascontiguousarray(self.known_block(columns))),
            response=np.zeros(0),
            weights=np.zeros(0),
            xty=self.xty[columns],
            curvature=self.curvature[columns],
            scale=scale,
            known_gram=None,
        )

    @property
    def compressible(self) -> bool:
        """Whether X'X is smaller than X, and costs less than the passes over X that it saves."""
        small = self.n_features <= min(len(self.response), _MOST_COMPRESSED)
        small &= self.likelihood.least_squares
        return self.has_rows and small and bool((self.curvature > 0).any())

    def whole_gram(self) -> Floats:
        """Return all standardised cross products (D x D)."""
        if self.known_gram is not None:
            return self.known_gram
        design = self.design
        return design.values if isinstance(design, GramDesign) else design.whole_gram()

    def known_block(self, columns: Array) -> Floats:
        """Return the standardised cross products of some columns, covariates projected out."""
        if self.known_gram is not None:
            return self.known_gram[np.ix_(columns, columns)]
        if isinstance(self.design, GramDesign):
            return self.design.block(columns, columns)
        return self.design.gram(columns, columns)

    def raw_gram(self, columns: Array) -> Floats:
        """Return the cross products of some columns, covariates not projected out."""
        design = self.design
        if isinstance(design, GramDesign):
            return design.block(columns, columns)
        return design.gram(columns, columns, projected=False)

    @property
    def known_part(self) -> Floats:
        """The known part of what predicts ``response``: the offset, or 0 where that is taken off."""
        if self.offset is not None and not self.likelihood.additive:
            return self.offset
        several = (self.likelihood.outputs,) if self.likelihood.several else ()
        return np.zeros((*several, len(self.weights)))

    @property
    def n_features(self) -> int:
        return len(self.xty)

    @property
    def table(self) -> StandardizedDesign:
        """The design of a problem with rows."""
        if isinstance(self.design, GramDesign):
            raise ValueError("this problem has moments only, no rows")
        return self.design

    @property
    def has_rows(self) -> bool:
        return not isinstance(self.design, GramDesign)

    @property
    def response_variance(self) -> float:
        """Variance of the standardised response that is left to explain; 1 if nothing is."""
        return self.yty / self.n if self.yty > 0 else 1.0

    @property
    def smallest_noise(self) -> float:
        """Lower bound of the noise variance."""
        return _SMALLEST_NOISE * self.response_variance

    @property
    def most_variables(self) -> float:
        """Return the expected model size beyond which solutions tend to interpolate.

        Half of the columns that suffice to interpolate; no bound where there are too few of them.
        """
        enough = np.count_nonzero(self.curvature > 0) >= self.max_rank
        return self.max_rank / 2 if enough else np.inf

    @cached_property
    def usable(self) -> Array:
        """The columns that have content."""
        return np.flatnonzero(self.curvature > 0)

    @cached_property
    def max_rank(self) -> int:
        """Return how many columns suffice to interpolate: distinct rows less those spent on means."""
        if isinstance(self.design, GramDesign):
            return int(self.n) - 1
        spent = int(self.design.centered) + self.design.basis.shape[1]
        return max(0, self.design.distinct_rows() - spent)

    @property
    def columns_together(self) -> int:
        """Return how many vectors of length N and D may be held at once beside the data."""
        if isinstance(self.design, GramDesign):
            return 64
        stored = self.table.stored
        return int(np.clip(stored.nbytes // (64 * max(stored.shape)), 8, 64))

    def evaluate(self, columns: Array, coef: Floats, fitted: Floats | None = None) -> Evaluation:
        """Yield the product needed, return squared residuals (K,) and X'Wr (K x D).

        ``coef`` has one column for each of K candidate solutions on ``columns``; ``fitted`` may give
        their fitted values, where the caller has them cheaper.
        """
        if isinstance(self.design, GramDesign):
            gradient = self.xty - self.design.dot(columns, coef).T
            explained = np.sum(coef * (self.xty[columns] + gradient[:, columns]).T, axis=0)
            return np.maximum(self.yty - explained, 0.0), gradient
        if fitted is None:
            fitted = self.design.dot(columns, coef)
        rows = np.ascontiguousarray((self.response[:, None] - fitted).T)
        return (yield from self.evaluate_rows(rows))

    def evaluate_rows(self, rows: Floats) -> Evaluation:
        """Do as `evaluate`, given the residuals (K x N)."""
        gradient = yield from self.table.tdot_steps(rows)
        return rows**2 @ self.weights, gradient


def as_design(X: Any) -> Design:
    """Wrap an array or a sparse matrix, uncopied unless the kind demands it; a design stays as it is."""
    if is_design(X):
        return cast(Design, X)
    return SparseDesign(X) if scipy.sparse.issparse(X) else DenseDesign(np.asarray(X))


def _check_rows(
    stored: Design, y: Floats, weights: Floats, offset: Floats | None, likelihood: Any
) -> None:
    """Refuse data that no estimator has checked before."""
    count = stored.shape[0]
    most = 2 if likelihood.several else 1  # with one linear predictor y has one column
    if not 1 <= y.ndim <= most or len(y) != count:
        raise ValueError(f"y must have {count} entries like X has rows, got shape {y.shape}")
    if not stored.shape[1]:
        raise ValueError("X has no columns")
    if weights.shape != (count,) or not (weights >= 0).all() or not weights.any():
        raise ValueError("sample_weight must be non-negative, one a row, and not zero for all rows")
    bad = np.flatnonzero(~np.isfinite(y.reshape(count, -1).sum(axis=1)) | ~np.isfinite(weights))
    if len(bad):
        raise ValueError(f"y or sample_weight is not finite at row {bad[0]} ({len(bad)} in all)")
    refuse_large(y, "y")
    refuse_large(weights, "sample_weight", limit=WEIGHTS)
    # Rows of weight 0 may hold anything; another row stands for each, so that errors count all rows.
    likelihood.check_response(y[np.where(weights > 0, np.arange(count), np.argmax(weights > 0))])
    if offset is not None:
        expected = (count, likelihood.outputs) if likelihood.several else (count,)
        if offset.shape != expected or not np.isfinite(offset).all():
            raise ValueError(
                f"offset must hold finite numbers in an array of shape {expected}, got {offset.shape}"
            )
        refuse_large(offset, "offset", limit=VALUES if likelihood.additive else LINKS)


def _as_numbers(y: Floats, weights: Floats, centre: bool) -> tuple[Floats, float, float]:
    """Return a response (the first of several) less its mean, that mean, and what it varies by."""
    first = y if y.ndim == 1 else y[:, 0]
    mean = float(np.average(first, weights=weights)) if centre else 0.0
    centered = first - mean
    spread = _root_mean_square(centered, weights)
    if spread <= 1e-14 * abs(mean):
        return np.zeros_like(centered), mean, 1.0
    refuse_small_response(spread)
    return centered, mean, spread


def _level(likelihood: Any, y: Floats, weights: Floats) -> float:
    """Return what to measure y from: an intercept far from 0 would cost differences their digits."""
    one = likelihood.additive and likelihood.outputs == 1
    return float(np.median(y[weights > 0])) if one else 0.0


def _check_columns(design: StandardizedDesign) -> None:
    """Refuse columns that are not finite, or whose sizes leave double precision."""
    bad = np.flatnonzero(~np.isfinite(design.mean + design.deviation))
    if len(bad):
        raise ValueError(f"X is not finite in column {bad[0]} ({len(bad)} columns in all)")
    refuse_large(np.maximum(np.abs(design.mean), design.deviation), "X", of="column")
    refuse_small_spread(np.where(design.constant, 0.0, design.deviation))


def _root_mean_square(values: Floats, weights: Floats) -> float:
    largest = np.abs(values[weights > 0]).max(initial=0.0)
    if largest == 0.0:
        return 0.0
    return float(largest * np.sqrt(weights @ (values / largest) ** 2 / weights.sum()))


def _covariate_maps(design: StandardizedDesign, response: Floats) -> tuple[Floats, Floats]:
    """Least-squares coefficients of the covariates for the response and for every column."""
    if not len(design.covariates):
        return np.zeros(0), np.zeros((0, design.shape[1]))
    root = np.sqrt(design.weights)
    inverse = np.linalg.pinv(root[:, None] * design._standardize(design.covariates))
    rows = np.divide(inverse, root, out=np.zeros_like(inverse), where=root > 0)
    return (rows * design.weights) @ response, design.tdot(rows)


def _check_moments(
    gram: Array, xty: Array, yty: float, n: float
) -> tuple[Floats, Floats, float, float]:
    gram, xty = np.asarray(gram, dtype=np.float64), np.asarray(xty, dtype=np.float64)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not len(gram):
        raise ValueError(f"gram must be square, got shape {gram.shape}")
    if xty.shape != (gram.shape[0],):
        raise ValueError(f"xty must have {gram.shape[0]} entries like gram, got shape {xty.shape}")
    if not (np.isfinite(gram).all() and np.isfinite(xty).all() and np.isfinite(yty)):
        raise ValueError("gram, xty and yty must be finite; replace missing entries first")
    if not n > 1:
        raise ValueError(f"n must be the number of rows, at least 2, got {n}")
    refuse_large(gram, "gram", limit=MOMENTS)
    refuse_large(xty, "xty", limit=MOMENTS, of="entry")
    refuse_large(yty, "yty", limit=MOMENTS)
    refuse_large(n, "n", limit=WEIGHTS)
    if not np.allclose(gram, gram.T, rtol=1e-6, atol=1e-8 * np.abs(gram).max(initial=0.0)):
        raise ValueError("gram must be symmetric: pass X'X of centred columns")
    diagonal = np.diag(gram)
    if (diagonal < 0).any():
        raise ValueError(f"gram has a negative diagonal entry at {int(np.argmin(diagonal))}")
    if not yty >= 0:
        raise ValueError(f"yty must be >= 0, got {yty}")
    refuse_small_spread(np.sqrt(diagonal / n))
    excess = np.abs(xty) - np.sqrt(diagonal * yty) * (1 + 1e-6)
    if (excess > 0).any():
        j = int(np.argmax(excess))
        raise ValueError(
            f"xty[{j}] is larger than the Cauchy-Schwarz bound sqrt(gram[{j}, {j}] * yty): "
            "the moments are not from the same centred data"
        )
    largest = diagonal.max(initial=0.0)
    try:
        np.linalg.cholesky(gram + 1e-6 * largest * np.eye(len(gram)) if largest else np.eye(1))
    except np.linalg.LinAlgError:
        raise ValueError(
            "gram is not positive semidefinite: pass X'X of one set of rows, without missing entries"
        ) from None
    return np.ascontiguousarray((gram + gram.T) / 2), xty, float(yty), float(n)
