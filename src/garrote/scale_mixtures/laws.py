"""Laws of a coefficient that is normal with a variance tau^2 of its own, which has a mixing law.

Murphy (2012), Table 13.2, each at its unit scale. A law knows its marginal density, as a cost
-log p(v) + constant and the slope of that; from these what EM expects (exercise 13.8),

    E[1 / tau^2 | v] = cost'(|v|) / |v|,

and how to draw tau^2 given v, which is exact and needs no state.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import exp1, gammaln, kve

from garrote._jit import generic
from garrote.arrays import Floats
from garrote.elementary import exponential, logarithm
from garrote.scale_mixtures.log_concave_draws import InverseGaussianFamily, TemperedBetaPrime, draw

# The trapezoidal rule, exact to rounding for integrands that decay so fast.
_NODES = np.linspace(-40.0, 10.0, 501)
# Beyond this e^x E1(x) is its asymptotic series to ten digits.
_LARGE = 500.0


@generic
def log_variance_density(law: Any, t: float) -> float:
    """Return the log density of t = log tau^2, up to a constant: for kernels."""
    raise NotImplementedError(f"{type(law).__name__} has no log_variance_density")


class InverseGammaVariances(NamedTuple):
    """tau^2 ~ IG(shape, shape)."""

    shape: float


@log_variance_density.register
def _(law: InverseGammaVariances, t):
    return -law.shape * (t + exponential(-t))


class BetaPrimeVariances(NamedTuple):
    """tau^2 of density proportional to x^(first - 1) (1 + x)^-(first + last)."""

    first: float
    last: float


@log_variance_density.register
def _(law: BetaPrimeVariances, t):
    softplus = max(t, 0.0) + logarithm(1.0 + exponential(-abs(t)))
    return law.first * t - (law.first + law.last) * softplus


class MixingLaw:
    """What all laws share: densities and expectations by their cost and its slope.

    ``variances`` is the law of tau^2 as kernels know it, where it has heavy tails and a closed form.
    """

    log_normaliser: Any
    variances: Any = None

    def cost(self, size: Floats) -> Floats:
        """Return -log of the density, up to a constant."""
        raise NotImplementedError

    def steepness(self, size: Floats) -> Floats:
        """Return its slope."""
        raise NotImplementedError

    def draw_variance(self, v: Floats, rng: np.random.Generator) -> Floats:
        """Draw tau^2 given v."""
        raise NotImplementedError

    def log_density(self, v: Floats) -> Floats:
        """Return the log density of the coefficient, its variance integrated out."""
        return np.asarray(self.log_normaliser - self.cost(np.abs(v)))


@dataclass(frozen=True)
class LaplaceLaw(MixingLaw):
    """exp(-|v|) / 2: variances are exponential of rate 1/2."""

    log_normaliser = -float(np.log(2.0))

    def cost(self, size: Floats) -> Floats:
        """Return -log of the density, up to a constant."""
        return np.asarray(size)

    def steepness(self, size: Floats) -> Floats:
        """Return its slope."""
        return np.ones_like(size)

    def draw_variance(self, v: Floats, rng: np.random.Generator) -> Floats:
        """Draw 1 / tau^2 ~ inverse Gaussian(1 / |v|, 1).

        By Michael, Schucany & Haas (1976), written such that small |v| cost no digits: the two
        candidates multiply to v^2.
        """
        size, y = np.abs(v), rng.standard_normal(np.shape(v)) ** 2
        large = size + 0.5 * (y + np.sqrt(y * (y + 4.0 * size)))
        small_share = np.divide(size, large, out=np.zeros_like(size), where=large > 0)
        keep = rng.random(np.shape(v)) * (1.0 + small_share) <= 1.0
        return np.where(keep, large, size * small_share)


@dataclass(frozen=True)
class NormalGammaLaw(MixingLaw):
    """Gamma variances of some shape and rate 1/2; shape 1 is Laplace (Griffin & Brown 2010)."""

    shape: float

    @property
    def log_normaliser(self) -> float:
        """The constant (Murphy's Eq. 13.204, where rho(delta) means the gamma function)."""
        order = self.shape - 0.5
        return float(-0.5 * np.log(np.pi) - order * np.log(2.0) - gammaln(self.shape))

    def cost(self, size: Floats) -> Floats:
        """Return -log of the density, up to a constant."""
        order, x = self.shape - 0.5, np.maximum(size, 1e-150)
        return np.asarray(x - order * np.log(x) - np.log(kve(order, x)))

    def steepness(self, size: Floats) -> Floats:
        """Return its slope."""
        order, x = self.shape - 0.5, np.maximum(size, 1e-150)
        return np.asarray(kve(order - 1, x) / kve(order, x))

    def draw_variance(self, v: Floats, rng: np.random.Generator) -> Floats:
        """Draw tau^2, which is generalised inverse Gaussian."""
        return draw(InverseGaussianFamily(self.shape - 0.5), np.square(v), rng)


@dataclass(frozen=True)
class StudentLaw(MixingLaw):
    """Student's t: variances are inverse gamma (degrees / 2, degrees / 2)."""

    degrees: float

    @property
    def variances(self) -> InverseGammaVariances:
        """The law of tau^2."""
        return InverseGammaVariances(0.5 * self.degrees)

    @property
    def log_normaliser(self) -> float:
        """The constant."""
        d = self.degrees
        return float(gammaln(0.5 * (d + 1)) - gammaln(0.5 * d) - 0.5 * np.log(np.pi * d))

    def cost(self, size: Floats) -> Floats:
        """Return -log of the density, up to a constant."""
        return np.asarray(0.5 * (self.degrees + 1) * np.log1p(np.square(size) / self.degrees))

    def steepness(self, size: Floats) -> Floats:
        """Return its slope."""
        return np.asarray((self.degrees + 1) * size / (self.degrees + np.square(size)))

    def draw_variance(self, v: Floats, rng: np.random.Generator) -> Floats:
        """Draw tau^2, which is inverse gamma."""
        rate = 0.5 * (self.degrees + np.square(v))
        return np.asarray(rate / rng.standard_gamma(0.5 * (self.degrees + 1), np.shape(v)))


@dataclass(frozen=True)
class HALLaw(MixingLaw):
    """(shape / 2) (1 + |v|)^-(shape + 1): Laplace of a scale that is inverse gamma (shape, 1).

    Lee et al. (2010); Murphy (2012), Eqs. 13.133-13.143, with tau^2 ~ Ga(1, 1 / (2 gamma^2)), which that
    density needs (the text has Ga(1, gamma^2 / 2)).
    """

    shape: float

    @property
    def log_normaliser(self) -> float:
        """The constant."""
        return float(np.log(0.5 * self.shape))

    def cost(self, size: Floats) -> Floats:
        """Return -log of the density, up to a constant."""
        return np.asarray((self.shape + 1) * np.log1p(size))

    def steepness(self, size: Floats) -> Floats:
        """Return its slope."""
        return np.asarray((self.shape + 1) / (1.0 + size))

    def draw_variance(self, v: Floats, rng: np.random.Generator) -> Floats:
        """Draw the scale given v (Eq. 13.136), then tau^2 given both."""
        size = np.abs(v)
        scale = (1.0 + size) / rng.standard_gamma(self.shape + 1, np.shape(v))
        return scale**2 * LaplaceLaw().draw_variance(size / scale, rng)


@dataclass(frozen=True)
class NEGLaw(MixingLaw):
    """Normal-exponential-gamma: exponential variances whose rate is gamma (shape, 1).

    The density is 2^-a / Gamma(a) times the integral of g^(2a) exp(-g |v| - g^2 / 2) over g > 0, a
    = shape: Laplace of rate g with g^2 / 2 ~ Ga(a, 1) (Griffin & Brown 2007). Murphy's Table 13.2
    gives the gamma law to g itself, which would be `HALLaw` once more.
    """

    shape: float

    @property
    def variances(self) -> BetaPrimeVariances:
        """The law of tau^2."""
        return BetaPrimeVariances(1.0, self.shape)

    @property
    def log_normaliser(self) -> float:
        """The constant."""
        return float(-self.shape * np.log(2.0) - gammaln(self.shape))

    def cost(self, size: Floats) -> Floats:
        """Return -log of the density, up to a constant."""
        log, _, peak = self._integrand(size)
        width = (_NODES[1] - _NODES[0]) / np.sqrt(2 * self.shape + 1)
        return np.asarray(-peak - np.log(width * np.exp(log).sum(axis=-1)))

    def steepness(self, size: Floats) -> Floats:
        """Return its slope, the mean of g."""
        log, g, _ = self._integrand(size)
        weight = np.exp(log)
        return np.asarray((weight * g).sum(axis=-1) / weight.sum(axis=-1))

    def _integrand(self, size: Floats) -> tuple[Floats, Floats, Floats]:
        """Return its logarithm over log g, less its peak's, at points g, and the peak's."""
        power, size = 2 * self.shape + 1, np.asarray(size, dtype=np.float64)[..., None]
        top = 2 * power / (size + np.sqrt(size**2 + 4 * power))
        nodes = _NODES / np.sqrt(power)
        g = top * np.exp(nodes)
        log = power * nodes - (g - top) * size - 0.5 * (g**2 - top**2)
        peak = power * np.log(top) - top * size - 0.5 * top**2
        return log, g, peak[..., 0]

    def draw_variance(self, v: Floats, rng: np.random.Generator) -> Floats:
        """Draw the precision 1 / tau^2 with the rate of tau^2 integrated out."""
        law = TemperedBetaPrime(self.shape + 0.5, self.shape + 1.0)
        return 1.0 / draw(law, 0.5 * np.square(v), rng)


@dataclass(frozen=True)
class HorseshoeLaw(MixingLaw):
    """tau ~ half-Cauchy(0, 1): the density is (2 pi^3)^-1/2 F(v^2 / 2) with F(x) = e^x E1(x).

    Carvalho, Polson & Scott (2010). Murphy's Table 13.2 says that it has no simple form; by the
    exponential integral it has one.
    """

    log_normaliser = -0.5 * float(np.log(2.0 * np.pi**3))
    variances = BetaPrimeVariances(0.5, 0.5)

    def cost(self, size: Floats) -> Floats:
        """Return -log of the density, up to a constant; it is infinite at 0."""
        return np.asarray(-np.log(_scaled_exponential_integral(0.5 * np.square(size))))

    def steepness(self, size: Floats) -> Floats:
        """Return its slope."""
        x = 0.5 * np.square(size)
        return np.asarray(size * (1.0 / (x * _scaled_exponential_integral(x)) - 1.0))

    def draw_variance(self, v: Floats, rng: np.random.Generator) -> Floats:
        """Draw the precision 1 / tau^2, of density proportional to exp(-v^2 x / 2) / (1 + x)."""
        return 1.0 / draw(TemperedBetaPrime(1.0, 1.0), 0.5 * np.square(v), rng)


def _scaled_exponential_integral(x: Floats) -> Floats:
    """Return e^x E1(x)."""
    near, far = np.minimum(x, _LARGE), np.maximum(x, _LARGE)
    series = (1.0 - (1.0 - (2.0 - 6.0 / far) / far) / far) / far
    return np.where(x < _LARGE, np.exp(near) * exp1(near), series)
