"""Marginal likelihoods of Gaussian models under Zellner's prior with g integrated out, from tables.

Given g a model of k variables that leaves the share L of y'y has, beside the empty model, the evidence

    B(g) = (1 + g)^((n - k) / 2) (1 + g L)^(-n / 2),

n being the rows less those spent on means (Liang et al. 2008). It is integrated over a `LawOfG`, which
may be another one for each k.

The integral varies with L on a scale of 1 / n, so it is tabled over s = n t / 2, t = -log L, in steps
that are even in asinh((s - m) / w): m is about where a fit begins to outweigh the price of its
variables, and w a few standard deviations of chance. Between two places the logarithm is a polynomial of
degree 5 with the right value, slope and curve at both ends. It is off by less than 1e-8 (1e-7 under the
intrinsic law with a million rows and hundreds of variables), for n from 5 to 1e6, all k and L from 1 to
1e-6; beyond n = 1e6 by rounding, 1e-15 n.

Moments need no integrals of their own: 1 / (1 + g) is what two variables more do to B. With f(k) the log
of the integral E[(1 + g)^-1] = exp(f(k + 2) - f(k)) and E[(1 + g)^-2] = exp(f(k + 4) - f(k)), the law of
g being that of k. Where it is the same for all k, so are the tables.

A model of n variables leaves nothing, L = 0, and has B = 1 whatever g is: the evidence of the empty
model, and the prior's law of g. There, and beyond the table, the integral is computed when asked for.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.elementary import logarithm
from garrote.priors.evidence.best_g import floored
from garrote.priors.evidence.closed_forms import (
    SMALLEST_LEFT,
    log_evidence,
    noise_mean,
    slab_moments,
)
from garrote.priors.evidence.law_of_g import LawOfG, log_prior, prior_curve, prior_slope

# Models larger than this are not tabled.
_LARGEST_TABLED = 400
# Steps of the table, and how many standard deviations around m they are about even.
_STEP, _WIDTH = 0.035, 3.0
# The largest t in the table.
_FURTHEST = -float(np.log(SMALLEST_LEFT))
# Where the largest value of an integrand is looked for, in x, and how often the range is halved.
_LOWEST, _HIGHEST, _HALVINGS = -50.0, 100.0, 24
# Beyond these x an integrand is the exponential of a line, of which the rest of a sum is known.
_STRAIGHT = 150.0
# The trapezoidal rule's step in x: at most this, and this share of the integrand's width.
_LONGEST, _OF_WIDTH = 0.3, 0.35
# Terms of a sum below this share of it end the sum.
_NEGLIGIBLE = 1e-14


class TabledG(NamedTuple):
    """Zellner's prior with g integrated out.

    Row k of ``laws`` has the numbers of the `LawOfG` for models of k variables, and the log of what it
    integrates to; the last row is that of all larger models. Row k of ``cells`` belongs to f of models
    of k variables under the law of that size, row k + ``shift`` to those of two more under the same law.
    A cell has the t where it begins, 1 / its length in t, and coefficients of f - n t / 2. ``middle``
    and ``width`` are m and w; a row begins at ``first`` and goes on in steps of ``step``.
    """

    ridge: float
    total: float
    n: float
    shift: int
    laws: Floats
    step: Floats
    middle: Floats
    width: Floats
    first: Floats
    cells: Floats


@kernel(inline=True)
def _law(row):
    return LawOfG(row[0], row[1], row[2], row[3], row[4], row[5], row[6])


@kernel(inline=True)
def _log_integrand(x, n, law, size, share):
    """Return log B(g) and the log density of x = log(g - g0), up to a constant."""
    g = law.begin - 1.0 + np.exp(x)
    gain = np.log1p(g * (1.0 - share) / (1.0 + g * share))
    value = 0.5 * (n - size) * gain - 0.5 * size * np.log1p(g * share)
    return value + log_prior(law, x)


@kernel
def _peak(n, law, size, share):
    """Return the x where the integrand is largest, and how wide it is there."""
    low, high, lack = _LOWEST, _HIGHEST, 1.0 - share
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        beyond = np.exp(middle)
        inner, left = beyond / (law.begin + beyond), 1.0 + (law.begin - 1.0 + beyond) * share
        slope = prior_slope(law, middle) + 0.5 * inner * (n * lack / left - size)
        low, high = (middle, high) if slope > 0.0 else (low, middle)
    beyond = np.exp(low)
    inner, left = beyond / (law.begin + beyond), 1.0 + (law.begin - 1.0 + beyond) * share
    curve = 0.5 * inner * (1.0 - inner) * (n * lack / left - size)
    curve += prior_curve(law, low) - 0.5 * n * inner * lack / left * (beyond * share / left)
    return low, 1.0 / np.sqrt(max(-curve, 1e-8))


@kernel
def integral(n, law, size, share):
    """Return the log of B(g) integrated over a law without its constant, and two derivatives.

    These are the first and the second one of f - n t / 2 in t. The trapezoidal rule in x, from the peak
    to where nothing is left to both sides, converges faster than any power of its step, because all
    derivatives vanish at both ends. What is left where the integrand falls slowly is a geometric sum.
    """
    peak, width = _peak(n, law, size, share)
    step = min(_LONGEST, _OF_WIDTH * width)
    top = _log_integrand(peak, n, law, size, share)
    centre = 0.5 * n / (1.0 + (law.begin - 1.0 + np.exp(peak)) * share)
    each = 2.0 / max(n, 1.0)
    total, first, second, curve = 1.0, 0.0, 0.0, centre * (1.0 - centre * each)
    for side in (-1.0, 1.0):
        x, p = peak, 1.0
        while True:
            x += side * step
            before, p = p, np.exp(_log_integrand(x, n, law, size, share) - top)
            ends = abs(x) > _STRAIGHT
            part = p / (1.0 - p / before) if ends and 0.0 < p < before else p
            beyond = 0.5 * n / (1.0 + (law.begin - 1.0 + np.exp(x)) * share)
            total += part
            first += part * (beyond - centre)
            second += part * (beyond - centre) ** 2
            curve += part * beyond * (1.0 - beyond * each)
            if ends or p < _NEGLIGIBLE * total:
                break
    first /= total
    value = top + np.log(total * step)
    return value, -(centre + first), second / total - first * first - curve / total


@kernel
def _fill(n, row, size, places, cells):
    """Make a row of cells between places in t."""
    law, constant = _law(row), row[7]
    f1, d1, b1 = integral(n, law, size, np.exp(-places[0]))
    f1 -= 0.5 * n * places[0] + constant
    for i in range(cells.shape[0]):
        f0, d0, b0 = f1, d1, b1
        f1, d1, b1 = integral(n, law, size, np.exp(-places[i + 1]))
        f1 -= 0.5 * n * places[i + 1] + constant
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


def tabled_g(n: float, total: float, law: Any, rows: float, spent: float, most: int) -> TabledG:
    """Return the rule for models of up to ``most`` variables, given settings of a law of g."""
    tabled = min(most, int(n), _LARGEST_TABLED)
    return TabledG(0.0, total, *_table(n, law, rows, spent, tabled, max(most, tabled)))


@lru_cache(maxsize=4)
def _table(
    n: float, law: Any, rows: float, spent: float, most: int, largest: int
) -> tuple[Any, ...]:
    """Return what a rule has beside y'y; it is asked for several times in one analysis."""
    laws = with_constants(law.numbers(np.arange(largest + 1.0), rows, spent))
    # Moments look up models of two and four more, under the law of the smaller one.
    if law.varies:
        sizes = np.concatenate([np.arange(most + 1.0) + more for more in (0, 2, 4)])
        of_row, shift = np.tile(np.arange(most + 1), 3), most + 1
    else:
        laws, sizes = laws[:1], np.arange(most + 5.0)
        of_row, shift = np.zeros(most + 5, dtype=np.intp), 2
    middle = 0.5 * (sizes + law.price)
    width = _WIDTH * np.sqrt(middle)
    first = np.arcsinh(-middle / width)
    last = np.arcsinh((0.5 * n * _FURTHEST - middle) / width)
    count = int(np.ceil((last - first).max() / _STEP))
    step = (last - first) / count
    cells = np.zeros((len(sizes), count, 8))
    for row in np.flatnonzero(sizes):
        even = np.linspace(first[row], last[row], count + 1)
        places = (middle[row] + width[row] * np.sinh(even)) * 2.0 / n
        places[0], places[-1] = 0.0, _FURTHEST
        _fill(n, laws[of_row[row]], sizes[row], places, cells[row])
    return n, shift, laws, step, middle, width, first, cells


