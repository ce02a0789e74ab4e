"""Several solvers in step: the products with X that they wait for are done in one pass over X.

A solver is a generator that yields rows (K x N) and is sent back rows @ X (K x D). Folds of a
cross-validation differ in weights, centres and scales, but the matrix they are multiplied with is
the same, so one product serves all of them.
"""

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.designs.base import Design

Solver = Generator[Floats, Floats, Any]


def run_together(solvers: Sequence[Solver], stored: Design | None) -> list[Any]:
    """Run generators to their end and return their results, sharing each pass over ``stored``."""
    results: list[Any] = [None] * len(solvers)
    waiting: dict[int, Floats] = {}

    def advance(index: int, reply: Floats | None) -> None:
        try:
            waiting[index] = solvers[index].send(reply)  # type: ignore[arg-type]
        except StopIteration as finished:
            results[index] = finished.value

    for index in range(len(solvers)):
        advance(index, None)
    while waiting:
        assert stored is not None
        asked, waiting = waiting, {}
        product = stored.tdot(np.concatenate(list(asked.values())))
        taken = 0
        for index, rows in asked.items():
            advance(index, product[taken : taken + len(rows)])
            taken += len(rows)
    return results
