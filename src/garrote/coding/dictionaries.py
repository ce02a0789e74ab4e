"""Dictionaries that need not be learned: cosines of signals and of patches."""

import math
from collections.abc import Sequence

import numpy as np

from garrote.arrays import Floats
from garrote.settings import check_count


def dct_dictionary(shape: int | Sequence[int], n_frequencies: int | None = None) -> Floats:
    """Return cosines as atoms of length 1, one a row: of signals, or products of them for patches.

    Parameters
    ----------
    shape : int or sequence of int
        The length of signals, or height and width of patches, whose pixels are in rows.
    n_frequencies : int, optional
        Along each side; by default as many as it has pixels, which makes atoms orthonormal (the discrete
        cosine transform). More of them are overcomplete: all but the constant one have mean 0. Along a
        side of 1 pixel there is the constant one alone.

    Examples
    --------
    >>> from garrote.coding import dct_dictionary
    >>> dct_dictionary((8, 8)).shape, dct_dictionary((8, 8), 11).shape
    ((64, 64), (121, 64))
    """
    sides = (shape,) if isinstance(shape, int) else tuple(shape)
    if not sides:
        raise ValueError(
            "shape is empty: give the length of signals, or height and width of patches"
        )
    for side in sides:
        check_count("shape", side, 1)
    if n_frequencies is not None:
        check_count("n_frequencies", n_frequencies, 1)
    atoms: Floats = np.ones((1, 1))
    for side in sides:
        atoms = np.asarray(np.kron(atoms, _cosines(side, n_frequencies or side)), np.float64)
    return atoms.reshape(-1, math.prod(sides))


def _cosines(length: int, count: int) -> Floats:
    """Return cosines of rising frequency, of length 1."""
    if length == 1:  # where nothing can vary
        return np.ones((1, 1))
    places, frequencies = np.arange(length) + 0.5, np.arange(count)[:, None]
    waves = np.cos(np.pi * frequencies * places / max(count, length))
    if count > length:
        waves[1:] -= waves[1:].mean(axis=1, keepdims=True)
    return np.asarray(waves / np.linalg.norm(waves, axis=1, keepdims=True))
