"""Evidence of models whose coefficients have signs: slabs of two humps, as scalar rules for kernels.

Given the noise variance s^2 and signs t the coefficients of a model of k columns are independent,
w_j ~ N(t_j c s, s^2 / ridge). With A = G + ridge I the likelihood, coefficients integrated out, is

    s^-n ridge^(k/2) |A|^(-1/2) exp(-left / (2 s^2) + lift cross / s + (lift^2 lean - height k) / 2),

    left = y'y - z'A^-1 z,  cross = t'A^-1 z,  lean = t'A^-1 t,  lift = ridge c,  height = ridge c^2,

z being X'y. ``left`` is that of the Gaussian slab, and the integral over the noise has one number more
than the gamma function: with u = sqrt(left) / s and x = lift cross / sqrt(left) it is

    left^(-n/2) I_n(x),  I_n(x) = integral of u^(n - 1) exp(-u^2 / 2 + x u).

`log_integral` has it by Laplace's method in log u with four terms of the series in 1 / n, to 1e-6 in
its logarithm from n = 10 on and to rounding from n = 200. Signs are even beforehand, log 2 for each.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import generic, kernel
from garrote.arrays import Floats
from garrote.elementary import logarithm
from garrote.priors.evidence.closed_forms import has_signs, noise_floor

_LOG_2 = float(np.log(2.0))
# Newton's steps from a weight to what it is without the pull of the humps, at most: five or so suffice.
_STEPS = 100


class HumpsKnownNoise(NamedTuple):
    """Humps of known noise variance; see the module for the names."""

    ridge: float
    lift: float
    height: float
    noise: float


class HumpsUnknownNoise(NamedTuple):
    """Humps with noise ~ inverse gamma, integrated out; as `UnknownNoise`.

    ``unit`` is log I_n(0), so that without any lift the evidence is that of the Gaussian slab.
    """

    ridge: float
    lift: float
    height: float
    shape: float
    rate: float
    least: float
    unit: float


@has_signs.register
def _(rule: HumpsKnownNoise | HumpsUnknownNoise):
    return True


@noise_floor.register
def _(rule: HumpsUnknownNoise):
    return rule.least


@kernel(inline=True)
def log_integral(n, x):
    """Return log I_n(x), but for log(2 pi) / 2."""
    root = np.sqrt(x * x + 4.0 * n)
    u = 0.5 * (x + root) if x > 0.0 else 2.0 * n / (root - x)
    square = u * u
    p = 1.0 / (square + n)
    r = square * p
    first = (1.0 + r * (1.0 + 10.0 * r)) / 12.0
    second = r * r * r * (-2.5 + 5.0 * r)
    third = -1.0 / 360.0 + r * (-1.0 / 120.0 + r * (-1.0 / 60.0 + r * (-1.0 / 36.0 + r * (
        157.0 / 12.0 + r * (-745.0 / 12.0 + r * (1105.0 / 18.0))))))  # fmt: skip
    r5 = r * r * r * r * r
    fourth = r5 * (-94.5 + r * (760.25 + r * (-1707.5 + r * 1130.0)))
    series = p * (first + p * (second + p * (third + p * fourth)))
    return n * logarithm(u) + 0.5 * square - n + 0.5 * logarithm(p) + series


@generic
def log_fit(rule: Any, left: float, cross: float) -> float:
    """Return the part of the log evidence that tells how well a model with signs fits."""
    raise TypeError(f"no humps are registered for {type(rule).__name__}")


@log_fit.register
def _(rule: HumpsKnownNoise, left, cross):
    return rule.lift * cross / np.sqrt(rule.noise) - 0.5 * left / rule.noise


@log_fit.register
def _(rule: HumpsUnknownNoise, left, cross):
    half = rule.rate + 0.5 * max(left, rule.least)
    x = rule.lift * cross / np.sqrt(2.0 * half)
    return log_integral(2.0 * rule.shape, x) - rule.unit - rule.shape * logarithm(half)


@generic
def log_unsigned_fit(rule: Any, left: float) -> float:
    """Return `log_fit` of a slab without a lift, for which signs make no difference."""
    raise TypeError(f"no humps are registered for {type(rule).__name__}")


@log_unsigned_fit.register
def _(rule: HumpsKnownNoise, left):
    return -0.5 * left / rule.noise


@log_unsigned_fit.register
def _(rule: HumpsUnknownNoise, left):
    return -rule.shape * logarithm(rule.rate + 0.5 * max(left, rule.least))


@kernel(inline=True)
def log_volume(rule, size, log_det, lean):
    """Return the part of the log evidence that does not depend on the response."""
    volume = -0.5 * (log_det - size * logarithm(rule.ridge)) + 0.5 * rule.lift * rule.lift * lean
    return volume - size * (0.5 * rule.height + _LOG_2)


@kernel
def log_signed_evidence(rule, size, log_det, left, cross, lean):
    """Return the log marginal likelihood of a model with signs, up to a constant."""
    return log_volume(rule, size, log_det, lean) + log_fit(rule, left, cross)


@generic
def noise_powers(rule: Any, left: float, cross: float) -> tuple[float, float]:
    """Return the posterior means of the noise's standard deviation and variance, given signs."""
    raise TypeError(f"no humps are registered for {type(rule).__name__}")


