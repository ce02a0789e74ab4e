"""A Metropolis walk over models that have to be fitted, none of them twice.

From a model a variable is added, dropped or exchanged for another, and the move taken with Metropolis'
probability. Newcomers are drawn in proportion to fixed rates: what their score statistics promised,
(x_j'u)^2 / x_j'C x_j beyond the model's own columns, along a greedy climb from the empty model, and a
floor for all. A score statistic is what the fit with the variable would about gain, twice, without the
fit. All models that were ever fitted count by their probability, renormalised over them (Murphy 2012,
Eq. 13.31), which is far less noisy than how often the walk was in each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from garrote.arrays import Array, Floats
from garrote.likelihoods.coupled import shared_rows, weighted_curvature, weighted_gradient
from garrote.solvers.losses.newton import stable_inverse
from garrote.solvers.models.fitted_models import FittedModel, Table, fit_over_slabs

# A newcomer's rate is its probability by score plus so many variables' worth of chance for all.
_EXPLORATION = 1.0
# The greedy climb takes so many variables at most.
_MOST_CLIMBED = 50
# What is beyond a model's columns is none of a column below this share of its length.
_DEPENDENT = 1e-9
# Equal parts of a walk whose differences tell its error.
_BATCHES = 20

Members = tuple[int, ...]


@dataclass(frozen=True)
class Walk:
    """What one walk saw: the models it fitted with their log weights, and how often variables were in.

    ``batch_inclusion`` has a row for each of some equal parts of the walk.
    """

    fitted: dict[Members, FittedModel]
    log_weight: dict[Members, float]
    batch_inclusion: Floats


class FittedTarget:
    """Log weights of models, each fitted once; fits start from coefficients nearby.

    A model's weight is likelihood exp(-penalty size) times its prior, by size and by variable; or its
    evidence, summed over ``tables`` with slabs of their own and log weights.
    """

    def __init__(
        self,
        likelihood: Any,
        tables: Sequence[tuple[float, Table]],
        penalty: float,
        by_size: Floats,
        log_odds: Floats,
    ):
        self.likelihood, self.tables = likelihood, tables
        self.table = tables[len(tables) // 2][1]
        self.penalty, self.by_size, self.log_odds = penalty, by_size, log_odds
        self.fitted: dict[Members, FittedModel] = {}
        self.known: dict[Members, float] = {}

    @property
    def count(self) -> int:
        """How many variables there are."""
        return self.table.n_variables

    def log_weight(self, members: Members, near: Members = ()) -> float:
        """Return a model's log weight; a fit starts from that of the model ``near``, if known."""
        if members not in self.known:
            columns = np.array(members, dtype=np.int64)
            model = fit_over_slabs(self.likelihood, self.tables, columns, self._start(near))
            prior = self.by_size[len(members)] + self.log_odds[columns].sum()
            self.fitted[members] = model
            self.known[members] = float(model.log_likelihood + prior - self.penalty * len(members))
        return self.known[members]

    def _start(self, near: Members) -> Floats:
        start = np.zeros(len(self.table.samples.columns))
        start[: self.table.fixed] = self.table.null
        if near in self.fitted and not self.fitted[near].separated:
            start[self._places(near)] = self.fitted[near].coef
        return start

    def _places(self, members: Members) -> Array:
        """Return the columns of a model: the fixed ones, then its variables."""
        return self.table.members(np.array(members, int))

    def gains(self, members: Members) -> Floats:
        """Return by how much each variable would about raise the log weight; -inf for those in."""
        more = self.by_size[len(members) + 1] - self.by_size[len(members)]
        return self._column_gains(members) + self.log_odds + more

    def _column_gains(self, members: Members) -> Floats:
        """Return by how much each column would about raise the evidence; -inf for those in."""
        product, beyond = self._scored(members)
        held = self.table.samples.held[self.table.fixed :]
        gain = np.full(len(beyond), -np.inf)
        free = beyond > 0
        gain[free] = 0.5 * product[free] ** 2 / (beyond + held)[free] - self.penalty
        if self.table.integrated:
            gain[free] -= 0.5 * np.log1p(beyond[free] / held[free])
        return gain

    def scores(self, members: Members) -> Floats:
        """Return every variable's score statistic beside a model; 0 for those in it or dependent."""
        product, beyond = self._scored(members)
        return np.divide(product**2, beyond, out=np.zeros(len(beyond)), where=beyond > 0)

    def _scored(self, members: Members) -> tuple[Floats, Floats]:
        """Return slopes along all variables, and what of their curvature is beyond a model's columns."""
        self.log_weight(members)
        samples, fixed = self.table.samples, self.table.fixed
        places = self._places(members)
        eta = samples.offset + self.fitted[members].coef @ samples.columns[places]
        weights = samples.weights
        row_weights = weighted_curvature(self.likelihood, samples.y, weights, eta)
        slope = weighted_gradient(self.likelihood, samples.y, weights, eta)
        shared = shared_rows(self.likelihood, weights, eta, samples.columns)
        others = samples.columns[fixed:]
        inside = samples.columns[places] * row_weights
        cross = inside @ others.T - shared[places] @ shared[fixed:].T
        length = np.einsum("ji,ji,i->j", others, others, row_weights)
        length -= np.einsum("jm,jm->j", shared[fixed:], shared[fixed:])
        information = inside @ samples.columns[places].T - shared[places] @ shared[places].T
        information += np.diag(samples.held[places])
        beyond = length - np.sum(cross * (stable_inverse(information) @ cross), axis=0)
        beyond[beyond <= _DEPENDENT * length] = 0.0
        beyond[places[fixed:] - fixed] = 0.0
        return others @ slope, beyond


