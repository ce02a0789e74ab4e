"""Draws of codes and atoms under a beta process: every conditional law of a Gibbs sampler.

A signal is x = sum over k of z_k s_k d_k + noise, with switches z_k of probability pi_k, sizes
s_k ~ N(0, 1 / slab), noise ~ N(0, 1 / noise) in every entry that was seen, and atoms d_k of D entries
~ N(0, 1 / D) (Zhou et al. 2012). Given all others a switch is drawn with its size integrated out, the
size then given the switch: chains move faster than where either waits for the other.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import exponential
from garrote.scale_mixtures.log_concave_draws import InverseGaussianFamily, draw
from garrote.solvers.coding.code_sums import CodeSums

# Larger log odds of an atom are as good as this.
_MOST = 300.0
# Products that one call of a kernel makes: some milliseconds of work.
_MOST_PRODUCTS = 2e7


class Laws(NamedTuple):
    """What all signals share: atoms, log odds of each being in, precisions of sizes and of the noise."""

    atoms: Floats
    log_odds: Floats
    slab: float
    noise: float


def draw_codes(
    laws: Laws, signals: Floats, seen: Array, codes: Floats, rng: np.random.Generator
) -> None:
    """Draw the codes of a block of signals anew, one atom after the other, in place.

    Parameters
    ----------
    laws : Laws
    signals : array of shape (n, D)
        0 where an entry was not seen.
    seen : array of bool of shape (n, D)
    codes : array of shape (n, K)
    rng : numpy.random.Generator
    """
    whole = seen.all(axis=1)
    odds = np.exp(np.minimum(laws.log_odds, _MOST))
    if whole.any():
        some = codes[whole]
        pull = (signals[whole] - some @ laws.atoms) @ laws.atoms.T
        _draw_whole(laws.atoms @ laws.atoms.T, odds, laws.slab, laws.noise, pull, some, rng)
        codes[whole] = some
    gaps = np.flatnonzero(~whole)
    if len(gaps):
        _draw_seen(laws.atoms, odds, laws.slab, laws.noise, signals, seen, gaps, codes, rng)


# An atom is in where the probability that neither it is, nor any since the last that was, falls below
# a uniform number: most are not, and ask for no number of their own. ``against`` is 1 by it.


@kernel
def _draw_whole(gram, odds, slab, noise, pull, codes, rng):
    """Draw codes of signals without gaps, by the products of atoms."""
    count = gram.shape[0]
    base, spread, reach = np.empty(count), np.empty(count), np.empty(count)
    for k in range(count):
        spread[k] = 1.0 / (slab + noise * gram[k, k])
        base[k] = odds[k] * np.sqrt(slab * spread[k])
        reach[k] = 0.5 * noise * noise * spread[k]
    for i in range(codes.shape[0]):
        code, left = codes[i], pull[i]
        hurdle, against = rng.random(), 1.0
        for k in range(count):
            old = code[k]
            alone = left[k] + old * gram[k, k]
            against *= 1.0 + base[k] * exponential(reach[k] * alone * alone)
            new = 0.0
            if against * hurdle > 1.0:
                new = noise * alone * spread[k] + np.sqrt(spread[k]) * rng.standard_normal()
                hurdle, against = rng.random(), 1.0
            if new != old:
                code[k] = new
                step, row = new - old, gram[k]
                for j in range(count):
                    left[j] -= step * row[j]


@kernel
def _draw_seen(atoms, odds, slab, noise, signals, seen, rows, codes, rng):
    """Draw codes of signals with gaps, each over the entries of atoms that it shows."""
    count, length = atoms.shape
    # Rounded up, so that loops have no rest.
    wide = (length + 15) // 16 * 16
    some, left, places = np.empty((count, wide)), np.empty(wide), np.empty(length, np.int64)
    for i in rows:
        shown = 0
        for j in range(length):
            if seen[i, j]:
                places[shown] = j
                left[shown] = signals[i, j]
                shown += 1
        size = (shown + 15) // 16 * 16
        left[shown:size] = 0.0
        code = codes[i]
        for k in range(count):
            atom = some[k]
            for j in range(shown):
                atom[j] = atoms[k, places[j]]
            for j in range(shown, size):
                atom[j] = 0.0
            if code[k] != 0.0:
                for j in range(size):
                    left[j] -= code[k] * atom[j]
        hurdle, against = rng.random(), 1.0
        for k in range(count):
            old, atom = code[k], some[k]
            product, square = 0.0, 0.0
            for j in range(size):
                product += atom[j] * left[j]
                square += atom[j] * atom[j]
            precision = slab + noise * square
            mean = noise * (product + old * square) / precision
            gain = exponential(0.5 * mean * mean * precision)
            against *= 1.0 + odds[k] * np.sqrt(slab / precision) * gain
            new = 0.0
            if against * hurdle > 1.0:
                new = mean + rng.standard_normal() / np.sqrt(precision)
                hurdle, against = rng.random(), 1.0
            if new != old:
                code[k] = new
                for j in range(size):
                    left[j] -= (new - old) * atom[j]


def draw_atoms(
    atoms: Floats,
    codes: scipy.sparse.csc_array,
    left: Floats,
    seen: Array,
    noise: float,
    rng: np.random.Generator,
    kept: CodeSums | None = None,
) -> None:
    """Draw every atom given all others and the codes; atoms and what is left change in place.

    Parameters
    ----------
    atoms : array of shape (K, D)
    codes : sparse array of shape (N, K)
    left : array of shape (N, D)
        What codes leave of signals, 0 where an entry was not seen.
    seen : array of bool of shape (N, D)
    noise : float
        The precision of the noise.
    rng : numpy.random.Generator
    kept : CodeSums, optional
        Of signals whose codes are given, too.
    """
    ends, whole = codes.indptr, bool(seen.all())
    inner, outer = np.zeros((0, 0, 0)), np.zeros((0, 0))
    if kept is not None:
        inner, outer = kept.inner, kept.outer
    cost = np.cumsum(np.diff(ends) * (left.shape[1] * 4.0))
    cuts = np.searchsorted(cost, np.arange(_MOST_PRODUCTS, cost[-1], _MOST_PRODUCTS)) + 1
    for some in np.split(np.arange(len(atoms)), np.unique(cuts)):
        if len(some):
            span = some[0], some[-1] + 1
            _draw_atoms(
                atoms, codes.data, codes.indices, ends, left, seen, whole, inner, outer, noise,
                *span, rng,
            )  # fmt: skip


@kernel
def _draw_atoms(
    atoms, values, rows, ends, left, seen, whole, inner, outer, noise, first, last, rng
):
    """Draw some atoms."""
    length = atoms.shape[1]
    product, square = np.empty(length), np.empty(length)
    for k in range(first, last):
        product[:] = 0.0
        square[:] = 0.0
        for p in range(ends[k], ends[k + 1]):
            row, size = left[rows[p]], values[p]
            for j in range(length):
                product[j] += size * row[j]
            if whole:
                square[0] += size * size
            else:
                shown = seen[rows[p]]
                for j in range(length):
                    square[j] += size * size * shown[j]
        if whole:
            square[:] = square[0]
        if inner.shape[0] > 0:
            _add_kept(atoms, inner, outer, k, product, square)
        for j in range(length):
            precision = length + noise * square[j]
            mean = noise * (product[j] + square[j] * atoms[k, j]) / precision
            new = mean + rng.standard_normal() / np.sqrt(precision)
            # What changes.
            product[j] = new - atoms[k, j]
            atoms[k, j] = new
        for p in range(ends[k], ends[k + 1]):
            row, size, shown = left[rows[p]], values[p], seen[rows[p]]
            if whole:
                for j in range(length):
                    row[j] -= size * product[j]
            else:
                for j in range(length):
                    row[j] -= size * product[j] * shown[j]


@kernel
def _add_kept(atoms, inner, outer, k, product, square):
    """Add what an atom has to do with signals of which sums are left."""
    own = 1 if inner.shape[0] > 1 else 0
    for j in range(atoms.shape[1]):
        products = inner[own * j, k]
        product[j] += outer[k, j]
        for i in range(atoms.shape[0]):
            product[j] -= products[i] * atoms[i, j]
        square[j] += products[k]


def draw_lengths(
    atoms: Floats, counts: Array, squares: Floats, slab: float, rng: np.random.Generator
) -> Floats:
    """Draw how long atoms are while their codes become as much smaller, in place; return by how much.

    A factor c of an atom and 1 / c of its codes change no product of the two: what is known of c is what
    the laws of both say, and c^2 is generalised inverse Gaussian (Liu & Wu 1999 have such moves). Given
    its many codes an atom's length moves little in a round, and given the atom so do they.

    Parameters
    ----------
    atoms : array of shape (K, D)
    counts : array of int of shape (K,)
        In how many codes each atom is.
    squares : array of shape (K,)
        The sum of the squares of these.
    slab : float
        The precision of sizes.
    rng : numpy.random.Generator
    """
    width = atoms.shape[1]
    factor = np.ones(len(atoms))
    long = width * np.sum(atoms**2, axis=1)
    for count in np.unique(counts[counts > 0]):
        some = np.flatnonzero(counts == count)
        law = InverseGaussianFamily(0.5 * (width - float(count)))
        factor[some] = np.sqrt(draw(law, long[some] * slab * squares[some], rng) / long[some])
    atoms *= factor[:, None]
    return factor
