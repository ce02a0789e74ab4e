"""Fits over a grid of strengths, in the user's units: one class for every kind of fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.designs.scale import Scale
from garrote.results.fit import Fit, PenaltyFit
from garrote.summaries import Table

# So many strengths of a path are shown in a notebook.
_SHOWN = 10

AnyFit = TypeVar("AnyFit", bound=Fit | PenaltyFit)


def stack_rows(
    columns: Sequence[Array], values: Sequence[Floats], n_features: int
) -> scipy.sparse.csr_array:
    """Return a sparse matrix with a row for each of some sets of columns and values."""
    starts = np.concatenate([[0], np.cumsum([len(part) for part in columns])])
    parts = (np.concatenate(values), np.concatenate(columns).astype(np.int64), starts)
    return scipy.sparse.csr_array(parts, shape=(len(columns), n_features))


def branches_differ(forward: Floats, backward: Floats) -> Array:
    """Return where free energies of two branches differ by more than solving them to a tolerance."""
    return np.abs(forward - backward) > 1e-3 * np.maximum(1.0, np.abs(forward) * 1e-3)


@dataclass(frozen=True)
class Move:
    """A variable that enters the model as the strength falls, or leaves it."""

    strength: float
    column: int
    enters: bool


@dataclass(frozen=True, repr=False)
class Path(Generic[AnyFit]):
    """Fits at all strengths that were reached, from sparse to dense, each with its certificate.

    A ``Path[Fit]`` (of a mean field) runs over ascending gammas. Its fits add inclusion probabilities,
    a free energy and a noise variance. It is annealed: at each gamma there is a solution on the way up
    and one on the way down, and the one of lower free energy is kept. Labels have a level, and
    covariates coefficients, of their own at each gamma.

    A ``Path[PenaltyFit]`` (of a penalty) runs over descending alphas. Its fits add a loss and, for the
    fused lasso, a number of pieces; there is one branch.

    Attributes
    ----------
    fits : tuple of Fit or PenaltyFit
    scale : Scale
    n_features : int
        How many coefficients there are: with several outputs, as many for each.
    null_loss : float
        Of a penalty: half the mean deviance of the null model; else NaN.
    cut : str or None
        Why the path ends before the last strength asked for, if it does.
    moves : tuple of Move
        Which variables entered and left, for a path that was followed knot by knot.
    outputs : int
        How many linear predictors there are: one for each of several classes or responses. Their
        coefficients are numbered one output after the other.
    forward, backward : tuple of Fit
        Both branches of an annealed path; where they agree, the fit is one object.
    kept : array of str or None
        Which branch was kept at each strength.

    Examples
    --------
    >>> from garrote import Problem, VariationalGarrote, fit_path
    >>> from garrote.datasets import make_sparse_regression
    >>> from garrote.penalties import L1
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> path = VariationalGarrote().fit(data.X, data.y).path_
    >>> len(path), path.inclusion_probability().shape
    (50, (50, 20))
    >>> bool(path.certificate.max() <= 1e-4)
    True
    >>> path = fit_path(Problem.from_rows(data.X, data.y, scale_response=False), L1(), 10)
    >>> path.coefficients().shape
    (10, 20)
    >>> bool(path.certificate.max() < 1e-9)
    True
    """

    fits: tuple[AnyFit, ...]
    scale: Scale
    n_features: int
    null_loss: float = float("nan")
    cut: str | None = None
    moves: tuple[Move, ...] = ()
    outputs: int = 1
    forward: tuple[AnyFit, ...] = ()
    backward: tuple[AnyFit, ...] = ()
    kept: Array | None = None

    def __len__(self) -> int:
        return len(self.fits)

    @cached_property
    def strengths(self) -> Floats:
        """The strengths that were reached: gammas ascending, or alphas descending."""
        return np.array([fit.strength for fit in self.fits])

    @cached_property
    def certificate(self) -> Floats:
        """The certificate's value at each strength."""
        return np.array([fit.certificate.value for fit in self.fits])

    @cached_property
    def expected_size(self) -> Floats:
        """The sum of inclusion probabilities, or the number of coefficients that are not 0."""
        return np.array([fit.expected_size for fit in self.fits])

    @cached_property
    def n_iter(self) -> int:
        """All sweeps or rounds of the solver, in both branches."""
        every = {id(fit): fit for fit in (*self.fits, *self.forward, *self.backward)}
        return sum(fit.n_iter for fit in every.values())

    @cached_property
    def intercepts(self) -> Floats:
        """The intercept at each strength; a row of them where there are several outputs."""
        return np.array([self.intercept(fit) for fit in self.fits])

    def intercept(self, fit: AnyFit) -> Any:
        """Return the intercept of a fit, or those of several outputs, in the user's units."""
        mean, effects = self.scale.column_mean, self._variables(fit)
        if self.outputs > 1:
            output = fit.columns // (self.n_features // self.outputs)
            return fit.intercept - np.bincount(output, mean[fit.columns] * effects, self.outputs)
        beside = mean[self.scale.covariates] @ self._covariates(fit)
        return fit.intercept + float(
            self.scale.response_mean - mean[fit.columns] @ effects - beside
        )

    def coefficients(self) -> scipy.sparse.csr_array:
        """Return the coefficients, strengths x features; covariates included."""
        return self._stack(
            [self._variables(fit) for fit in self.fits],
            [self._covariates(fit) for fit in self.fits],
        )

    def _variables(self, fit: AnyFit) -> Floats:
        return self.scale.coefficients(fit.columns, fit.coef)

    def _covariates(self, fit: AnyFit) -> Floats:
        if fit.covariate_coef is None:
            return self.scale.covariate_coefficients(fit.columns, fit.coef)
        return self.scale.coefficients(self.scale.covariates, fit.covariate_coef)

    def _stack(self, values: list[Floats], fixed: list[Floats]) -> scipy.sparse.csr_array:
        columns = [np.concatenate([fit.columns, self.scale.covariates]) for fit in self.fits]
        data = [np.concatenate(pair) for pair in zip(values, fixed, strict=True)]
        return stack_rows(columns, data, self.n_features)

    def index(self, strength: float) -> int:
        """Return the position of a strength on the path."""
        position = int(np.argmin(np.abs(self.strengths - strength)))
        if not np.isclose(self.strengths[position], strength, rtol=1e-12, atol=0.0):
            raise ValueError(f"the path has no strength {strength:.6g}; see `strengths`")
        return position

    def __repr__(self) -> str:
        first, last = self.strengths[0], self.strengths[-1]
        return (
            f"<Path: {len(self)} strengths from {first:.4g} to {last:.4g}, "
            f"certificate {self.certificate.max():.1e}>"
        )

    def _repr_html_(self) -> str:
        some = np.unique(np.linspace(0, len(self) - 1, _SHOWN).astype(int))
        shown = {
            "strength": self.strengths[some].tolist(),
            "expected size": self.expected_size[some].tolist(),
            "certificate": self.certificate[some].tolist(),
        }
        return Table(shown, repr(self).strip("<>"))._repr_html_()

    # Of mean fields.

    @cached_property
    def free_energy(self: "Path[Fit]") -> Floats:
        """Free energy (Eq. 7) of the kept solutions."""
        return np.array([fit.free_energy for fit in self.fits])

    @cached_property
    def energies(self: "Path[Fit]") -> dict[str, Floats]:
        """Free energies of both branches by name, "forward" and "backward"; empty without branches."""
        branches = {"forward": self.forward, "backward": self.backward}
        return {
            name: np.array([fit.free_energy for fit in fits])
            for name, fits in branches.items()
            if fits
        }

    @property
    def hysteresis(self: "Path[Fit]") -> tuple[float, float] | None:
        """The range of strengths where forward and backward solutions differ, if they do."""
        if not self.energies:
            return None
        apart = self.strengths[branches_differ(*self.energies.values())]
        return (float(apart.min()), float(apart.max())) if len(apart) else None

    @cached_property
    def noise_variance(self: "Path[Fit]") -> Floats:
        """The noise variance at each strength."""
        factor = self.scale.response_scale**2
        return np.array([fit.noise_variance * factor for fit in self.fits])

    def inclusion_probability(self: "Path[Fit]") -> scipy.sparse.csr_array:
        """Return the inclusion probabilities, strengths x features; covariates have 1."""
        ones = np.ones(len(self.scale.covariates))
        return self._stack([fit.probability for fit in self.fits], [ones] * len(self.fits))

    # Of penalties.

    @cached_property
    def size(self: "Path[PenaltyFit]") -> Array:
        """How many coefficients are not 0 at each strength."""
        return np.array([len(fit.columns) for fit in self.fits])

    @cached_property
    def degrees_of_freedom(self: "Path[PenaltyFit]") -> Array:
        """What each fit has adapted to the data: coefficients that are not 0, or what these share."""
        told = [(fit.freedom, fit.pieces, len(fit.columns)) for fit in self.fits]
        return np.array([next(n for n in numbers if n is not None) for numbers in told])

    @cached_property
    def deviance_explained(self: "Path[PenaltyFit]") -> Floats:
        """The share of the null model's deviance that is explained at each strength."""
        loss = np.array([fit.loss for fit in self.fits])
        return 1.0 - loss / self.null_loss if self.null_loss > 0 else np.zeros(len(self))
