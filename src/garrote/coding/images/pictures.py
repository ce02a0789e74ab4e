"""Pictures as users hand them over: grey or in colours, with or without alpha, checked at once."""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.limits.magnitudes import refuse_large


class Picture(NamedTuple):
    """A picture as numbers, and what it takes to hand another one back in the same form.

    ``values`` have shape (height, width, colours); ``alpha`` is kept aside.
    """

    values: Floats
    alpha: Array | None
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def in_form(self, values: Floats) -> Array:
        """Return other values in the form of this picture: its type, within its range, its alpha."""
        if self.dtype.kind in "iu":
            bounds = np.iinfo(self.dtype)
            values = np.clip(np.rint(values), bounds.min, bounds.max)
        colours = values.astype(self.dtype)
        if self.alpha is not None:
            colours = np.concatenate([colours, self.alpha[:, :, None]], axis=2)
        return np.asarray(colours.reshape(self.shape))


def as_picture(given: Any, *, gaps: bool = False) -> Picture:
    """Return a picture as floats; refuse what is none. ``gaps`` says that NaN are missing pixels."""
    found = np.asarray(given)
    if found.dtype.kind not in "iuf":
        raise ValueError(
            f"a picture must hold numbers, got {found.dtype}: give an array of shape (height, width), "
            "or (height, width, colours)"
        )
    if found.ndim not in (2, 3):
        raise ValueError(
            "a picture must have shape (height, width), or (height, width, colours), got "
            f"{found.shape}"
        )
    if not found.size:
        raise ValueError(f"a picture must have a pixel at least, got shape {found.shape}")
    dtype = np.dtype(np.float64) if found.dtype == np.float16 else found.dtype
    layers = found.reshape(*found.shape[:2], -1)
    alpha = layers[:, :, -1] if layers.shape[2] in (2, 4) else None
    colours = layers if alpha is None else layers[:, :, :-1]
    values = colours.astype(np.float64)
    _refuse_gaps(values, gaps)
    refuse_large(np.nan_to_num(values).reshape(len(values), -1), "the picture")
    return Picture(values, alpha, dtype, found.shape)


def _refuse_gaps(values: Floats, gaps: bool) -> None:
    """Raise for the first pixel that is no number."""
    bad = np.argwhere(np.isinf(values) if gaps else ~np.isfinite(values))
    if len(bad):
        row, column, colour = (int(at) for at in bad[0])
        remedy = "" if gaps else "; missing pixels are for garrote.coding.Inpainter"
        raise ValueError(
            f"the picture is {values[row, column, colour]} at row {row}, column {column} "
            f"({len(bad)} such entries in all){remedy}"
        )


def observed_pixels(picture: Picture, mask: Any) -> Array:
    """Return which entries of a picture are known, given a mask that is true where it is missing."""
    known = np.isfinite(picture.values)
    if mask is not None:
        found = np.asarray(mask)
        if found.dtype.kind not in "biuf":
            raise ValueError(
                f"mask must hold numbers or truth values, true where pixels are missing, got "
                f"{found.dtype}"
            )
        size = picture.values.shape[:2]
        if found.shape not in (size, picture.values.shape):
            raise ValueError(
                f"the mask has shape {found.shape}, the picture has {size[0]} x {size[1]} pixels: give "
                "one value a pixel, true where it is missing"
            )
        if found.dtype.kind == "f" and np.isnan(found).any():
            raise ValueError("mask must not hold NaN: give true where pixels are missing")
        known &= ~found.reshape(*size, -1).astype(bool)
    if not known.any(axis=(0, 1)).all():
        raise ValueError(
            "the mask hides all of the picture: there is no pixel left to tell others from"
        )
    return np.asarray(known)
