"""Draws from Polya-Gamma laws, which make a logistic likelihood Gaussian.

omega ~ PG(b, z) is 1 / (2 pi^2) times the sum over k >= 1 of g_k / ((k - 1/2)^2 + z^2 / (4 pi^2)),
with g_k ~ Gamma(b, 1) (Polson, Scott & Windle 2013). PG(1, z) is drawn exactly by their version of
Devroye's method: a quarter of a variable that is proposed from an exponential tail or a truncated
inverse Gaussian, and accepted by an alternating series of which a few terms decide. Whole b are sums
of such draws; what is left of other b, and large ones, are the first terms of the sum above and the
mean of all others.
"""

from math import erfc

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats

# Where the two proposals of Devroye's method meet.
_CUT = 0.64
# Beyond this one of two terms of the inverse Gaussian's distribution function vanishes.
_FAR = 30.0
# Sums of more than so many exact draws cost more than the series.
_MOST_EXACT = 24
# Terms of the series; the others vary by 1e-4 of the standard deviation.
_TERMS = 200


def draw_polya_gamma(rng: np.random.Generator, shape: Floats, tilt: Floats) -> Floats:
    """Draw PG(b, z) for every b of ``shape`` and z of ``tilt``; a shape of 0 gives 0.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.solvers.labels.polya_gamma import draw_polya_gamma, polya_gamma_mean
    >>> rng = np.random.default_rng(0)
    >>> draws = draw_polya_gamma(rng, np.ones(20_000), np.full(20_000, 2.0))
    >>> bool(abs(draws.mean() / polya_gamma_mean(1.0, 2.0) - 1) < 0.02)
    True
    """
    drawn = np.empty(len(tilt))
    fill_polya_gamma(rng, shape, tilt, drawn)
    return drawn


def polya_gamma_mean(shape: Floats | float, tilt: Floats | float) -> Floats:
    """Return the mean of PG(b, z), b tanh(z / 2) / (2 z)."""
    half = 0.5 * np.abs(np.asarray(tilt, dtype=np.float64))
    small = half < 1e-4
    ratio = np.where(small, 1.0 - half**2 / 3.0, np.tanh(half) / np.where(small, 1.0, half))
    return np.asarray(0.25 * shape * ratio)


@kernel(fastmath=False)
def fill_polya_gamma(rng, shape, tilt, drawn):
    """Fill in draws, one for every shape and tilt."""
    for i in range(tilt.shape[0]):
        whole = int(np.floor(shape[i]))
        total = 0.0
        if whole > _MOST_EXACT:
            whole = 0
        for _ in range(whole):
            total += _draw_one(rng, tilt[i])
        if shape[i] > whole:
            total += _draw_series(rng, shape[i] - whole, tilt[i])
        drawn[i] = total


@kernel(fastmath=False)
def _draw_one(rng, tilt):
    """Draw PG(1, z)."""
    z = 0.5 * abs(tilt)
    rate = 0.125 * np.pi**2 + 0.5 * z * z
    # The chance of the exponential tail, from logarithms: both masses underflow for a large z.
    below = 0.5 * erfc(-(_CUT * z - 1.0) / np.sqrt(2.0 * _CUT))
    if z < _FAR:
        below += np.exp(2.0 * z) * 0.5 * erfc((_CUT * z + 1.0) / np.sqrt(2.0 * _CUT))
    gap = np.log(2.0) - z + np.log(below) - np.log(0.5 * np.pi / rate) + rate * _CUT
    tail = 1.0 / (1.0 + np.exp(gap)) if gap < 700.0 else 0.0
    while True:
        if rng.random() < tail:
            x = _CUT + rng.standard_exponential() / rate
        else:
            x = _draw_inverse_gaussian(rng, z)
        total = _coefficient(0, x)
        level = rng.random() * total
        n = 0
        while True:
            n += 1
            if n % 2 == 1:
                total -= _coefficient(n, x)
                if level <= total:
                    return 0.25 * x
            else:
                total += _coefficient(n, x)
                if level > total:
                    break


@kernel(fastmath=False)
def _coefficient(n, x):
    """Return a term of the alternating series of the density of J*(1, 0)."""
    k = n + 0.5
    if x <= _CUT:
        return np.pi * k * (2.0 / (np.pi * x)) ** 1.5 * np.exp(-2.0 * k * k / x)
    return np.pi * k * np.exp(-0.5 * k * k * np.pi**2 * x)


@kernel(fastmath=False)
def _draw_inverse_gaussian(rng, z):
    """Draw an inverse Gaussian of mean 1 / z and shape 1, given that it is below the cut."""
    if z * _CUT < 1.0:  # its mean is above: by the tail of a chi-square, tilted
        while True:
            one, other = rng.standard_exponential(), rng.standard_exponential()
            while one * one > 2.0 * other / _CUT:
                one, other = rng.standard_exponential(), rng.standard_exponential()
            x = _CUT / (1.0 + _CUT * one) ** 2
            if rng.random() <= np.exp(-0.5 * z * z * x):
                return x
    mean = 1.0 / z
    while True:
        square = rng.standard_normal() ** 2
        half = 0.5 * mean * square
        # mean (1 + half - sqrt(half (2 + half))) without the cancellation of a large half.
        x = mean / (1.0 + half + np.sqrt(half * (2.0 + half)))
        if rng.random() > mean / (mean + x):
            x = mean * mean / x
        if x < _CUT:
            return x


@kernel(fastmath=False)
def _draw_series(rng, shape, tilt):
    """Draw PG(b, z) by the first terms of its sum of gammas, the others at their mean."""
    z = abs(tilt)
    total, mean = 0.0, 0.0
    for k in range(_TERMS):
        share = 0.5 / (np.pi**2 * ((k + 0.5) ** 2 + 0.25 * z * z / np.pi**2))
        total += share * rng.standard_gamma(shape)
        mean += share
    half = 0.5 * z
    ratio = np.tanh(half) / half if half > 1e-4 else 1.0 - half * half / 3.0
    return total + shape * max(0.25 * ratio - mean, 0.0)
