"""K-SVD: pursuits, then every atom together with its codes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse

from garrote.arrays import Floats
from garrote.coding.atoms import of_length_one, replace_unused
from garrote.coding.coders import CodingMethod, PursuitCoding
from garrote.coding.learners.base import Learned, LearningMethod, Seen, Task, summed
from garrote.coding.record import LearningRecord
from garrote.settings import check_count, check_positive
from garrote.solvers.coding.atom_updates import update_pairs
from garrote.solvers.coding.dealing import dense_rows


@dataclass(frozen=True)
class KSVD(LearningMethod):
    """Codes of a few atoms by pursuit; then each atom with its codes, as all others leave them.

    A signal keeps the code that it had where the pursuit finds no better one, so that what is left
    never rises while codes have a number of atoms. Codes of new signals are pursuits.

    Parameters
    ----------
    n_nonzero : int, optional
        Atoms of a signal; by default a tenth of all.
    max_rounds : int, default=50
    tol : float, default=1e-4
        A round by which what is left falls by no more than this share of it is the last.
    error : float, optional
        In place of ``n_nonzero``: what may be left of the squared length of a signal, as noise would
        leave it.
        The objective then is the number of atoms of a signal, and codes are those of the pursuit, new
        in every round: it falls as a rule, but may rise.
    """

    n_nonzero: int | None = None
    max_rounds: int = 50
    tol: float = 1e-4
    error: float | None = None
    name: ClassVar[str] = "ksvd"
    reference: ClassVar[str] = (
        "Aharon, Elad & Bruckstein (2006), K-SVD: an algorithm for designing overcomplete dictionaries "
        "for sparse representation. IEEE Transactions on Signal Processing 54, 4311-4322"
    )

    def __post_init__(self) -> None:
        if self.n_nonzero is not None:
            check_count("n_nonzero", self.n_nonzero, 1)
        if self.error is not None:
            check_positive("error", self.error)
            if self.n_nonzero is not None:
                raise ValueError(
                    f"n_nonzero={self.n_nonzero} and error={self.error} both bound codes: give one"
                )
        check_count("max_rounds", self.max_rounds, 1)
        check_positive("tol", self.tol)

    def coder(self, alpha: float | None, positive: bool) -> CodingMethod:
        if alpha is not None or positive:
            raise ValueError(
                "alpha and positive are of the lasso, which K-SVD does not solve: set n_nonzero of "
                "KSVD, or take method='alternating' or 'online'"
            )
        return PursuitCoding(self.n_nonzero, error=self.error)

    def learn(self, task: Task) -> Learned:
        signals, weights = dense_rows(task.signals, slice(None)), task.weights
        atoms = of_length_one(task.atoms)
        codes = task.coder.code(atoms, signals, task.n_jobs).codes
        seen = summed(codes, 0.0, atoms, signals, weights)
        rounds, settled = [self._row(seen, 0)], False
        while not settled and len(rounds) <= self.max_rounds:
            left = seen.left * (weights > 0)
            replaced = len(replace_unused(atoms, seen.used, task.coder, signals, left))
            rounds[-1] = self._row(seen, replaced)
            codes = update_pairs(atoms, codes, signals - codes @ atoms, weights)
            kept = summed(codes, 0.0, atoms, signals, weights)
            anew = task.coder.code(atoms, signals, task.n_jobs).codes
            codes, before = self._better(codes, kept.left, anew, atoms, signals), rounds[-1][0]
            seen = summed(codes, 0.0, atoms, signals, weights)
            rounds.append(self._row(seen, 0))
            task.report(len(rounds), self.max_rounds + 1)
            settled = before - rounds[-1][0] <= self.tol * before and not replaced
        return Learned(atoms, LearningRecord.of(rounds, True), settled)

    def _row(self, seen: Seen, replaced: int) -> tuple[float, float, float, int]:
        """Return a round of the record, with the objective that there is."""
        objective, left, size, count = seen.row(replaced)
        return objective if self.error is None else size, left, size, count

    def _better(
        self,
        old: scipy.sparse.csr_array,
        left: Floats,
        new: scipy.sparse.csr_array,
        atoms: Floats,
        signals: Floats,
    ) -> scipy.sparse.csr_array:
        """Return for each signal the code that leaves less; the new one where that is no aim."""
        if self.error is not None:
            return new
        rest = signals - new @ atoms
        better = np.einsum("ij,ij->i", rest, rest) < left
        both = scipy.sparse.vstack([old, new], format="csr")
        chosen = np.arange(len(better)) + len(better) * better
        return scipy.sparse.csr_array(both[chosen])
