"""Atoms of a dictionary beside each other: as patches, or as lines where they have no shape."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Floats
from garrote.displays.base import innermost
from garrote.displays.figures import set_title, take_axes


@dataclass(kw_only=True, repr=False, eq=False)
class AtomsDisplay:
    """A mosaic of atoms, each in its own scale (Murphy 2012, Figure 13.21).

    Grey is 0 of atoms with both signs, dark negative and light positive; atoms without negative entries
    are black where they are 0.

    Parameters
    ----------
    atoms : array of shape (n_atoms, D)
    shape : tuple of int
        Height and width of an atom, and 3 if its pixels have colours.
    name : str
        The title.

    Attributes
    ----------
    ax_, figure_, image_
        What was drawn.
    mosaic_ : array
        The picture, NaN between atoms.

    Examples
    --------
    >>> from garrote.coding import SparseCoder, dct_dictionary
    >>> from garrote.displays import AtomsDisplay
    >>> coder = SparseCoder(dct_dictionary((8, 8))).fit(dct_dictionary((8, 8)))
    >>> AtomsDisplay.from_estimator(coder).mosaic_.shape
    (73, 73)
    """

    atoms: Floats
    shape: tuple[int, ...]
    name: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        shape: Sequence[int] | None = None,
        ax: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the atoms of a fitted transformer.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``components_``; or a pipeline that ends in one, or a search over one.
        shape : sequence of int, optional
            Height and width of patches, and 3 if pixels have colours; by default a square where an atom
            has as many entries, else a row.
        ax : matplotlib Axes, optional
        name : str, optional
            The title; by default the estimator's, none if empty.
        **options
            Passed to `plot`.
        """
        fitted = innermost(estimator)
        if not hasattr(fitted, "components_"):
            raise TypeError(
                f"{type(fitted).__name__} has no components_ to draw: give a fitted transformer, such "
                "as garrote.coding.DictionaryLearning"
            )
        atoms = np.asarray(fitted.components_, dtype=float)
        read = cls(atoms=atoms, shape=_shape(shape, atoms.shape[1]), name=type(fitted).__name__)
        return read.plot(ax, name=name, **options)

    def plot(self, ax: Any = None, *, name: str | None = None, max_atoms: int = 256) -> Self:
        """Draw the mosaic.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        name : str, optional
            The title instead of the stored one.
        max_atoms : int, default=256
            The first so many atoms are drawn.
        """
        (self.ax_,) = take_axes(ax, width=6, height=6)
        self.figure_ = self.ax_.figure
        some = self.atoms[:max_atoms]
        self.mosaic_ = mosaic(some, self.shape)
        self.image_ = self.ax_.imshow(
            self.mosaic_, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest"
        )
        self.ax_.set_axis_off()
        title = self.name if name is None else name
        if title and len(some) < len(self.atoms):
            title = f"{title}: {len(some)} of {len(self.atoms)} atoms"
        set_title(self.ax_, title)
        return self


def mosaic(atoms: Floats, shape: Sequence[int]) -> Floats:
    """Return atoms beside each other in one picture with values from 0 to 1, NaN between them."""
    height, width, *colours = shape
    columns = max(1, math.ceil(math.sqrt(len(atoms) * height / width)))
    rows = math.ceil(len(atoms) / columns)
    picture = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1, *colours), np.nan)
    for k, atom in enumerate(atoms):
        top = (k // columns) * (height + 1) + 1
        left = (k % columns) * (width + 1) + 1
        picture[top : top + height, left : left + width] = _scaled(atom).reshape(shape)
    # Without a value for what is between atoms colours cannot be drawn.
    return np.nan_to_num(picture, nan=1.0) if colours else picture


def _scaled(atom: Floats) -> Floats:
    """Return an atom in its own scale, from 0 to 1."""
    most = np.abs(atom).max(initial=0.0)
    if most == 0.0:
        return np.full_like(atom, 0.5)
    return atom / most if atom.min() >= 0 else 0.5 + 0.5 * atom / most


def _shape(given: Sequence[int] | None, length: int) -> tuple[int, ...]:
    """Return the shape of an atom."""
    if given is None:
        side = math.isqrt(length)
        return (side, side) if side * side == length else (1, length)
    shape = tuple(int(side) for side in given)
    if (
        len(shape) not in (2, 3)
        or math.prod(shape) != length
        or (len(shape) == 3 and shape[2] != 3)
    ):
        raise ValueError(
            f"shape must be height and width, and 3 where pixels have colours, of atoms of {length} "
            f"entries, got {tuple(given)}"
        )
    return shape
