"""In which basis a signal is sparse, and through which rows it is measured, by name or as given."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from garrote.arrays import Array
from garrote.designs.operator import is_operator
from garrote.designs.operators import (
    CosineTransform,
    FourierSamples,
    Identity,
    RandomProjection,
    Rows,
    Steps,
    WaveletTransform,
)
from garrote.designs.operators.wavelets import import_wavelets

# By name, the basis of signals of a shape: products with it are signals, given coefficients.
BASES: dict[str, Callable[[Any], LinearOperator]] = {
    "identity": Identity,
    "cosine": CosineTransform,
    "fourier": lambda shape: FourierSamples(shape).T,
    "steps": Steps,
}
# Measurements by entries that are drawn, and by rows of an orthonormal matrix that are.
PROJECTIONS = ("gaussian", "signs", "sparse")
PARTIAL: dict[str, Callable[[Any], LinearOperator]] = {
    "samples": Identity,
    "fourier": FourierSamples,
    "cosine": lambda shape: CosineTransform(shape).T,
}


def basis_operator(given: Any, shape: tuple[int, ...]) -> LinearOperator:
    """Return the basis that a name, an array or an operator stands for, of signals of a shape."""
    if isinstance(given, str):
        return _named_basis(given, shape)
    return _as_operator(given, "basis", int(np.prod(shape)), 0)


def _named_basis(name: str, shape: tuple[int, ...]) -> LinearOperator:
    if name in BASES:
        return BASES[name](shape)
    try:
        known = import_wavelets().wavelist(kind="discrete")
    except ImportError as error:
        known = []
        if name[:2] in ("db", "sy", "co", "ha", "dm"):
            raise error
    if name not in known:
        raise ValueError(
            f"basis must be one of {tuple(BASES)}, a wavelet ('haar', 'db4', 'sym8', ...), an array or "
            f"an operator, got {name!r}"
        )
    return WaveletTransform(shape, name)


def always_in(basis: Any) -> Array:
    """Return the coefficients that are no part of what is sparse: the level from which steps go."""
    of_steps = isinstance(basis, Steps) or (isinstance(basis, str) and basis == "steps")
    return np.arange(1 if of_steps else 0)


def sensing_operator(
    given: Any, shape: tuple[int, ...], rows: int | None, seed: int
) -> LinearOperator:
    """Return the operator of the measurements that a name, an array or an operator stands for."""
    size = int(np.prod(shape))
    if not isinstance(given, str):
        found = _as_operator(given, "sensing", size, 1)
        if rows is not None and rows != found.shape[0]:
            raise ValueError(
                f"sensing has {found.shape[0]} rows, and n_measurements is {rows}: leave that out"
            )
        return found
    if given not in (*PROJECTIONS, *PARTIAL):
        raise ValueError(
            f"sensing must be one of {(*PROJECTIONS, *PARTIAL, 'adapted')}, an array or an operator, "
            f"got {given!r}"
        )
    if rows is None:
        raise ValueError(f"sensing={given!r} needs n_measurements, how many rows to draw")
    if given in PROJECTIONS:
        return RandomProjection(rows, size, given, random_state=seed)
    if rows > size:
        raise ValueError(
            f"n_measurements is {rows}, and sensing={given!r} has {size} rows to draw from: take fewer"
        )
    places = np.sort(np.random.default_rng(seed).choice(size, rows, replace=False))
    return Rows(size, places) @ PARTIAL[given](shape)


def _as_operator(given: Any, what: str, size: int, axis: int) -> LinearOperator:
    """Return an array or operator with as many rows (axis 0) or columns as a signal has entries."""
    if not is_operator(given):
        if not scipy.sparse.issparse(given):
            given = np.asarray(given, dtype=np.float64)
        if given.ndim != 2:
            raise ValueError(
                f"{what} must be a matrix, an operator or a name, got {given.ndim} axes"
            )
        entries = given.data if scipy.sparse.issparse(given) else given
        if not np.isfinite(entries).all():
            raise ValueError(f"{what} holds numbers that are not finite")
        given = aslinearoperator(given)
    if given.shape[axis] != size:
        of = "rows" if axis == 0 else "columns"
        raise ValueError(
            f"{what} has {given.shape[axis]} {of}, and signals have {size} entries: give as many"
        )
    return given
