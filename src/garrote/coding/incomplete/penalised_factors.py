"""Sparse factors of a matrix with gaps at a price."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding.incomplete.factorising import (
    Before,
    Factorised,
    FactorisingMethod,
    Remembered,
    Work,
    check_forgetting,
)
from garrote.coding.incomplete.signals import Incomplete
from garrote.coding.learners.online import UNUSED
from garrote.coding.record import LearningRecord
from garrote.settings import check_positive, is_number
from garrote.solvers.coding.bounded_atoms import (
    update_bounded_atoms,
    update_remembered_atoms,
    within_bound,
)
from garrote.solvers.coding.code_sums import CodeSums
from garrote.solvers.coding.incomplete_codes import lasso_codes_with_gaps

# Passes over atoms in a round.
_PASSES = 3


@dataclass(frozen=True)
class PenalisedFactors(FactorisingMethod):
    """Codes z and atoms w of least 1/2 |x - z W|^2 + alpha |z|_1 with |w|^2 + gamma |w|_1 <= 1.

    Parameters
    ----------
    alpha : float, optional
        The price of codes; by default 0.4 times the root mean square of the entries that were seen.
    gamma : float, default=0.3
        What the sizes of an atom's entries count: the larger, the sparser atoms are; 0 leaves the price
        of codes alone.
    forgetting : float, default=5.0
        Of `partial_fit`: how what it remembers fades, as in `Online`.
    """

    alpha: float | None = None
    gamma: float = 0.3
    forgetting: float = 5.0
    name: ClassVar[str] = "l1"
    reference: ClassVar[str] = (
        "Murphy (2012), equation 13.179; Mairal, Bach, Ponce & Sapiro (2010), Online learning for "
        "matrix factorization and sparse coding. JMLR 11, 19-60"
    )

    def __post_init__(self) -> None:
        if self.alpha is not None:
            check_positive("alpha", self.alpha)
        if not (is_number(self.gamma) and self.gamma >= 0):
            raise ValueError(f"gamma must be >= 0 and finite, got {self.gamma!r}")
        check_forgetting(self.forgetting)

    def for_signals(self, signals: Incomplete, weights: Floats) -> Any:
        if self.alpha is not None:
            return self
        squares = float(weights @ np.sum(signals.values**2, axis=1))
        count = float(weights @ signals.seen.sum(axis=1))
        return replace(self, alpha=0.4 * np.sqrt(squares / count) if squares else 1.0)

    def factorise(self, work: Work) -> Factorised:
        (values, seen), weights, price = work.signals, work.weights, self.alpha
        assert price is not None
        atoms = within_bound(work.random_atoms(), self.gamma)
        codes = np.zeros((len(values), len(atoms)))
        rounds: list[tuple[float, float, float, int]] = []
        before, squares = np.inf, float(weights @ np.sum(values**2, axis=1))
        while True:
            lasso_codes_with_gaps(atoms, values, seen, price, codes)
            left = (values - codes @ atoms) * seen
            row = _round(left, codes, price, weights, squares)
            rounds.append(row)
            work.report(len(rounds), work.max_rounds + 1)
            settled = before - row[0] <= work.tol * row[0]
            if settled or len(rounds) > work.max_rounds:
                memory = Remembered(CodeSums.of(codes, values, seen, weights), 1)
                return Factorised(atoms, codes, LearningRecord.of(rounds, True), settled, memory)
            before = row[0]
            used = np.asarray(codes[weights > 0].any(axis=0))
            if self._replace_unused(atoms, used, left, weights) is not None:
                rounds[-1], before = (*row[:3], 1), np.inf
            for _ in range(_PASSES):
                update_bounded_atoms(atoms, codes, left, seen, weights, self.gamma)

    def begin(self, work: Work) -> Factorised:
        atoms = within_bound(work.random_atoms(), self.gamma)
        return self._step(atoms, None, work.signals, work.weights)

    def go_on(self, before: Before, work: Work) -> Factorised:
        atoms = before.components.mean.copy()
        return self._step(atoms, before.memory, work.signals, work.weights)

    def _step(
        self, atoms: Floats, memory: Remembered | None, signals: Incomplete, weights: Floats
    ) -> Factorised:
        """Learn from one part: change the atoms, in place."""
        (values, seen), price = signals, self.alpha
        assert price is not None
        codes = np.zeros((len(values), len(atoms)))
        lasso_codes_with_gaps(atoms, values, seen, price, codes)
        left = (values - codes @ atoms) * seen
        sums = CodeSums.of(codes, values, seen, weights)
        known = Remembered(sums, 1)
        if memory is not None:
            known = Remembered(sums.plus(memory.faded(self.forgetting)), memory.parts + 1)
        use = known.sums.own.sum(axis=1)
        fresh = self._replace_unused(atoms, use > UNUSED * use.mean(), left, weights)
        if fresh is not None:
            known = known._replace(sums=known.sums.without(fresh))
        row = _round(left, codes, price, weights, float(sums.numbers[0]))
        update_remembered_atoms(atoms, known.sums.inner, known.sums.outer, self.gamma, _PASSES)
        record = LearningRecord.of([(*row[:3], int(fresh is not None))], False)
        return Factorised(atoms, codes, record, True, known)

    def _replace_unused(
        self, atoms: Floats, used: Array, left: Floats, weights: Floats
    ) -> int | None:
        """Put what is left of the worst signal in place of an atom without use, if that pays.

        Returns which atom that was.
        """
        unused = np.flatnonzero(~used)
        if not len(unused):
            return None
        lengths = np.sum(left**2, axis=1) * (weights > 0)
        worst = within_bound(left[[int(lengths.argmax())]], self.gamma)
        assert self.alpha is not None
        if float(np.abs(left[weights > 0] @ worst[0]).max()) <= 1.001 * self.alpha:
            return None
        atoms[unused[0]] = worst[0]
        return int(unused[0])


def _round(
    left: Floats, codes: Floats, price: float, weights: Floats, squares: float
) -> tuple[float, float, float, int]:
    """Return the objective of a signal, the share that is left, and atoms a signal."""
    error, total = float(weights @ np.sum(left**2, axis=1)), float(weights.sum())
    cost = price * float(weights @ np.abs(codes).sum(axis=1))
    size = float(weights @ np.count_nonzero(codes, axis=1)) / total
    return (0.5 * error + cost) / total, error / squares if squares else 0.0, size, 0
