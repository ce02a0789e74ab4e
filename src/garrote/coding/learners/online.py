"""Signals in batches: what was seen of earlier ones is remembered by two matrices, and fades."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding.atoms import replace_unused
from garrote.coding.coders import CodingMethod
from garrote.coding.learners.base import Learned, LearningMethod, Memory, Seen, Task, see
from garrote.coding.record import LearningRecord
from garrote.settings import check_count, is_number
from garrote.solvers.coding.atom_updates import update_atoms
from garrote.solvers.coding.dealing import dense_rows

# Signals of a batch that one thread codes at a time.
_TOGETHER = 256
# An atom of which less than this share of the mean use is remembered is replaced.
UNUSED = 1e-6


@dataclass(frozen=True)
class Online(LearningMethod):
    """One batch of signals after the other: its codes, then all atoms, for all that is remembered.

    Z'Z and Z'X of earlier batches stand for their signals. Their codes were of earlier atoms, so that
    what is remembered fades: by the factor ((t - 1) / t)^forgetting at the t-th batch.

    Parameters
    ----------
    batch_size : int, default=512
    n_passes : int, default=5
        Over all signals, each time in another order.
    forgetting : float, default=5.0
        0 forgets nothing.
    """

    batch_size: int = 512
    n_passes: int = 5
    forgetting: float = 5.0
    name: ClassVar[str] = "online"
    reference: ClassVar[str] = (
        "Mairal, Bach, Ponce & Sapiro (2010), Online learning for matrix factorization and sparse "
        "coding. JMLR 11, 19-60"
    )
    whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_count("batch_size", self.batch_size, 1)
        check_count("n_passes", self.n_passes, 1)
        if not (is_number(self.forgetting) and self.forgetting >= 0):
            raise ValueError(f"forgetting must be >= 0, got {self.forgetting!r}")

    def learn(self, task: Task) -> Learned:
        atoms, memory, rounds = task.atoms.copy(), None, []
        total = self.n_passes * -(-task.signals.shape[0] // self.batch_size)
        for batch in self._batches(task):
            rows = dense_rows(task.signals, batch)
            memory, seen, replaced = self.step(
                atoms, memory, task.coder, rows, task.weights[batch], task.n_jobs
            )
            rounds.append(seen.row(replaced))
            task.report(len(rounds), total)
        return Learned(atoms, LearningRecord.of(rounds, False), memory=memory)

    def _batches(self, task: Task) -> Iterator[Array]:
        """Yield the rows of each batch that have weight."""
        inside = np.flatnonzero(task.weights > 0)
        for _ in range(self.n_passes):
            order = task.rng.permutation(inside)
            for start in range(0, len(order), self.batch_size):
                yield order[start : start + self.batch_size]

    def step(
        self,
        atoms: Floats,
        memory: Memory | None,
        coder: CodingMethod,
        signals: Any,
        weights: Floats,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> tuple[Memory, Seen, int]:
        """Learn from one batch: change the atoms, in place; return what is remembered and was seen.

        ``positive`` says that atoms are not negative.
        """
        seen = see(coder, atoms, signals, weights, n_jobs, _TOGETHER)
        inner, outer, steps = seen.inner, seen.outer, 1
        if memory is not None:
            steps = memory.steps + 1
            kept = (memory.steps / steps) ** self.forgetting
            inner, outer = inner + kept * memory.inner, outer + kept * memory.outer
        use = np.diag(inner)
        used = use > UNUSED * use.mean()
        fresh = replace_unused(atoms, used, coder, signals, seen.left * (weights > 0), positive)
        inner[fresh], inner[:, fresh], outer[fresh] = 0.0, 0.0, 0.0
        update_atoms(atoms, inner, outer, positive=positive)
        return Memory(inner, outer, steps), seen, len(fresh)
