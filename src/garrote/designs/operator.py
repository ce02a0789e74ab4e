"""A matrix known by its products alone: an operator in the manner of SciPy and PyLops.

Products with all columns are the operator's own. Columns are products with unit vectors, formed a block
at a time and only where a method asks for them.
"""

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design, Moments, is_design
from garrote.designs.dense import DenseDesign
from garrote.limits.budgets import ENTRIES_AT_HAND, ENTRIES_PER_BLOCK
from garrote.limits.memory import free_memory


class OperatorDesign(Design):
    """An operator in place of X.

    Parameters
    ----------
    operator : object
        With ``shape``, ``matvec`` and ``rmatvec``, and ``matmat`` and ``rmatmat`` where it can multiply
        with several vectors at once: a ``scipy.sparse.linalg.LinearOperator``, one of PyLops, or one of
        `garrote.designs.operators`. Its products are real; ``rmatvec`` is the transpose of ``matvec``,
        which is tried on two random vectors.

    Notes
    -----
    Means of columns are one product. Their deviations take min(N, D) products with unit vectors, once a
    set of row weights: whatever has fewer, rows or columns, is formed a block at a time and let go.
    """

    def __init__(self, operator: Any):
        self.operator = operator
        rows, columns = operator.shape
        self.shape = int(rows), int(columns)
        self.nbytes = 8 * (rows + columns)  # what a product takes; entries are nowhere
        self._places: Array | None = None
        _check_products(self)

    def dot(self, columns: Array, coef: Floats) -> Floats:
        """Return X[:, columns] @ coef."""
        places = columns if self._places is None else self._places[columns]
        product = np.empty((self.shape[0], coef.shape[1]))
        for part in self._parts(coef.shape[1]):
            vectors = np.zeros((self.operator.shape[1], part.stop - part.start))
            np.add.at(vectors, places, coef[:, part])
            product[:, part] = _real(_multiply(self.operator, "mat", vectors))
        return product

    def tdot(self, left: Floats) -> Floats:
        """Return left @ X (K x D), of K vectors of length N."""
        product = np.empty((len(left), self.shape[1]))
        for part in self._parts(len(left)):
            vectors = np.ascontiguousarray(left[part].T, dtype=np.float64)
            found = _real(_multiply(self.operator, "rmat", vectors))
            product[part] = (found if self._places is None else found[self._places]).T
        return product

    def tdot_from(self, first: int, block: Floats) -> Floats:
        """Return X[:, first:].T @ block."""
        return np.ascontiguousarray(self.tdot(block.T)[:, first:].T)

    def take(self, columns: Array, mean: Floats) -> Floats:
        """Return columns as a dense float64 block of their own, less their means."""
        columns = np.asarray(columns, dtype=np.intp)
        block = np.empty((self.shape[0], len(columns)), order="F")
        for part in self._parts(len(columns)):
            some = columns[part]
            block[:, part] = self.dot(some, np.eye(len(some))) - mean[some]
        return block

    def some_rows(self, rows: Array) -> Floats:
        """Return rows as a dense float64 block."""
        rows = np.asarray(rows, dtype=np.intp)
        block = np.empty((len(rows), self.shape[1]))
        for part in self._parts(len(rows)):
            units = np.zeros((part.stop - part.start, self.shape[0]))
            units[np.arange(len(units)), rows[part]] = 1.0
            block[part] = self.tdot(units)
        return block

    def pick(self, columns: Array) -> "OperatorDesign":
        """Return a design of some of the columns, none of which is formed."""
        columns = np.asarray(columns, dtype=np.intp)
        picked = copy(self)
        picked._places = columns if self._places is None else self._places[columns]
        picked.shape = self.shape[0], len(columns)
        return picked

    def gram(
        self, left: Array, right: Array, mean: Floats, scale: Floats, weights: Floats
    ) -> Floats:
        """Return the weighted cross products of standardised columns; the fewer ones are formed."""
        if len(left) < len(right):
            return np.ascontiguousarray(self.gram(right, left, mean, scale, weights).T)
        product = np.empty((len(left), len(right)))
        for part in self._parts(len(right)):
            block = self.take(right[part], mean)
            block *= weights[:, None] / scale[right[part]]
            found = self.tdot(block.T)[:, left].T
            found -= np.outer(mean[left], block.sum(axis=0))
            product[:, part] = found / scale[left, None]
        return product

    def moments(self, weights: Floats) -> Moments:
        """Return the weighted mean and standard deviation of every column."""
        rows, columns = self.shape
        if columns <= rows or columns < self.operator.shape[1]:
            return super().moments(weights)
        share = weights / weights.sum()
        mean = self.tdot(share[None, :])[0]
        largest, squares = np.zeros(columns), np.zeros(columns)
        for start in range(0, rows, self._together):
            some = np.arange(start, min(start + self._together, rows))
            some = some[weights[some] > 0]
            block = np.abs(self.some_rows(some) - mean)
            # In units of the largest one so far: squares neither overflow nor vanish.
            most = np.maximum(largest, block.max(axis=0, initial=0.0))
            unit = np.where(most > 0, most, 1.0)
            squares *= (largest / unit) ** 2
            squares += share[some] @ (block / unit) ** 2
            largest = most
        return Moments(mean, largest * np.sqrt(squares))

    def in_columns(self) -> Design:
        """Return X itself where it has few entries: a method is about to go through all columns."""
        entries, free = self.shape[0] * self.shape[1], free_memory()
        if entries > ENTRIES_AT_HAND or (free is not None and 16 * entries > free):
            return self
        if self.shape[0] < self.shape[1]:
            return DenseDesign(np.asfortranarray(self.some_rows(np.arange(self.shape[0]))))
        return DenseDesign(self.take(np.arange(self.shape[1]), np.zeros(self.shape[1])))

    @property
    def _together(self) -> int:
        """How many vectors are multiplied in one go: a call answers in a moment, and needs little."""
        return max(1, ENTRIES_PER_BLOCK // sum(self.operator.shape))

    def _parts(self, count: int) -> Iterator[slice]:
        for start in range(0, count, self._together):
            yield slice(start, min(start + self._together, count))


def is_operator(X: Any) -> bool:
    """Tell whether X is a matrix known by its products, and neither a design nor an array."""
    return hasattr(X, "matvec") and hasattr(X, "rmatvec") and not is_design(X)


def _multiply(operator: Any, kind: str, vectors: Floats) -> Array:
    """Return the product, or that with the transpose (``kind`` "rmat"), of the columns of a block."""
    together = getattr(operator, f"{kind}mat", None)
    if together is not None:
        return np.asarray(together(vectors))
    alone = getattr(operator, f"{kind}vec")
    products = [np.asarray(alone(column)).ravel() for column in vectors.T]
    return np.column_stack(products)


def _real(product: Array) -> Array:
    if np.iscomplexobj(product):
        raise ValueError(
            "the operator in place of X gives complex products, coefficients are real: give its real "
            "and imaginary parts as rows of their own"
        )
    return product


def _check_products(design: OperatorDesign) -> None:
    """Refuse an operator whose two products are not those of one matrix, tried on random vectors."""
    (rows, columns), rng = design.shape, np.random.default_rng(0)
    if not rows or not columns:
        raise ValueError(f"the operator in place of X has shape {design.shape}: it has no entries")
    right, left = rng.standard_normal((columns, 1)), rng.standard_normal((rows, 1))
    products = []
    for name, vector, length in (("matvec", right, rows), ("rmatvec", left, columns)):
        try:
            product = _real(np.asarray(getattr(design.operator, name)(vector[:, 0])).reshape(-1, 1))
        except (NotImplementedError, RecursionError):
            raise ValueError(
                f"the operator in place of X has no {name}: give the products with the matrix (matvec) "
                "and with its transpose (rmatvec)"
            ) from None
        if len(product) != length:
            raise ValueError(
                f"{name} of the operator in place of X returns {len(product)} numbers, where its shape "
                f"{design.shape} asks for {length}"
            )
        if not np.isfinite(product).all():
            raise ValueError(f"{name} of the operator in place of X returns numbers not finite")
        products.append(product)
    unit = max(np.abs(product).max() for product in products) or 1.0  # squares do not overflow
    forward, back = (product / unit for product in products)
    one, other = float((left.T @ forward).item()), float((right.T @ back).item())
    size = np.linalg.norm(left) * np.linalg.norm(forward)
    size += np.linalg.norm(right) * np.linalg.norm(back)
    precision = max(_precision(forward), _precision(back), _precision(design.operator))
    if abs(one - other) > np.sqrt(precision) * size:
        raise ValueError(
            "rmatvec of the operator in place of X is not the transpose of its matvec: v'(Au) = "
            f"{one * unit:.6g} and (A'v)'u = {other * unit:.6g} for random u and v"
        )


def _precision(numbers: Any) -> float:
    """Return the resolution of the numbers of an array or operator; that of doubles if not known."""
    kind = getattr(numbers, "dtype", None)
    known = kind is not None and np.dtype(kind).kind == "f"
    return float(np.finfo(kind if known else np.float64).eps)
