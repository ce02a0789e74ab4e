"""Ways of coding against plain NumPy, and how good they say they are."""

import numpy as np
import pytest
import scipy.sparse

from garrote.coding import (
    CODERS,
    LassoCoding,
    PursuitCoding,
    SparseCoder,
    SpikeSlabCoding,
    ThresholdCoding,
    dct_dictionary,
)
from reference_coding import lasso_code, pursuit_code, signals_of_few_atoms, spike_slab_code


def encoded(method, atoms, signals, **settings):
    return SparseCoder(atoms, method, **settings).fit(signals).encode(signals)


def test_pursuits_are_those_of_least_squares():
    atoms, signals = signals_of_few_atoms(10)
    codes = encoded(PursuitCoding(4), atoms, signals)
    expected = [pursuit_code(atoms, signal, 4) for signal in signals]
    np.testing.assert_allclose(codes.values.toarray(), expected, atol=1e-10)
    assert codes.certificate.value < 1e-12
    assert codes.size.tolist() == [4] * 10


def test_pursuits_by_error_take_the_atom_beside_which_least_is_left():
    atoms, signals = signals_of_few_atoms(10, count=20)
    atoms = np.vstack([atoms * np.linspace(0.3, 3, 20)[:, None], np.zeros(16)])
    codes = encoded(PursuitCoding(4, choice="error"), atoms, signals)
    for signal, code in zip(signals, codes.values.toarray(), strict=True):
        inside = []
        for _ in range(4):
            left = [
                np.sum((signal - np.linalg.lstsq(tried.T, signal, rcond=None)[0] @ tried) ** 2)
                for tried in (atoms[[*inside, j]] for j in range(20))
            ]
            inside.append(int(np.argmin(left)))
        assert set(np.flatnonzero(code)) == set(inside)
        best = np.linalg.lstsq(atoms[inside].T, signal, rcond=None)[0]
        np.testing.assert_allclose(code[inside], best, atol=1e-10)
    alike = encoded(PursuitCoding(4), atoms, signals)
    assert codes.error.mean() <= alike.error.mean()
    assert codes.certificate.value < 1e-10


def test_the_lasso_is_that_of_coordinate_descent_for_atoms_of_any_length():
    atoms, signals = signals_of_few_atoms(6)
    atoms = atoms * np.linspace(0.3, 3, len(atoms))[:, None]
    codes = encoded(LassoCoding(0.1), atoms, signals)
    expected = [lasso_code(atoms, signal, 0.1) for signal in signals]
    np.testing.assert_allclose(codes.values.toarray(), expected, atol=1e-8)
    assert codes.certificate.kind == "duality gap"
    assert codes.certificate.value < 1e-12


def test_thresholds_of_orthonormal_atoms_are_the_lasso_and_the_best_subset():
    atoms, signals = dct_dictionary((4, 4)), signals_of_few_atoms()[1]
    np.testing.assert_allclose(atoms @ atoms.T, np.eye(16), atol=1e-12)
    soft = encoded(ThresholdCoding(0.3), atoms, signals)
    lasso = encoded(LassoCoding(0.3), atoms, signals)
    np.testing.assert_allclose(soft.values.toarray(), lasso.values.toarray(), atol=1e-12)
    assert soft.certificate.value < 1e-12
    hard = encoded(ThresholdCoding(0.3, "hard"), atoms, signals)
    products = signals @ atoms.T
    expected = np.where(np.abs(products) > 0.3, products, 0.0)
    np.testing.assert_allclose(hard.values.toarray(), expected, atol=1e-12)
    assert hard.certificate.value < 1e-12


def test_thresholds_of_other_atoms_say_how_far_they_are_from_that():
    atoms, signals = signals_of_few_atoms()
    assert encoded(ThresholdCoding(0.1), atoms, signals).certificate.value > 1e-2
    assert encoded(ThresholdCoding(0.1, "hard"), atoms, signals).certificate.value > 1e-2


