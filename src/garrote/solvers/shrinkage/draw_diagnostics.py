"""How much chains of draws know: effective sample sizes, errors of means, and split R-hat.

Gelman et al. (2013), sections 11.4 and 11.5, with Geyer's (1992) initial monotone sequence.
"""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats

# What varies by less than this share of its size does not vary.
_ROUNDING = 1e-12
# Numbers that are transformed at once.
_TOGETHER = 4_000_000


class DrawDiagnostics(NamedTuple):
    """Of every quantity: effective size, its mean's error in posterior deviations, split R-hat."""

    effective_size: Floats
    relative_error: Floats
    split_r_hat: Floats


def diagnose_draws(draws: Floats) -> DrawDiagnostics:
    """Compare the halves of chains; ``draws`` has shape (chains, states, quantities).

    A quantity that never moves is known.
    """
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
    width = max(1, _TOGETHER // max(1, len(halves) * half))
    size, r_hat = np.empty(draws.shape[2]), np.empty(draws.shape[2])
    for first in range(0, draws.shape[2], width):
        part = slice(first, first + width)
        size[part], r_hat[part] = _diagnose(halves[:, :, part])
    return DrawDiagnostics(size, 1.0 / np.sqrt(size), r_hat)


def _diagnose(halves: Floats) -> tuple[Floats, Floats]:
    chains, length, _ = halves.shape
    means = halves.mean(axis=1)
    spectrum = np.fft.rfft(halves - means[:, None], n=2 * length, axis=1)
    power = np.fft.irfft(np.abs(spectrum) ** 2, n=2 * length, axis=1)[:, :length]
    covariance = power.mean(axis=0) / length
    within = covariance[0] * length / (length - 1)
    whole = covariance[0] + means.var(axis=0, ddof=1)
    rounding = np.square(_ROUNDING * np.abs(means).max(axis=0))
    still = within <= rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1.0 - (within - covariance * length / (length - 1)) / whole
        r_hat = np.sqrt(whole / within)
    pairs = correlation[0 : length - 1 : 2] + correlation[1:length:2]
    pairs = np.minimum.accumulate(pairs, axis=0)
    time = np.maximum(2.0 * np.where(pairs > 0, pairs, 0.0).sum(axis=0) - 1.0, 1e-12)
    # Draws that repel each other know more than independent ones, but not by orders of magnitude.
    total = chains * length
    size = np.minimum(total / time, total * np.log10(max(total, 10)))
    apart = still & (
        np.square(np.ptp(means, axis=0)) > rounding
    )  # halves that sit in different places
    size = np.where(still, np.where(apart, 1.0, float(total)), size)
    return size, np.where(still, np.where(apart, np.inf, 1.0), r_hat)
