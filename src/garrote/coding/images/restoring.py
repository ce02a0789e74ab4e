"""A picture restored patch by patch, and how far that is from the truth: told by pixels held out."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding.images.patches import Overlaps, Patches

# Which share of known pixels is held out, and how many these have to be at least.
_HELD_OUT, _ENOUGH = 0.05, 50
# The variance of the noise that is added to a copy, as a share of that of the noise; from how many
# pixels on one pair of copies will do, and how many pairs are made at most.
_ADDED, _MANY, _PAIRS = 0.5, 60_000, 8
# Before it is measured, the ratio of squared errors to variances is about 1, with this deviation.
_UNSURE = 0.5
# Deviations are changed by no more than this factor.
_MOST = 4.0
# A Gaussian is within so many deviations with a probability of 0.95.
_WITHIN, _PROBABILITY = 1.959964, 0.95


class Whole(NamedTuple):
    """A picture as it may have been: means and variances of its pixels."""

    mean: Floats
    variance: Floats


class Damage(NamedTuple):
    """A picture with what is known of its damage: its pixels, which are known, the variance of noise.

    ``misfit`` is added to that where there are gaps, beside which no model fits exactly.
    """

    values: Floats
    known: Array | None
    noise: float
    misfit: float = 0.0


def restore_patches(
    law: Any,
    damage: Damage,
    size: tuple[int, int],
    n_jobs: int | None,
    report: Callable[[int, int], None],
) -> Whole:
    """Restore all patches of a picture, a block at a time, and put the picture together from them."""
    known = damage.known
    values = damage.values if known is None else np.where(known, damage.values, 0.0)
    patches = Patches.of(values, size)
    masks = None if known is None else Patches.of(known, size)
    overlaps = Overlaps(values.shape, size)
    for rows in patches.blocks():
        mask = None if masks is None else masks.block(rows)
        restored = law.restore(patches.block(rows), mask, damage.noise + damage.misfit, n_jobs)
        overlaps.add(rows, restored.mean, restored.variance, law.weight(restored))
        report(rows.stop, patches.windows.shape[0])
    return Whole(overlaps.mean(), overlaps.variance())


def measured_scale(
    restore: Callable[[Damage], Whole], damage: Damage, told: Array, rng: np.random.Generator
) -> float:
    """Return the factor by which deviations say how far restored pixels are from the true ones.

    Patches that overlap have errors in common, and no model is right: what they say of their errors has
    to be measured. Where pixels are missing some of the known ones are held out; where there is noise
    alone, two copies of the picture with more noise are made whose noise is independent, one of which is
    restored, and the other compared with it (Oliveira, Lei & Tibshirani 2024, Unbiased risk estimation
    in the normal means problem via coupled bootstrap techniques. Electronic Journal of Statistics 18,
    5405-5448). The fewer pixels there are to tell, the nearer it is to 1.

    Only pixels that ``told`` marks are looked at: others have not all of their noise.
    """
    if told.sum() < min(_ENOUGH, told.size):
        return 1.0
    if damage.known is None:
        return _by_two_copies(restore, damage, told, rng)
    return _by_holding_out(restore, damage, told, rng)


def _by_two_copies(
    restore: Callable[[Damage], Whole], damage: Damage, told: Array, rng: np.random.Generator
) -> float:
    size, noise = int(told.sum()), damage.noise
    pairs = int(np.clip(-(-_MANY // size), 1, _PAIRS))
    beyond = noise * (1 + 1 / _ADDED)
    errors, stated = 0.0, 0.0
    for _ in range(pairs):
        drawn = np.sqrt(noise) * rng.standard_normal(damage.values.shape)
        copy = damage.values + np.sqrt(_ADDED) * drawn
        other = damage.values - drawn / np.sqrt(_ADDED)
        found = restore(damage._replace(values=copy, noise=noise * (1 + _ADDED)))
        errors += float(np.mean((other - found.mean)[told] ** 2) - beyond) / pairs
        stated += float(found.variance[told].mean()) / pairs
    if stated <= 0:
        return 1.0
    # Squares of noise vary: what is in the picture is the same in all pairs, what is added is not.
    spread = np.sqrt(2 * (noise**2 + (beyond**2 - noise**2) / pairs) / size) / stated
    trust = _UNSURE**2 / (_UNSURE**2 + spread**2)
    return _bounded(np.sqrt(max(trust * errors / stated + (1 - trust), 0.0)))


def _by_holding_out(
    restore: Callable[[Damage], Whole], damage: Damage, told: Array, rng: np.random.Generator
) -> float:
    known = damage.known
    assert known is not None
    # All colours of a pixel are held out together, as they are missing together.
    held = known & (rng.random(known.shape[:2]) < _HELD_OUT)[:, :, None]
    if held.sum() < _ENOUGH or not (known & ~held).any(axis=(0, 1)).all():
        return 1.0
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
    return _bounded(high)


def _bounded(scale: float) -> float:
    return float(np.clip(scale, 1 / _MOST, _MOST))
