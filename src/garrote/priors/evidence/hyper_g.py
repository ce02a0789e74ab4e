"""Marginal likelihoods of Gaussian models under Zellner's prior with an unknown g (Liang et al. 2008).

Given g a model of k variables that leaves the share L of y'y has, beside the empty model, the evidence

    B(g) = (1 + g)^((n - k) / 2) (1 + g L)^(-n / 2),

n being the rows less those spent on means. ``BestG`` takes the g of largest B for each model, which is
known in closed form. ``TabledG`` integrates over g with the density (a - 2) / (2c) (1 + g / c)^(-a / 2):
c = 1 is the hyper-g prior, c = N (all rows) the hyper-g/n prior.

B varies with L on a scale of 1 / n, so the integral is tabled over s = n t / 2, t = -log L, in steps
that are even in asinh((s - m) / w): m = (k + a) / 2 is about where a fit begins to outweigh the price of
its variables, and w a few standard deviations of chance. Between two places the logarithm is a
polynomial of degree 5 with the right value, slope and curve at both ends. It is off by less than 1e-8,
for n from 5 to 1e6, all k and L from 1 to 1e-6; beyond n = 1e6 by rounding, 1e-15 n.

Moments need no tables of their own: 1 / (1 + g) is what two variables more do to B, so that with f(k)
the log of the integral E[(1 + g)^-1] = exp(f(k + 2) - f(k)) and E[(1 + g)^-2] = exp(f(k + 4) - f(k)).

A model of n variables leaves nothing, L = 0, and has B = 1 whatever g is: the evidence of the empty
model, and the prior's law of g. There, and beyond the table, the integral is computed when asked for.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.elementary import logarithm
from garrote.priors.evidence.closed_forms import (
    SMALLEST_LEFT,
    log_evidence,
    noise_mean,
    slab_moments,
)

# Models larger than this are not tabled.
_LARGEST_TABLED = 400
# Steps of the table, and how many standard deviations around m they are about even.
_STEP, _WIDTH = 0.035, 3.0
# The largest t in the table.
_FURTHEST = -float(np.log(SMALLEST_LEFT))
# Where the largest value of an integrand is looked for, in log g, and how often the range is halved.
_LOWEST, _HIGHEST, _HALVINGS = -50.0, 100.0, 24
# The trapezoidal rule's step in log g: at most this, and this share of the integrand's width.
_LONGEST, _OF_WIDTH = 0.3, 0.35
# Terms of a sum below this share of it end the sum.
_NEGLIGIBLE = 1e-14


class BestG(NamedTuple):
    """Zellner's prior with the g of largest evidence for each model: max(F - 1, 0).

    F = (1 - L) / k / (L / (n - k)) is the model's F statistic. ``ridge`` is 0, ``total`` is y'y.
    """

    ridge: float
    total: float
    n: float


@kernel(inline=True)
def _best(n, size, share):
    """Return the g of largest evidence."""
    if size == 0 or size >= n:
        return 0.0
    return max((1.0 - share) / share * (n - size) / size - 1.0, 0.0)


@kernel(inline=True)
def _floored(left, total):
    """Return what is left of y'y as a share of it that is not 0."""
    return min(max(left / total, SMALLEST_LEFT), 1.0)


@log_evidence.register
def _(rule: BestG, size, log_det, left):
    share = _floored(left, rule.total)
    g = _best(rule.n, size, share)
    return 0.5 * (rule.n - size) * np.log1p(g) - 0.5 * rule.n * np.log1p(g * share)


@slab_moments.register
def _(rule: BestG, size, left):
    g = _best(rule.n, size, _floored(left, rule.total))
    kept = g / (1.0 + g)
    return kept, kept * kept, kept * noise_mean(rule, size, left)


@noise_mean.register
def _(rule: BestG, size, left):
    share = _floored(left, rule.total)
    g = _best(rule.n, size, share)
    return (1.0 + g * share) / (1.0 + g) * rule.total / (rule.n - 2.0)


