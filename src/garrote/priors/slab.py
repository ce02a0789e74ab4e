"""What the coefficients of included variables are like: Gaussian slabs, Zellner's g-priors, or BIC.

Settings only: each makes the scalar rule (`garrote.priors.evidence`) for one set of data.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from garrote.priors.evidence import SMALLEST_LEFT, FixedG, KnownNoise, Schwarz, UnknownNoise
from garrote.priors.hyper_g import BestG, TabledG, tabled_g
from garrote.priors.scanned_g import ScannedG

# First, last and number of the logs of an unknown slab variance, for laws of coefficients given a model.
_VARIANCES = (-12.0, 20.0, 65)
# Laws of an unknown g, by name.
HYPER_G = ("hyper-g", "hyper-g/n", "eb")


@dataclass(frozen=True)
class GaussianSlab:
    """w_j ~ N(0, noise * variance) for standardised columns; noise known or inverse gamma.

    Without a ``variance`` it is unknown, 1 / variance ~ Gamma(1/2, 1/2): the effects of all variables
    together then have Cauchy tails, as in Zellner & Siow (1980). ``shape`` and ``rate`` are those of the
    noise's inverse gamma law; 0 and 0 are Jeffreys' prior.
    """

    variance: float | None = None
    noise_variance: float | None = None
    shape: float = 0.0
    rate: float = 0.0
    # Shape and rate of the Gamma law of 1 / variance, where that is unknown.
    law: ClassVar[tuple[float, float]] = (0.5, 0.5)

    def __post_init__(self) -> None:
        for name in ("variance", "noise_variance"):
            value = getattr(self, name)
            if value is not None and not 0 < value < np.inf:
                raise ValueError(f"{name} of a GaussianSlab must be positive, got {value!r}")
        if not (0 <= self.shape < np.inf and 0 <= self.rate < np.inf):
            raise ValueError(
                f"shape and rate of a GaussianSlab must be >= 0, got {self.shape} and {self.rate}"
            )

    def rescaled(self, unit: float) -> "GaussianSlab":
        """Return the slab for a response in another unit."""
        known = self.noise_variance
        return replace(
            self,
            noise_variance=None if known is None else known / unit**2,
            rate=self.rate / unit**2,
        )

    def rule(self, n: float, yty: float, most: int) -> KnownNoise | UnknownNoise:
        """Return the marginal likelihood for n rows (less those spent on means)."""
        ridge = 1.0 / (self.variance or 1.0)
        if self.noise_variance is not None:
            return KnownNoise(ridge, self.noise_variance)
        least = SMALLEST_LEFT * (yty or 1.0)  # a constant response leaves nothing
        return UnknownNoise(ridge, self.shape + 0.5 * n, self.rate, least)

    def reference_rule(self, n: float, yty: float) -> KnownNoise | UnknownNoise:
        """Return the marginal likelihood for a certificate; it has a closed form."""
        return self.rule(n, yty, 0)

    def grid(
        self, log_variances: tuple[float, float, int] = _VARIANCES
    ) -> list[tuple[float, "GaussianSlab"]]:
        """Return slabs of known variance with log weights, to average over for an unknown one.

        ``log_variances`` are the first, the last and how many.
        """
        if self.variance is not None:
            return [(0.0, self)]
        log_variance = np.linspace(*log_variances)
        weights = self.log_density(log_variance) + np.log(log_variance[1] - log_variance[0])
        slabs = [replace(self, variance=float(np.exp(u))) for u in log_variance]
        return list(zip(map(float, weights), slabs, strict=True))

    @classmethod
    def log_density(cls, log_variance: Any) -> Any:
        """Return the log density of an unknown variance's logarithm."""
        shape, rate = cls.law
        constant = shape * np.log(rate) - gammaln(shape)
        return constant - shape * log_variance - rate * np.exp(-log_variance)


