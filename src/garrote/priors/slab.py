"""What the coefficients of included variables are like: Gaussian slabs, or BIC.

Settings only: each makes the scalar rule (`garrote.priors.evidence`) for one set of data.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from garrote.arrays import Floats
from garrote.priors.base import Fitting, Slab
from garrote.priors.evidence import (
    SMALLEST_LEFT,
    KnownNoise,
    Peak,
    UnknownNoise,
    log_evidence,
)
from garrote.priors.evidence.humps import humps_of
from garrote.rules.integration import Integration

# First, last and number of the logs of an unknown slab variance, for laws of coefficients given a model.
_VARIANCES = (-12.0, 20.0, 65)
# Models that fill this share of what BIC allows on average are crowded.
_CROWDED = 0.5


@dataclass(frozen=True)
class IndependentSlab(Slab):
    """What slabs of independent coefficients share: one variance for all, given or unknown."""

    variance: float | None = None
    independent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Raise unless the variance is positive and finite."""
        self._check_positive("variance")

    def _check_positive(self, name: str) -> None:
        value = getattr(self, name)
        if value is not None and not 0 < value < np.inf:
            raise ValueError(f"{name} of a {type(self).__name__} must be positive, got {value!r}")

    @property
    def variance_is_unknown(self) -> bool:
        """Whether there is a slab variance to be averaged over."""
        return self.variance is None

    @property
    def known_variance(self) -> float | None:
        """The slab's variance, where it is given."""
        return self.variance

    @property
    def humps(self) -> tuple[float, float, float]:
        """Ridge, lift and height (`garrote.priors.evidence.humps`) of the slab, given its variance."""
        return humps_of(self.variance or 1.0, self.known_separation)

    def at(self, variance: float) -> Self:
        """Return the slab with a known variance."""
        return replace(self, variance=variance)

    def grid(
        self, log_variances: tuple[float, float, int] | None = None
    ) -> list[tuple[float, Self]]:
        """Return slabs of known variance with log weights, to average over for an unknown one.

        ``log_variances`` are the first, the last and how many.
        """
        if self.variance is not None:
            return [(0.0, self)]
        log_variance = np.linspace(*(log_variances or _VARIANCES))
        weights = self.log_density(log_variance) + np.log(log_variance[1] - log_variance[0])
        slabs = [self.at(float(np.exp(u))) for u in log_variance]
        return list(zip(map(float, weights), slabs, strict=True))


@dataclass(frozen=True)
class GaussianSlab(IndependentSlab):
    """w_j ~ N(0, noise * variance) for standardised columns; noise known or inverse gamma.

    Without a ``variance`` it is unknown, 1 / variance ~ Gamma(1/2, 1/2): the effects of all variables
    together then have Cauchy tails, as in Zellner & Siow (1980). ``shape`` and ``rate`` are those of the
    noise's inverse gamma law; 0 and 0 are Jeffreys' prior.
    """

    noise_variance: float | None = None
    shape: float = 0.0
    rate: float = 0.0
    has_noise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Raise unless variances, shape and rate are possible ones."""
        super().__post_init__()
        self._check_positive("noise_variance")
        if not (0 <= self.shape < np.inf and 0 <= self.rate < np.inf):
            raise ValueError(
                f"shape and rate of a GaussianSlab must be >= 0, got {self.shape} and {self.rate}"
            )

    @classmethod
    def for_integration(cls, integration: Integration | None) -> type[Slab]:
        """Return itself or, where there is no noise, the slab of effects on log odds or log rates."""
        return cls if integration is Integration.CLOSED_FORM else EffectSlab

    def in_unit(self, unit: float) -> Self:
        """Return the slab for a response that is divided by a unit."""
        return replace(super().in_unit(unit), rate=self.rate / unit**2)

    def rule(
        self, n: float, yty: float, most: int, spent: float = 0.0
    ) -> KnownNoise | UnknownNoise:
        """Return the marginal likelihood for n rows (less those spent on means)."""
        ridge = 1.0 / (self.variance or 1.0)
        if self.noise_variance is not None:
            return KnownNoise(ridge, self.noise_variance)
        least = SMALLEST_LEFT * (yty or 1.0)  # a constant response leaves nothing
        return UnknownNoise(ridge, self.shape + 0.5 * n, self.rate, least)

    def log_fit(self, n: float, yty: float, left: float, along: float) -> float:
        """Return the log of the integral over the noise, given what is ``left`` of y'y in all.

        ``along`` is the sum of weights times their signs, by which humps make the noise larger.
        """
        return float(log_evidence(self.rule(n, yty, 0), 0, 0.0, left))

    def noise_shape(self, n: float) -> float:
        """Return the shape of the noise's inverse gamma law given a model; infinite if it is known."""
        return np.inf if self.noise_variance is not None else 0.5 * n + self.shape

    def check_flat_noise(self, method: str) -> None:
        """Refuse, for a method that takes the noise for known or flat, another law of it."""
        if self.shape or self.rate:
            raise ValueError(
                f"method={method!r} takes the noise for known or flat: GaussianSlab(shape, rate) needs "
                "method='enumerate', 'sample', 'metropolis', 'gibbs' or 'search'"
            )


