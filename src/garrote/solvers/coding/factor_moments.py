"""Two factors of a matrix with gaps, both with spikes and slabs: mean field, and its lower bound.

x_ij = sum over k of z_ik w_kj + noise in the entries that were seen. Every code and every loading is 0,
or from a Gaussian (Murphy 2012, section 13.8, with the mask of section 13.2.2 on both factors). Pairs of
a switch and its size are independent of all others in the posterior's factors.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, xlogy

from garrote.arrays import Array, Floats
from garrote.solvers.coding.code_sums import CodeSums
from garrote.solvers.coding.incomplete_codes import spike_slab_codes_with_gaps

# Sweeps over a factor in a round, and the range of probabilities that are learned.
SWEEPS, _LEAST = 3, 1e-6
# Entries less probable than this are not in.
_NEVER = 1e-300
# Variances are no less than this share of the signals'.
_SMALLEST = 1e-8


class Side(NamedTuple):
    """Entries of a factor: means, probabilities that they are not 0, variances where they are not."""

    mean: Floats
    probability: Floats
    spread: Floats

    @property
    def square(self) -> Floats:
        """The means of squares."""
        m = self.probability
        inside = np.divide(self.mean**2, m, out=np.zeros_like(m), where=m > 0)
        return np.asarray(inside + m * self.spread)

    @property
    def variance(self) -> Floats:
        """The variances of entries."""
        return np.asarray(np.maximum(self.square - self.mean**2, 0.0))

    @classmethod
    def of_moments(cls, mean: Floats, probability: Floats, variance: Floats) -> "Side":
        """Return the entries that have these means, probabilities, and variances, zeros included."""
        inside = np.maximum(probability, _NEVER)
        spread = (variance + mean**2) / inside - (mean / inside) ** 2
        return cls(mean, probability, np.maximum(spread, 0.0))


class Numbers(NamedTuple):
    """Of each component probabilities of codes and loadings, and the latter's variance; the noise's."""

    of_codes: Floats
    of_loadings: Floats
    slab: Floats
    noise: float


class Factors(NamedTuple):
    """Codes (N x K), loadings (K x D), numbers."""

    codes: Side
    loadings: Side
    numbers: Numbers


def first_factors(atoms: Floats, codes: Floats, square: float) -> Factors:
    """Return factors whose loadings are those given, for signals of such a mean square."""
    count = len(atoms)
    known = np.ones_like(atoms)
    half = np.full(count, 0.5)
    slab = np.maximum(np.mean(atoms**2, axis=1), _SMALLEST * square)
    return Factors(
        Side(codes, np.ones_like(codes), np.zeros_like(codes)),
        Side(atoms.copy(), known, np.zeros_like(atoms)),
        Numbers(half, half, slab, square),
    )


def improved(
    factors: Factors, signals: Floats, seen: Array, weights: Floats, square: float
) -> Factors:
    """Return factors after sweeps over codes, then loadings, then the numbers; none lowers the bound."""
    numbers = factors.numbers
    codes = coded(factors.loadings, numbers, signals, seen, factors.codes.mean, SWEEPS)
    loadings = loaded(codes, numbers, signals, seen, weights, factors.loadings.mean, SWEEPS)
    return Factors(codes, loadings, learned(codes, loadings, signals, seen, weights, square))


def coded(
    loadings: Side, numbers: Numbers, signals: Floats, seen: Array, start: Floats, sweeps: int
) -> Side:
    """Return the factors of codes given loadings."""
    means, ones = start.copy(), np.ones(len(loadings.mean))
    found = spike_slab_codes_with_gaps(
        loadings.mean, loadings.variance, signals, seen, log_odds(numbers.of_codes), ones,
        1.0 / numbers.noise, means, sweeps,
    )  # fmt: skip
    return Side(means, *found)


def loaded(
    codes: Side,
    numbers: Numbers,
    signals: Floats,
    seen: Array,
    weights: Floats,
    start: Floats,
    sweeps: int,
) -> Side:
    """Return the factors of loadings given codes: columns are coded over these."""
    root, means = np.sqrt(weights)[:, None], np.ascontiguousarray(start.T)
    probability, spread = spike_slab_codes_with_gaps(
        np.ascontiguousarray((root * codes.mean).T),
        np.ascontiguousarray((root**2 * codes.variance).T),
        np.ascontiguousarray((root * signals).T), np.ascontiguousarray(seen.T),
        log_odds(numbers.of_loadings), 1.0 / numbers.slab, 1.0 / numbers.noise, means, sweeps,
    )  # fmt: skip
    sides = (np.ascontiguousarray(each.T) for each in (means, probability, spread))
    return Side(*sides)


def learned(
    codes: Side, loadings: Side, signals: Floats, seen: Array, weights: Floats, square: float
) -> Numbers:
    """Return the numbers that make the bound largest, given both factors."""
    of_codes = weights @ codes.probability / weights.sum()
    noise = float(weights @ expected_errors(codes, loadings, signals, seen))
    noise /= float(weights @ seen.sum(axis=1))
    return numbers_of(loadings, of_codes, noise, square)


def numbers_of(loadings: Side, of_codes: Floats, noise: float, square: float) -> Numbers:
    """Return numbers within their range; those of loadings are the ones that make the bound largest."""
    of_loadings = loadings.probability.mean(axis=1)
    inside = np.maximum(loadings.probability.sum(axis=1), _NEVER)
    slab = np.maximum(loadings.square.sum(axis=1) / inside, _SMALLEST * square)
    return Numbers(
        np.clip(of_codes, _LEAST, 1.0 - _LEAST),
        np.clip(of_loadings, _LEAST, 1.0 - _LEAST),
        slab,
        max(noise, _SMALLEST * square),
    )


def expected_errors(codes: Side, loadings: Side, signals: Floats, seen: Array) -> Floats:
    """Return the mean squared length of what is left of the entries of each signal that were seen."""
    left = (signals - codes.mean @ loadings.mean) ** 2
    left += codes.square @ loadings.square - codes.mean**2 @ loadings.mean**2
    return np.asarray(np.sum(left * seen, axis=1))


def lower_bound(factors: Factors, signals: Floats, seen: Array, weights: Floats) -> float:
    """Return the lower bound on the log probability of the entries that were seen."""
    _, loadings, numbers = factors
    return bound_of_signals(factors, signals, seen, weights) - divergence_of_loadings(
        loadings, numbers
    )


def bound_of_signals(factors: Factors, signals: Floats, seen: Array, weights: Floats) -> float:
    """Return the part of the lower bound that signals with their codes have."""
    codes, loadings, numbers = factors
    count = weights @ seen.sum(axis=1)
    errors = float(weights @ expected_errors(codes, loadings, signals, seen))
    fit = -0.5 * (count * np.log(2.0 * np.pi * numbers.noise) + errors / numbers.noise)
    away = weights @ _divergence(codes, numbers.of_codes, np.ones(len(numbers.slab)))
    return float(fit - away)


def bound_of_kept(sums: CodeSums, factors: Factors) -> float:
    """Return what loadings and numbers make of signals whose codes stay as they are.

    How far these codes' own factors are from each other is left out: nothing changes that.
    """
    _, loadings, numbers = factors
    count, total = float(sums.numbers[1]), sums.total
    errors = count * expected_error_by_sums(sums, loadings) if count else 0.0
    fit = -0.5 * (count * np.log(2.0 * np.pi * numbers.noise) + errors / numbers.noise)
    switches = xlogy(sums.inside, numbers.of_codes)
    switches += xlogy(total - sums.inside, 1.0 - numbers.of_codes)
    return float(fit + switches.sum())


def divergence_of_loadings(loadings: Side, numbers: Numbers) -> float:
    """Return how far the factors of loadings are from their prior."""
    turned = Side(*(each.T for each in loadings))
    return float(_divergence(turned, numbers.of_loadings, 1.0 / numbers.slab).sum())


def _divergence(side: Side, share: Floats, precision: Floats) -> Floats:
    """Return how far factors are from their prior, summed up over each row's entries."""
    m = side.probability
    switches = xlogy(m, m / share) + xlogy(1.0 - m, (1.0 - m) / (1.0 - share))
    scaled = precision * side.spread
    sizes = 0.5 * (precision * side.square - m + xlogy(-m, scaled))
    return np.asarray(np.sum(switches + sizes, axis=1))


