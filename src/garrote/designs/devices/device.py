"""A dense matrix on a GPU, or wherever its library keeps it: products there, working sets here.

Vectors travel, columns seldom do. A float32 matrix is multiplied with the two halves of a float64
vector, and what some rows add up to is added up in float64: that costs one pass over X.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design, Moments
from garrote.designs.dense import in_memory_if_small
from garrote.designs.devices.arrays import (
    free_on,
    library_of,
    tensor_on,
    to_device,
    to_host,
)
from garrote.limits.budgets import (
    ENTRIES_IN_CACHE,
    ENTRIES_ON_DEVICE,
    ROWS_IN_SINGLE,
)

# Of the free memory of a device so much may be taken by X: products need room beside it.
_SHARE = 0.8


class DeviceDesign(Design):
    """A matrix on a device in place of X.

    Parameters
    ----------
    X : array of shape (N, D)
        Of PyTorch, CuPy or another library of the array API, float32 or float64: it stays where it is.
        An array of NumPy goes to the ``device``.
    device : str, optional
        What PyTorch calls the device, "cuda" or "cuda:1", say; for an array of NumPy.
    most_bytes : int, optional
        What X may take there; by default 0.8 of what is free. An array that takes more stays in the
        machine's memory, and its columns are sent a block at a time, with a warning that says so.
    precision : {"mixed", "double"}, default="mixed"
        How products with a float32 matrix are added up: some rows at a time in float32, which leaves
        them right to about 1e-7 of the lengths of what is multiplied, or all in float64, which takes
        five to ten times as long. Tolerances below 1e-6 need "double"; float64 matrices always have it.
    """

    def __init__(
        self,
        X: Any,
        device: Any = None,
        *,
        most_bytes: int | None = None,
        precision: str = "mixed",
    ):
        if precision not in ("mixed", "double"):
            raise ValueError(f"precision must be 'mixed' or 'double', got {precision!r}")
        self.precision = precision
        if X.ndim != 2 or 0 in X.shape:
            raise ValueError(
                f"X must have rows and columns, got an array of shape {tuple(X.shape)}"
            )
        rows, columns = X.shape
        self.shape = int(rows), int(columns)
        if isinstance(X, np.ndarray):
            _check_type(X.dtype, X.dtype in (np.float32, np.float64))
            self.dtype, self._like = X.dtype, _named(device, X.dtype)
        else:
            _refuse_device(device, X)
            library = library_of(X)
            _check_type(X.dtype, X.dtype in (library.float32, library.float64))
            self.dtype = np.dtype(np.float32 if X.dtype == library.float32 else np.float64)
            self._like = X[:0, :0]
        self._library = library_of(self._like)
        self.nbytes = self.dtype.itemsize * self.shape[0] * self.shape[1]
        self._values = X
        self.resident = not isinstance(X, np.ndarray)
        if not self.resident:
            self._move_if_there_is_room(most_bytes)

    def _move_if_there_is_room(self, most: int | None) -> None:
        free = free_on(self._like)
        if most is None:
            most = self.nbytes if free is None else int(_SHARE * free)
        self.resident = self.nbytes <= most
        if self.resident:
            self._values = self._sent(self._values)
            return
        warnings.warn(
            f"X takes {self.nbytes / 2**30:.3g} GiB, and {most / 2**30:.3g} GiB may be taken on "
            f"{self._like.device}: its columns are sent there a block at a time, so that every product "
            "takes as long as sending X does",
            UserWarning,
            stacklevel=4,
        )

    @property
    def device(self) -> Any:
        """The device on which products are made."""
        return self._like.device

    def dot(self, columns: Array, coef: Floats) -> Floats:
        """Return X[:, columns] @ coef."""
        columns = np.asarray(columns, dtype=np.intp)
        if self.resident and len(columns) > self.shape[1] // 8:
            everywhere = np.zeros((self.shape[1], coef.shape[1]))
            everywhere[columns] = coef
            return self._fetched(self._multiplied(self._sent(everywhere.T), self._values.T)).T
        product = np.zeros((coef.shape[1], self.shape[0]))
        for part in self._parts(len(columns)):
            block = self._gathered(columns[part])
            product += self._fetched(self._multiplied(self._sent(coef[part].T), block.T))
        return product.T

    def tdot(self, left: Floats) -> Floats:
        """Return left @ X (K x D), of K vectors of length N."""
        sent = self._sent(left)
        if self.resident:
            return self._fetched(self._multiplied(sent, self._values))
        product = np.empty((len(left), self.shape[1]))
        for part in self._parts(self.shape[1]):
            product[:, part] = self._fetched(self._multiplied(sent, self._slice(part)))
        return product

    def tdot_from(self, first: int, block: Floats) -> Floats:
        """Return X[:, first:].T @ block."""
        product = np.empty((self.shape[1] - first, block.shape[1]))
        sent = self._sent(block.T)
        for part in self._parts(self.shape[1] - first):
            there = slice(part.start + first, part.stop + first)
            product[part] = self._fetched(self._multiplied(sent, self._slice(there))).T
        return product

    def take(self, columns: Array, mean: Floats) -> Floats:
        """Return columns as a dense float64 block of their own, less their means."""
        columns = np.asarray(columns, dtype=np.intp)
        block = np.empty((self.shape[0], len(columns)), order="F")
        for part in self._parts(len(columns)):
            some = columns[part]
            np.subtract(self._fetched(self._gathered(some).T).T, mean[some], out=block[:, part])
        return block

    def some_rows(self, rows: Array) -> Floats:
        """Return rows as a dense float64 block."""
        rows = np.asarray(rows, dtype=np.intp)
        if not self.resident:
            return self._values[rows].astype(np.float64)
        return self._fetched(self._library.take(self._values, self._places(rows), axis=0))

    def pick(self, columns: Array) -> "DeviceDesign":
        """Return a design of some of the columns, on the same device."""
        picked = self._gathered(np.asarray(columns, dtype=np.intp))
        return DeviceDesign(picked, precision=self.precision)

    def gram(
        self, left: Array, right: Array, mean: Floats, scale: Floats, weights: Floats
    ) -> Floats:
        """Return the weighted cross products of two sets of standardised columns."""
        block = self._standardised(right, mean, scale) * self._sent(weights[:, None])
        product = np.empty((len(left), len(right)))
        for part in self._parts(len(left)):
            some = self._standardised(left[part], mean, scale)
            product[part] = self._fetched(some.T @ block)
        return product

    def cross_products(self) -> Floats | None:
        """Return X.T @ X; None where that is not one product of float64 numbers."""
        if not self.resident or self.dtype != np.float64:
            return None
        return self._fetched(self._values.T @ self._values)

    def moments(self, weights: Floats) -> Moments:
        """Return the weighted mean and standard deviation of every column."""
        library = self._library
        mean, deviation = np.empty(self.shape[1]), np.empty(self.shape[1])
        share = self._sent((weights / weights.sum())[None, :])
        used = self._places(np.flatnonzero(weights > 0))
        for part in self._parts(self.shape[1]):
            block = library.astype(self._slice(part), library.float64)
            with np.errstate(invalid="ignore"):  # columns that are not finite are refused by name
                middle = share @ block
                block = block - middle
                # In units of the largest one: squares neither overflow nor vanish.
                largest = library.max(library.abs(library.take(block, used, axis=0)), axis=0)
                block = block / library.where(largest > 0, largest, library.ones_like(largest))
                spread = largest * library.sqrt((share @ block**2)[0, :])
            mean[part], deviation[part] = self._fetched(middle[0, :]), self._fetched(spread)
        return Moments(mean, deviation)

    def in_columns(self) -> Design:
        """Return X in the machine's memory where it has few entries: a method goes through columns."""
        return in_memory_if_small(self)

    def _multiplied(self, left: Any, block: Any) -> Any:
        """Return left @ block, left in float64; where X is not finite neither is what comes of it."""
        with np.errstate(invalid="ignore", over="ignore"):
            return self._multiplied_in(left, block)

    def _multiplied_in(self, left: Any, block: Any) -> Any:
        """Return left @ block in the precision asked for."""
        if block.dtype == self._library.float64:
            return left @ block
        return (
            self._in_halves(left, block)
            if self.precision == "mixed"
            else self._in_double(left, block)
        )

    def _in_double(self, left: Any, block: Any) -> Any:
        """Convert some rows of the block at a time, few enough to stay in the device's cache."""
        library = self._library

        def part(rows: slice) -> Any:
            return left[:, rows] @ library.astype(block[rows, :], library.float64)

        return _added_up(part, block.shape[0], max(1, ENTRIES_IN_CACHE // max(1, block.shape[1])))

    def _in_halves(self, left: Any, block: Any) -> Any:
        """Multiply the leading and the trailing digits, and add up a few rows at a time in float32."""
        library = self._library
        # Powers of 2: dividing by them rounds nothing, and what is divided is a float32 number.
        largest = library.max(library.abs(left), axis=1, keepdims=True)
        unit = library.where(largest > 0, largest, library.ones_like(largest))
        unit = 2.0 ** library.ceil(library.log2(unit))
        scaled = left / unit
        high = library.astype(scaled, library.float32)
        low = library.astype(scaled - library.astype(high, library.float64), library.float32)
        halves = library.concat([high, low], axis=0)

        def part(rows: slice) -> Any:
            return library.astype(halves[:, rows] @ block[rows, :], library.float64)

        total = _added_up(part, block.shape[0], ROWS_IN_SINGLE)
        count = left.shape[0]
        return unit * (total[:count, :] + total[count:, :])

    def _standardised(self, columns: Array, mean: Floats, scale: Floats) -> Any:
        """Return columns as float64 numbers on the device, less their means, over their scales."""
        columns = np.asarray(columns, dtype=np.intp)
        block = self._library.astype(self._gathered(columns), self._library.float64)
        return (block - self._sent(mean[None, columns])) / self._sent(scale[None, columns])

    def _gathered(self, columns: Array) -> Any:
        """Return some columns on the device."""
        if not self.resident:
            return self._sent(self._values[:, columns])
        if len(columns) and (np.diff(columns) == 1).all():
            return self._values[:, int(columns[0]) : int(columns[-1]) + 1]
        return self._library.take(self._values, self._places(columns), axis=1)

    def _slice(self, part: slice) -> Any:
        """Return neighbouring columns on the device."""
        block = self._values[:, part]
        return block if self.resident else self._sent(block)

    def _sent(self, values: Array) -> Any:
        return to_device(values, self._like)

    def _places(self, places: Array) -> Any:
        return self._sent(places.astype(np.int64))

    def _fetched(self, values: Any) -> Floats:
        return np.asarray(to_host(values), dtype=np.float64)

    def _parts(self, count: int) -> Iterator[slice]:
        width = max(1, ENTRIES_ON_DEVICE // self.shape[0])
        for start in range(0, count, width):
            yield slice(start, min(start + width, count))


def _added_up(part: Callable[[slice], Any], count: int, step: int) -> Any:
    """Return the sum of what is made of some rows at a time."""
    total = part(slice(0, min(step, count)))
    for start in range(step, count, step):
        total = total + part(slice(start, min(start + step, count)))
    return total


def _named(device: Any, dtype: Any) -> Any:
    if device is None:
        raise ValueError("an array of NumPy needs to be told which device to go to: device='cuda'")
    return tensor_on(device, dtype)


def _refuse_device(device: Any, X: Any) -> None:
    if device is not None and str(device) != str(X.device):
        raise ValueError(
            f"X lies on {X.device} already, and device={device!r} is another one: leave device out, or "
            "move X first"
        )


def _check_type(dtype: Any, known: bool) -> None:
    if not known:
        raise ValueError(f"X must be of float32 or float64 numbers, got {dtype}: convert it first")
