"""How far restored pixels are from the true ones: told by pixels held out, or by noise that is added."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding.images.restoring import Damage, Whole

# Which share of known pixels is held out, and how many these have to be at least.
_HELD_OUT, _ENOUGH = 0.05, 50
# The variance of the noise that is added to a copy, as a share of that of the noise; from how many
# pixels on one copy will do, and how many are made at most.
_ADDED, _MANY, _COPIES = 0.5, 60_000, 3
# Before it is measured, the ratio of squared errors to variances is about 1, and the slope of one over
# the other about that ratio, with this deviation.
_UNSURE = 0.5
# Deviations are changed by no more than this factor.
_MOST = 4.0
# A Gaussian is within so many deviations with a probability of 0.95.
_WITHIN, _PROBABILITY = 1.959964, 0.95


class Calibration(NamedTuple):
    """What deviations that a model states are multiplied with, and the variance that is added."""

    scale: float = 1.0
    beside: float = 0.0

    def variance(self, stated: Floats) -> Floats:
        """Return variances that agree with errors."""
        return np.asarray(self.scale**2 * stated + self.beside)


def calibrated(
    restore: Callable[[Damage], Whole],
    damage: Damage,
    found: Whole,
    told: Array,
    size: tuple[int, int],
    rng: np.random.Generator,
) -> Calibration:
    """Return how stated variances become those of errors.

    Patches that overlap have errors in common, and no model is right: what they say of their errors has
    to be measured. Where pixels are missing some of the known ones are held out; where there is noise
    alone, more is added to a copy of the picture, whose restoration tells how errors follow noise
    (Oliveira, Lei & Tibshirani 2024, Unbiased risk estimation in the normal means problem via coupled
    bootstrap techniques. Electronic Journal of Statistics 18, 5405-5448). The fewer pixels there are to
    tell, the less is changed. Only pixels that ``told`` marks are looked at: others have not all of
    their noise.
    """
    if told.sum() < min(_ENOUGH, told.size):
        return Calibration()
    if damage.known is None:
        return _by_copies(restore, damage, found, told, size, rng)
    return _by_holding_out(restore, damage, told, rng)


def _by_copies(
    restore: Callable[[Damage], Whole],
    damage: Damage,
    found: Whole,
    told: Array,
    size: tuple[int, int],
    rng: np.random.Generator,
) -> Calibration:
    """Compare errors with stated variances, on average and from place to place.

    With noise w of the picture's variance a copy y + a w and another y - w / a have noise that is
    independent, so that the squared distance of the second from the first, restored, is that from the
    truth and the second's variance, on average. What is known of w, and means 0, is left out of it.
    """
    values, noise, count = damage.values, damage.noise, int(told.sum())
    copies = int(np.clip(-(-_MANY // count), 1, _COPIES))
    sums = np.zeros(6)
    for _ in range(copies):
        drawn = np.sqrt(noise) * rng.standard_normal(values.shape)
        copy = values + np.sqrt(_ADDED) * drawn
        again = restore(damage._replace(values=copy, noise=noise * (1 + _ADDED)))
        moved = again.mean - found.mean
        error = (values - again.mean) ** 2 - noise + 2 / np.sqrt(_ADDED) * drawn * moved
        near = _beside(again.variance, size)
        near -= near[told].mean()
        terms = (
            error, again.variance, error * near, again.variance * near, near**2, moved**2,
        )  # fmt: skip
        sums += [float(term[told].mean()) / copies for term in terms]
    errors, stated, follow, rise, spread, moved_by = sums.tolist()
    if stated <= 0:
        return Calibration()
    # Squares of the noise vary, the same in all copies; products with what is added do, too.
    unsure = np.sqrt((2 * noise**2 + 4 / _ADDED * noise * moved_by / copies) / count)
    ratio = max(_trusted(errors / stated, 1.0, unsure / stated), 0.0)
    slope = ratio
    if rise > 0:
        slope = _trusted(follow / rise, ratio, unsure * np.sqrt(spread) / rise)
    slope = max(slope, 1 / _MOST**2)
    if slope >= ratio:
        return Calibration(_bounded(np.sqrt(ratio)))
    scale = _bounded(np.sqrt(slope))
    return Calibration(scale, max(ratio - scale**2, 0.0) * stated)


def _beside(variance: Floats, size: tuple[int, int]) -> Floats:
    """Return variances a patch away, on average: of patches that do not have the pixel itself.

    Noise that happens to be large makes codes longer, and the variances of its patches larger.
    """
    total, count = np.zeros(variance.shape), np.zeros(variance.shape)
    for axis, step in enumerate(size):
        here, there = [slice(None)] * 3, [slice(None)] * 3
        here[axis], there[axis] = slice(step, None), slice(None, -step)
        for to, origin in ((here, there), (there, here)):
            total[tuple(to)] += variance[tuple(origin)]
            count[tuple(to)] += 1
    mean = float(variance.mean())
    return np.asarray(np.divide(total, count, out=np.full(total.shape, mean), where=count > 0))


def _trusted(measured: float, expected: float, unsure: float) -> float:
    """Return what is to be thought of a number that was measured, with this standard error."""
    trust = _UNSURE**2 / (_UNSURE**2 + unsure**2)
    return float(trust * measured + (1 - trust) * expected)


def _by_holding_out(
    restore: Callable[[Damage], Whole], damage: Damage, told: Array, rng: np.random.Generator
) -> Calibration:
    known = damage.known
    assert known is not None
    # All colours of a pixel are held out together, as they are missing together.
    held = known & (rng.random(known.shape[:2]) < _HELD_OUT)[:, :, None]
    if held.sum() < _ENOUGH or not (known & ~held).any(axis=(0, 1)).all():
        return Calibration()
    found = restore(damage._replace(known=known & ~held))
    held &= told
    error = np.abs(damage.values[held] - found.mean[held])
    variance = found.variance[held]
    low, high = 1 / _MOST, _MOST
    # One more pixel, the worst of all, is thought of: what is true of those held out is of others then.
    share = min(1.0, _PROBABILITY * (error.size + 1) / error.size)
    for _ in range(40):
        scale = np.sqrt(low * high)
        inside = error <= _WITHIN * np.sqrt(scale**2 * variance + damage.noise)
        low, high = (low, scale) if inside.mean() >= share else (scale, high)
    return Calibration(_bounded(high))


def _bounded(scale: float) -> float:
    return float(np.clip(scale, 1 / _MOST, _MOST))
