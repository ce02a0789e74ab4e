"""A Gibbs sampler of dictionaries whose number of atoms is not given: rounds over codes and atoms.

Of K atoms, a number that is meant to be more than enough, each is in a signal with a probability pi_k ~
Beta(mass / K, concentration (K - 1) / K). As K grows this is a beta process, in which any finite number
of signals has finitely many of infinitely many atoms (Paisley & Carin 2009; Zhou et al. 2009, 2012).
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.solvers.coding.beta_process_draws import (
    Laws,
    draw_atoms,
    draw_codes,
    draw_lengths,
)
from garrote.solvers.coding.code_sums import CodeSums
from garrote.solvers.coding.dealing import deal, stacked

# Signals coded by one call of a kernel: some milliseconds of work.
_TOGETHER = 1024
# Where chains begin: the probability of an atom, and the precision of the noise.
_FIRST_SHARE, _FIRST_NOISE = 0.1, 1.0
# By how much the precision of the noise may grow while a chain is eased in.
_EASED = 1e4


class Beliefs(NamedTuple):
    """What is believed before any signal: of atoms in signals, and of the two precisions.

    ``slab`` and ``noise`` are shape and rate of the Gamma law of a precision; a ``known`` precision of
    the noise stays as it is.
    """

    mass: float = 1.0
    concentration: float = 1.0
    slab: tuple[float, float] = (1.0, 1.0)
    noise: tuple[float, float] = (1e-6, 1e-6)
    known: float | None = None


class State(NamedTuple):
    """Where a chain is: what all signals share, the code of each, and the squares that codes leave.

    ``kept`` are sums over the codes of earlier signals, which stay as they are.
    """

    laws: Laws
    codes: scipy.sparse.csr_array
    left: float = np.nan
    kept: CodeSums | None = None

    @property
    def used(self) -> Array:
        """In how many signals each atom is, earlier ones included as far as they count."""
        counts = np.bincount(self.codes.indices, minlength=len(self.laws.atoms))
        return counts if self.kept is None else counts + self.kept.inside


def first_laws(atoms: Floats, known: float | None) -> Laws:
    """Return the laws from which a chain begins, of signals of variance 1 in each entry.

    A tenth of atoms is in a signal, and one of length 1 makes it; ``known`` is the noise's precision.
    """
    log_odds = np.full(len(atoms), np.log(_FIRST_SHARE / (1.0 - _FIRST_SHARE)))
    noise = _FIRST_NOISE if known is None else known
    return Laws(atoms.copy(), log_odds, 1.0 / atoms.shape[1], noise)


def eased(state: State, done: float) -> State:
    """Return the state with no more precision of the noise than a share ``done`` of the way allows.

    A chain that begins with little noise takes in atoms for every detail at once, and takes long to find
    that fewer would do. Under much noise few atoms are in use; the others come in as it falls.
    """
    most = _FIRST_NOISE * _EASED**done
    return state._replace(laws=state.laws._replace(noise=min(state.laws.noise, most)))


def without_codes(laws: Laws, count: int, kept: CodeSums | None = None) -> State:
    """Return the state in which no atom is in any of so many signals, beside earlier ones."""
    return State(laws, scipy.sparse.csr_array((count, len(laws.atoms))), kept=kept)


def next_state(
    state: State,
    signals: Floats,
    seen: Array,
    beliefs: Beliefs,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> State:
    """Draw everything once more: codes, atoms, their lengths, probabilities, precisions."""
    codes = next_codes(state.laws, signals, seen, state.codes, rng, n_jobs)
    atoms, by_atom = state.laws.atoms.copy(), codes.tocsc()
    left = what_is_left(signals, seen, codes, atoms)
    kept = state.kept
    draw_atoms(atoms, by_atom, left, seen, state.laws.noise, rng, kept)
    counts = state._replace(codes=codes).used
    of_atom = np.repeat(np.arange(len(atoms)), np.diff(by_atom.indptr))
    squares: Floats = np.bincount(of_atom, by_atom.data**2, len(atoms)).astype(np.float64)
    if kept is not None:
        squares += kept.sizes
    longer = draw_lengths(atoms, counts, squares, state.laws.slab, rng)
    codes.data /= longer[codes.indices]
    squares /= longer**2
    lost = float(np.vdot(left, left))
    n, entries, whole = float(len(signals)), float(seen.sum()), lost
    if kept is not None:
        kept = kept.scaled(1.0 / longer)
        n, entries = n + kept.total, entries + float(kept.numbers[1])
        whole += max(kept.left(atoms), 0.0)
    most = len(atoms)
    first = beliefs.mass / most + counts
    second = beliefs.concentration * (most - 1) / most + n - counts
    with np.errstate(divide="ignore"):  # an atom that is in no signal may have probability 0
        log_odds = np.log(rng.standard_gamma(first)) - np.log(rng.standard_gamma(second))
    slab = draw_precision(beliefs.slab, float(counts.sum()), float(squares.sum()), rng)
    noise = beliefs.known
    if noise is None:
        noise = draw_precision(beliefs.noise, entries, whole, rng)
    return State(Laws(atoms, log_odds, slab, noise), codes, lost, kept)


def next_codes(
    laws: Laws,
    signals: Floats,
    seen: Array,
    codes: scipy.sparse.csr_array,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    rounds: int = 1,
) -> scipy.sparse.csr_array:
    """Draw the codes of all signals given what these share.

    Blocks have random numbers of their own, so that these do not depend on the number of threads.
    """
    starts = range(0, len(signals), _TOGETHER)
    seeds = np.repeat(rng.integers(2**63, size=len(starts)), _TOGETHER)[: len(signals)]

    def part(rows: Floats, shown: Array, before: Any, seed: Array) -> Any:
        now, own = before.toarray(), np.random.default_rng(seed[0])
        for _ in range(rounds):
            draw_codes(laws, rows, shown, now, own)
        return scipy.sparse.csr_array(now)

    parts = deal(signals, part, n_jobs, 0.0, (seen, codes, seeds), _TOGETHER)
    return stacked(parts, len(laws.atoms))


def what_is_left(
    signals: Floats, seen: Array, codes: scipy.sparse.csr_array, atoms: Floats
) -> Floats:
    """Return what codes leave of signals, 0 where an entry was not seen."""
    left = np.empty_like(signals)
    for start in range(0, len(signals), _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        np.subtract(signals[rows], codes[rows] @ atoms, out=left[rows])
        left[rows] *= seen[rows]
    return left


def draw_precision(
    belief: tuple[float, float], count: float, squares: float, rng: np.random.Generator
) -> float:
    """Draw the precision of so many Gaussian numbers of mean 0 and a sum of squares."""
    shape, rate = belief
    return float(rng.standard_gamma(shape + 0.5 * count) / (rate + 0.5 * squares))
