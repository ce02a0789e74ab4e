"""The data of one regression, standardised once: what every solver is given."""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.designs import DenseDesign, GramDesign, SparseDesign, StandardizedDesign
from garrote.designs.base import Design, is_design
from garrote.designs.devices.arrays import to_host
from garrote.designs.responses import as_numbers, covariate_maps
from garrote.designs.scale import Scale
from garrote.designs.standardized import Evaluation
from garrote.designs.stored import as_stored
from garrote.likelihoods import Gaussian, adapt_to_data, as_likelihood
from garrote.limits.checks import check_columns, check_moments, check_rows
from garrote.summaries import Shown
from garrote.zscores.summary_statistics import check_zscores

_GAUSSIAN = Gaussian()

# 1/beta is kept above this share of the response's variance: noiseless data have none.
_SMALLEST_NOISE = 1e-10
# With at most so many columns, and no fewer rows, X'X costs less than the passes over X it saves.
_MOST_COMPRESSED = 1500


@dataclass(frozen=True, repr=False)
class Problem(Shown):
    """A regression of a standardised response on a standardised design.

    Made by `from_rows`, `from_moments` or `from_zscores`. ``n`` is the total weight, ``xty`` and
    ``yty`` the standardised cross products, ``curvature`` the diagonal of X'WX (0 for a column without
    content), ``rows`` the number of rows with a weight, where there are rows.

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
    rows: int | None = None

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
        X : array (of NumPy, or on a GPU), SciPy sparse matrix, operator or Design of shape (N, D)
        y : array of shape (N,), or (N, K) for K responses; times as `survival_times` makes them
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
        y, sample_weight, offset = map(to_host, (y, sample_weight, offset))
        likelihood, y = likelihood.given(y)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        known = None if offset is None else np.asarray(offset, dtype=np.float64)
        if known is not None and likelihood.several:
            known = known.reshape(len(known), -1)
        check_rows(stored.shape, y, weights, known, likelihood)
        likelihood = adapt_to_data(likelihood, y, weights, known)
        design = StandardizedDesign(
            stored, weights, center=fit_intercept, scale=standardize, covariates=covariates
        )
        check_columns(design.mean, design.deviation, design.constant)
        return cls._of(design, y, known, likelihood, scale_response)

    @classmethod
    def _of(
        cls,
        design: StandardizedDesign,
        y: Floats,
        known: Floats | None,
        likelihood: Any,
        scale_response: bool,
    ) -> "Problem":
        """Return the problem of checked rows."""
        # The one place where an offset is taken off: of what is a sum of it and the rest.
        left = y - known if likelihood.additive and known is not None else y
        as_seen = likelihood.numbers(left, design.weights)
        numbers = as_numbers(design, as_seen, scale_response)
        response, mean, spread = numbers.beside, numbers.mean, numbers.spread
        if not likelihood.least_squares:
            mean, spread = _level(likelihood, left, design), 1.0
            response = left - mean
        scale = Scale(
            design.mean, design.scale, mean, spread, design.covariates,
            *covariate_maps(design, numbers.standardized), int(design.centered),
        )  # fmt: skip
        return cls(
            design=design,
            response=response,
            weights=design.weights,
            xty=design.tdot(numbers.beside[None, :])[0],
            yty=float(design.weights @ numbers.beside**2),
            n=design.total_weight,
            curvature=design.curvature,
            scale=scale,
            likelihood=likelihood,
            # Linear predictors of several outputs have a row for each.
            offset=None if known is None else known.T,
            rows=int(np.count_nonzero(design.weights)),
        )

    @classmethod
    def from_moments(
        cls, gram: Array, xty: Array, yty: float, n: float, *, standardize: bool = True
    ) -> "Problem":
        """Take sufficient statistics of centred data: X'X, X'y, y'y and the number of rows."""
        gram, xty, yty, n = check_moments(gram, xty, yty, n)
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

    def with_known_gram(self) -> "Problem":
        """Return the same problem with all cross products at hand, where those are cheap to have."""
        return replace(self, known_gram=self.whole_gram()) if self.compressible else self

    def for_columns(self) -> "Problem":
        """Return the same problem, for solvers that go through columns again and again.

        It has X'X where that serves in place of X, or else the columns of X in one piece each.
        """
        return self.with_known_gram() if self.compressible else self.in_columns()

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
        return self.design.whole_gram()

    def known_block(self, columns: Array) -> Floats:
        """Return the standardised cross products of some columns, covariates projected out."""
        if self.known_gram is not None:
            return self.known_gram[np.ix_(columns, columns)]
        return self.design.gram(columns, columns)

    def gram_rows(self, columns: Array) -> Floats:
        """Return the standardised cross products of some columns with all, covariates projected out."""
        if self.known_gram is not None:
            return self.known_gram[columns]
        return np.asarray(self.design.gram_rows(columns))

    def raw_gram(self, columns: Array) -> Floats:
        """Return the cross products of some columns, covariates not projected out."""
        if not len(self.scale.covariates):
            return self.known_block(columns)
        return self.design.gram(columns, columns, projected=False)

    @property
    def known_part(self) -> Floats:
        """The known part of what predicts ``response``: the offset, or 0 where that is taken off."""
        if self.offset is not None and not self.likelihood.additive:
            return self.offset
        several = (self.likelihood.outputs,) if self.likelihood.several else ()
        return np.zeros((*several, len(self.weights)))

    @property
    def counted(self) -> float:
        """How many rows there are, as information criteria count them."""
        if not self.has_rows or not self.likelihood.coupled:
            return self.n
        return float(self.likelihood.counted(self.response, self.weights))

    @property
    def n_features(self) -> int:
        return len(self.xty)

    @property
    def n_rows(self) -> float:
        """How many rows have a weight, whatever that is; the number given with moments."""
        return self.n if self.rows is None else self.rows

    @property
    def table(self) -> StandardizedDesign:
        """The design of a problem with rows."""
        return self.design.table

    def in_columns(self) -> "Problem":
        """Return the same problem with X stored as column-wise methods read it best: see `Design`."""
        if not self.has_rows:
            return self
        turned = self.table.in_columns()
        return self if turned is self.table else replace(self, design=turned)

    @property
    def has_rows(self) -> bool:
        return self.design.has_rows

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
        return self.design.max_rank(self.n)

    @property
    def columns_together(self) -> int:
        """Return how many vectors of length N and D may be held at once beside the data."""
        return self.design.columns_together

    def evaluate(self, columns: Array, coef: Floats, fitted: Floats | None = None) -> Evaluation:
        """Yield the product needed, return squared residuals (K,) and X'Wr (K x D).

        ``coef`` has one column for each of K candidate solutions on ``columns``; ``fitted`` may give
        their fitted values, where the caller has them cheaper.
        """
        return self.design.evaluate(self, columns, coef, fitted)

    def evaluate_residuals(self, residuals: Floats) -> Evaluation:
        """Do as `evaluate`, given the residuals (K x N)."""
        gradient = yield from self.table.tdot_steps(residuals)
        return residuals**2 @ self.weights, gradient


def as_design(X: Any) -> Design:
    """Wrap whatever X is, uncopied where possible; designs stay as they are."""
    X = as_stored(X)
    if is_design(X):
        return cast(Design, X)
    return SparseDesign(X) if scipy.sparse.issparse(X) else DenseDesign(np.asarray(X))


def _level(likelihood: Any, y: Floats, design: StandardizedDesign) -> float:
    """Return what to measure y from: an intercept far from 0 would cost differences their digits."""
    if not (design.centered and likelihood.additive) or likelihood.several:
        return 0.0
    return float(np.median(y[design.weights > 0]))
