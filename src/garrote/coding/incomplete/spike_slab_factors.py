"""Sparse factors of a matrix with gaps, every entry of both with its probability."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import chi2

from garrote.coding.incomplete.factorising import (
    Before,
    Factorised,
    FactorisingMethod,
    Remembered,
    Work,
    check_forgetting,
)
from garrote.coding.incomplete.mean_field import SlabLaws, coded_by_mean_field
from garrote.coding.incomplete.signals import Incomplete
from garrote.coding.record import LearningRecord
from garrote.settings import check_count
from garrote.solvers.coding.code_sums import CodeSums
from garrote.solvers.coding.factor_moments import (
    SWEEPS,
    Factors,
    Numbers,
    Side,
    bound_of_kept,
    bound_of_signals,
    code_sums,
    coded,
    divergence_of_loadings,
    expected_error_by_sums,
    first_factors,
    improved,
    loaded_by_sums,
    log_odds,
    lower_bound,
    numbers_of,
)

# Noise begins at this share of the mean square, and falls by this factor while starts are eased in.
_FIRST_NOISE, _EASED = 0.5, 1e-3
# What noise leaves of the worst signal is larger in one of so many parts.
_BY_NOISE = 0.01


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
    forgetting : float, default=0.0
        Of `partial_fit`: how what it remembers fades, as in `Online`; 0 lets all signals count alike.
    """

    n_starts: int = 4
    n_easing: int = 300
    forgetting: float = 0.0
    name: ClassVar[str] = "spike-slab"
    reference: ClassVar[str] = (
        "Titsias & Lazaro-Gredilla (2011), Spike and slab variational inference for multi-task and "
        "multiple kernel learning. NeurIPS 24, 2339-2347"
    )

    def __post_init__(self) -> None:
        check_count("n_starts", self.n_starts, 1)
        check_count("n_easing", self.n_easing, 0)
        check_forgetting(self.forgetting)

    def factorise(self, work: Work) -> Factorised:
        found = [
            self._from_one_start(work) for _ in range(self.n_starts if work.atoms is None else 1)
        ]
        return min(found, key=lambda one: float(one.record.objective[-1]))

    def begin(self, work: Work) -> Factorised:
        found = self.factorise(work)
        return found._replace(record=found.record.last())

    def go_on(self, before: Before, work: Work) -> Factorised:
        (values, seen), weights = work.signals, work.weights
        loadings, square = before.components, float(before.memory.sums.mean_square)
        numbers = numbers_of(loadings, before.of_codes, before.noise, square)
        codes = _first_codes(loadings, numbers, work.signals)
        now = Factors(codes, loadings, numbers)
        objective = -bound_of_signals(now, values, seen, weights) / float(weights.sum())
        kept = before.memory.faded(self.forgetting)
        tried = [self._agreed(now, kept, work, square)]
        fresh = _fresh(now, kept, work)
        if fresh is not None:
            tried.append(self._agreed(fresh, kept, work, square))
        best = int(np.argmax([each[1] for each in tried]))
        found, _, settled, sums = tried[best]
        record = LearningRecord.of([(*self._row(now, objective, work)[:3], best)], False)
        memory = Remembered(sums, before.memory.parts + 1)
        return Factorised(found.loadings.mean, found.codes.mean, record, settled, memory, found)

    @staticmethod
    def _agreed(
        now: Factors, kept: CodeSums, work: Work, square: float
    ) -> tuple[Factors, float, bool, CodeSums]:
        """Let the codes of a part and loadings agree, beside codes that stay as they are.

        Returns the factors, the bound but for what stays, whether it has settled, and all sums.
        """
        (values, seen), weights = work.signals, work.weights
        before, settled, sums = -np.inf, False, kept
        bound = before
        for done in range(work.max_rounds):
            codes = coded(now.loadings, now.numbers, values, seen, now.codes.mean, SWEEPS)
            sums = kept.plus(code_sums(codes, values, seen, weights))
            loadings = loaded_by_sums(sums, now.numbers, now.loadings.mean, SWEEPS)
            error = expected_error_by_sums(sums, loadings)
            numbers = numbers_of(loadings, sums.inside / sums.total, error, square)
            now = Factors(codes, loadings, numbers)
            bound = bound_of_signals(now, values, seen, weights) + bound_of_kept(kept, now)
            bound = (bound - divergence_of_loadings(loadings, numbers)) / sums.total
            work.report(done + 1, work.max_rounds)
            settled, before = bound - before <= work.tol * (1.0 + abs(bound)), bound
            if settled:
                break
        return now, bound, settled, sums

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
        memory = Remembered(code_sums(now.codes, values, seen, weights), 1)
        return Factorised(now.loadings.mean, now.codes.mean, record, settled, memory, now)

    @staticmethod
    def _row(now: Factors, objective: float, work: Work) -> tuple[float, float, float, int]:
        """Return a round of the record."""
        (values, seen), weights = work.signals, work.weights
        left = np.sum(((values - now.codes.mean @ now.loadings.mean) * seen) ** 2, axis=1)
        whole = float(weights @ np.sum(values**2, axis=1))
        size = float(weights @ now.codes.probability.sum(axis=1) / weights.sum())
        return objective, float(weights @ left) / whole if whole else 0.0, size, 0


def _first_codes(loadings: Side, numbers: Numbers, signals: Incomplete) -> Side:
    """Return codes of signals of which nothing else is known."""
    ones = np.ones(len(loadings.mean))
    odds, noise = log_odds(numbers.of_codes), 1.0 / numbers.noise
    laws = SlabLaws(loadings.mean, loadings.variance, odds, ones, noise)
    start = coded_by_mean_field(laws, signals)[0].toarray()
    return coded(loadings, numbers, *signals, start, SWEEPS)


def _fresh(now: Factors, kept: CodeSums, work: Work) -> Factors | None:
    """Return factors in which an unused component is what is left of the worst signal.

    There are none if all are in use, or if noise alone would leave as much.
    """
    (values, seen), weights = work.signals, work.weights
    unused = np.flatnonzero(~(now.loadings.probability > 0.5).any(axis=1))
    left = (values - now.codes.mean @ now.loadings.mean) * seen
    lengths = np.sum(left**2, axis=1) * (weights > 0) / now.numbers.noise
    worst = int(lengths.argmax())
    if not len(unused) or chi2.sf(lengths[worst], seen[worst].sum()) > _BY_NOISE / len(values):
        return None
    k = unused[0]
    codes, loadings = (Side(*(each.copy() for each in side)) for side in now[:2])
    loadings.mean[k], loadings.probability[k], loadings.spread[k] = left[worst], 1.0, 0.0
    codes.mean[:, k] = 0.0
    of_codes = now.numbers.of_codes.copy()
    of_codes[k] = 1.0 / np.sqrt(kept.total + weights.sum())
    return Factors(
        codes, loadings,
        numbers_of(loadings, of_codes, now.numbers.noise, kept.mean_square),
    )  # fmt: skip