def test_inclusion_probabilities_are_near_the_sum_over_all_sets_of_atoms():
    atoms, signals = signals_of_few_atoms(12, 8, 200, 2, 0.1)
    method = SpikeSlabCoding(inclusion=0.2, slab_variance=1.0, noise_variance=0.01)
    codes = encoded(method, atoms, signals)
    probability, means = codes.inclusion_probability.toarray(), codes.values.toarray()
    for k, signal in enumerate(signals):
        exact, mean = spike_slab_code(atoms, signal, 0.2, 1.0, 0.01)
        np.testing.assert_allclose(probability[k], exact, atol=0.02)
        np.testing.assert_allclose(means[k], mean, atol=0.02)
    assert codes.certificate.value < 1e-5


def test_orthonormal_atoms_have_exact_inclusion_probabilities():
    atoms, signals = np.eye(6), signals_of_few_atoms(5, 12, 6)[1]
    method = SpikeSlabCoding(inclusion=0.3, slab_variance=2.0, noise_variance=0.1)
    codes = encoded(method, atoms, signals)
    for k, signal in enumerate(signals):
        exact, mean = spike_slab_code(atoms, signal, 0.3, 2.0, 0.1)
        np.testing.assert_allclose(codes.inclusion_probability.toarray()[k], exact, atol=1e-8)
        np.testing.assert_allclose(codes.values.toarray()[k], mean, atol=1e-8)


def test_a_spike_and_slab_learns_what_it_is_not_told():
    atoms, signals = signals_of_few_atoms(800, 30, 20, 3, 0.1, seed=1)
    found = SparseCoder(atoms, "spike-slab").fit(signals).method_
    assert 0.08 < found.inclusion < 0.12
    assert 0.008 < found.noise_variance < 0.013
    assert 1.4 < found.slab_variance < 2.1  # the square of U(0.5, 2) has mean 1.75
    told = SparseCoder(atoms, SpikeSlabCoding(noise_variance=0.02)).fit(signals).method_
    assert told.noise_variance == 0.02


@pytest.mark.parametrize("name", CODERS)
def test_sparse_signals_blocks_threads_and_weights_change_nothing(name, monkeypatch):
    atoms, signals = signals_of_few_atoms()
    signals[np.abs(signals) < 0.3] = 0.0
    whole = encoded(name, atoms, signals)
    monkeypatch.setattr("garrote.solvers.coding.dealing.TOGETHER", 13)
    parts = encoded(name, atoms, scipy.sparse.csr_array(signals), n_jobs=2)
    np.testing.assert_allclose(parts.values.toarray(), whole.values.toarray(), atol=1e-9)
    np.testing.assert_allclose(parts.error, whole.error, atol=1e-9)
    weights = np.tile([2.0, 1.0, 0.0], 20)
    repeated = np.repeat(signals, weights.astype(int), axis=0)
    weighted = SparseCoder(atoms, name).fit(signals, sample_weight=weights).method_
    alone = SparseCoder(atoms, name).fit(repeated).method_
    for key, value in weighted.get_params().items():
        assert value == alone.get_params()[key] or value == pytest.approx(alone.get_params()[key])


@pytest.mark.parametrize("name", CODERS)
def test_atoms_of_zeros_copies_and_silent_signals_have_their_answers(name):
    atoms, signals = signals_of_few_atoms()
    atoms = np.vstack([atoms, np.zeros(16), atoms[2]])
    signals = np.vstack([signals, np.zeros(16)])
    codes = encoded(name, atoms, signals)
    assert not codes.values.toarray()[:, -2].any()
    assert not codes.values.toarray()[-1].any()
    assert codes.error[-1] == codes.accuracy[-1] == 0.0
    silent = encoded(name, atoms, np.zeros((3, 16)))
    assert not silent.values.toarray().any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PursuitCoding(0), "n_nonzero must be an integer >= 1, got 0"),
        (lambda: PursuitCoding(tol=1.5), "tol is the share that may be left"),
        (lambda: PursuitCoding(choice="best"), "choice must be 'likeness' or 'error'"),
        (lambda: LassoCoding(-1.0), "alpha must be positive and finite, got -1.0"),
        (lambda: ThresholdCoding(0.1, "firm"), "rule must be 'soft' or 'hard', got 'firm'"),
        (lambda: SpikeSlabCoding(1.0), "inclusion must be between 0 and 1, got 1.0"),
        (lambda: SpikeSlabCoding(noise_variance=0), "noise_variance must be positive"),
    ],
)
def test_settings_that_no_signal_could_make_right_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