class TabledG(NamedTuple):
    """Zellner's prior with g integrated out.

    ``a`` and ``scale`` (c above) are those of the prior on g. Row k of ``cells`` belongs to models of k
    variables; a cell has the t where it begins, 1 / its length in t, and coefficients of f - n t / 2.
    ``middle`` and ``width`` are m and w; a row begins at ``first`` and goes on in steps of ``step``.
    """

    ridge: float
    total: float
    n: float
    a: float
    scale: float
    step: Floats
    middle: Floats
    width: Floats
    first: Floats
    cells: Floats


@kernel(inline=True)
def _log_integrand(log_g, n, a, scale, size, share):
    """Return log B(g), of the prior's density and of dg / d log g, up to a constant."""
    g = np.exp(log_g)
    gain = np.log1p(g * (1.0 - share) / (1.0 + g * share))
    value = 0.5 * (n - size) * gain - 0.5 * size * np.log1p(g * share)
    return value + log_g - 0.5 * a * np.log1p(g / scale)


@kernel
def _peak(n, a, scale, size, share):
    """Return where the integrand is largest, and how wide it is there, both in log g."""
    low, high = _LOWEST, _HIGHEST
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        g = np.exp(middle)
        q, r = g / (1.0 + g), g / (scale + g)
        slope = 1.0 + 0.5 * n * q * (1.0 - share) / (1.0 + g * share) - 0.5 * (size * q + a * r)
        low, high = (middle, high) if slope > 0.0 else (low, middle)
    g = np.exp(low)
    q, r = g / (1.0 + g), g / (scale + g)
    inner = q * (1.0 - share) / (1.0 + g * share)
    curve = 0.5 * n * inner * (1.0 / (1.0 + g) - g * share / (1.0 + g * share))
    curve -= 0.5 * (size * q * (1.0 - q) + a * r * (1.0 - r))
    return low, 1.0 / np.sqrt(max(-curve, 1e-8))


@kernel
def integral(n, a, scale, size, share):
    """Return f, the log of B(g) integrated over g's prior, and two derivatives of f - n t / 2 in t.

    The trapezoidal rule in log g, from the peak to where nothing is left to both sides: it converges
    faster than any power of its step, because all derivatives vanish at both ends.
    """
    peak, width = _peak(n, a, scale, size, share)
    step = min(_LONGEST, _OF_WIDTH * width)
    top = _log_integrand(peak, n, a, scale, size, share)
    centre = 0.5 * n / (1.0 + np.exp(peak) * share)
    total, first, second, curve = 1.0, 0.0, 0.0, centre * (1.0 - 2.0 * centre / n)
    for side in (-1.0, 1.0):
        log_g = peak
        while abs(log_g) < 700.0:
            log_g += side * step
            p = np.exp(_log_integrand(log_g, n, a, scale, size, share) - top)
            beyond = 0.5 * n / (1.0 + np.exp(log_g) * share)
            total += p
            first += p * (beyond - centre)
            second += p * (beyond - centre) ** 2
            curve += p * beyond * (1.0 - 2.0 * beyond / n)
            if p < _NEGLIGIBLE * total:
                break
    first /= total
    value = top + np.log(total * step * 0.5 * (a - 2.0) / scale)
    return value, -(centre + first), second / total - first * first - curve / total


@kernel
def _fill(n, a, scale, size, places, cells):
    """Make a row of cells between places in t."""
    f1, d1, b1 = integral(n, a, scale, size, np.exp(-places[0]))
    f1 -= 0.5 * n * places[0]
    for i in range(cells.shape[0]):
        f0, d0, b0 = f1, d1, b1
        f1, d1, b1 = integral(n, a, scale, size, np.exp(-places[i + 1]))
        f1 -= 0.5 * n * places[i + 1]
        length = places[i + 1] - places[i]
        cell = cells[i]
        cell[0], cell[1] = places[i], 1.0 / length
        cell[2], cell[3], cell[4] = f0, length * d0, 0.5 * length * length * b0
        value = f1 - cell[2] - cell[3] - cell[4]
        slope = length * d1 - cell[3] - 2.0 * cell[4]
        curve = length * length * b1 - 2.0 * cell[4]
        cell[5] = 10.0 * value - 4.0 * slope + 0.5 * curve
        cell[6] = -15.0 * value + 7.0 * slope - curve
        cell[7] = 6.0 * value - 3.0 * slope + 0.5 * curve