def climb(target: FittedTarget) -> tuple[Members, Floats]:
    """Add the most promising variable while that raises the weight; return the model and rates."""
    members: Members = ()
    D = target.count
    promise = np.zeros(D)
    for _ in range(min(_MOST_CLIMBED, D)):
        gain = target.gains(members)
        promise = np.maximum(promise, expit(gain))
        best = int(np.argmax(gain))
        more = _with(members, best)
        if best in members or target.log_weight(more, members) <= target.log_weight(members):
            break
        members = more
    return members, promise + _EXPLORATION / max(D, 1)


def walk_models(
    target: FittedTarget,
    start: Members,
    rates: Floats,
    rng: np.random.Generator,
    *,
    steps: int,
    burn_in: int,
    report: Callable[[int, int], None] | None = None,
) -> Walk:
    """Walk from a model; see the module on how.

    Parameters
    ----------
    target : FittedTarget
    start : tuple of int
        Variables of the first model, ascending.
    rates : array of shape (D,)
        How often each variable is proposed as a newcomer, relative to the others.
    rng : Generator
    steps, burn_in : int
        States that count for how often variables were in, and states before them.
    report : callable, optional
        Called with how many parts of the walk are done, and of how many.
    """
    state = start
    propose = _Proposals(rates, rng)
    counts = np.zeros((_BATCHES, len(rates)))
    for step in range(-burn_in, steps):
        proposed, log_ratio = propose(state)
        if proposed != state:
            gain = target.log_weight(proposed, state) - target.log_weight(state)
            if np.log(rng.random()) < gain + log_ratio:
                state = proposed
        if step >= 0:
            counts[step * _BATCHES // steps, list(state)] += 1
            if report is not None and (step + 1) * _BATCHES % steps < _BATCHES:
                report((step + 1) * _BATCHES // steps, _BATCHES)
    return Walk(target.fitted, target.known, counts * _BATCHES / steps)


class _Proposals:
    """Neighbours of a model: one variable more, one less, or one for another."""

    def __init__(self, rates: Floats, rng: np.random.Generator):
        self.rates, self.rng = rates, rng
        self.cumulative = np.cumsum(rates)

    def __call__(self, state: Members) -> tuple[Members, float]:
        """Return a neighbour, and the log ratio of the chances of proposing back and forth."""
        kind, size = self.rng.random(), len(state)
        outside = self.cumulative[-1] - self.rates[list(state)].sum()
        full = size == len(self.rates)
        if kind < 1 / 3:
            if full:
                return state, 0.0
            j = self._newcomer(state)
            return _with(state, j), float(np.log(outside / self.rates[j] / (size + 1)))
        if not size:
            return state, 0.0
        i = state[int(self.rng.integers(size))]
        left = tuple(k for k in state if k != i)
        if kind < 2 / 3:
            return left, float(np.log(self.rates[i] / (outside + self.rates[i]) * size))
        if full:
            return state, 0.0
        j = self._newcomer(state)
        back = outside - self.rates[j] + self.rates[i]
        return _with(left, j), float(np.log(self.rates[i] / back * outside / self.rates[j]))

    def _newcomer(self, state: Members) -> int:
        while True:
            place = self.rng.random() * self.cumulative[-1]
            j = min(int(np.searchsorted(self.cumulative, place, side="right")), len(self.rates) - 1)
            if j not in state:
                return j


def _with(state: Members, j: int) -> Members:
    return tuple(sorted((*state, j)))
