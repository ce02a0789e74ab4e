"""Codes of signals with gaps: sweeps over the atoms of each, by the entries that were seen alone.

The lasso, and a spike and slab by mean field whose atoms may be uncertain themselves. Signals and codes
may change places with entries and atoms, so that the same sweeps also find atoms.
"""

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats

# Sweeps of a signal at most, and the steps, relative to a code's unit, at which they end.
_MOST_SWEEPS, _SMALL = 10_000, 1e-8
# Products that one call of a kernel makes: some milliseconds of work.
_MOST_PRODUCTS = 2e7


def lasso_codes_with_gaps(
    atoms: Floats,
    signals: Floats,
    seen: Array,
    price: float,
    codes: Floats,
    most: int = _MOST_SWEEPS,
) -> None:
    """Lower 1/2 |x - z W|^2 + price |z|_1 over seen entries by sweeps over each code, in place.

    Parameters
    ----------
    atoms : array of shape (K, D)
    signals : array of shape (n, D)
        0 where an entry was not seen.
    seen : array of bool of shape (n, D)
    price : float
    codes : array of shape (n, K)
        Where to begin.
    most : int
        Sweeps at most; no sweep raises the objective.
    """
    for some in _blocks(atoms, signals):
        _lasso(atoms, signals[some], seen[some], price, codes[some], most)


@kernel
def _lasso(atoms, signals, seen, price, codes, most):
    """Sweep over the codes of each signal until they settle."""
    count, length = atoms.shape
    some, left, squares = np.empty((count, length)), np.empty(length), np.empty(count)
    for s in range(signals.shape[0]):
        size = _gather(atoms, signals[s], seen[s], codes[s], some, left)
        code = codes[s]
        for k in range(count):
            squares[k] = 0.0
            for j in range(size):
                squares[k] += some[k, j] * some[k, j]
        for _ in range(most):
            moved, largest = 0.0, 0.0
            for k in range(count):
                atom, old, square = some[k], code[k], squares[k]
                if square == 0.0:
                    code[k] = 0.0
                    continue
                pull = old * square
                for j in range(size):
                    pull += atom[j] * left[j]
                new = np.sign(pull) * max(abs(pull) - price, 0.0) / square
                if new != old:
                    for j in range(size):
                        left[j] -= (new - old) * atom[j]
                    code[k] = new
                moved = max(moved, abs(new - old) * np.sqrt(square))
                largest = max(largest, abs(new) * np.sqrt(square))
            if moved <= _SMALL * largest:
                break


def spike_slab_codes_with_gaps(
    atoms: Floats,
    variances: Floats | None,
    signals: Floats,
    seen: Array,
    log_odds: Floats,
    slab: Floats,
    noise: float,
    codes: Floats,
    most: int = _MOST_SWEEPS,
) -> tuple[Floats, Floats]:
    """Let the factors of switches and sizes agree by sweeps over each signal, means in place.

    Parameters
    ----------
    atoms : array of shape (K, D)
        Their means.
    variances : array of shape (K, D) or None
        Of their entries; None where they are known.
    signals : array of shape (n, D)
        0 where an entry was not seen.
    seen : array of bool of shape (n, D)
    log_odds : array of shape (K,)
        That an atom is in.
    slab : array of shape (K,)
        The precision of sizes.
    noise : float
        That of the noise.
    codes : array of shape (n, K)
        Means to begin with.
    most : int
        Sweeps at most.

    Returns
    -------
    probability, spread : array of shape (n, K)
        Of each atom, and the variance of its size where it is in.
    """
    probability, spread_inside = np.empty_like(codes), np.empty_like(codes)
    spread = np.zeros((0, 0)) if variances is None else variances
    for some in _blocks(atoms, signals):
        _agree(
            atoms, spread, signals[some], seen[some], log_odds, slab, noise, codes[some],
            probability[some], spread_inside[some], most,
        )  # fmt: skip
    return probability, spread_inside


@kernel
def _agree(atoms, spread, signals, seen, log_odds, slab, noise, codes, probability, inside, most):
    """Sweep over the factors of each signal until they agree."""
    count, length = atoms.shape
    some, left = np.empty((count, length)), np.empty(length)
    squares, sure = np.empty(count), np.empty(count)
    for s in range(signals.shape[0]):
        size = _gather(atoms, signals[s], seen[s], codes[s], some, left)
        code = codes[s]
        for k in range(count):
            sure[k] = 0.0
            for j in range(size):
                sure[k] += some[k, j] * some[k, j]
            squares[k] = sure[k]
            if spread.shape[0] > 0:
                for j in range(length):
                    squares[k] += spread[k, j] * seen[s, j]
        for _ in range(most):
            moved = 0.0
            for k in range(count):
                atom, old = some[k], code[k]
                pull = old * sure[k]
                for j in range(size):
                    pull += atom[j] * left[j]
                precision = slab[k] + noise * squares[k]
                centre = noise * pull / precision
                gain = 0.5 * np.log(slab[k] / precision) + 0.5 * centre**2 * precision
                odds = log_odds[k] + gain
                sure_of_it = 1.0 / (1.0 + np.exp(-odds)) if odds > -700.0 else 0.0
                new = sure_of_it * centre
                if new != old:
                    for j in range(size):
                        left[j] -= (new - old) * atom[j]
                    code[k] = new
                probability[s, k] = sure_of_it
                inside[s, k] = 1.0 / precision
                moved = max(moved, abs(new - old) * np.sqrt(precision))
            if moved <= _SMALL:
                break


@kernel(inline=True)
def _gather(atoms, signal, seen, code, some, left):
    """Take out the entries of atoms and of what a code leaves that were seen; return how many."""
    size = 0
    for j in range(seen.shape[0]):
        if seen[j]:
            left[size] = signal[j]
            for k in range(atoms.shape[0]):
                some[k, size] = atoms[k, j]
                left[size] -= code[k] * atoms[k, j]
            size += 1
    return size


def _blocks(atoms: Floats, signals: Floats) -> list[slice]:
    """Return parts of the signals that take some milliseconds each."""
    together = max(1, int(_MOST_PRODUCTS / max(20 * atoms.size, 1)))
    return [slice(first, first + together) for first in range(0, len(signals), together)]
