"""What comes out of a fit: frozen values, and views of themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats


@dataclass(frozen=True)
class Certificate:
    """How far an answer is from satisfying its own equations, over all columns.

    Attributes
    ----------
    inclusion : float
        Largest violation of m = sigmoid(gamma + beta N chi w^2 / 2) (Eq. 8).
    weight : float
        Largest distance of a weight w from what Eq. 9 implies, in standard errors.
    noise : float
        Relative violation of the equation for the noise variance (Eq. 10).

    Examples
    --------
    >>> from garrote import Certificate
    >>> certificate = Certificate(inclusion=2e-6, weight=3e-5, noise=1e-9)
    >>> certificate.value
    3e-05
    >>> print(certificate)
    3.0e-05 (inclusion 2.0e-06, weight 3.0e-05, noise 1.0e-09)
    """

    inclusion: float
    weight: float
    noise: float

    @property
    def value(self) -> float:
        """The largest of the three."""
        return max(self.inclusion, self.weight, self.noise)

    @property
    def parts(self) -> dict[str, float]:
        """The three violations by name."""
        return {"inclusion": self.inclusion, "weight": self.weight, "noise": self.noise}

    def __str__(self) -> str:
        return (
            f"{self.value:.1e} (inclusion {self.inclusion:.1e}, weight {self.weight:.1e}, "
            f"noise {self.noise:.1e})"
        )


@dataclass(frozen=True)
class LearnedCertificate(Certificate):
    """The certificate of an answer that has learned its priors too.

    Attributes
    ----------
    hyperparameters : float
        Largest change of the log slab variance or the prior log odds that another step would make.
    """

    hyperparameters: float = 0.0

    @property
    def value(self) -> float:
        """The largest of the four."""
        return max(self.inclusion, self.weight, self.noise, self.hyperparameters)

    @property
    def parts(self) -> dict[str, float]:
        """The four violations by name."""
        return {**super().parts, "hyperparameters": self.hyperparameters}

    def __str__(self) -> str:
        return f"{super().__str__()[:-1]}, hyperparameters {self.hyperparameters:.1e})"


@dataclass(frozen=True)
class EffectsCertificate(Certificate):
    """How far a sum of single effects is from standing still, computed from the data.

    ``inclusion`` and ``weight`` are the largest changes that one more update of an effect would make to
    a probability and, in standard errors, to a coefficient; ``noise`` is the relative change of the
    noise variance.

    Attributes
    ----------
    prior_variance : float
        The most that an update of one effect's prior variance would add to its log evidence.
    bound : float
        How far the lower bound stated is from the one computed afresh.
    fall : float
        The largest fall of the bound from one sweep to the next; it must never fall.
    """

    prior_variance: float = 0.0
    bound: float = 0.0
    fall: float = 0.0

    @property
    def value(self) -> float:
        """The largest of the six."""
        return max(self.parts.values())

    @property
    def parts(self) -> dict[str, float]:
        """The six violations by name."""
        return {
            **super().parts,
            "prior variance": self.prior_variance,
            "lower bound": self.bound,
            "falls of the bound": self.fall,
        }

    def __str__(self) -> str:
        return (
            f"{self.value:.1e} (inclusion {self.inclusion:.1e}, weight {self.weight:.1e}, noise "
            f"{self.noise:.1e}, lower bound {max(self.bound, self.fall):.1e})"
        )


@dataclass(frozen=True)
class BoundCertificate(Certificate):
    """The certificate of an answer that replaces a logistic likelihood by a bound.

    Attributes
    ----------
    bound : float
        Largest distance, over rows, of the place xi where the bound touches from the best one, the root
        of the linear predictor's expected square.
    """

    bound: float = 0.0

    @property
    def value(self) -> float:
        """The largest of the violations."""
        return max(self.inclusion, self.weight, self.bound)

    @property
    def parts(self) -> dict[str, float]:
        """The violations by name; labels have no noise."""
        return {"inclusion": self.inclusion, "weight": self.weight, "bound": self.bound}

    def __str__(self) -> str:
        return (
            f"{self.value:.1e} (inclusion {self.inclusion:.1e}, weight {self.weight:.1e}, "
            f"bound {self.bound:.1e})"
        )


@dataclass(frozen=True)
class MonteCarloCertificate:
    """How far sampled inclusion probabilities may be off.

    Attributes
    ----------
    error : float
        Largest Monte Carlo standard error of an inclusion probability, from batches of the chains.
    disagreement : float
        Largest difference between the chains' inclusion probabilities.
    split_r_hat : float
        Largest R-hat of an inclusion between the halves of all chains; 1 if they agree.
    """

    error: float
    disagreement: float
    split_r_hat: float = float("nan")

    @property
    def value(self) -> float:
        """The larger of error and disagreement."""
        return max(self.error, self.disagreement)

    @property
    def parts(self) -> dict[str, float]:
        """Error and disagreement by name."""
        return {"Monte Carlo error": self.error, "between chains": self.disagreement}

    def __str__(self) -> str:
        r_hat = "" if np.isnan(self.split_r_hat) else f", split R-hat {self.split_r_hat:.3f}"
        parts = f"error {self.error:.1e}, between chains {self.disagreement:.1e}{r_hat}"
        return f"{self.value:.1e} ({parts})"


@dataclass(frozen=True)
class DrawsCertificate:
    """How well draws of coefficients know their means.

    Attributes
    ----------
    error : float
        Largest Monte Carlo standard error of a coefficient's mean (or of that of the logarithm of
        the noise variance or of the prior's scale), in posterior standard deviations: 0.1 is 100
        independent draws.
    split_r_hat : float
        Largest R-hat of these between the halves of all chains; 1 if they agree.

    Examples
    --------
    >>> from garrote.results import DrawsCertificate
    >>> print(DrawsCertificate(error=0.05, split_r_hat=1.01))
    5.0e-02 (of a posterior deviation, split R-hat 1.010)
    """

    error: float
    split_r_hat: float

    @property
    def value(self) -> float:
        """The error."""
        return self.error

    @property
    def parts(self) -> dict[str, float]:
        """The error, and by how much R-hat is beyond 1."""
        return {"error of a mean": self.error, "halves of chains": self.split_r_hat - 1.0}

    def __str__(self) -> str:
        return f"{self.error:.1e} (of a posterior deviation, split R-hat {self.split_r_hat:.3f})"


@dataclass(frozen=True)
class ExactCertificate:
    """How far log probabilities of models are from those computed one by one, from scratch.

    ``quadrature`` is the change of an inclusion probability at the last refinement of the integral over
    an unknown slab variance; 0 where there is none.
    """

    log_probability: float
    quadrature: float = 0.0

    @property
    def value(self) -> float:
        """The larger of the two."""
        return max(self.log_probability, self.quadrature)

    @property
    def parts(self) -> dict[str, float]:
        """Both by name, the second where there is an integral."""
        integral = {"slab variance": self.quadrature} if self.quadrature else {}
        return {"log probability": self.log_probability} | integral

    def __str__(self) -> str:
        return f"{self.value:.1e} (exact sum over all models)"


@dataclass(frozen=True)
class SearchCertificate:
    """What a search among models may have missed, and how well it knows the models it found.

    Attributes
    ----------
    late_share : float
        The part of the probability that the last tenth of the search added.
    log_probability : float
        How far log odds of the best models are from those computed one by one, from scratch.
    """

    late_share: float
    log_probability: float

    @property
    def value(self) -> float:
        """The larger of the two."""
        return max(self.late_share, self.log_probability)

    @property
    def parts(self) -> dict[str, float]:
        """Both by name."""
        return {"found late": self.late_share, "log probability": self.log_probability}

    def __str__(self) -> str:
        return f"{self.value:.1e} (the last tenth of the search added {self.late_share:.1e})"


@dataclass(frozen=True)
class OptimalityCertificate:
    """How far a penalised fit is from the optimum of its objective.

    Attributes
    ----------
    gap : float
        For a convex objective: how much better any other answer could be at most, as a share of the null
        model's objective (the duality gap). NaN for objectives that have no dual.
    kkt : float
        Largest violation of a coefficient's optimality given all others, as a share of the largest
        gradient of the null model.

    Examples
    --------
    >>> from garrote.results import OptimalityCertificate
    >>> OptimalityCertificate(gap=2e-9, kkt=1e-7).value
    2e-09
    """

    gap: float
    kkt: float

    @property
    def value(self) -> float:
        """The gap where there is one, else the violation."""
        return self.kkt if np.isnan(self.gap) else self.gap

    @property
    def parts(self) -> dict[str, float]:
        """Both by name, as far as they are there."""
        gap = {} if np.isnan(self.gap) else {"duality gap": self.gap}
        return gap | {"violation": self.kkt}

    def __str__(self) -> str:
        if np.isnan(self.gap):
            return f"{self.kkt:.1e} (largest violation of optimality)"
        return f"{self.gap:.1e} (duality gap; largest violation {self.kkt:.1e})"


@dataclass(frozen=True)
class FittedCertificate:
    """How far models that were all fitted are from their maxima.

    Attributes
    ----------
    log_probability : float
        Largest difference of log probabilities, among the best models, from fits started afresh.
    gradient : float
        Largest length of a likelihood's gradient at those fits, in standard errors.
    """

    log_probability: float
    gradient: float

    @property
    def value(self) -> float:
        """The larger of the two."""
        return max(self.log_probability, self.gradient)

    @property
    def parts(self) -> dict[str, float]:
        """Both by name."""
        return {"log probability": self.log_probability, "gradient": self.gradient}

    def __str__(self) -> str:
        return (
            f"{self.value:.1e} (log probability {self.log_probability:.1e}, "
            f"gradient {self.gradient:.1e})"
        )


AnyCertificate = (
    Certificate
    | MonteCarloCertificate
    | DrawsCertificate
    | ExactCertificate
    | SearchCertificate
    | FittedCertificate
    | OptimalityCertificate
)


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