@dataclass(frozen=True)
class EffectSlab(GaussianSlab):
    """w_j ~ N(0, variance) on log odds or log rates, for standardised columns; there is no noise.

    Without a ``variance`` 1 / variance ~ Gamma(2, 2), so that effects have the tails of Student's t with
    4 degrees of freedom. Under Cauchy tails the posterior of separated classes would have no mean
    (Ghosh, Li & Mitra 2018).
    """

    law: ClassVar[tuple[float, float]] = (2.0, 2.0)


@dataclass(frozen=True)
class GPrior:
    """w ~ N(0, g noise (X'X)^{-1}); g a number, or "hyper-g", "hyper-g/n", "eb" (best for each model).

    Liang et al. (2008): hyper-g has g / (1 + g) ~ Beta(1, a / 2 - 1) with a = 3; hyper-g/n the same of
    g / N / (1 + g / N). N are all rows (their weights added up): ``spent`` is how many of them were
    taken off for means.
    """

    g: float | str
    a: float = 3.0
    spent: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.g, str):
            if self.g not in HYPER_G:
                raise ValueError(
                    f"g of a GPrior must be a number or one of {HYPER_G}, got {self.g!r}"
                )
        elif not 0 < self.g < np.inf:
            raise ValueError(f"g of a GPrior must be positive, got {self.g!r}")
        if not 2 < self.a < np.inf:
            raise ValueError(f"a of a GPrior must be above 2, got {self.a!r}: no law of g else")

    def grid(self) -> list[tuple[float, "GPrior"]]:
        """Return the prior itself: g is integrated out in its rule."""
        return [(0.0, self)]

    def rule(self, n: float, yty: float, most: int) -> FixedG | BestG | TabledG:
        """Return the marginal likelihood for n rows (less those spent on means)."""
        if not isinstance(self.g, str):
            return self._fixed(n, yty)
        if self.g == "eb":
            return BestG(0.0, yty or 1.0, n)
        return tabled_g(n, yty or 1.0, self.a, self._scale(n), most)

    def reference_rule(self, n: float, yty: float) -> FixedG | ScannedG:
        """Return the marginal likelihood without tables, for a few models: a certificate's."""
        if not isinstance(self.g, str):
            return self._fixed(n, yty)
        return ScannedG(0.0, yty or 1.0, n, self.a, 0.0 if self.g == "eb" else self._scale(n))

    def _fixed(self, n: float, yty: float) -> FixedG:
        # With any finite g no model interpolates: y'y / (1 + g) is left to all of them.
        return FixedG(0.0, float(self.g), yty, 0.5 * n, 0.0)

    def _scale(self, n: float) -> float:
        return n + self.spent if self.g == "hyper-g/n" else 1.0


@dataclass(frozen=True)
class BIC:
    """No prior on coefficients: models count by the Bayesian information criterion (Eq. 13.18).

    Its complexity penalty is half of log N for each variable, N being all rows: ``spent`` is how many of
    them were taken off for means. Models of more than half of the rows that are left are ruled out.
    """

    spent: float = 0.0

    def grid(self) -> list[tuple[float, "BIC"]]:
        """Return the criterion itself: it leaves nothing to average over."""
        return [(0.0, self)]

    def rule(self, n: float, yty: float, most: int) -> Schwarz:
        """Return the criterion for n rows (less those spent on means)."""
        least = SMALLEST_LEFT * (yty or 1.0)
        return Schwarz(0.0, n + self.spent, self.spent, least, largest_fitted(n))

    def reference_rule(self, n: float, yty: float) -> Schwarz:
        """Return the criterion for a certificate; it has a closed form."""
        return self.rule(n, yty, 0)


Slab = GaussianSlab | GPrior | BIC


def largest_fitted(n: float) -> float:
    """Return the most variables of a model that is fitted without a prior on its coefficients.

    Half of the rows: with as many, half of all ways to label the rows are separable (Cover 1965).
    """
    return n / 2
