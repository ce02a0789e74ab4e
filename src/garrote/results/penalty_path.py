"""Penalised fits over a grid of strengths, in the user's units."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.results.certificates import OptimalityCertificate
from garrote.results.fit import Scale, stack_rows

# Models of more coefficients than this share of the rows are too near to interpolation to be judged.
_MOST_JUDGED = 0.5


def bayesian_criterion(
    loss: Floats, size: Array, n: float, scale: float | None, extra: float = 0.0
) -> Floats:
    """Return the Bayesian information criterion of fits, up to a constant.

    Minus twice the log likelihood, plus log N for each coefficient that is not 0 (Zou et al. 2007), and
    ``extra``. ``scale`` is that of the noise. Where there is None, a Gaussian response has its variance
    estimated at each strength, which a model of nearly as many coefficients as rows drives to 0: such
    are not judged, their criterion is infinite.
    """
    fit = n * np.log(np.maximum(loss, 1e-300)) if scale is None else 2.0 * n * loss / scale**2
    judged = size <= _MOST_JUDGED * n
    whole = fit + (np.log(n) + extra) * size
    return np.where(judged, whole, np.inf) if judged.any() else whole


@dataclass(frozen=True)
class PenaltyFit:
    """One fit: the coefficients that are not 0, for standardised columns, and what it reached.

    ``loss`` is half the mean deviance (for a Gaussian response half the mean squared residual).
    ``pieces`` counts runs of equal coefficients that are not 0, where the penalty makes such.
    """

    strength: float
    columns: Array
    coef: Floats
    intercept: Any
    loss: float
    certificate: OptimalityCertificate
    n_iter: int
    pieces: int | None = None

    @property
    def expected_size(self) -> float:
        """How many coefficients are not 0."""
        return float(len(self.columns))


@dataclass(frozen=True)
class Move:
    """A variable that enters the model as the strength falls, or leaves it."""

    strength: float
    column: int
    enters: bool


@dataclass(frozen=True)
class PenaltyPath:
    """Penalised fits from strong to weak (descending alphas).

    ``moves`` tells, for a path that was followed knot by knot, which variables entered and left.

    Examples
    --------
    >>> from garrote import Problem, fit_path
    >>> from garrote.datasets import make_sparse_regression
    >>> from garrote.penalties import L1
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> path = fit_path(Problem.from_rows(data.X, data.y, scale_response=False), L1(), 10)
    >>> path.coefficients().shape
    (10, 20)
    >>> bool(path.certificate.max() < 1e-9)
    True
    """

    fits: tuple[PenaltyFit, ...]
    scale: Scale
    n_features: int
    null_loss: float
    cut: str | None = None
    moves: tuple[Move, ...] = ()

    def __len__(self) -> int:
        return len(self.fits)

    @cached_property
    def strengths(self) -> Floats:
        """The alphas, descending."""
        return np.array([fit.strength for fit in self.fits])

    @cached_property
    def certificate(self) -> Floats:
        """The certificate's value at each strength."""
        return np.array([fit.certificate.value for fit in self.fits])

    @cached_property
    def size(self) -> Array:
        """How many coefficients are not 0 at each strength."""
        return np.array([len(fit.columns) for fit in self.fits])

    @cached_property
    def degrees_of_freedom(self) -> Array:
        """What each fit has adapted to the data: coefficients that are not 0, or pieces of those."""
        return np.array([len(f.columns) if f.pieces is None else f.pieces for f in self.fits])

    @cached_property
    def deviance_explained(self) -> Floats:
        """The share of the null model's deviance that is explained at each strength."""
        loss = np.array([fit.loss for fit in self.fits])
        return 1.0 - loss / self.null_loss if self.null_loss > 0 else np.zeros(len(self))

    @cached_property
    def n_iter(self) -> int:
        """All rounds of the solver."""
        return sum(fit.n_iter for fit in self.fits)

    @cached_property
    def intercepts(self) -> Floats:
        """The intercept at each strength."""
        return np.array([self.intercept(fit) for fit in self.fits])

    def intercept(self, fit: PenaltyFit) -> Any:
        """Return the intercept of a fit, in the user's units."""
        return fit.intercept + self.scale.intercept(fit.columns, fit.coef)

    def coefficients(self) -> scipy.sparse.csr_array:
        """Return the coefficients, strengths x features; covariates included."""
        fixed = self.scale.covariates
        columns = [np.concatenate([fit.columns, fixed]) for fit in self.fits]
        values = [
            np.concatenate(
                [
                    self.scale.coefficients(fit.columns, fit.coef),
                    self.scale.covariate_coefficients(fit.columns, fit.coef),
                ]
            )
            for fit in self.fits
        ]
        return stack_rows(columns, values, self.n_features)

    def index(self, strength: float) -> int:
        """Return the position of a strength on the path."""
        position = int(np.argmin(np.abs(self.strengths - strength)))
        if not np.isclose(self.strengths[position], strength, rtol=1e-12, atol=0.0):
            raise ValueError(f"the path has no strength {strength:.6g}; see `strengths`")
        return position

    def __repr__(self) -> str:
        high, low = self.strengths[0], self.strengths[-1]
        return (
            f"<PenaltyPath: {len(self)} strengths from {high:.4g} to {low:.4g}, "
            f"certificate {self.certificate.max():.1e}>"
        )


@dataclass(frozen=True)
class MultinomialPath(PenaltyPath):
    """Penalised fits with a linear predictor for each of several classes.

    Coefficients are numbered class by class: ``coefficients()`` has D columns for each, and
    ``intercepts`` a column for each.
    """

    classes: int = 2

    def intercept(self, fit: PenaltyFit) -> Any:
        """Return the intercepts of a fit, in the user's units."""
        own = fit.columns // (self.n_features // self.classes)
        coef = self.scale.coefficients(fit.columns, fit.coef)
        taken = np.bincount(own, self.scale.column_mean[fit.columns] * coef, self.classes)
        return fit.intercept - taken

    def by_class(self, position: int) -> Floats:
        """Return the coefficients at one strength (classes x features)."""
        return self.coefficients()[[position]].toarray().reshape(self.classes, -1)