def with_constants(laws: Floats) -> Floats:
    """Return rows of numbers of laws with the log of what each integrates to beside them."""
    distinct, which = np.unique(laws, axis=0, return_inverse=True)
    constants = np.array([integral(0.0, LawOfG(*map(float, row)), 0.0, 1.0)[0] for row in distinct])
    return np.column_stack([laws, constants[which.ravel()]])


@kernel
def _log_integral(rule, size, twos, share, t):
    """Return f for 2 ``twos`` variables more than a model has, under the law of the model's size.

    A share of y'y is left, t being minus its logarithm.
    """
    if size == 0:
        return 0.0
    more, row = size + 2 * twos, size + twos * rule.shift
    tabled = rule.cells.shape[0] - 2 * rule.shift  # rows of models, beside those for moments
    if size >= tabled or share < SMALLEST_LEFT:
        numbers = rule.laws[min(size, rule.laws.shape[0] - 1)]
        return integral(rule.n, _law(numbers), more, share)[0] - numbers[7]
    x = (0.5 * rule.n * t - rule.middle[row]) / rule.width[row]
    place = (logarithm(x + np.sqrt(x * x + 1.0)) - rule.first[row]) / rule.step[row]
    cell = rule.cells[row, min(max(int(place), 0), rule.cells.shape[1] - 1)]
    u = (t - cell[0]) * cell[1]
    value = cell[4] + u * (cell[5] + u * (cell[6] + u * cell[7]))
    return cell[2] + u * (cell[3] + u * value) + 0.5 * rule.n * t


