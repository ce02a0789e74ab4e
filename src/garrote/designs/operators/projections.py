"""Random projections: measurements that are incoherent with any basis."""

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_random_state

from garrote.arrays import Floats
from garrote.designs.operators.base import Operator, as_shape
from garrote.limits.budgets import BLOCK_BYTES

LAWS = ("gaussian", "signs", "sparse")


class RandomProjection(Operator):
    r"""A matrix of independent random entries of mean 0 and variance 1 / rows.

    Products keep the lengths of sparse signals about as they are (the restricted isometry property)
    once there are some multiple of :math:`k \log(n / k)` rows, for signals of k entries that are not 0.

    Parameters
    ----------
    rows, columns : int
        ``columns`` may be the sides of an image.
    law : {"gaussian", "signs", "sparse"}, default="gaussian"
        Normal entries; :math:`\pm 1 / \sqrt{\mathrm{rows}}`; or entries that are 0 but for a share of
        ``density``, and :math:`\pm 1 / \sqrt{\mathrm{rows} \cdot \mathrm{density}}`.
    density : float, default=1/3
        Of sparse ones.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    matrix : array, or sparse array

    References
    ----------
    Achlioptas (2003), Database-friendly random projections: Johnson-Lindenstrauss with binary coins. J.
    Computer and System Sciences 66, 671-687. Candes & Wakin (2008), An introduction to compressive
    sampling. IEEE Signal Processing Magazine 25 (2), 21-30.

    Examples
    --------
    >>> from garrote.designs.operators import RandomProjection
    >>> R = RandomProjection(20, 100, "signs", random_state=0)
    >>> R.shape, float(abs(R.matrix).max().round(4))
    ((20, 100), 0.2236)
    """

    def __init__(
        self,
        rows: int,
        columns: Any,
        law: str = "gaussian",
        *,
        density: float = 1 / 3,
        random_state: Any = None,
    ):
        (count,), size = as_shape(rows), int(np.prod(as_shape(columns)))
        if law not in LAWS:
            raise ValueError(f"law must be one of {LAWS}, got {law!r}")
        if not 0 < density <= 1:
            raise ValueError(f"density must be above 0 and at most 1, got {density!r}")
        share = density if law == "sparse" else 1.0
        if 8.0 * count * size * (2 * share if law == "sparse" else 1.0) > BLOCK_BYTES:
            raise ValueError(
                f"a random projection of {count} x {size} would take more than {BLOCK_BYTES >> 30} GiB: "
                "take law='sparse' of a small density, or rows of a transform (FourierSamples, Rows), "
                "which take no memory"
            )
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        self.law = law
        super().__init__(count, size)
        if law == "sparse":
            parts = [_sparse_row(rng, size, density) for _ in range(count)]
            matrix: Any = scipy.sparse.csr_array(scipy.sparse.vstack(parts))
            self.matrix = matrix / np.sqrt(count * density)
        elif law == "signs":
            self.matrix = (2.0 * rng.integers(0, 2, (count, size)) - 1.0) / np.sqrt(count)
        else:
            self.matrix = rng.standard_normal((count, size)) / np.sqrt(count)

    def _matmat(self, X: Floats) -> Floats:
        return np.asarray(self.matrix @ X)

    def _rmatmat(self, X: Floats) -> Floats:
        return np.asarray(self.matrix.T @ X)


def _sparse_row(rng: np.random.Generator, size: int, density: float) -> Any:
    places = np.flatnonzero(rng.random(size) < density)
    signs = 2.0 * rng.integers(0, 2, len(places)) - 1.0
    return scipy.sparse.csr_array((signs, places, [0, len(places)]), shape=(1, size))
