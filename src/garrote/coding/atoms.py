"""Atoms: given, to begin with, and in place of those that are in no code."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding.coders import CodingMethod
from garrote.coding.signals import squared_norms
from garrote.limits.magnitudes import refuse_large
from garrote.solvers.coding.dealing import deal, dense_rows

# Two directions with such a product are one.
_SAME = 1.0 - 1e-9


def of_length_one(atoms: Floats) -> Floats:
    """Return atoms of length 1; those of zeros stay."""
    length = np.linalg.norm(atoms, axis=1, keepdims=True)
    return np.asarray(np.divide(atoms, length, out=np.zeros_like(atoms), where=length > 0))


def random_atoms(count: int, signals: Any, weights: Floats, rng: np.random.Generator) -> Floats:
    """Return random directions with the second moments of the signals, of length 1.

    They depend on the signals through these moments alone: a weight is as good as repeats.
    """
    moments = second_moments(signals, weights)
    values, vectors = np.linalg.eigh(moments / max(np.trace(moments), 1e-300))
    # Signs of eigenvectors are arbitrary.
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(vectors))])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = of_length_one(rng.standard_normal((count, len(root))) @ root.T)
    # Of silent signals nothing is known.
    silent = ~drawn.any(axis=1)
    drawn[silent] = of_length_one(rng.standard_normal((int(silent.sum()), len(root))))
    return drawn


def second_moments(signals: Any, weights: Floats) -> Floats:
    """Return the sum of the products of each two columns, each signal with its weight."""
    parts = deal(signals, lambda rows, weight: (rows * weight[:, None]).T @ rows, beside=(weights,))
    return np.asarray(np.sum(parts, axis=0))


def replace_unused(
    atoms: Floats,
    used: Array,
    coder: CodingMethod,
    signals: Any,
    left: Floats,
    positive: bool = False,
) -> Array:
    """Put what is left of the worst signals in place of atoms that are in no code, in place.

    Parameters
    ----------
    atoms : array of shape (L, D)
    used : array of bool of shape (L,)
    coder : CodingMethod
    signals : array or sparse matrix of shape (N, D)
    left : array of shape (N,)
        The squared length of what the codes leave of each.
    positive : bool
        Whether atoms are not negative.

    Returns
    -------
    array of int
        The atoms that were replaced: fewer where there are not as many such signals.
    """
    unused = np.flatnonzero(~used)
    if not len(unused):
        return unused
    worst = np.argsort(-left, kind="stable")[: 10 * len(unused)]
    rows = dense_rows(signals, worst[left[worst] > 0])
    rest = rows - coder.code(atoms, rows).codes @ atoms
    rest = np.maximum(rest, 0.0) if positive else rest
    # A shorter rest would not pay for an atom of its own.
    floor = max(1e-12 * float(squared_norms(signals).max(initial=0.0)), 1.001 * coder.price**2)
    rest = of_length_one(rest[np.einsum("ij,ij->i", rest, rest) > floor])
    chosen: list[int] = []
    for k in range(len(rest)):
        if len(chosen) == len(unused):
            break
        if not chosen or np.abs(rest[chosen] @ rest[k]).max() < _SAME:
            chosen.append(k)
    replaced = unused[: len(chosen)]
    atoms[replaced] = rest[chosen]
    return replaced


def atoms_to_begin_with(given: Any, width: int, count: int | None) -> Floats:
    """Return a dictionary to learn from; refuse one of another number of atoms, where that is known."""
    atoms = given_atoms(given, width)
    if count is not None and len(atoms) != count:
        raise ValueError(
            f"the dictionary to begin with has {len(atoms)} atoms, n_components is {count}: give "
            "as many, or leave one of both out"
        )
    return atoms


def given_atoms(given: Any, width: int) -> Floats:
    """Return a dictionary as an array of atoms, one a row; refuse what is none for signals so long."""
    atoms = np.array(given, dtype=np.float64, order="C")
    if atoms.ndim != 2 or not len(atoms):
        raise ValueError(
            f"dictionary must have an atom a row, at least one, got shape {atoms.shape}"
        )
    if atoms.shape[1] != width:
        raise ValueError(
            f"atoms have {atoms.shape[1]} entries and signals {width}: give a dictionary of shape "
            f"(n_atoms, {width})"
        )
    bad = np.argwhere(~np.isfinite(atoms))
    if len(bad):
        raise ValueError(
            f"dictionary must be finite, got {atoms[tuple(bad[0])]} in atom {bad[0][0]}"
        )
    refuse_large(atoms, "dictionary", of="atom")
    return atoms