@dataclass(frozen=True)
class EffectSlab(IndependentSlab):
    """w_j ~ N(0, variance) on log odds or log rates, for standardised columns; there is no noise.

    Without a ``variance`` 1 / variance ~ Gamma(2, 2), so that effects have the tails of Student's t with
    4 degrees of freedom. Under Cauchy tails the posterior of separated classes would have no mean
    (Ghosh, Li & Mitra 2018).
    """

    integrations: ClassVar[tuple[Integration, ...]] = (Integration.POLYA_GAMMA, Integration.LAPLACE)
    law: ClassVar[tuple[float, float]] = (2.0, 2.0)

    @property
    def with_one_hump(self) -> "EffectSlab":
        """The Gaussian slab of the same variance."""
        return EffectSlab(self.variance)

    def fitting(self, n: float, spent: float = 0.0) -> Fitting:
        """Return how models of labels and counts are fitted, given the slab's variance."""
        return Fitting(1.0 / (self.variance or 1.0), 0.0, np.inf)


@dataclass(frozen=True)
class BIC(Slab):
    """No prior on coefficients: models count by the Bayesian information criterion (Eq. 13.18).

    Its complexity penalty is half of log N for each variable, N being all rows, those spent on means
    too. Models of more than half of the rows that are left are ruled out.
    """

    integrations: ClassVar[tuple[Integration, ...]] = tuple(Integration)
    integrated: ClassVar[bool] = False
    yardstick: ClassVar[str] = "BIC"

    def rule(self, n: float, yty: float, most: int, spent: float = 0.0) -> Peak:
        """Return the criterion for n rows (less those spent on means)."""
        least, price = SMALLEST_LEFT * (yty or 1.0), self.fitting(n, spent).penalty
        return Peak(0.0, n + spent, spent, least, largest_fitted(n), price, np.nan)

    def fitting(self, n: float, spent: float = 0.0) -> Fitting:
        """Return how models of labels and counts are fitted: by maximum likelihood."""
        return Fitting(0.0, 0.5 * float(np.log(n + spent)), largest_fitted(n))

    def doubts(self, n: float, size_probability: Floats | None) -> tuple[str, ...]:
        """Say where models have so many variables that the criterion prefers to interpolate."""
        if size_probability is None:
            return ()
        most, size = largest_fitted(n), float(size_probability @ np.arange(len(size_probability)))
        if size <= _CROWDED * most:
            return ()
        return (
            f"models have {size:.1f} variables on average, of at most {int(most)}: BIC supposes "
            "many more rows than variables, and prefers to interpolate; a smaller inclusion or "
            "expected_size or, for a Gaussian response, prior='spike-slab' does not",
        )


def largest_fitted(n: float) -> float:
    """Return the most variables of a model that is fitted without a prior on its coefficients.

    Half of the rows: with as many, half of all ways to label the rows are separable (Cover 1965).
    """
    return n / 2
