"""How much chains know: effective sample sizes, errors of means, and split R-hat.

Gelman et al. (2013), sections 11.4 and 11.5. Chains that keep every draw are judged by their
autocorrelations, with Geyer's (1992) initial monotone sequence. Walks over models keep no draws of each
variable's inclusion, which would be far too many, but weighted sums over batches: they are judged by how
much batches differ.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from garrote.arrays import Floats
from garrote.limits.budgets import NUMBERS_AT_ONCE

# What varies by less than this share of its size does not vary.
_ROUNDING = 1e-12


class Diagnostics(NamedTuple):
    """Of every quantity: the standard error of its mean, effective sample size and split R-hat."""

    error: Floats
    effective_size: Floats
    split_r_hat: Floats


class Batches(Protocol):
    """A chain of models, as sums over batches of states."""

    @property
    def batch_weight(self) -> Floats:
        """The sum of weights in each batch."""

    @property
    def batch_inclusion(self) -> Floats:
        """The weighted sum of every variable's inclusion in each batch."""


def diagnose_draws(draws: Floats) -> Diagnostics:
    """Compare the halves of chains; ``draws`` has shape (chains, states, quantities).

    Errors are in units of posterior deviations. A quantity that never moves is known.
    """
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
    width = max(1, NUMBERS_AT_ONCE // max(1, len(halves) * half))
    size, r_hat = np.empty(draws.shape[2]), np.empty(draws.shape[2])
    for first in range(0, draws.shape[2], width):
        part = slice(first, first + width)
        size[part], r_hat[part] = _diagnose(halves[:, :, part])
    return Diagnostics(1.0 / np.sqrt(size), size, r_hat)


def _diagnose(halves: Floats) -> tuple[Floats, Floats]:
    chains, length, _ = halves.shape
    means = halves.mean(axis=1)
    # SciPy's transforms take several quantities at a time where these lie side by side.
    padded = next_fast_len(2 * length, real=True)
    spectrum = rfft(halves - means[:, None], n=padded, axis=1)
    power = irfft(spectrum.real**2 + spectrum.imag**2, n=padded, axis=1)[:, :length]
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


def diagnose_inclusion(chains: Sequence[Batches], inclusion: Floats) -> Diagnostics:
    """Compare batches with each other, and halves of chains with each other.

    The standard error is that of a ratio of weighted sums over batches, taken for independent. So many
    independent draws of the model as p (1 - p) / error^2 would have it too. R-hat compares the halves of
    all chains (Gelman et al. 2013, section 11.4) as the law of the indicator: within a half its variance
    is p (1 - p) with that half's p.
    """
    batch_weight = np.concatenate([chain.batch_weight for chain in chains])
    batch = np.concatenate([chain.batch_inclusion for chain in chains])
    off = batch - batch_weight[:, None] * inclusion
    count = len(batch_weight)
    error = np.sqrt((off**2).sum(axis=0) * count / (count - 1)) / batch_weight.sum()
    variance = inclusion * (1.0 - inclusion)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(error > 0, variance / error**2, np.inf)
        halves = np.concatenate([_halves(chain) for chain in chains])
        within = (halves * (1.0 - halves)).mean(axis=0)
        r_hat = np.sqrt(1.0 + halves.var(axis=0, ddof=1) / within)
    # Where no half ever moves, 0 / 0 means that they agree; where they do not, R-hat is infinite.
    return Diagnostics(error, size, np.where(np.isnan(r_hat), 1.0, r_hat))


def _halves(chain: Batches) -> Floats:
    """Return the inclusion probabilities in the first and in the second half of a chain."""
    middle = len(chain.batch_weight) // 2
    parts = (slice(None, middle), slice(middle, None))
    return np.array(
        [chain.batch_inclusion[p].sum(axis=0) / chain.batch_weight[p].sum() for p in parts]
    )
