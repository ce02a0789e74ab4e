"""What a page shows of a restored picture, as pixels from 0 to 255."""

from typing import Any, NamedTuple, Self

import numpy as np

from garrote.arrays import Array
from garrote.displays.coding.atoms import mosaic

MOST_ATOMS = 256
_RED = np.array([200.0, 30.0, 30.0])


class Range(NamedTuple):
    """The values that are black and white: bounds of the type, or of the picture where it has none."""

    black: float
    white: float

    @classmethod
    def of(cls, found: Any) -> Self:
        """Return the range of a restored picture."""
        kind = found.picture.dtype
        if kind.kind == "u":
            return cls(0.0, float(np.iinfo(kind).max))
        known = found.picture[np.isfinite(found.picture)]
        return cls(float(known.min()), float(known.max()))


def colours(pixels: Array, bounds: Range) -> Array:
    """Return a picture between black and white."""
    spread = (bounds.white - bounds.black) or 1.0
    return _bytes((np.asarray(pixels, float) - bounds.black) / spread)


def before(found: Any, bounds: Range) -> Array:
    """Return the picture given, red where pixels are missing."""
    shown = colours(np.nan_to_num(found.given), bounds)
    if found.missing is None:
        return shown
    layers = shown.reshape(*shown.shape[:2], -1)
    opaque = layers if layers.shape[2] in (1, 3) else layers[:, :, :-1]
    marked = np.repeat(opaque, 3, axis=2) if opaque.shape[2] == 1 else opaque.copy()
    gaps = found.missing.reshape(*found.missing.shape[:2], -1).any(axis=2)
    marked[gaps] = _RED.astype(np.uint8)
    return marked


def light(values: Array, most: float) -> Array:
    """Return values as light, black at 0: of colours the largest."""
    grey = values if values.ndim == 2 else values.max(axis=2)
    return _bytes(grey / (most or 1.0))


def signed(values: Array, reach: float) -> Array:
    """Return values of both signs, grey at 0."""
    grey = values.reshape(*values.shape[:2], -1)
    grey = grey if grey.shape[2] in (1, 3) else grey[:, :, :-1]
    shown = _bytes(0.5 + 0.5 * grey / (reach or 1.0))
    return shown[:, :, 0] if shown.shape[2] == 1 else shown


def atoms(found: Any) -> Array:
    """Return a mosaic of atoms, white between them, each pixel of theirs several pixels wide."""
    high, wide, layers = found.patch_shape
    shape = (high, wide) if layers == 1 else (high, wide, layers)
    if layers not in (1, 3):
        shape = (high, wide * layers)
    picture = np.nan_to_num(mosaic(found.atoms[:MOST_ATOMS], shape), nan=1.0)
    times = max(1, 480 // picture.shape[1])
    return _bytes(np.repeat(np.repeat(picture, times, axis=0), times, axis=1))


def _bytes(share: Array) -> Array:
    return np.clip(np.rint(255.0 * share), 0, 255).astype(np.uint8)
