"""What the coefficients of included variables are like: Gaussian slabs and Zellner's g-priors.

Settings only: each makes the scalar rule (`garrote.priors.evidence`) for one set of data.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import logsumexp

from garrote.arrays import Floats
from garrote.priors.evidence import FixedG, KnownNoise, TabledG, UnknownNoise

# Fits are tabled up to 1 - R^2 = exp(-30), this far apart in -log(1 - R^2).
_STEP = 0.02
_FURTHEST = 30.0
# Nodes of the integral over log g.
_NODES = 200
# Models larger than this share the table of the largest.
_LARGEST_TABLED = 400


@dataclass(frozen=True)
class GaussianSlab:
    """w_j ~ N(0, noise * variance) for standardised columns; noise known or inverse gamma.

    ``shape`` and ``rate`` are those of the noise's inverse gamma law; 0 and 0 are Jeffreys' prior.
    """

    variance: float
    noise_variance: float | None = None
    shape: float = 0.0
    rate: float = 0.0

    def rule(self, n: float, yty: float, most: int) -> KnownNoise | UnknownNoise:
        """Return the marginal likelihood for n rows (less those spent on means)."""
        if self.noise_variance is not None:
            return KnownNoise(1.0 / self.variance, self.noise_variance)
        return UnknownNoise(1.0 / self.variance, self.shape + 0.5 * n, self.rate)


@dataclass(frozen=True)
class GPrior:
    """w ~ N(0, g noise (X'X)^{-1}); g a number, or "hyper-g", "hyper-g/n", "eb" (the best for each model).

    Liang et al. (2008): hyper-g has g / (1 + g) ~ Beta(1, a / 2 - 1) with a = 3; hyper-g/n the same of
    g / n / (1 + g / n).
    """

    g: float | str
    a: float = 3.0

    def rule(self, n: float, yty: float, most: int) -> FixedG | TabledG:
        """Return the marginal likelihood for n rows (less those spent on means)."""
        if not isinstance(self.g, str):
            return FixedG(0.0, float(self.g), yty, 0.5 * n, 0.0)
        t = np.arange(0.0, _FURTHEST + 4 * _STEP, _STEP)
        sizes = np.arange(min(most, _LARGEST_TABLED, int(n) - 1) + 1)
        tables = [self._row(k, t, n) for k in sizes]
        return TabledG(0.0, yty, _STEP, *map(np.ascontiguousarray, map(np.array, zip(*tables))))

    def _row(self, size: int, t: Floats, n: float) -> tuple[Floats, ...]:
        """Return log evidence, E[q], E[q^2] and E[q noise] / y'y, q = g / (1 + g), for all fits."""
        left = np.exp(-t)[:, None]
        if size == 0:
            zero = np.zeros(len(t))
            return zero, zero, zero, zero
        if self.g == "eb":
            share = (1 - left) / left * (n - size) / size
            g, log_weight = np.maximum(share - 1.0, 0.0), np.zeros((len(t), 1))
        else:
            nodes, weights = leggauss(_NODES)
            # The mass lies around g = k F; wide enough for any fit and size.
            log_g = 0.5 * (nodes + 1) * 80.0 - 20.0
            g = np.exp(log_g)[None, :]
            log_weight = np.log(weights) + log_g + self._log_prior(g, n)
        log_density = 0.5 * (n - size) * np.log1p(g) - 0.5 * n * np.log1p(g * left) + log_weight
        total = logsumexp(log_density, axis=1, keepdims=True)
        if self.g != "eb":
            normaliser = logsumexp(log_weight)
        else:
            normaliser = 0.0
        p = np.exp(log_density - total)
        q = g / (1 + g)
        noise = (1 + g * left) / (1 + g) / (n - 2)
        moments = ((p * f).sum(axis=1) for f in (q, q * q, q * noise))
        return (total[:, 0] - normaliser, *moments)

    def _log_prior(self, g: Floats, n: float) -> Any:
        scale = n if self.g == "hyper-g/n" else 1.0
        return -0.5 * self.a * np.log1p(g / scale)
