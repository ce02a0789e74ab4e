"""What a way to learn a dictionary is given, and what it hands back."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.coding.coders import CodingMethod, LassoCoding
from garrote.coding.record import LearningRecord
from garrote.settings import Settings
from garrote.solvers.coding.atom_updates import gather
from garrote.solvers.coding.dealing import deal


class Task(NamedTuple):
    """Signals with weights, atoms to begin with, how codes are found, and whom to tell of rounds."""

    signals: Any
    weights: Floats
    atoms: Floats
    coder: CodingMethod
    rng: np.random.Generator
    n_jobs: int | None
    report: Callable[[int, int], None]


class Memory(NamedTuple):
    """What learning from batches remembers: Z'Z and Z'X of those it saw, and how many they were."""

    inner: Floats
    outer: Floats
    steps: int


class Learned(NamedTuple):
    """Atoms, what became of the objective, and whether it had settled."""

    atoms: Floats
    record: LearningRecord
    settled: bool = True
    memory: Memory | None = None


@dataclass(frozen=True)
class LearningMethod(Settings):
    """How a dictionary is learned."""

    name: ClassVar[str]
    reference: ClassVar[str]
    # Whether the answer is measured on all signals, as learning has seen them all in every round.
    whole: ClassVar[bool] = True

    def coder(self, alpha: float | None, positive: bool) -> CodingMethod:
        """Return how codes are found while learning, and of new signals."""
        return LassoCoding(alpha, positive)

    @abstractmethod
    def learn(self, task: Task) -> Learned:
        """Learn from given signals."""


class Seen(NamedTuple):
    """What the codes of signals, each with its weight, come to: sums over these signals.

    Z'Z, Z'X, the objective, the squared length of what is left and of all, the atoms in codes, the
    weights; and of each signal the squared length of what is left.
    """

    inner: Floats
    outer: Floats
    sums: Floats
    left: Floats

    @property
    def objective(self) -> float:
        """The objective of a signal, on average."""
        return float(self.sums[0] / self.sums[4])

    @property
    def used(self) -> Array:
        """Which atoms are in any code."""
        return np.asarray(np.diag(self.inner) > 0)

    def row(self, replaced: int) -> tuple[float, float, float, int]:
        """Return a round of a record."""
        _, error, squares, size, total = self.sums.tolist()
        return self.objective, error / squares if squares else 0.0, size / total, replaced


def see(
    coder: CodingMethod,
    atoms: Floats,
    signals: Any,
    weights: Floats,
    n_jobs: int | None = None,
    together: int | None = None,
) -> Seen:
    """Code signals over atoms, and sum up."""
    code = coder.over(atoms)

    def part(rows: Floats, weight: Floats) -> Seen:
        return summed(code(rows).codes, coder.price, atoms, rows, weight)

    parts = deal(signals, part, n_jobs, coder.cost(atoms), (weights,), together)
    inner, outer, sums = (sum(each) for each in list(zip(*parts, strict=True))[:3])
    return Seen(inner, outer, sums, np.concatenate([each.left for each in parts]))


def summed(
    codes: scipy.sparse.csr_array, price: float, atoms: Floats, signals: Floats, weights: Floats
) -> Seen:
    """Sum up some signals and their codes."""
    inner, outer = gather(codes, signals, weights)
    rest = signals - codes @ atoms
    left = np.einsum("ij,ij->i", rest, rest)
    error = float(weights @ left)
    squares = float(weights @ np.einsum("ij,ij->i", signals, signals))
    each = np.diff(codes.indptr)
    sizes = np.repeat(weights, each) @ np.abs(codes.data)
    objective = 0.5 * error + price * float(sizes)
    sums = np.array([objective, error, squares, float(weights @ each), float(weights.sum())])
    return Seen(inner, outer, sums, left)
