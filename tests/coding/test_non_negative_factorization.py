"""Non-negative factors: their conditions, plain NumPy beside them, and inputs of all kinds."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import nnls
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

import garrote
from garrote.coding import NonNegativeCoding, NonNegativeFactorization, SparseCoder

pytestmark = pytest.mark.filterwarnings("ignore:the objective still fell")


def parts(n=80, count=4, length=12, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    atoms = rng.exponential(size=(count, length)) * (rng.random((count, length)) < 0.5)
    return rng.exponential(size=(n, count)) @ atoms + noise * rng.random((n, length))


def squares_left(model, X):
    return np.sum((X - model.transform(X) @ model.components_) ** 2)


def test_codes_are_non_negative_least_squares():
    X = parts()
    model = NonNegativeFactorization(4).fit(X)
    expected = [nnls(model.components_.T, signal)[0] for signal in X]
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-8)
    coder = SparseCoder(model.components_, NonNegativeCoding()).fit(X)
    assert coder.encode(X).certificate.value < 1e-12


def test_the_conditions_of_karush_kuhn_and_tucker_hold():
    X = parts()
    for alpha in (0.0, 0.2):
        model = NonNegativeFactorization(4, alpha, tol=1e-13, max_rounds=20_000).fit(X)
        codes, atoms = model.transform(X), model.components_
        of_codes = (codes @ atoms - X) @ atoms.T + alpha
        assert np.abs(np.where(codes > 0, of_codes, np.minimum(of_codes, 0))).max() < 1e-8
        np.testing.assert_allclose(np.linalg.norm(atoms, axis=1), 1)
        of_atoms = codes.T @ (codes @ atoms - X)
        # Lengths are bounded: along an atom itself the gradient need not vanish.
        multiplier = -np.sum(of_atoms * atoms, axis=1, keepdims=True)
        assert (multiplier >= -1e-4).all()
        of_atoms += multiplier * atoms
        off = np.where(atoms > 0, of_atoms, np.minimum(of_atoms, 0))
        assert np.abs(off).max() < 1e-3 * np.abs(codes.T @ X).max()
        assert model.certificate_.value < 1e-8


def test_the_objective_never_rises_and_is_what_is_left():
    X = parts()
    model = NonNegativeFactorization(4, 0.1).fit(X)
    objective = model.record_.objective
    assert (np.diff(objective) <= 1e-12 * objective[0]).all()
    codes = model.transform(X)
    stated = 0.5 * squares_left(model, X) / len(X) + 0.1 * codes.sum() / len(X)
    assert stated == pytest.approx(objective[-1], rel=1e-4)


def test_it_leaves_no_more_than_scikit_learn():
    X = parts(200, 6, 20)
    ours = squares_left(NonNegativeFactorization(6, tol=1e-8, max_rounds=5000).fit(X), X)
    theirs = NMF(6, init="nndsvda", tol=1e-7, max_iter=5000).fit(X).reconstruction_err_ ** 2
    assert ours <= 1.01 * theirs


def test_a_price_makes_codes_sparse():
    X = parts()
    sizes = [
        NonNegativeFactorization(4, alpha, max_rounds=100).fit(X).encode(X).size.mean()
        for alpha in (0.0, 1.0)
    ]
    assert sizes[1] < 0.8 * sizes[0]


def test_sparse_signals_threads_weights_and_single_precision_change_nothing():
    X = parts()
    X[X < 0.3] = 0.0
    weights = np.tile([2.0, 1.0, 0.0, 1.0], 20)
    model = NonNegativeFactorization(4, 0.05, max_rounds=20)
    whole = model.fit(X, sample_weight=weights).components_
    repeated = np.repeat(X, weights.astype(int), axis=0)
    cases = [
        (repeated, None, None),
        (scipy.sparse.csr_array(X), weights, 2),
        (X.astype(np.float32), weights, None),
    ]
    for signals, share, jobs in cases:
        model = NonNegativeFactorization(4, 0.05, max_rounds=20, n_jobs=jobs)
        found = model.fit(signals, sample_weight=share).components_
        np.testing.assert_allclose(found, whole, atol=1e-4 if signals.dtype == "f4" else 1e-8)


@pytest.mark.parametrize("width", [12, 600])
def test_it_begins_with_parts_of_singular_vectors(width):
    X = parts(60, 3, width, noise=0.0)
    model = NonNegativeFactorization(3, tol=1e-9, max_rounds=3000).fit(X)
    assert model.score(X) > 0.999
    more = NonNegativeFactorization(20, max_rounds=50, random_state=0).fit(X)
    assert more.components_.shape == (20, width)
    assert more.score(X) >= 0.99


def test_learning_goes_on_in_parts():
    X = parts(600)
    model = NonNegativeFactorization(4, random_state=0)
    for batch in np.split(X, 12):
        model.partial_fit(batch)
    left = 1 - model.score(X)
    assert left < 0.01
    for batch in np.split(X, 12) * 4:
        model.partial_fit(batch)
    assert 1 - model.score(X) < 0.5 * left
    whole = NonNegativeFactorization(4).fit(X)
    assert model.components_.min() >= 0
    before = squares_left(whole, X)
    assert squares_left(whole.partial_fit(X[:50]), X) < 1.5 * before
    assert len(whole.record_) > 1


def test_a_factorisation_comes_back_from_its_file(tmp_path):
    X = parts()
    model = NonNegativeFactorization(4).fit(X)
    model.save(tmp_path / "parts.garrote")
    again = garrote.load(tmp_path / "parts.garrote")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(
        again.partial_fit(X).components_, model.partial_fit(X).components_
    )


def test_atoms_in_no_code_are_replaced():
    X = parts()
    start = np.vstack([np.eye(12)[:2], np.zeros((2, 12))])
    model = NonNegativeFactorization(4, dictionary=start).fit(X)
    assert model.record_.replaced[0] == 2
    assert model.components_.any(axis=1).all()
    silent = NonNegativeFactorization(1).fit(np.zeros((5, 3)))
    assert not silent.transform(np.zeros((5, 3))).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"n_components": 81}, "n_components=81 atoms cannot be learned from 80 distinct signals"),
        ({"alpha": -0.1}, "alpha must be >= 0 and finite, got -0.1"),
        ({"max_rounds": 0}, "max_rounds must be an integer >= 1"),
        ({"tol": 0.0}, "tol must be positive"),
        ({"dictionary": -np.eye(12)}, r"dictionary must be >= 0, got -1 in atom 0"),
    ],
)
def test_what_no_factors_could_come_of_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        NonNegativeFactorization(**change).fit(parts())


def test_negative_signals_are_refused_with_their_place():
    X = parts()
    model = NonNegativeFactorization(4).fit(X)
    X[7, 3] = -0.5
    for store in (np.asarray, scipy.sparse.csr_array):
        for ask in (model.fit, model.transform, model.partial_fit):
            with pytest.raises(ValueError, match=r"X is -0\.5 at row 7, column 3; give X >= 0"):
                ask(store(X))


def test_a_fit_that_has_not_settled_says_so():
    with pytest.warns(ConvergenceWarning, match=r"raise max_rounds \(2\) or tol"):
        NonNegativeFactorization(4, max_rounds=2, tol=1e-9).fit(parts())


def test_signals_that_factors_make_up_wholly_end_before_rounding_decides():
    X = parts(12, 12, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NonNegativeFactorization(12, tol=1e-12, max_rounds=20_000).fit(X)
    assert model.record_.left[-1] <= 1e-10
    assert model.record_.left[-2] > 1e-10
