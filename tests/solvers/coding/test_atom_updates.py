"""Atoms for given codes, against plain loops."""

import numpy as np
import scipy.sparse

from garrote.solvers.coding.atom_updates import gather, update_atoms, update_pairs
from reference_coding import best_atoms, ksvd_step, signals_of_few_atoms


def some_codes(seed=0):
    rng = np.random.default_rng(seed)
    atoms, signals = signals_of_few_atoms(40, 12, 8)
    codes = rng.standard_normal((40, 12)) * (rng.random((40, 12)) < 0.3)
    codes[:, 5] = 0.0
    return atoms, signals, codes


def test_atoms_are_the_best_given_all_others():
    atoms, signals, codes = some_codes()
    weights = np.random.default_rng(1).uniform(0, 2, 40)
    inner, outer = gather(scipy.sparse.csr_array(codes), signals, weights)
    root = np.sqrt(weights)[:, None]
    np.testing.assert_allclose(inner, (root * codes).T @ (root * codes), atol=1e-12)
    np.testing.assert_allclose(outer, (root * codes).T @ (root * signals), atol=1e-12)
    new = atoms.copy()
    gained = update_atoms(new, inner, outer, 3)
    np.testing.assert_allclose(new, best_atoms(atoms, root * codes, root * signals, 3), atol=1e-10)
    np.testing.assert_array_equal(new[5], atoms[5])
    before, after = (0.5 * np.sum((root * (signals - codes @ w)) ** 2) for w in (atoms, new))
    np.testing.assert_allclose(gained, before - after, rtol=1e-9)


def test_pairs_are_those_of_the_power_method(monkeypatch):
    monkeypatch.setattr("garrote.solvers.coding.atom_updates._MOST_PRODUCTS", 300)
    atoms, signals, codes = some_codes()
    expected_atoms, expected_codes = ksvd_step(atoms, codes, signals)
    left = signals - codes @ atoms
    found = update_pairs(atoms, scipy.sparse.csr_array(codes), left, np.ones(40))
    np.testing.assert_allclose(atoms, expected_atoms, atol=1e-10)
    np.testing.assert_allclose(found.toarray(), expected_codes, atol=1e-10)
    np.testing.assert_allclose(left, signals - expected_codes @ expected_atoms, atol=1e-10)
