"""Cosines and Fourier waves, by fast transforms, of signals, images and beyond."""

from typing import Any

import numpy as np
import scipy.fft

from garrote.arrays import Array, Floats
from garrote.designs.operators.base import Operator, as_places, as_shape


class CosineTransform(Operator):
    r"""The orthonormal basis of cosines: a product is the signal of given coefficients (inverse DCT-II).

    Its column k is :math:`\sqrt{2/n} \cos(\pi (2 i + 1) k / (2 n))` at entry i, that of k = 0 being
    :math:`1/\sqrt n`; in more dimensions, products of these. ``operator.T`` finds the coefficients of a
    signal.

    Parameters
    ----------
    shape : int or tuple of int
        The length of a signal, or the sides of an image, whose entries are taken row by row.

    References
    ----------
    Ahmed, Natarajan & Rao (1974), Discrete cosine transform. IEEE Trans. Computers 23, 90-93.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.designs.operators import CosineTransform
    >>> W = CosineTransform(8)
    >>> W @ np.array([np.sqrt(8.0), 0, 0, 0, 0, 0, 0, 0])
    array([1., 1., 1., 1., 1., 1., 1., 1.])
    """

    def __init__(self, shape: Any):
        self.sides = as_shape(shape)
        size = int(np.prod(self.sides))
        super().__init__(size, size)

    def _matmat(self, X: Floats) -> Floats:
        return self._transformed(scipy.fft.idctn, X)

    def _rmatmat(self, X: Floats) -> Floats:
        return self._transformed(scipy.fft.dctn, X)

    def _transformed(self, transform: Any, block: Floats) -> Floats:
        axes = range(len(self.sides))
        waves = np.reshape(block, (*self.sides, -1))
        return np.reshape(transform(waves, norm="ortho", axes=axes), np.shape(block))


class FourierSamples(Operator):
    r"""Some Fourier coefficients of a real signal: their real parts, then their imaginary ones.

    So a scanner measures an image. The coefficients are those of the unitary transform. Frequencies k
    and -k carry the same numbers, so that one of each pair is enough; parts of it are multiplied by
    :math:`\sqrt 2`, which makes rows orthonormal. Imaginary parts that are always 0 are left out.

    Parameters
    ----------
    shape : int or tuple of int
        The length of a signal, or the sides of an image, whose entries are taken row by row.
    frequencies : array of int, or mask of ``shape``, optional
        Positions in the flattened transform, as ``numpy.fft.fftn`` orders it; one of each pair is used.
        All by default: a square orthogonal matrix, whose transpose is a basis of waves.

    Attributes
    ----------
    frequencies : array of int
        One of each pair, that of the lower position.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.designs.operators import FourierSamples
    >>> R = FourierSamples(8, [0, 2])
    >>> signal = np.arange(8.0)
    >>> bool(np.allclose(R @ signal, R.measurements(np.fft.fft(signal, norm="ortho")[[0, 2]])))
    True
    """

    def __init__(self, shape: Any, frequencies: Any = None):
        self.sides = as_shape(shape)
        size = int(np.prod(self.sides))
        every = np.arange(size)
        given = every if frequencies is None else as_places(_flat(frequencies), size, "frequencies")
        mirrored = np.ravel_multi_index(
            tuple(-place % side for place, side in zip(self._grid(every), self.sides, strict=True)),
            self.sides,
        )
        self.frequencies = np.unique(np.minimum(given, mirrored[given]))
        self._own = mirrored[self.frequencies] == self.frequencies
        self._factor = np.where(self._own, 1.0, np.sqrt(2.0))
        super().__init__(2 * len(self.frequencies) - int(np.count_nonzero(self._own)), size)

    def _grid(self, places: Array) -> tuple[Array, ...]:
        return np.unravel_index(places, self.sides)

    def measurements(self, coefficients: Any) -> Floats:
        """Return complex coefficients at ``frequencies`` as the numbers that this operator gives."""
        values = np.asarray(coefficients)
        if values.shape[0] != len(self.frequencies):
            raise ValueError(
                f"there are {len(self.frequencies)} frequencies (one of each pair), and "
                f"{values.shape[0]} coefficients"
            )
        scaled = values * self._factor.reshape(-1, *(1,) * (values.ndim - 1))
        return np.concatenate([scaled.real, scaled.imag[~self._own]])

    def _matmat(self, X: Floats) -> Floats:
        axes = range(len(self.sides))
        waves = scipy.fft.fftn(np.reshape(X, (*self.sides, -1)), norm="ortho", axes=axes)
        return self.measurements(np.reshape(waves, np.shape(X))[self.frequencies])

    def _rmatmat(self, X: Floats) -> Floats:
        count = len(self.frequencies)
        waves = np.zeros((self.shape[1], X.shape[1]), dtype=np.complex128)
        parts = X[:count].astype(np.complex128)
        parts[~self._own] += 1j * X[count:]
        waves[self.frequencies] = parts * self._factor[:, None]
        axes = range(len(self.sides))
        signals = scipy.fft.ifftn(np.reshape(waves, (*self.sides, -1)), norm="ortho", axes=axes)
        return np.reshape(signals.real, waves.shape)


def _flat(frequencies: Any) -> Array:
    """Return positions as they are, and a mask of an image as one of its entries."""
    found = np.asarray(frequencies)
    return found.ravel() if found.dtype == bool else found
