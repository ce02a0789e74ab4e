"""Codes of a few atoms, taken in one after the other: orthogonal matching pursuit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from garrote.arrays import Floats
from garrote.coding.coders.base import Coded, CodingMethod, of_the_worst
from garrote.results.certificates import SUBSET, Certificate
from garrote.settings import check_count, is_number
from garrote.solvers.greedy.batch import pursue


@dataclass(frozen=True)
class PursuitCoding(CodingMethod):
    """A few atoms a signal, each taken in for what it has in common with what is left.

    Parameters
    ----------
    n_nonzero : int, optional
        Atoms of a signal at most; by default a tenth of all, or what could make up a signal where there
        is a ``tol`` or an ``error``.
    tol : float, optional
        A signal is done once no more than this share of its squared length is left.
    error : float, optional
        A signal is done once the squared length of what is left is no more than this: what noise of a
        known variance would leave.
    choice : {"likeness", "error"}, default="likeness"
        Which atom is taken in: the one that is most alike to what is left, or the one beside which least
        is left ("error": orthogonal least squares, Chen, Billings & Luo 1989). The latter leaves a
        little less, and takes a little longer.
    """

    n_nonzero: int | None = None
    tol: float | None = None
    error: float | None = None
    choice: str = "likeness"
    name: ClassVar[str] = "omp"
    reference: ClassVar[str] = (
        "Rubinstein, Zibulevsky & Elad (2008), Efficient implementation of the K-SVD algorithm using "
        "batch orthogonal matching pursuit. Technion CS-2008-08"
    )

    def __post_init__(self) -> None:
        if self.n_nonzero is not None:
            check_count("n_nonzero", self.n_nonzero, 1)
        if self.tol is not None and not (is_number(self.tol) and 0 <= self.tol < 1):
            raise ValueError(
                f"tol is the share that may be left, from 0 to below 1, got {self.tol!r}"
            )
        if self.error is not None and not (is_number(self.error) and 0 <= self.error < np.inf):
            raise ValueError(f"error is the squared length that may be left, got {self.error!r}")
        if self.choice not in ("likeness", "error"):
            raise ValueError(f"choice must be 'likeness' or 'error', got {self.choice!r}")

    def over(self, atoms: Floats) -> Callable[[Floats], Coded]:
        gram, most = atoms @ atoms.T, self._most(atoms)
        least, error = self.tol or 0.0, self.error or 0.0
        by_error = self.choice == "error"
        return lambda signals: Coded(pursue(gram, atoms, most, least, signals, error, by_error))

    def cost(self, atoms: Floats) -> float:
        return float(atoms.size + len(atoms) * self._most(atoms) ** 2 / 2)

    def _most(self, atoms: Floats) -> int:
        """Return how many atoms a signal may have."""
        most = min(atoms.shape)
        if self.n_nonzero is None:
            open_ended = self.tol is not None or self.error is not None
            return most if open_ended else min(most, max(1, len(atoms) // 10))
        if self.n_nonzero > most:
            raise ValueError(
                f"n_nonzero must be at most {most}, the fewer of atoms and columns, got "
                f"{self.n_nonzero}"
            )
        return int(self.n_nonzero)

    def accuracy(
        self, atoms: Floats, signals: Floats, codes: Floats, probability: Floats | None
    ) -> Floats:
        return normal_equations(atoms, signals, codes)

    def certificate(self, accuracy: Floats) -> Certificate:
        return of_the_worst(SUBSET, "normal equations", accuracy)


def normal_equations(atoms: Floats, signals: Floats, codes: Floats) -> Floats:
    """Return how far each code is from the best one of the same atoms.

    The largest product of one of its atoms with what is left, as a share of the largest product of any
    atom with the signal.
    """
    left = np.abs((signals - codes @ atoms) @ atoms.T) * (codes != 0)
    most = np.abs(signals @ atoms.T).max(axis=1)
    return np.divide(left.max(axis=1), most, out=np.zeros(len(signals)), where=most > 0)
