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


class Waiting:
    """A solver that has been run up to the product it waits for.

    ``rows`` are what it has to be sent the product of; None once it has ended, with a ``result``.
    """

    def __init__(self, solver: Solver):
        self._solver = solver
        self.rows: Floats | None = None
        self.result: Any = None
        self.go_on(None)

    def go_on(self, product: Floats | None) -> None:
        """Run on with the product, to the next one or to the end."""
        try:
            self.rows = self._solver.send(product)  # type: ignore[arg-type]
        except StopIteration as finished:
            self.rows, self.result = None, finished.value


def finish(solvers: Sequence[Waiting]) -> Generator[Floats, Floats, list[Any]]:
    """Run solvers to their end as if they were one, and return their results."""
    while True:
        asking = [(each, each.rows) for each in solvers if each.rows is not None]
        if not asking:
            return [each.result for each in solvers]
        product = yield np.concatenate([rows for _, rows in asking])
        taken = 0
        for each, rows in asking:
            each.go_on(product[taken : taken + len(rows)])
            taken += len(rows)


def run_together(solvers: Sequence[Solver], stored: Design | None) -> list[Any]:
    """Run generators to their end and return their results, sharing each pass over ``stored``."""
    together = Waiting(finish([Waiting(solver) for solver in solvers]))
    while together.rows is not None:
        assert stored is not None
        together.go_on(stored.tdot(together.rows))
    return list(together.result)
