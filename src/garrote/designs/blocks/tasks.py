"""What is done with one block of rows, as functions and objects that can be sent to other processes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Moments


@dataclass(frozen=True)
class Added:
    """A task, added to what it made of the blocks before."""

    task: Callable[..., Any]

    def __call__(self, state: Any, block: Array, *given: Any) -> Any:
        found = self.task(block, *given)
        return found if state is None else state + found


def add(first: Any, second: Any) -> Any:
    """Return the sum of two states."""
    return first + second


def multiply(block: Array, coef: Floats) -> Floats:
    """Return the product with coefficients, one column each."""
    return block.astype(np.float64, copy=False) @ coef


def contract(block: Array, left: Floats) -> Floats:
    """Return the products of the rows with K vectors (rows x K), as K x D."""
    return np.ascontiguousarray(left.T) @ block.astype(np.float64, copy=False)


def less(block: Array, mean: Floats) -> Floats:
    """Return the columns, less their means."""
    return block - mean


def picked(block: Array, wanted: Array) -> Array:
    """Return some of the rows."""
    return block[wanted]


def lengths(block: Array) -> Floats:
    """Return the sum of squares of each row."""
    return np.einsum("ij,ij->i", block, block)


def cross(
    block: Array, mean: Floats, scale: Floats, left: Array, right: Array, weights: Floats
) -> Floats:
    """Return the weighted cross products of two sets of standardised columns."""
    values = (block - mean) / scale
    return values[:, left].T @ (values[:, right] * weights[:, None])


def square(block: Array, mean: Floats, scale: Floats, weights: Floats) -> Floats:
    """Return the weighted cross products of all standardised columns."""
    values = (block - mean) / scale
    values *= np.sqrt(weights)[:, None]
    return values.T @ values


@dataclass(frozen=True)
class Spread:
    """Weight, mean and sum of squares about the mean of every column; the squares in a unit each."""

    weight: float
    mean: Floats
    largest: Floats
    squares: Floats

    def join(self, other: "Spread") -> "Spread":
        """Return the spread of the rows of both."""
        weight = self.weight + other.weight
        change = other.mean - self.mean
        # In units of the largest: squares neither overflow nor vanish.
        largest = np.maximum(np.maximum(self.largest, other.largest), np.abs(change))
        unit = np.where(largest > 0, largest, 1.0)
        squares = self.squares * (self.largest / unit) ** 2
        squares += other.squares * (other.largest / unit) ** 2
        squares += self.weight * (other.weight / weight) * (change / unit) ** 2
        return Spread(weight, self.mean + change * (other.weight / weight), largest, squares)

    def moments(self) -> Moments:
        return Moments(self.mean, self.largest * np.sqrt(self.squares / self.weight))


def measure(state: Spread | None, block: Array, weights: Floats) -> Spread | None:
    """Return the spread of the rows so far; those of weight 0 do not count."""
    used = np.flatnonzero(weights > 0)
    if not len(used):
        return state
    values, weights = block[used].astype(np.float64), weights[used]
    share = weights / weights.sum()
    level = values[0].copy()  # constant columns are so to the last digit
    values -= level
    mean = share @ values
    values -= mean
    rest = share @ values
    values -= rest
    largest = np.maximum(values.max(axis=0), -values.min(axis=0))
    values /= np.where(largest > 0, largest, 1.0)
    found = Spread(float(weights.sum()), level + (mean + rest), largest, weights @ values**2)
    return joined(state, found)


def joined(first: Spread | None, second: Spread | None) -> Any:
    """Return the spread of the rows of both, either of which may have none."""
    if first is None or second is None:
        return second if first is None else first
    return first.join(second)