@kernel(inline=True)
def _share_left(rule, size, left):
    """Return what is left of y'y as a share; nothing where there are variables enough for that."""
    if size >= rule.n and left < SMALLEST_LEFT * rule.total:
        return 0.0
    return floored(left, rule.total)


@kernel(inline=True)
def _minus_log(share):
    """Return t; beyond the table it is not asked for."""
    return -logarithm(max(share, SMALLEST_LEFT))


@log_evidence.register
def _(rule: TabledG, size, log_det, left):
    share = _share_left(rule, size, left)
    return _log_integral(rule, size, 0, share, _minus_log(share))


@slab_moments.register
def _(rule: TabledG, size, left):
    if size == 0:
        return 0.0, 0.0, 0.0
    share = _share_left(rule, size, left)
    t = _minus_log(share)
    here = _log_integral(rule, size, 0, share, t)
    # Moments of 1 / (1 + g), which is small where y is explained well: differences from 1 would cancel.
    lost = np.exp(_log_integral(rule, size, 1, share, t) - here)
    squared = np.exp(_log_integral(rule, size, 2, share, t) - here)
    noise = share + (1.0 - 2.0 * share) * lost - (1.0 - share) * squared
    kept = 1.0 - lost
    return kept, kept - lost + squared, noise * rule.total / (rule.n - 2.0)


@noise_mean.register
def _(rule: TabledG, size, left):
    if size == 0:
        return rule.total / (rule.n - 2.0)
    share = _share_left(rule, size, left)
    t = _minus_log(share)
    here = _log_integral(rule, size, 0, share, t)
    lost = np.exp(_log_integral(rule, size, 1, share, t) - here)
    return (share + (1.0 - share) * lost) * rule.total / (rule.n - 2.0)
