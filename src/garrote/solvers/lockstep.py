"""Several solvers in step: the products with X that they wait for are done in one pass over X.

A solver is a generator that yields K vectors (K x N) and is sent back their products with X (K x D).
Folds of a cross-validation differ in weights, centres and scales, but the matrix they are multiplied
with is the same, so one product serves all of them.
"""

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.designs.base import Design

Solver = Generator[Floats, Floats, Any]


class Waiting:
    """A solver that has been run up to the product it waits for.

    ``asked`` are the vectors whose products with X it waits for; None once it has ended, with a
    ``result``.
    """

    def __init__(self, solver: Solver):
        self._solver = solver
        self.asked: Floats | None = None
        self.result: Any = None
        self.go_on(None)

    def go_on(self, product: Floats | None) -> None:
        """Run on with the product, to the next one or to the end."""
        try:
            self.asked = self._solver.send(product)  # type: ignore[arg-type]
        except StopIteration as finished:
            self.asked, self.result = None, finished.value


def finish(solvers: Sequence[Waiting]) -> Generator[Floats, Floats, list[Any]]:
    """Run solvers to their end as if they were one, and return their results."""
    while True:
        asking = [(each, each.asked) for each in solvers if each.asked is not None]
        if not asking:
            return [each.result for each in solvers]
        product = yield np.concatenate([vectors for _, vectors in asking])
        taken = 0
        for each, vectors in asking:
            each.go_on(product[taken : taken + len(vectors)])
            taken += len(vectors)


def run_together(solvers: Sequence[Solver], stored: Design | None) -> list[Any]:
    """Run generators to their end and return their results, sharing each pass over ``stored``."""
    together = Waiting(finish([Waiting(solver) for solver in solvers]))
    while together.asked is not None:
        assert stored is not None
        together.go_on(stored.tdot(together.asked))
    return list(together.result)