def tabled_g(n: float, total: float, a: float, scale: float, most: int) -> TabledG:
    """Return the rule for models of up to ``most`` variables."""
    # Moments look up models of four more.
    return TabledG(0.0, total, *_table(n, a, scale, min(most, int(n), _LARGEST_TABLED) + 4))


@lru_cache(maxsize=4)
def _table(n: float, a: float, scale: float, most: int) -> tuple[Any, ...]:
    """Return what a rule has beside y'y; it is asked for several times in one analysis."""
    middle = 0.5 * (np.arange(most + 1) + a)
    width = _WIDTH * np.sqrt(middle)
    first = np.arcsinh(-middle / width)
    last = np.arcsinh((0.5 * n * _FURTHEST - middle) / width)
    count = int(np.ceil((last - first).max() / _STEP))
    step = (last - first) / count
    cells = np.zeros((most + 1, count, 8))
    for k in range(1, most + 1):
        even = np.linspace(first[k], last[k], count + 1)
        places = (middle[k] + width[k] * np.sinh(even)) * 2.0 / n
        places[0], places[-1] = 0.0, _FURTHEST
        _fill(n, a, scale, k, places, cells[k])
    return n, a, scale, step, middle, width, first, cells


@kernel
def _log_integral(rule, size, share, t):
    """Return f where a share of y'y is left, t being minus its logarithm."""
    if size == 0:
        return 0.0
    if size >= rule.cells.shape[0] or share < SMALLEST_LEFT:
        return integral(rule.n, rule.a, rule.scale, size, share)[0]
    x = (0.5 * rule.n * t - rule.middle[size]) / rule.width[size]
    place = (logarithm(x + np.sqrt(x * x + 1.0)) - rule.first[size]) / rule.step[size]
    cell = rule.cells[size, min(max(int(place), 0), rule.cells.shape[1] - 1)]
    u = (t - cell[0]) * cell[1]
    value = cell[4] + u * (cell[5] + u * (cell[6] + u * cell[7]))
    return cell[2] + u * (cell[3] + u * value) + 0.5 * rule.n * t


@kernel(inline=True)
def _share_left(rule, size, left):
    """Return what is left of y'y as a share; nothing where there are variables enough for that."""
    if size >= rule.n and left < SMALLEST_LEFT * rule.total:
        return 0.0
    return _floored(left, rule.total)


@kernel(inline=True)
def _minus_log(share):
    """Return t; beyond the table it is not asked for."""
    return -logarithm(max(share, SMALLEST_LEFT))


@log_evidence.register
def _(rule: TabledG, size, log_det, left):
    share = _share_left(rule, size, left)
    return _log_integral(rule, size, share, _minus_log(share))


@slab_moments.register
def _(rule: TabledG, size, left):
    if size == 0:
        return 0.0, 0.0, 0.0
    share = _share_left(rule, size, left)
    t = _minus_log(share)
    here = _log_integral(rule, size, share, t)
    # Moments of 1 / (1 + g), which is small where y is explained well: differences from 1 would cancel.
    lost = np.exp(_log_integral(rule, size + 2, share, t) - here)
    squared = np.exp(_log_integral(rule, size + 4, share, t) - here)
    noise = share + (1.0 - 2.0 * share) * lost - (1.0 - share) * squared
    kept = 1.0 - lost
    return kept, kept - lost + squared, noise * rule.total / (rule.n - 2.0)


@noise_mean.register
def _(rule: TabledG, size, left):
    if size == 0:
        return rule.total / (rule.n - 2.0)
    share = _share_left(rule, size, left)
    t = _minus_log(share)
    here = _log_integral(rule, size, share, t)
    lost = np.exp(_log_integral(rule, size + 2, share, t) - here)
    return (share + (1.0 - share) * lost) * rule.total / (rule.n - 2.0)
