"""What comes out of a fit: frozen values, and views of themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.results.certificates import Certificate


@dataclass(frozen=True)
class Fit:
    """One stationary point at one strength, in standardised units.

    Columns that are not listed have inclusion probabilities too small to matter; the certificate and
    the free energy cover them all the same.

    Examples
    --------
    >>> from garrote import VariationalGarrote
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> model = VariationalGarrote().fit(data.X, data.y)
    >>> fit = model.posterior_.optima[0]
    >>> fit.columns[fit.probability > 0.5].tolist() == model.get_support(indices=True).tolist()
    True
    """

    strength: float
    columns: Array
    probability: Floats
    weight: Floats
    noise_variance: float
    free_energy: float
    expected_size: float
    certificate: Certificate
    n_iter: int
    message: str = ""

    @property
    def coef(self) -> Floats:
        """The coefficients m w of the listed columns."""
        return self.probability * self.weight


@dataclass(frozen=True)
class Scale:
    """How standardised coefficients read in the user's units."""

    column_mean: Floats
    column_scale: Floats
    response_mean: float
    response_scale: float
    covariates: Array
    covariate_response: Floats
    covariate_columns: Floats
    intercept_count: int = 1

    def coefficients(self, columns: Array, coef: Floats) -> Floats:
        """Return the coefficients of ``columns`` in the user's units."""
        return coef * (self.response_scale / self.column_scale[columns])

    def covariate_coefficients(self, columns: Array, coef: Floats) -> Floats:
        """Return the covariates' coefficients, in the user's units, beside those given."""
        own = self.covariate_response - self.covariate_columns[:, columns] @ coef
        return self.coefficients(self.covariates, own)

    def intercept(self, columns: Array, coef: Floats) -> float:
        """Return the intercept, in the user's units, beside the coefficients given."""
        taken = self.column_mean[columns] @ self.coefficients(columns, coef)
        also = self.column_mean[self.covariates] @ self.covariate_coefficients(columns, coef)
        return float(self.response_mean - taken - also)


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
class Path:
    """Solutions over a grid of strengths (gammas), sparse to dense, in the user's units.

    At each strength the branch of lower free energy is kept; both are stored.

    Examples
    --------
    >>> from garrote import VariationalGarrote
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> model = VariationalGarrote().fit(data.X, data.y)
    >>> path = model.path_
    >>> len(path), path.inclusion_probability().shape
    (50, (50, 20))
    >>> bool(path.certificate.max() <= 1e-4)
    True
    """

    fits: tuple[Fit, ...]
    forward: tuple[Fit, ...]
    backward: tuple[Fit, ...]
    kept: Array
    cut: str | None
    scale: Scale
    n_features: int

    def __len__(self) -> int:
        return len(self.fits)

    @cached_property
    def strengths(self) -> Floats:
        """The gammas that were reached, ascending."""
        return np.array([fit.strength for fit in self.fits])

    @cached_property
    def free_energy(self) -> Floats:
        """Free energy (Eq. 7) of the kept solutions."""
        return np.array([fit.free_energy for fit in self.fits])

    @cached_property
    def certificate(self) -> Floats:
        """The certificate's value at each strength."""
        return np.array([fit.certificate.value for fit in self.fits])

    @cached_property
    def expected_size(self) -> Floats:
        """Sum of the inclusion probabilities at each strength."""
        return np.array([fit.expected_size for fit in self.fits])

    @cached_property
    def noise_variance(self) -> Floats:
        """The noise variance at each strength."""
        factor = self.scale.response_scale**2
        return np.array([fit.noise_variance * factor for fit in self.fits])

    @cached_property
    def n_iter(self) -> int:
        """All sweeps or iterations, forward and backward."""
        backward = sum(
            b.n_iter for f, b in zip(self.forward, self.backward, strict=True) if b is not f
        )
        return sum(f.n_iter for f in self.forward) + backward

    @cached_property
    def intercepts(self) -> Floats:
        """The intercept at each strength."""
        return np.array([self.scale.intercept(fit.columns, fit.coef) for fit in self.fits])

    def coefficients(self) -> scipy.sparse.csr_array:
        """Return the coefficients m w, strengths x features; covariates included."""
        values = [self.scale.coefficients(fit.columns, fit.coef) for fit in self.fits]
        fixed = [self.scale.covariate_coefficients(fit.columns, fit.coef) for fit in self.fits]
        return self._stack(values, fixed)

    def inclusion_probability(self) -> scipy.sparse.csr_array:
        """Return the inclusion probabilities, strengths x features; covariates have 1."""
        ones = np.ones(len(self.scale.covariates))
        return self._stack([fit.probability for fit in self.fits], [ones] * len(self.fits))

    def _stack(self, values: list[Floats], fixed: list[Floats]) -> scipy.sparse.csr_array:
        columns = [np.concatenate([fit.columns, self.scale.covariates]) for fit in self.fits]
        data = [np.concatenate(pair) for pair in zip(values, fixed, strict=True)]
        return stack_rows(columns, data, self.n_features)

    @property
    def hysteresis(self) -> tuple[float, float] | None:
        """The range of strengths where forward and backward solutions differ, if they do."""
        energies = ([fit.free_energy for fit in part] for part in (self.forward, self.backward))
        apart = self.strengths[branches_differ(*map(np.array, energies))]
        return (float(apart.min()), float(apart.max())) if len(apart) else None

    def index(self, strength: float) -> int:
        """Return the position of a strength on the path."""
        position = int(np.argmin(np.abs(self.strengths - strength)))
        if not np.isclose(self.strengths[position], strength, rtol=1e-12, atol=1e-12):
            raise ValueError(f"the path has no strength {strength:.6g}; see `strengths`")
        return position

    def __repr__(self) -> str:
        low, high = self.strengths[0], self.strengths[-1]
        return (
            f"<Path: {len(self)} strengths from {low:.4g} to {high:.4g}, "
            f"certificate {self.certificate.max():.1e}>"
        )


@dataclass(frozen=True, repr=False)
class LogisticPath(Path):
    """A path of models of labels, which weigh rows anew at each strength.

    ``levels`` are the log odds at the means of all columns, ``covariate_coef`` the covariates'
    coefficients, a row for each strength; both in standardised units.
    """

    levels: Floats
    covariate_coef: Floats

    @cached_property
    def intercepts(self) -> Floats:
        """The intercept at each strength."""
        return np.asarray(self.levels - self.coefficients() @ self.scale.column_mean)

    def coefficients(self) -> scipy.sparse.csr_array:
        """Return the coefficients m w, strengths x features; covariates included."""
        scale = self.scale.column_scale
        values = [fit.coef / scale[fit.columns] for fit in self.fits]
        return self._stack(values, list(self.covariate_coef / scale[self.scale.covariates]))