def log_odds(share: Floats) -> Floats:
    """Return the log odds of probabilities."""
    return np.asarray(np.log(share) - np.log1p(-share))


def code_sums(codes: Side, signals: Floats, seen: Array, weights: Floats) -> CodeSums:
    """Return what codes come to: loadings and numbers ask for no more of signals."""
    return CodeSums.of(codes.mean, signals, seen, weights, codes.variance, codes.probability)


def loaded_by_sums(sums: CodeSums, numbers: Numbers, start: Floats, sweeps: int) -> Side:
    """Return the factors of loadings given what codes come to."""
    means, probability, spread = start.copy(), np.empty_like(start), np.empty_like(start)
    for _ in range(sweeps):
        for k in range(len(means)):
            inside, centre, precision = _law_of_loadings(sums, numbers, means, k)
            means[k], probability[k], spread[k] = inside * centre, inside, 1.0 / precision
    return Side(means, probability, spread)


def off_equations_by_sums(sums: CodeSums, numbers: Numbers, loadings: Side) -> float:
    """Return how far a loading's probability, or mean in standard errors, is from its equation."""
    worst = 0.0
    for k, (mean, stated) in enumerate(zip(loadings.mean, loadings.probability, strict=True)):
        inside, centre, precision = _law_of_loadings(sums, numbers, loadings.mean, k)
        off = np.abs(inside * centre - mean) * np.sqrt(precision)
        worst = max(worst, float(np.maximum(np.abs(inside - stated), off).max()))
    return worst


def _law_of_loadings(
    sums: CodeSums, numbers: Numbers, means: Floats, k: int
) -> tuple[Floats, Floats, Floats]:
    """Return a component's probabilities, and the centres and precisions of loadings that are in."""
    products = sums.inner[:, k, :].T
    pull = sums.outer[k] - np.sum(products * means, axis=0) + products[k] * means[k]
    slab = 1.0 / numbers.slab[k]
    precision = slab + numbers.noise**-1 * (products[k] + sums.uncertain[:, k])
    centre = pull / (numbers.noise * precision)
    odds = log_odds(numbers.of_loadings[k]) + 0.5 * np.log(slab / precision)
    inside = expit(odds + 0.5 * centre**2 * precision)
    return np.asarray(inside), np.asarray(centre), np.broadcast_to(precision, centre.shape)


def expected_error_by_sums(sums: CodeSums, loadings: Side) -> float:
    """Return the mean square of what is left of an entry that was seen."""
    mean, variance = loadings.mean, loadings.variance
    unsure = np.sum(sums.own * variance) + np.sum(sums.uncertain.T * (mean**2 + variance))
    return float((sums.left(mean) + unsure) / sums.numbers[1])
