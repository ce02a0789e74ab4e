"""A picture restored patch by patch."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding.images.patches import Overlaps, Patches


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
