"""Ways to find sparse factors of a matrix with gaps: what they are given, remember and hand back."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.coding.incomplete.signals import Incomplete
from garrote.coding.record import LearningRecord
from garrote.settings import Settings, is_number
from garrote.solvers.coding.code_sums import CodeSums
from garrote.solvers.coding.factor_moments import (
    Factors,
    Side,
)


class Work(NamedTuple):
    """Signals with weights, when to stop, random numbers, and whom to tell of rounds."""

    signals: Incomplete
    weights: Floats
    atoms: Floats | None
    components: int
    max_rounds: int
    tol: float
    rng: np.random.Generator
    report: Callable[[int, int], None]

    def random_atoms(self) -> Floats:
        """Return those given to begin with, or random directions of length 1."""
        if self.atoms is not None:
            return self.atoms.copy()
        drawn = self.rng.standard_normal((self.components, self.signals.values.shape[1]))
        return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


class Remembered(NamedTuple):
    """What is known of earlier signals: sums over their codes, and in how many parts they came."""

    sums: CodeSums
    parts: int

    def faded(self, forgetting: float) -> CodeSums:
        """Return the sums as they count beside one more part."""
        return self.sums.times((self.parts / (self.parts + 1)) ** forgetting)


class Before(NamedTuple):
    """Where to go on: components, the numbers that were learned with them, what is remembered."""

    components: Side
    of_codes: Floats
    noise: float
    memory: Remembered


class Factorised(NamedTuple):
    """Means of atoms and codes, the record, whether it has settled, sums; perhaps factors."""

    atoms: Floats
    codes: Floats
    record: LearningRecord
    settled: bool
    memory: Remembered
    factors: Factors | None = None


@dataclass(frozen=True)
class FactorisingMethod(Settings):
    """How a matrix with gaps is taken apart."""

    name: ClassVar[str]
    reference: ClassVar[str]

    def for_signals(self, signals: Incomplete, weights: Floats) -> Any:
        """Return the method with all that was left open decided for some signals."""
        return self

    @abstractmethod
    def factorise(self, work: Work) -> Factorised:
        """Find factors."""

    @abstractmethod
    def begin(self, work: Work) -> Factorised:
        """Learn from the first part of signals."""

    @abstractmethod
    def go_on(self, before: Before, work: Work) -> Factorised:
        """Learn from one more part."""


def check_forgetting(forgetting: Any) -> None:
    """Refuse a way to forget that is none."""
    if not (is_number(forgetting) and forgetting >= 0):
        raise ValueError(f"forgetting must be >= 0, got {forgetting!r}")
