"""Draws of dictionaries and codes: chains, what they keep, and signals as their means and deviations."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding.incomplete.signals import Incomplete
from garrote.results.certificates import Certificate, of_draws
from garrote.solvers.coding.beta_process import (
    Beliefs,
    State,
    eased,
    next_codes,
    next_state,
    without_codes,
)
from garrote.solvers.coding.beta_process_draws import Laws
from garrote.solvers.coding.code_sums import CodeSums
from garrote.solvers.diagnostics import diagnose_draws
from garrote.summaries import Shown, Summary, Table

# Rounds of codes before those of the first dictionary count, and for each after it.
_SETTLING, _ROUNDS = 20, 2
# The part of the states before those that count in which noise falls to what it is.
_EASED_IN = 0.6
# Entries of signals whose draws are compared, and signals of which entries are hidden.
_WATCHED, _HIDDEN_SIGNALS, _HIDDEN_SHARE = 300, 200, 0.125
# A Gaussian number is farther than this from its mean in one case of 20.
_BEYOND, _OF_20 = 1.959964, 0.05

EachDraw = Callable[[Floats], None]


@dataclass(frozen=True, repr=False)
class DictionaryDraws(Shown):
    """Draws of what all signals share.

    Attributes
    ----------
    atoms : array of shape (n_kept, n_components, D)
    log_odds : array of shape (n_kept, n_components)
        Of each atom's being in a signal.
    slab_variance, noise_variance : array of shape (n_kept,)
    """

    atoms: Floats
    log_odds: Floats
    slab_variance: Floats
    noise_variance: Floats

    def __len__(self) -> int:
        return len(self.atoms)

    def laws(self, k: int) -> Laws:
        """Return one draw."""
        return Laws(
            self.atoms[k],
            self.log_odds[k],
            1.0 / float(self.slab_variance[k]),
            1.0 / float(self.noise_variance[k]),
        )

    def summary(self) -> Summary:
        """Return how many draws there are, and the noise."""
        noise = np.sqrt(self.noise_variance)
        facts = (
            f"{len(self)} draws of {self.atoms.shape[1]} atoms",
            f"deviation of the noise: {noise.mean():.4g}, {noise.min():.4g} to {noise.max():.4g}",
        )
        return Summary(facts, Table({}))


@dataclass(frozen=True, repr=False)
class Reconstruction(Shown):
    """Whole signals without noise, as the posterior knows them.

    Attributes
    ----------
    mean, deviation : array of shape (n_signals, D)
        Of each entry, whether it was seen or not.
    """

    mean: Floats
    deviation: Floats

    def summary(self) -> Summary:
        """Return how sure signals are."""
        middle, most = np.median(self.deviation), self.deviation.max()
        facts = (
            f"{len(self.mean):,} signals of {self.mean.shape[1]:,} entries",
            f"deviations: {middle:.3g} in the middle, {most:.3g} at most",
        )
        return Summary(facts, Table({}))


class Moments:
    """The means and deviations of arrays that come one after the other."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count, self.mean, self.squares = 0, np.zeros(shape), np.zeros(shape)

    def add(self, values: Floats) -> None:
        """Take one more into account."""
        self.count += 1
        off = values - self.mean
        self.mean += off / self.count
        off *= values - self.mean
        self.squares += off

    def join(self, other: "Moments") -> None:
        """Take all of another one into account."""
        total = self.count + other.count
        apart = other.mean - self.mean
        self.mean += apart * (other.count / total)
        self.squares += other.squares + apart**2 * (self.count * other.count / total)
        self.count = total

    @property
    def deviation(self) -> Floats:
        """The standard deviations; of a single array 0."""
        return np.asarray(np.sqrt(self.squares / max(self.count - 1, 1)))


class Chain(NamedTuple):
    """What one chain leaves: draws, moments of signals, watched numbers, rounds, the last state."""

    draws: list[Laws]
    signals: Moments
    watched: Floats
    rounds: list[tuple[float, float, float, int]]
    used: Array
    last: State

    def known(self, signals: Incomplete) -> tuple[Any, ...]:
        """Return what the next chain goes on from: the last laws, and sums over all codes."""
        laws, codes, _, kept = self.last
        sums = CodeSums.of(codes, *signals, np.ones(len(signals.values)))
        return (*laws, *(sums if kept is None else sums.plus(kept)))


