"""Orthogonal matching pursuit of many signals against one signal at a time."""

import numpy as np
import pytest
from sklearn.linear_model import orthogonal_mp

from garrote.greedy import omp_many


def atoms_and_signals(seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((40, 16)) * rng.uniform(0.5, 2, (40, 1)), rng.standard_normal(
        (30, 16)
    )


@pytest.mark.parametrize("size", [0, 1, 5, 16])
def test_codes_are_those_of_scikit_learn(size):
    atoms, signals = atoms_and_signals()
    unit = atoms / np.linalg.norm(atoms, axis=1)[:, None]
    codes = omp_many(unit, signals, size).toarray()
    if size in (1, 5):
        expected = orthogonal_mp(unit.T, signals.T, n_nonzero_coefs=size).T
        np.testing.assert_allclose(codes, expected, atol=1e-10)
    assert (np.count_nonzero(codes, axis=1) == size).all()
    # Lengths of atoms change their coefficients, not who is chosen.
    scaled = omp_many(atoms, signals, size).toarray()
    np.testing.assert_allclose(scaled * np.linalg.norm(atoms, axis=1), codes, atol=1e-9)


def test_signals_end_where_little_enough_is_left():
    atoms, signals = atoms_and_signals(1)
    codes = omp_many(atoms, signals, tol=0.1)
    left = np.sum((signals - codes @ atoms) ** 2, axis=1) / np.sum(signals**2, axis=1)
    assert (left <= 0.1).all()
    fewer = omp_many(atoms, signals, int(np.diff(codes.indptr).max()) - 1, tol=0.1)
    left = np.sum((signals - fewer @ atoms) ** 2, axis=1) / np.sum(signals**2, axis=1)
    assert (left > 0.1).any()


def test_threads_and_parts_give_the_same_codes(monkeypatch):
    atoms, signals = atoms_and_signals()
    whole = omp_many(atoms, signals, 4).toarray()
    monkeypatch.setattr("garrote.solvers.coding.dealing.TOGETHER", 7)
    parts = omp_many(atoms, signals, 4).toarray()
    np.testing.assert_array_equal(omp_many(atoms, signals, 4, n_jobs=2).toarray(), parts)
    np.testing.assert_allclose(parts, whole, atol=1e-12)


def test_copies_zeros_and_silent_signals_are_taken_as_they_are():
    atoms, signals = atoms_and_signals()
    atoms = np.vstack([atoms, atoms[3], np.zeros(16)])
    signals = np.vstack([signals, np.zeros(16), atoms[3]])
    codes = omp_many(atoms, signals, 16).toarray()
    assert not codes[:, -1].any()
    assert not codes[-2].any()
    assert np.count_nonzero(codes[-1]) == 1
    np.testing.assert_allclose(codes @ atoms, signals, atol=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"n_features": 17},
            "n_features must be at most 16, the fewer of atoms and entries, got 17",
        ),
        ({"n_features": -1}, "n_features must be an integer >= 0, got -1"),
        ({"tol": 1.0}, "tol is the share that may be left"),
        ({"signals": np.ones((3, 5))}, "signals have 5 entries each and atoms 16"),
        ({"signals": np.ones(16)}, "signals must be a table that is not empty"),
        ({"dictionary": np.full((4, 16), np.nan)}, "dictionary must be finite, got nan in row 0"),
    ],
)
def test_bad_input_is_refused(change, message):
    atoms, signals = atoms_and_signals()
    with pytest.raises(ValueError, match=message):
        omp_many(**{"dictionary": atoms, "signals": signals, **change})
