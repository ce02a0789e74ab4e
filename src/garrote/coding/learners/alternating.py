"""Codes given atoms, atoms given codes, in turn: an objective that never rises."""

from dataclasses import dataclass
from typing import ClassVar

from garrote.coding.atoms import replace_unused
from garrote.coding.learners.base import Learned, LearningMethod, Task, see
from garrote.coding.record import LearningRecord
from garrote.settings import check_count, check_positive
from garrote.solvers.coding.atom_updates import update_atoms

# Passes over the atoms in a round at most; one that gains less than this share of those before is last.
_PASSES, _SHARE = 100, 0.02


@dataclass(frozen=True)
class Alternating(LearningMethod):
    """The lasso of every signal and the best atoms for these codes, in turn (analysis and synthesis).

    Neither step can raise the objective, nor does it if atoms that are in no code are replaced.

    Parameters
    ----------
    max_rounds : int, default=100
    tol : float, default=1e-4
        A round by which the objective falls by no more than this share of it is the last.
    """

    max_rounds: int = 100
    tol: float = 1e-4
    name: ClassVar[str] = "alternating"
    reference: ClassVar[str] = "Murphy (2012), section 13.8.1"

    def __post_init__(self) -> None:
        check_count("max_rounds", self.max_rounds, 1)
        check_positive("tol", self.tol)

    def learn(self, task: Task) -> Learned:
        atoms, rounds, replaced, before = task.atoms.copy(), [], 0, float("inf")
        while True:
            seen = see(task.coder, atoms, task.signals, task.weights, task.n_jobs)
            rounds.append(seen.row(0))
            task.report(len(rounds), self.max_rounds + 1)
            settled = before - seen.objective <= self.tol * seen.objective and not replaced
            if settled or len(rounds) > self.max_rounds:
                return Learned(atoms, LearningRecord.of(rounds, True), settled)
            before = seen.objective
            left = seen.left * (task.weights > 0)
            replaced = len(replace_unused(atoms, seen.used, task.coder, task.signals, left))
            rounds[-1] = seen.row(replaced)
            update_atoms(atoms, seen.inner, seen.outer, _PASSES, _SHARE)
