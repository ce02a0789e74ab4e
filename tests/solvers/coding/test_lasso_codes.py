"""The lasso of many signals: exact where atoms are independent, and where they are not."""

import numpy as np
import pytest

from garrote.coding.coders.lasso import lasso_gaps
from garrote.solvers.coding.dealing import deal
from garrote.solvers.coding.lasso_codes import follow_all, lasso_codes
from reference_coding import lasso_code, signals_of_few_atoms


def codes_of(atoms, signals, alpha, positive):
    gram, products = atoms @ atoms.T, signals @ atoms.T
    return lasso_codes(gram, products, alpha, positive, min(atoms.shape)).toarray()


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("alpha", [3.0, 0.3, 0.01])
def test_codes_are_those_of_coordinate_descent(alpha, positive):
    atoms, signals = signals_of_few_atoms(8, 24, 12)
    codes = codes_of(atoms, signals, alpha, positive)
    for signal, code in zip(signals, codes, strict=True):
        np.testing.assert_allclose(code, lasso_code(atoms, signal, alpha, positive), atol=1e-8)
    assert lasso_gaps(atoms, signals, codes, alpha, positive).max() < 1e-12


@pytest.mark.parametrize("positive", [False, True])
def test_copies_opposites_ties_and_zeros_are_answered_as_well(positive):
    atoms, signals = signals_of_few_atoms(20, 20, 8)
    hard = np.vstack(
        [atoms, atoms[:6], -atoms[6:9], np.zeros((2, 8)), np.eye(8), 2 * np.eye(8)[:2]]
    )
    signals = np.vstack([signals, np.zeros((1, 8)), np.round(2 * signals), np.ones((1, 8))])
    for alpha in (1.0, 0.2, 0.02):
        codes = codes_of(hard, signals, alpha, positive)
        assert lasso_gaps(hard, signals, codes, alpha, positive).max() < 1e-9


def test_a_signal_that_cannot_be_followed_is_finished_by_sweeps(monkeypatch):
    atoms, signals = signals_of_few_atoms(10, 24, 12)
    whole = codes_of(atoms, signals, 0.05, False)
    path = follow_all(atoms @ atoms.T, signals @ atoms.T, 0.05, False, 2)
    assert (path.off > 1e-3).any()  # two atoms are not enough
    shorter = lasso_codes(atoms @ atoms.T, signals @ atoms.T, 0.05, False, 2).toarray()
    np.testing.assert_allclose(shorter, whole, atol=1e-8)


def test_a_costly_signal_is_dealt_out_alone():
    sizes = deal(np.ones((5, 3)), len, cost=1e9)
    assert sizes == [1] * 5
    assert deal(np.ones((5, 3)), len) == [5]
