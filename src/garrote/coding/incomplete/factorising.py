"""Two ways to find sparse factors of a matrix with gaps: at a price, or with their probabilities."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding.incomplete.signals import Incomplete
from garrote.coding.learners.base import Memory
from garrote.coding.learners.online import UNUSED
from garrote.coding.record import LearningRecord
from garrote.settings import Settings, check_count, check_positive, is_number
from garrote.solvers.coding.bounded_atoms import (
    update_bounded_atoms,
    update_remembered_atoms,
    within_bound,
)
from garrote.solvers.coding.factor_moments import (
    Factors,
    first_factors,
    improved,
    lower_bound,
)
from garrote.solvers.coding.incomplete_codes import lasso_codes_with_gaps

# Passes over atoms in a round.
_PASSES = 3
# Noise begins at this share of the mean square, and falls by this factor while starts are eased in.
_FIRST_NOISE, _EASED = 0.5, 1e-3


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


class Factorised(NamedTuple):
    """Means of atoms and codes, the record, whether it has settled; factors where there are any."""

    atoms: Floats
    codes: Floats
    record: LearningRecord
    settled: bool
    factors: Factors | None = None
    memory: Memory | None = None


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
        if not (is_number(self.forgetting) and self.forgetting >= 0):
            raise ValueError(f"forgetting must be >= 0, got {self.forgetting!r}")

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
                memory = Memory(*_products(codes, values, seen, weights), steps=1)
                record = LearningRecord.of(rounds, True)
                return Factorised(atoms, codes, record, settled, memory=memory)
            before = row[0]
            used = np.asarray(codes[weights > 0].any(axis=0))
            if self._replace_unused(atoms, used, left, weights) is not None:
                rounds[-1], before = (*row[:3], 1), np.inf
            for _ in range(_PASSES):
                update_bounded_atoms(atoms, codes, left, seen, weights, self.gamma)

    def step(
        self, atoms: Floats, memory: Memory | None, signals: Incomplete, weights: Floats
    ) -> Factorised:
        """Learn from one batch: change the atoms, in place."""
        (values, seen), price = signals, self.alpha
        assert price is not None
        codes = np.zeros((len(values), len(atoms)))
        lasso_codes_with_gaps(atoms, values, seen, price, codes)
        left = (values - codes @ atoms) * seen
        inner, outer = _products(codes, values, seen, weights)
        steps = 1
        if memory is not None:
            steps = memory.steps + 1
            kept = (memory.steps / steps) ** self.forgetting
            inner, outer = inner + kept * memory.inner, outer + kept * memory.outer
        use = np.einsum("jkk->k", inner)
        fresh = self._replace_unused(atoms, use > UNUSED * use.mean(), left, weights)
        if fresh is not None:
            inner[:, fresh], inner[:, :, fresh], outer[fresh] = 0.0, 0.0, 0.0
        row = _round(left, codes, price, weights, float(weights @ np.sum(values**2, axis=1)))
        update_remembered_atoms(atoms, inner, outer, self.gamma, _PASSES)
        record = LearningRecord.of([(*row[:3], int(fresh is not None))], False)
        return Factorised(atoms, codes, record, True, memory=Memory(inner, outer, steps))

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


@dataclass(frozen=True)
class SpikeSlabFactors(FactorisingMethod):
    """Both factors with a spike and a slab: every code and loading is in with a probability.

    x = sum over k of z_k w_k + noise, with codes z_k ~ N(0, 1) and loadings ~ N(0, their component's
    variance) where they are not 0. Factors of the posterior are made to agree (mean field), and
    probabilities, variances and noise learned, so that a lower bound of the log probability never falls.
    Components that signals do not ask for become 0.

    Parameters
    ----------
    n_starts : int, default=4
        From each of which all is found; the highest bound counts.
    n_easing : int, default=300
        Rounds in which noise falls to what it is: starts that see everything at once end in sums and
        differences of the factors. There are none where components to begin with are given.
    """

    n_starts: int = 4
    n_easing: int = 300
    name: ClassVar[str] = "spike-slab"
    reference: ClassVar[str] = (
        "Titsias & Lazaro-Gredilla (2011), Spike and slab variational inference for multi-task and "
        "multiple kernel learning. NeurIPS 24, 2339-2347"
    )

    def __post_init__(self) -> None:
        check_count("n_starts", self.n_starts, 1)
        check_count("n_easing", self.n_easing, 0)

    def factorise(self, work: Work) -> Factorised:
        found = [
            self._from_one_start(work) for _ in range(self.n_starts if work.atoms is None else 1)
        ]
        return min(found, key=lambda one: float(one.record.objective[-1]))

    def _from_one_start(self, work: Work) -> Factorised:
        (values, seen), weights = work.signals, work.weights
        square = float(weights @ np.sum(values**2, axis=1) / (weights @ seen.sum(axis=1))) or 1.0
        atoms = work.random_atoms()
        if work.atoms is None:
            atoms *= np.sqrt(square * atoms.shape[1] / len(atoms))
        now = first_factors(atoms, np.zeros((len(values), len(atoms))), square)
        easing = self.n_easing if work.atoms is None else 0
        total = easing + work.max_rounds
        for k in range(easing):
            most = square * _FIRST_NOISE * _EASED ** (k / easing)
            noisy = now.numbers._replace(noise=max(now.numbers.noise, most))
            now = improved(now._replace(numbers=noisy), values, seen, weights, square)
            work.report(k + 1, total)
        rounds: list[tuple[float, float, float, int]] = []
        before, settled = np.inf, False
        while not settled and len(rounds) < work.max_rounds:
            now = improved(now, values, seen, weights, square)
            objective = -lower_bound(now, values, seen, weights) / float(weights.sum())
            rounds.append(self._row(now, objective, work))
            work.report(easing + len(rounds), total)
            settled, before = before - objective <= work.tol * (1.0 + abs(objective)), objective
        record = LearningRecord.of(rounds, True)
        return Factorised(now.loadings.mean, now.codes.mean, record, settled, now)

    @staticmethod
    def _row(now: Factors, objective: float, work: Work) -> tuple[float, float, float, int]:
        """Return a round of the record."""
        (values, seen), weights = work.signals, work.weights
        left = np.sum(((values - now.codes.mean @ now.loadings.mean) * seen) ** 2, axis=1)
        whole = float(weights @ np.sum(values**2, axis=1))
        size = float(weights @ now.codes.probability.sum(axis=1) / weights.sum())
        return objective, float(weights @ left) / whole if whole else 0.0, size, 0


def _products(codes: Floats, values: Floats, seen: Array, weights: Floats) -> tuple[Floats, Floats]:
    """Return products of codes with each other, over signals that show an entry, and with signals.

    Where no entry is missing there is one matrix for all of them.
    """
    weighted = codes * weights[:, None]
    if seen.all():
        return (weighted.T @ codes)[None], weighted.T @ values
    inner = [weighted[shown].T @ codes[shown] for shown in seen.T]
    return np.array(inner), weighted.T @ values


def _round(
    left: Floats, codes: Floats, price: float, weights: Floats, squares: float
) -> tuple[float, float, float, int]:
    """Return the objective of a signal, the share that is left, and atoms a signal."""
    error, total = float(weights @ np.sum(left**2, axis=1)), float(weights.sum())
    cost = price * float(weights @ np.abs(codes).sum(axis=1))
    size = float(weights @ np.count_nonzero(codes, axis=1)) / total
    return (0.5 * error + cost) / total, error / squares if squares else 0.0, size, 0


# By the name that stands for the default settings.
FACTORISERS = {method.name: method for method in (PenalisedFactors, SpikeSlabFactors)}
