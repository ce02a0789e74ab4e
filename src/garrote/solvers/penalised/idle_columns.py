"""Columns of a working set that have been idle for long, let go of.

Along a path nearly every column looks promising once. A concave penalty keeps few of them, and a working
set that never shrank would come to hold copies of all of X, and the cross products of all its columns.
"""

from typing import Protocol, runtime_checkable

import numpy as np

from garrote.arrays import Array, Floats

# Columns are let go of where the working set holds more than these, and than so many times the needed.
_FEW, _TIMES = 200, 1.5


@runtime_checkable
class Shrinking(Protocol):
    """A loss whose working set can shrink."""

    coef: Floats

    @property
    def columns(self) -> Array:
        """The columns of the working set, in order of their coming."""

    def keep(self, places: Array) -> None:
        """Let go of all columns but those at some places, in ascending order."""


def let_go(smooth: object, needed: Array) -> None:
    """Let go of columns that are 0 and not among the ``needed`` (one truth value a column), if many."""
    if not isinstance(smooth, Shrinking):
        return
    stay = (smooth.coef != 0.0) | needed[smooth.columns]
    if len(stay) > max(_FEW, _TIMES * np.count_nonzero(stay)):
        smooth.keep(np.flatnonzero(stay))
