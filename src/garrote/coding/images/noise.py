"""How noisy a picture is, from the picture alone."""

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding.images.patches import Patches

# Sides of patches, from the best to the least, and how many patches there are to be for each entry.
_SIDES, _EACH = (8, 6, 4, 3), 4
# Patches from which it is estimated at most.
_MOST = 200_000


def estimate_noise(values: Floats, known: Array | None = None) -> float:
    """Return the standard deviation of white noise in a picture.

    Patches of natural pictures fill a few directions only: in all others there is noise alone, and
    the second moments of patches have equal eigenvalues. Directions of large eigenvalues are left out
    until the mean of the rest is no more than its median.

    Parameters
    ----------
    values : array of shape (height, width, colours)
    known : array of bool of the same shape, optional
        Which pixels are known; patches with others are left out.

    References
    ----------
    Chen, G., Zhu, F. & Heng, P. A. (2015). An efficient statistical method for image noise level
    estimation. ICCV, 477-485.
    """
    known = np.isfinite(values) if known is None else known
    variances = []
    for colour in range(values.shape[2]):
        layer = slice(colour, colour + 1)
        patches = _complete_patches(values[:, :, layer], known[:, :, layer])
        variances.append(
            _common_variance(np.asarray(np.linalg.eigvalsh(np.cov(patches.T)), np.float64))
        )
    return float(np.sqrt(np.mean(variances)))


def _complete_patches(values: Floats, known: Array) -> Floats:
    """Return patches without gaps, as large ones as there are enough of."""
    for side in _SIDES:
        if min(values.shape[:2]) < side:
            continue
        whole = Patches.of(known, (side, side)).windows.all(axis=(2, 3, 4)).ravel()
        inside = np.flatnonzero(whole)
        if len(inside) >= _EACH * side * side:
            step = -(-len(inside) // _MOST)
            return np.asarray(Patches.of(values, (side, side)).some(inside[::step]))
    raise ValueError(
        f"sigma='auto' cannot be estimated from a picture of {values.shape[0]} x {values.shape[1]} "
        f"pixels, {known.mean():.0%} of them known: too few patches are complete; give sigma"
    )


def _common_variance(eigenvalues: Floats) -> float:
    """Return the mean of the smallest eigenvalues, as many as are about equal."""
    descending = np.sort(np.maximum(eigenvalues, 0.0))[::-1]
    for first in range(len(descending)):
        rest = descending[first:]
        if rest.mean() <= np.median(rest):
            return float(rest.mean())
    return float(descending[-1])
