"""Coefficients of a ridge regression drawn from their posterior, by columns or by rows.

With w = s * scale * R u, u ~ N(0, I), the response in noise deviations is y / s = scale * Z u + e,
Z = X R. Everything follows from a matrix I + scale^2 M with M = Z'Z (D x D) or, where there are
more columns than rows, M = Z Z' (N x N): the evidence of a scale, the noise given it, and exact
draws of u given both (Rue 2001 by columns; Bhattacharya, Chakraborty & Mallick 2016 by rows). Its
eigenvalues are at least 1, however small the prior variances are.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dtrtrs

from garrote.arrays import Array, Floats
from garrote.priors.covariance_root import Root
from garrote.problem import Problem

# So many columns cost next to nothing.
_FEW = 100
# Cross products are rounded to this share of the rows. Chains amplify differences in the last digit.
_DIGITS = 1e-10
# Where rounding makes the matrix indefinite, these shares of its diagonal are added until it is not.
_JITTERS = (0.0, *10.0 ** np.arange(-14, 0))
# A column that adds no more than this to the variance of the rows, 1 without it, is slight: seven digits
# of what it adds are enough, and numbers of 32 bits are multiplied twice as fast. Of 200 rows and 5000
# columns log determinants are then off by 5e-6 at most, draws by 2e-7 of the largest of them.
_SLIGHT = 3.0
# Scales outside of this range are left to numbers of 64 bits.
_USUAL_SCALES = 1e-12, 1e12


class RidgeFactor(NamedTuple):
    """I + scale^2 M = lower lower', its log determinant, and what a ridge leaves of y'y."""

    scale: float
    lower: Floats
    log_determinant: float
    left: float


class SingleColumns(NamedTuple):
    """X in single precision, for columns of little prior variance, and the diagonal of X'X."""

    block: Floats
    curvature: Floats

    def products(self, deviation: Floats, large: Array) -> Floats:
        """Return Z Z' of all columns but the ``large`` ones."""
        rows = self.block * np.where(large, 0.0, deviation).astype(np.float32)
        return (rows @ rows.T).astype(np.float64, order="F")


class ByRows(NamedTuple):
    """Fewer rows than columns: X itself, with the square roots of row weights; `single` is optional."""

    block: Floats
    response: Floats
    single: SingleColumns | None = None

    @property
    def by_rows(self) -> bool:
        """Whether `columns` and `residual` have entries for rows, not for columns."""
        return True

    @property
    def curvature(self) -> Floats:
        """The diagonal of X'X."""
        return np.einsum("ij,ij->j", self.block, self.block)

    @property
    def yty(self) -> float:
        """The squares of y."""
        return float(self.response @ self.response)

    def products(self, coef: Floats) -> Floats:
        """Return X'X w for rows w."""
        return (coef @ self.block.T) @ self.block

    def products_of(self, columns: Array) -> Floats:
        """Return X'X of some columns with each other."""
        block = self.block[:, columns]
        return block.T @ block

    def correlations(self) -> Callable[[Array], Any]:
        """Return a function that makes correlations of some columns with all, to seven digits."""
        unit = (self.block / np.sqrt(self.curvature)).astype(np.float32)
        return lambda columns: unit[:, columns].T @ unit

    @property
    def columns(self) -> Floats:
        """What moves of single coefficients read, column by column: X."""
        return self.block.T

    def residual(self, coef: Floats) -> Floats:
        """Return what they keep up to date: y - X w."""
        return self.response - self.block @ coef

    def given(self, root: Root, scale: float = 1.0) -> "RowsGiven":
        """Return the regression under a prior covariance; scales will be around ``scale``."""
        return RowsGiven(root, self.block, self._inner(root, scale), self.response)

    def _inner(self, root: Root, scale: float) -> Floats:
        """Return the lower triangle of Z Z', the part of slight columns in single precision."""
        least, most = _USUAL_SCALES
        if self.single is None or root.alone is None or not least < scale < most:
            return np.asarray(dsyrk(1.0, root.after(self.block), lower=1))
        deviation = scale * root.alone
        large = ~(deviation**2 * self.single.curvature <= _SLIGHT)
        inner = self.single.products(deviation, large)
        some = np.flatnonzero(large)
        if len(some):
            inner += dsyrk(1.0, self.block[:, some] * deviation[some], lower=1)
        return inner / scale**2


class RowsGiven(NamedTuple):
    """Rows under a prior covariance: X, the lower triangle of Z Z', and y."""

    root: Root
    block: Floats
    inner: Floats
    response: Floats

    def factor(self, scale: float) -> RidgeFactor:
        """Return what one scale makes of it."""
        lower, log_determinant = _factored(self.inner, scale)
        half = _halfway(lower, self.response)
        return RidgeFactor(scale, lower, log_determinant, float(half @ half))

    def draw(self, factor: RidgeFactor, noise: float, rng: np.random.Generator) -> Floats:
        """Draw v = R u given a scale and the noise variance."""
        count, size = self.block.shape
        u: Any = rng.standard_normal(size)
        error = rng.standard_normal(count)
        fitted = self.block @ self.root.times(u)
        off = self.response / np.sqrt(noise) - factor.scale * fitted - error
        pull = _rest_of_way(factor.lower, _halfway(factor.lower, off)) @ self.block
        u += factor.scale * self.root.after(pull[None, :])[0]
        return self.root.times(u)


