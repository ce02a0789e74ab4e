"""A quadratic function of switches, checked once: its values, and its means over Bernoulli laws."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import entr

from garrote.arrays import Array, Floats
from garrote.binary.couplings import DenseCouplings, SparseCouplings
from garrote.limits.magnitudes import Limit, refuse_large
from garrote.summaries import Shown

# Entries (i, j) and (j, i) that differ by no more than this share of the largest differ by rounding.
_ROUNDING = 1e-10
_ENTRIES = Limit(1e100, "sums of their products overflow")


@dataclass(frozen=True, eq=False, repr=False)
class BinaryProgramme(Shown):
    """The function x'Ax + b'x of switches x_i in {0, 1} (Staines & Barber 2012, Eq. 41).

    If the switches are independent, and on with probabilities theta, its mean is (Eq. 43)

    ::

        E(theta) = sum_{i != j} A_ij theta_i theta_j + sum_i (b_i + A_ii) theta_i

    which is never above the maximum of the function: a bound from below that is exact at the corners.

    Parameters
    ----------
    A : array or SciPy sparse matrix of shape (n, n)
        Symmetric. The diagonal counts like b, because x_i^2 = x_i.
    b : array of shape (n,), optional
        0 by default.

    Examples
    --------
    >>> from garrote.binary import BinaryProgramme
    >>> programme = BinaryProgramme([[0.0, -1.0], [-1.0, 0.0]], [1.0, 1.0])
    >>> programme.value([1, 0]), programme.value([1, 1])
    (1.0, 0.0)
    >>> programme.mean([0.5, 0.5])
    0.5
    """

    A: Any
    b: Any = None

    def __post_init__(self) -> None:
        A = _checked_matrix(self.A)
        size = A.shape[0]
        b = np.zeros(size) if self.b is None else np.asarray(self.b)
        if b.dtype.kind not in "buif" or b.shape != (size,):
            raise ValueError(
                f"b must hold {size} real numbers, one for each row of A, got {b.dtype} of shape "
                f"{b.shape}"
            )
        b = b.astype(np.float64)
        _refuse_not_finite(b, "b")
        refuse_large(b, "b", limit=_ENTRIES, of="entry")
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)

    @property
    def n_switches(self) -> int:
        """How many switches there are."""
        return len(self.b)

    @cached_property
    def single(self) -> Floats:
        """Return what each switch adds on its own: b and the diagonal of A."""
        return np.asarray(self.b + self.A.diagonal())

    @cached_property
    def couplings(self) -> DenseCouplings | SparseCouplings:
        """Return what each pair of switches adds where both are on, twice A off the diagonal."""
        if not issparse(self.A):
            values = self.A + self.A.T
            np.fill_diagonal(values, 0.0)
            return DenseCouplings(np.ascontiguousarray(values))
        rows = self.A.tocoo()
        off = rows.row != rows.col
        pairs = csr_array((rows.data[off], (rows.row[off], rows.col[off])), shape=rows.shape)
        pairs = csr_array(pairs + pairs.T)
        pairs.eliminate_zeros()
        first, other = pairs.indptr.astype(np.int64), pairs.indices.astype(np.int64)
        return SparseCouplings(first, other, pairs.data)

    @cached_property
    def pairs(self) -> tuple[Array, Array, Floats]:
        """Return the coupled pairs i < j and what each adds."""
        if isinstance(self.couplings, DenseCouplings):
            one, other = np.nonzero(np.triu(self.couplings.values, 1))
            return one, other, self.couplings.values[one, other]
        first, other, values = self.couplings
        one = np.repeat(np.arange(self.n_switches), np.diff(first))
        above = one < other
        return one[above], other[above], values[above]

    @cached_property
    def scale(self) -> float:
        """Return the sum of the sizes of all terms, by which rounding is measured."""
        return float(np.abs(self.single).sum() + np.abs(self.pairs[2]).sum())

    @property
    def rounding(self) -> float:
        """Return what sums of all terms may be off by."""
        return float(16.0 * np.finfo(float).eps * (self.n_switches + 1024) * self.scale)

    @cached_property
    def unit(self) -> float:
        """Return a number of which every value is a multiple, or 0 where none is known."""
        terms = np.concatenate([self.single, self.pairs[2]])
        if self.scale > 2.0**53 or (terms != np.rint(terms)).any():
            return 0.0
        return float(np.gcd.reduce(terms.astype(np.int64), initial=0))

    def rounded(self, bound: float) -> float:
        """Return the largest value that the function can have below a bound, where that is known."""
        return self.unit * float(np.floor(bound / self.unit)) if self.unit else float(bound)

    def value(self, x: Any) -> float:
        """Return x'Ax + b'x of switches that are 0 or 1."""
        x = self._vector("x", x)
        if not np.isin(x, (0.0, 1.0)).all():
            raise ValueError("x must hold zeros and ones; the mean over probabilities is `mean`")
        return float(x @ (self.A @ x) + self.b @ x)

    def mean(self, theta: Any) -> float:
        """Return the mean over independent switches with these probabilities (Eq. 43)."""
        theta = self._probabilities(theta)
        return float(self.single @ theta + 0.5 * theta @ self._coupled(theta))

    def slope(self, theta: Any) -> Floats:
        """Return the gradient of the mean: what each switch would add if it were turned on."""
        return np.asarray(self.single + self._coupled(self._probabilities(theta)))

    def free_energy(self, theta: Any, beta: float) -> float:
        """Return the mean of log p(x) - beta f(x) over independent switches (Eq. 46)."""
        theta = self._probabilities(theta)
        entropy = float(entr(theta).sum() + entr(1.0 - theta).sum())
        return -entropy - beta * self.mean(theta)

    def _coupled(self, theta: Floats) -> Floats:
        return np.asarray(2.0 * (self.A @ theta - self.A.diagonal() * theta))

    def _probabilities(self, theta: Any) -> Floats:
        theta = self._vector("theta", theta)
        if not ((theta >= 0.0) & (theta <= 1.0)).all():
            raise ValueError("theta must hold probabilities between 0 and 1")
        return theta

    def _vector(self, name: str, values: Any) -> Floats:
        values = np.asarray(values, dtype=np.float64)
        if values.shape != (self.n_switches,):
            raise ValueError(
                f"{name} must have {self.n_switches} entries, one a switch, got shape {values.shape}"
            )
        return values


def _checked_matrix(A: Any) -> Any:
    """Return a symmetric matrix of finite numbers, dense or by rows; refuse any other."""
    sparse = issparse(A)
    A = csr_array(A) if sparse else np.asarray(A)
    if A.dtype.kind not in "buif":
        raise ValueError(f"A must hold real numbers, got {A.dtype}")
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be square, a row and a column a switch, got shape {A.shape}")
    if not A.shape[0]:
        raise ValueError("A is empty: there must be at least one switch")
    A = A.astype(np.float64)
    if sparse:
        A.sum_duplicates()
    numbers = A.data if sparse else A
    if not np.isfinite(numbers).all():
        at = int(np.argmin(np.isfinite(numbers.ravel())))
        i, j = (A.tocoo().row[at], A.tocoo().col[at]) if sparse else divmod(at, A.shape[1])
        raise ValueError(f"A must be finite, but entry ({i}, {j}) is {A[i, j]}")
    refuse_large(A, "A", limit=_ENTRIES)
    _refuse_asymmetric(A, sparse, _ROUNDING * float(np.abs(numbers).max(initial=0.0)))
    return A


def _refuse_asymmetric(A: Any, sparse: bool, tolerance: float) -> None:
    difference = abs(A - A.T)
    if difference.max() <= tolerance:
        return
    at = int(difference.tocoo().data.argmax() if sparse else difference.argmax())
    whole = difference.tocoo() if sparse else None
    i, j = (whole.row[at], whole.col[at]) if whole is not None else divmod(at, A.shape[1])
    raise ValueError(
        f"A must be symmetric, but entry ({i}, {j}) is {A[i, j]:g} and ({j}, {i}) is {A[j, i]:g}: "
        "give (A + A.T) / 2, by which x'Ax is the same"
    )


def _refuse_not_finite(b: Floats, name: str) -> None:
    if not np.isfinite(b).all():
        at = int(np.argmin(np.isfinite(b)))
        raise ValueError(f"{name} must be finite, but entry {at} is {b[at]}")
