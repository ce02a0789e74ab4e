"""Orthogonal wavelets, of signals and images, by PyWavelets."""

from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.designs.operators.base import Operator, as_shape


class WaveletTransform(Operator):
    """An orthonormal basis of wavelets: a product is the signal of given coefficients.

    Signals are continued periodically. ``operator.T`` finds the coefficients of a signal; they are in
    the places of a square as usual, the coarse approximation first. Needs PyWavelets
    (``pip install garrote[images]``).

    Parameters
    ----------
    shape : int or tuple of int
        The length of a signal, or the sides of an image, whose entries are taken row by row. Each is
        halved ``levels`` times without a rest.
    wavelet : str, default="db4"
        An orthogonal wavelet of PyWavelets: "haar", "db2" to "db38", "sym2" to "sym20", "coif1" to
        "coif17", "dmey".
    levels : int, optional
        By default as many as sides can be halved while they are no shorter than the wavelet.

    References
    ----------
    Mallat (1989), A theory for multiresolution signal decomposition: the wavelet representation. IEEE
    Trans. Pattern Analysis and Machine Intelligence 11, 674-693.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.designs.operators import WaveletTransform
    >>> W = WaveletTransform(8, "haar")
    >>> (W.T @ np.ones(8)).round(3)
    array([2.828, 0.   , 0.   , 0.   , 0.   , 0.   , 0.   , 0.   ])
    """

    def __init__(self, shape: Any, wavelet: str = "db4", levels: int | None = None):
        pywt = import_wavelets()
        self.sides, self.wavelet = as_shape(shape), wavelet
        try:
            known = pywt.Wavelet(wavelet)
        except (ValueError, TypeError):
            raise ValueError(
                f"wavelet must be an orthogonal one of PyWavelets, as 'haar' or 'db4', got {wavelet!r}"
            ) from None
        if not known.orthogonal:
            raise ValueError(f"wavelet {wavelet!r} is not orthogonal: take 'db4' or 'sym4', say")
        halvings = min((side & -side).bit_length() - 1 for side in self.sides)
        most = min(halvings, *(pywt.dwt_max_level(side, known.dec_len) for side in self.sides))
        if not most:
            raise ValueError(
                f"sides {self.sides} cannot be halved for {wavelet!r} of length {known.dec_len}: "
                "cut or pad the signal to even sides, best to powers of 2, or take 'haar'"
            )
        self.levels = most if levels is None else levels
        if not isinstance(self.levels, int | np.integer) or not 1 <= self.levels <= halvings:
            raise ValueError(
                f"levels must be 1 to {halvings} for sides {self.sides}, got {levels!r}"
            )
        size = int(np.prod(self.sides))
        super().__init__(size, size)

    @cached_property
    def _settings(self) -> dict[str, Any]:
        axes = tuple(range(len(self.sides)))
        return {"wavelet": self.wavelet, "mode": "periodization", "axes": axes}

    @property
    def _details(self) -> list[str]:
        """Names of the parts of a level: low (a) or high (d) along each axis."""
        return ["".join(letters) for letters in product("ad", repeat=len(self.sides))]

    def _corner(self, name: str, level: int) -> tuple[slice, ...]:
        """Return where the coefficients of a part of a level (0 is the finest) are."""
        halves = [side >> (level + 1) for side in self.sides]
        return tuple(
            slice(half, 2 * half) if letter == "d" else slice(0, half)
            for letter, half in zip(name, halves, strict=True)
        )

    def _matmat(self, X: Floats) -> Floats:
        pywt = import_wavelets()
        coefficients = np.reshape(X, (*self.sides, -1))
        coarse, *details = self._details
        signal = coefficients[self._corner(coarse, self.levels - 1)]
        for level in reversed(range(self.levels)):
            parts = {name: coefficients[self._corner(name, level)] for name in details}
            signal = pywt.idwtn({coarse: signal, **parts}, **self._settings)
        return np.reshape(signal, np.shape(X))

    def _rmatmat(self, X: Floats) -> Floats:
        pywt = import_wavelets()
        signal = np.reshape(np.asarray(X, dtype=np.float64), (*self.sides, -1))
        found = np.empty_like(signal)
        coarse, *details = self._details
        for level in range(self.levels):
            parts = pywt.dwtn(signal, **self._settings)
            for name in details:
                found[self._corner(name, level)] = parts[name]
            signal = parts[coarse]
        found[self._corner(coarse, self.levels - 1)] = signal
        return np.reshape(found, np.shape(X))


def import_wavelets() -> Any:
    """Return PyWavelets, or say how to install it."""
    try:
        import pywt
    except ImportError:
        raise ImportError(
            "wavelets need PyWavelets: pip install garrote[images]; cosines (CosineTransform) do not"
        ) from None
    return pywt