@noise_powers.register
def _(rule: HumpsKnownNoise, left, cross):
    return np.sqrt(rule.noise), rule.noise


@noise_powers.register
def _(rule: HumpsUnknownNoise, left, cross):
    n, twice = 2.0 * rule.shape, 2.0 * rule.rate + max(left, rule.least)
    x = rule.lift * cross / np.sqrt(twice)
    whole = log_integral(n, x)
    deviation = np.sqrt(twice) * np.exp(log_integral(n - 1.0, x) - whole)
    return deviation, twice * np.exp(log_integral(n - 2.0, x) - whole)


@generic
def reshaped(rule: Any, ridge: float, lift: float, height: float) -> Any:
    """Return the rule of another slab, with the same law of the noise."""
    raise TypeError(f"no humps are registered for {type(rule).__name__}")


@reshaped.register
def _(rule: HumpsKnownNoise, ridge, lift, height):
    return HumpsKnownNoise(ridge, lift, height, rule.noise)


@reshaped.register
def _(rule: HumpsUnknownNoise, ridge, lift, height):
    return HumpsUnknownNoise(ridge, lift, height, rule.shape, rule.rate, rule.least, rule.unit)


def humps_of(variance: float, separation: float) -> tuple[float, float, float]:
    """Return ridge, lift and height of a slab, by its variance and the separation of its humps."""
    ridge, height = 1.0 / (variance * (1.0 - separation)), separation / (1.0 - separation)
    return ridge, float(np.sqrt(height * ridge)), height


# The same for kernels.
humps_at = kernel(inline=True)(humps_of)


def humps_rule(
    humps: tuple[float, float, float], noise: float | None, shape: float, rate: float, least: float
) -> HumpsKnownNoise | HumpsUnknownNoise:
    """Return the rule for a noise variance that is known, or for the law of one that is not."""
    if noise is not None:
        return HumpsKnownNoise(*humps, noise)
    unit = float(log_integral(2.0 * shape, 0.0))
    return HumpsUnknownNoise(*humps, shape, rate, least, unit)


class SignedWeights(NamedTuple):
    """What the factor of a variable that is in says of its sign t and of w given t.

    ``centre`` is the weight without the pull of humps, ``tilt`` the mean of t; ``square`` and ``along``
    are the means over t of E[w | t]^2 and of t E[w | t], ``told`` the divergence of t from even odds.
    """

    centre: Floats
    tilt: Floats
    square: Floats
    along: Floats
    told: Floats


def signed_weights(weight: Floats, reach: Floats, steepness: float) -> SignedWeights:
    """Return what weights given inclusion say of signs: nothing, where humps do not reach anywhere.

    ``reach`` is how far a sign pulls each weight, and tanh(steepness * centre) is its mean.
    """
    if not steepness:
        nothing = np.zeros_like(weight)
        return SignedWeights(weight, nothing, weight**2, nothing, nothing)
    centre = np.empty_like(weight)
    _without_pulls(weight, reach, steepness, centre)
    x = steepness * centre
    tilt = np.tanh(x)
    square = centre**2 + reach**2 + 2.0 * centre * reach * tilt
    told = x * tilt - np.abs(x) - np.log(0.5 + 0.5 * np.exp(-2.0 * np.abs(x)))
    return SignedWeights(centre, tilt, square, centre * tilt + reach, told)


@kernel
def _without_pulls(weight, reach, steepness, centre):
    for j in range(weight.shape[0]):
        centre[j] = without_pull(weight[j], reach[j], steepness)


@kernel(inline=True)
def without_pull(weight, reach, steepness):
    """Return the a of which a + reach tanh(steepness a) is the weight, of the same sign.

    From below Newton's method climbs to it: the function is concave there.
    """
    size = abs(weight)
    a = max(size - reach, 0.0)
    for _ in range(_STEPS):
        tilt = np.tanh(steepness * a)
        step = (size - a - reach * tilt) / (1.0 + reach * steepness * (1.0 - tilt * tilt))
        a += step
        if abs(step) <= 1e-15 * size:
            break
    return a if weight > 0 else -a


@kernel(inline=True)
def log_cosh(x):
    """Return the logarithm of the hyperbolic cosine."""
    return abs(x) + np.log(0.5 + 0.5 * np.exp(-2.0 * abs(x)))