class ByColumns(NamedTuple):
    """No more columns than rows: X'X, X'y and y'y suffice."""

    gram: Floats
    xty: Floats
    yty: float

    @property
    def by_rows(self) -> bool:
        """Whether `columns` and `residual` have entries for rows, not for columns."""
        return False

    @property
    def curvature(self) -> Floats:
        """The diagonal of X'X."""
        return np.diag(self.gram).copy()

    def products(self, coef: Floats) -> Floats:
        """Return X'X w for rows w."""
        return coef @ self.gram

    def products_of(self, columns: Array) -> Floats:
        """Return X'X of some columns with each other."""
        return self.gram[np.ix_(columns, columns)]

    def correlations(self) -> Callable[[Array], Any]:
        """Return a function that makes correlations of some columns with all."""
        size = np.sqrt(self.curvature)
        return lambda columns: self.gram[columns] / np.outer(size[columns], size)

    @property
    def columns(self) -> Floats:
        """What moves of single coefficients read, column by column: X'X."""
        return self.gram

    def residual(self, coef: Floats) -> Floats:
        """Return what they keep up to date: X'(y - X w)."""
        return self.xty - self.gram @ coef

    def given(self, root: Root, scale: float = 1.0) -> "ColumnsGiven":
        """Return the regression under a prior covariance, whatever ``scale`` is."""
        products = root.after(self.xty[None, :])[0]
        return ColumnsGiven(root, root.around(self.gram), products, self.yty)


class ColumnsGiven(NamedTuple):
    """Columns under a prior covariance: Z'Z, Z'y and y'y."""

    root: Root
    inner: Floats
    products: Floats
    yty: float

    def factor(self, scale: float) -> RidgeFactor:
        """Return what one scale makes of it."""
        lower, log_determinant = _factored(self.inner, scale)
        half = scale * _halfway(lower, self.products)
        return RidgeFactor(scale, lower, log_determinant, max(self.yty - float(half @ half), 0.0))

    def draw(self, factor: RidgeFactor, noise: float, rng: np.random.Generator) -> Floats:
        """Draw v = R u given a scale and the noise variance."""
        pull = factor.scale / np.sqrt(noise) * self.products
        half = _halfway(factor.lower, pull) + rng.standard_normal(len(pull))
        return self.root.times(_rest_of_way(factor.lower, half))


def ridge_form(problem: Problem) -> ByRows | ByColumns:
    """Return the cheaper form of a problem, of its columns with content.

    Few columns are taken by their cross products however few the rows are, and these to ten digits: what
    is drawn does then not depend on how rows are ordered, or repeated, or on how sums are rounded.
    """
    usable = problem.usable
    if problem.has_rows and len(usable) > max(_FEW, len(problem.response)):
        root = np.sqrt(problem.weights)
        # Columns in one piece each, which local moves read one by one.
        block = np.asfortranarray(problem.table.block(usable))
        block *= root[:, None]
        single = SingleColumns(block.astype(np.float32), problem.curvature[usable])
        return ByRows(block, root * problem.response, single)
    unit = 2.0 ** np.floor(np.log2(_DIGITS * problem.n))
    moments = (problem.known_block(usable), problem.xty[usable], np.array(problem.yty))
    gram, xty, yty = (unit * np.round(values / unit) for values in moments)
    return ByColumns(gram, xty, float(yty))


def _factored(inner: Floats, scale: float) -> tuple[Floats, float]:
    """Return the Cholesky factor of I + scale^2 inner, and the log determinant.

    Only lower triangles are read.
    """
    matrix = np.multiply(inner, scale**2)
    diagonal = np.einsum("ii->i", matrix)
    diagonal += 1.0
    for share in _JITTERS:
        diagonal *= 1.0 + share
        # LAPACK itself: SciPy's functions take longer to check a small matrix than to factorise it.
        lower, failed = dpotrf(matrix, lower=1, clean=0)
        if not failed:
            return lower, 2.0 * float(np.log(np.diag(lower)).sum())
    raise FloatingPointError(
        "the coefficients' variances left the range of numbers: give the prior a scale"
    )


def _halfway(lower: Floats, right: Floats) -> Floats:
    return np.asarray(dtrtrs(lower, right, lower=1)[0])


def _rest_of_way(lower: Floats, right: Floats) -> Floats:
    return np.asarray(dtrtrs(lower, right, lower=1, trans=1)[0])