def run_chain(
    state: State,
    signals: Incomplete,
    beliefs: Beliefs,
    burn_in: int,
    steps: int,
    keep: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    report: Callable[[int, int], None],
    each_draw: EachDraw | None,
) -> Chain:
    """Run a chain over signals whose entries have variance 1, and keep one of every ``keep`` states.

    One that goes on from earlier signals knows the noise.
    """
    moments = Moments(signals.values.shape)
    entries = watched_entries(signals.values.size)
    draws, watched, rounds, used = [], [], [], []
    for step in range(-burn_in, steps):
        easing = step < 0 and state.kept is None
        way = (step + burn_in) / (_EASED_IN * burn_in) if easing else 1.0
        state = eased(state, way) if way < 1.0 else state
        state = next_state(state, signals.values, signals.seen, beliefs, rng, n_jobs)
        rounds.append(_round(state, signals))
        report(len(rounds), burn_in + steps)
        if step < 0:
            continue
        whole = state.codes @ state.laws.atoms
        moments.add(whole)
        if each_draw is not None:
            each_draw(whole)
        sizes = np.log([state.laws.noise, state.laws.slab])
        watched.append(np.concatenate([sizes, whole.ravel()[entries]]))
        used.append(np.count_nonzero(state.used > 0.5))
        if step % keep == keep - 1:
            draws.append(state.laws)
    return Chain(draws, moments, np.array(watched), rounds, np.array(used), state)


def watched_entries(size: int) -> Array:
    """Return some entries, evenly spread."""
    return np.unique(np.linspace(0, size - 1, min(size, _WATCHED)).astype(int))


def _round(state: State, signals: Incomplete) -> tuple[float, float, float, int]:
    """Return minus the log likelihood of a signal, what is left, and atoms a signal."""
    noise, n = state.laws.noise, len(signals.values)
    count = float(signals.seen.sum())
    objective = 0.5 * (noise * state.left + count * np.log(2.0 * np.pi / noise)) / n
    whole = float(np.vdot(signals.values, signals.values))
    return objective, state.left / whole if whole else 0.0, len(state.codes.data) / n, 0


def reconstructed(
    draws: DictionaryDraws,
    signals: Incomplete,
    rng: np.random.Generator,
    n_jobs: int | None,
    each_draw: EachDraw | None = None,
) -> Reconstruction:
    """Return signals under dictionaries that were drawn: rounds of codes alone, each from the last."""
    moments = Moments(signals.values.shape)
    codes = without_codes(draws.laws(0), len(signals.values)).codes
    for k in range(len(draws)):
        laws, rounds = draws.laws(k), _ROUNDS if k else _SETTLING
        codes = next_codes(laws, signals.values, signals.seen, codes, rng, n_jobs, rounds)
        whole = codes @ laws.atoms
        moments.add(whole)
        if each_draw is not None:
            each_draw(whole)
    return Reconstruction(moments.mean, moments.deviation)


def certify_draws(
    watched: Floats,
    draws: DictionaryDraws,
    signals: Incomplete,
    rng: np.random.Generator,
    beside: str = "",
) -> Certificate:
    """Say how well draws know signals, and whether deviations are right of entries hidden afresh.

    ``watched`` are numbers along chains, of shape (chains, states, numbers); ``beside`` is said, too.
    """
    error, r_hat = np.nan, np.nan
    if watched.shape[1] >= 4:
        found = diagnose_draws(watched)
        error, r_hat = float(found.error.max()), float(found.split_r_hat.max())
    certificate = of_draws(error, r_hat)
    beyond = _hidden_beyond(draws, signals, rng)
    parts = certificate.parts | {"hidden entries": abs(beyond - _OF_20)}
    said = f"{certificate.meaning}; {beyond:.1%} of hidden entries outside of 95 % intervals"
    said += f"; {beside}" if beside else ""
    return Certificate(certificate.kind, certificate.value, parts, said)


def _hidden_beyond(draws: DictionaryDraws, signals: Incomplete, rng: np.random.Generator) -> float:
    """Return how many entries are outside of their 95 % intervals where these are made without them.

    Some entries of some signals are hidden; the atoms have seen them, the codes have not.
    """
    some = np.flatnonzero(signals.seen.sum(axis=1) > 1)
    if len(some) > _HIDDEN_SIGNALS:
        some = some[np.linspace(0, len(some) - 1, _HIDDEN_SIGNALS).astype(int)]
    values, seen = signals.values[some], np.asarray(signals.seen[some])
    hidden = seen & (rng.random(seen.shape) < _HIDDEN_SHARE)
    hidden &= np.any(seen & ~hidden, axis=1, keepdims=True)
    if not hidden.any():
        return _OF_20
    shown = seen & ~hidden
    found = reconstructed(draws, Incomplete(values * shown, shown), rng, None)
    deviation = np.sqrt(found.deviation**2 + draws.noise_variance.mean())
    outside = np.abs(values - found.mean) > _BEYOND * deviation
    return float(np.sum(outside & hidden) / np.sum(hidden))
