"""Random numbers of laws that NumPy lacks: any whose logarithm has a log-concave density.

A law is a NamedTuple with three bodies: the log density of t = log x up to a constant
(`log_weight`), its derivative (`incline`) and where it is largest (`peak`). Each number has its own
parameter ``given``. Devroye (1986, chapter VII.2): the density lies below a constant and below its
tangents at two points, one on either side of the peak; a number drawn from that envelope is kept
with probability density / envelope. Wherever the points are, the draws are exact; about 1 below the
peak some two thirds of them are kept.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import generic, kernel
from garrote.arrays import Floats

# Tries in one pass over the numbers; those that fail them all go round again.
_TRIES = 4
# A tangent's point lies so far below the peak, at least and at most.
_LEAST_DROP, _MOST_DROP = 0.4, 2.0
# Parameters are kept above this: at 0 some of these laws do not exist.
_SMALLEST = 1e-200


@generic
def log_weight(law: Any, t: float, given: float) -> float:
    """Return the log density of t = log x, up to a constant."""
    raise NotImplementedError(f"{type(law).__name__} has no log_weight")


@generic
def incline(law: Any, t: float, given: float) -> float:
    """Return its derivative in t."""
    raise NotImplementedError(f"{type(law).__name__} has no incline")


@generic
def peak(law: Any, given: float) -> float:
    """Return the t at which it is largest."""
    raise NotImplementedError(f"{type(law).__name__} has no peak")


class InverseGaussianFamily(NamedTuple):
    """The generalised inverse Gaussian law, x^(order - 1) exp(-(x + given / x) / 2)."""

    order: float


@log_weight.register
def _(law: InverseGaussianFamily, t, given):
    return law.order * t - 0.5 * (np.exp(t) + given * np.exp(-t))


@incline.register
def _(law: InverseGaussianFamily, t, given):
    return law.order - 0.5 * (np.exp(t) - given * np.exp(-t))


@peak.register
def _(law: InverseGaussianFamily, given):
    root = np.sqrt(law.order**2 + given)
    if law.order < 0:  # where the sum of the two would cancel
        return np.log(given / (root - law.order))
    return np.log(law.order + root)


class TemperedBetaPrime(NamedTuple):
    """x^(first - 1) (1 + x)^-second exp(-given x), also known as Kummer's law."""

    first: float
    second: float


@log_weight.register
def _(law: TemperedBetaPrime, t, given):
    # Beyond 40, log(1 + e^t) is t.
    x = np.exp(t)
    return law.first * t - law.second * (t if t > 40.0 else np.log(1.0 + x)) - given * x


@incline.register
def _(law: TemperedBetaPrime, t, given):
    x = np.exp(t)
    return law.first - law.second * (x / (1.0 + x) if t < 40.0 else 1.0) - given * x


@peak.register
def _(law: TemperedBetaPrime, given):
    sloped = given + law.second - law.first
    root = np.sqrt(sloped**2 + 4.0 * given * law.first)
    return np.log(2.0 * law.first / (sloped + root))


def draw(law: Any, given: Floats, rng: np.random.Generator) -> Floats:
    """Draw one number for each parameter given.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.scale_mixtures.log_concave_draws import InverseGaussianFamily, draw
    >>> rng = np.random.default_rng(0)
    >>> drawn = draw(InverseGaussianFamily(0.5), np.full(100_000, 4.0), rng)
    >>> round(float(drawn.mean()), 1)  # of order 1/2 it is sqrt(given) + 1
    3.0
    """
    given = np.maximum(np.asarray(given, dtype=np.float64), _SMALLEST)
    drawn = np.empty(len(given))
    left = np.arange(len(given))
    while len(left):
        t = _try(law, given[left], rng.random((len(left), _TRIES, 3)))
        drawn[left] = t
        left = left[np.isnan(t)]
    return np.exp(drawn)


@kernel(fastmath=False)
def _try(law, given, uniforms):
    """Draw the logarithms; NaN where every try failed."""
    drawn = np.full(len(given), np.nan)
    for j in range(len(given)):
        parameter = given[j]
        top = peak(law, parameter)
        height = log_weight(law, top, parameter)
        right, down = _point(law, parameter, top, height, 1.0)
        left, up = _point(law, parameter, top, height, -1.0)
        fall, rise = incline(law, right, parameter), incline(law, left, parameter)
        # Where the tangents are as high as the peak.
        last, first = right + down / fall, left + up / rise
        middle, above, below = last - first, -1.0 / fall, 1.0 / rise
        for k in range(uniforms.shape[1]):
            place, along, hurdle = uniforms[j, k]
            place *= middle + above + below
            if place < middle:
                t, hat = first + along * middle, 0.0
            elif place < middle + above:
                hat = np.log(1.0 - along)
                t = last + hat / fall
            else:
                hat = np.log(1.0 - along)
                t = first + hat / rise
            if np.log(1.0 - hurdle) + hat <= log_weight(law, t, parameter) - height:
                drawn[j] = t
                break
    return drawn


@kernel(fastmath=False)
def _point(law, given, top, height, side):
    """Return a point on one side of the peak that is about 1 below it, and by how much it is."""
    near, far, drop = 0.0, 0.0, 0.0
    step = 1.0
    for _ in range(200):
        drop = height - log_weight(law, top + side * step, given)
        if drop < _LEAST_DROP:
            near = step
        elif drop > _MOST_DROP:
            far = step
        else:
            break
        step = 0.5 * (near + far) if far > 0.0 else 2.0 * step
    return top + side * step, drop
