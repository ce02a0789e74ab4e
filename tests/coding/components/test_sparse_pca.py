"""Sparse components: against plain NumPy, brute force and principal components; inputs of all kinds."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

import garrote
from garrote.coding import SparsePCA
from garrote.displays import LearningDisplay
from scikit_checks import scikit_learn_checks

METHODS = ("deflation", "jointly")


@scikit_learn_checks(
    SparsePCA(), variants=[SparsePCA(method="jointly"), SparsePCA(alpha=0.1), SparsePCA(2)]
)
def test_sparse_pca_keeps_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def rows_of_two_factors(n=150, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, 2)) * [3.0, 2.0]
    return np.repeat(hidden, 5, axis=1) + noise * rng.standard_normal((n, 10)) + 5.0


def rows_with(covariance):
    """Return rows whose covariance, divided by N, is exactly the given one."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, len(covariance)))
    rows = np.linalg.qr(rows - rows.mean(axis=0))[0] * np.sqrt(60)
    return rows @ np.linalg.cholesky(covariance).T


def objective(X, loadings, alpha):
    """The objective with the best uncorrelated scores, from the rows themselves."""
    X = X - X.mean(axis=0)
    left, _, right = np.linalg.svd(X @ loadings.T, full_matrices=False)
    scores = np.sqrt(len(X)) * left @ right
    error = 0.5 * np.sum((X - scores @ loadings) ** 2) / len(X)
    return error + np.sum(alpha * np.abs(loadings).sum(axis=1))


def alternating(X, start, alpha, steps):
    """Scores given loadings and loadings given scores in turn, from the rows themselves."""
    X, scores = X - X.mean(axis=0), start
    for _ in range(steps):
        covariances = scores.T @ X / len(X)
        loadings = np.sign(covariances) * np.maximum(np.abs(covariances) - alpha, 0)
        left, _, right = np.linalg.svd(X @ loadings.T, full_matrices=False)
        scores = np.sqrt(len(X)) * left @ right
    return loadings


@pytest.mark.parametrize("method", METHODS)
def test_without_a_price_components_are_principal_ones(method):
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model, plain = SparsePCA(4, 0.0, method=method).fit(X), PCA(4).fit(X)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(plain.components_), atol=1e-5)
    np.testing.assert_allclose(model.explained_variance_ratio_, plain.explained_variance_ratio_)
    np.testing.assert_allclose(model.explained_variance_, plain.explained_variance_ * 177 / 178)
    whole = SparsePCA(4, variance=1.0, method=method).fit(X)
    assert whole.explained_variance_.sum() == pytest.approx(model.explained_variance_.sum())


def test_a_component_of_two_rows_is_the_best_of_all_directions():
    rng = np.random.default_rng(1)
    for alpha in (0.05, 0.3, 0.8):
        plane = rng.standard_normal((2, 9))
        rows = np.vstack([plane, -plane])  # of mean 0
        model = SparsePCA(1, alpha, tol=1e-10).fit(rows)
        angle = np.linspace(0, np.pi, 20_001)
        scores = np.column_stack([np.cos(angle), np.sin(angle)])
        covariances = np.abs(scores @ plane) / np.sqrt(2)
        best = 0.5 * np.max(np.sum(np.maximum(covariances - alpha, 0) ** 2, axis=1))
        assert 0.5 * np.sum(model.loadings_**2) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("alpha", [0.2, 0.8])
def test_components_found_together_are_those_of_plain_alternation(alpha):
    X = rows_of_two_factors()
    model = SparsePCA(2, alpha, method="jointly", tol=1e-11, max_iter=20_000).fit(X)
    whitened = PCA(2, whiten=True).fit_transform(X)
    plain = alternating(X, whitened, alpha, 3000)
    found = objective(X, model.loadings_, alpha)
    assert found <= objective(X, plain, alpha) + 1e-9
    in_turn = SparsePCA(2, alpha).fit(X)
    assert found <= objective(X, in_turn.loadings_, alpha) + 1e-9
    again = alternating(X, _scores(X, model.loadings_), alpha, 1)
    np.testing.assert_allclose(again, model.loadings_, atol=1e-8)


def _scores(X, loadings):
    left, _, right = np.linalg.svd((X - X.mean(axis=0)) @ loadings.T, full_matrices=False)
    return np.sqrt(len(X)) * left @ right


def test_more_components_in_turn_change_nothing_in_the_first():
    X = rows_of_two_factors()
    few, many = SparsePCA(2).fit(X), SparsePCA(4).fit(X)
    np.testing.assert_allclose(many.components_[:2], few.components_, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_the_certificate_measures_how_far_loadings_are_from_their_equation(method):
    X = rows_of_two_factors(noise=2.0)
    model = SparsePCA(3, 0.4, method=method, tol=1e-12, max_iter=50_000).fit(X)
    assert model.certificate_.value < 1e-9
    with pytest.warns(ConvergenceWarning, match=r"after max_iter = 2 steps .*: raise either"):
        early = SparsePCA(3, 0.4, method=method, max_iter=2).fit(X)
    assert early.certificate_.value > 1e-5


@pytest.mark.parametrize("method", METHODS)
def test_explained_variance_is_that_of_what_comes_back(method):
    X = rows_of_two_factors()
    model = SparsePCA(5, variance=0.7, method=method).fit(X)
    back = model.inverse_transform(model.transform(X))
    left = np.sum((X - back) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1 - left)
    assert model.score(X) == pytest.approx(1 - left)
    # Scores of the same sums, of least squares: no others are nearer.
    worse = model.transform(X) + 0.01
    assert np.sum((X - model.inverse_transform(worse)) ** 2) > np.sum((X - back) ** 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("variance", [0.5, 0.8, 0.95])
def test_components_keep_the_share_of_variance_that_is_asked_for(method, variance):
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = SparsePCA(4, variance=variance, method=method).fit(X)
    whole = PCA(4).fit(X).explained_variance_ratio_
    kept = model.explained_variance_ratio_
    assert kept.sum() >= variance * whole.sum() - 1e-4
    if method == "deflation":
        assert (np.cumsum(kept) >= variance * np.cumsum(whole) - 1e-4).all()
    assert (model.components_ == 0).sum() >= (8 if variance < 0.9 else 3)
    denser = SparsePCA(4, 0.5 * model.alpha_, method=method).fit(X)
    assert (denser.components_ == 0).sum() < (model.components_ == 0).sum()


def test_the_hidden_factors_of_zou_hastie_and_tibshirani_are_found():
    # Their section 5.2: X1-X4 of one factor, X5-X8 of another, X9 and X10 of both; their components
    # have 40.9 and 39.5 % of the variance.
    factors = np.zeros((10, 2))
    factors[:4, 0], factors[4:8, 1], factors[8:] = 1.0, 1.0, [-0.3, 0.925]
    noise = np.eye(10)
    noise[8:, 8:] += 1.0
    X = rows_with(factors @ np.diag([290.0, 300.0]) @ factors.T + noise)
    model = SparsePCA(2, variance=0.6).fit(X)
    supports = [np.flatnonzero(one).tolist() for one in model.components_]
    assert supports == [[4, 5, 6, 7], [0, 1, 2, 3]]
    np.testing.assert_allclose(model.components_[model.components_ != 0], 0.5, atol=1e-6)
    np.testing.assert_allclose(model.explained_variance_ratio_, [0.409, 0.395], atol=5e-4)


def test_weights_sparse_rows_single_precision_and_wide_tables_change_nothing():
    X = rows_of_two_factors(40)
    X[X < 4] = 0.0
    weights = np.tile([2.0, 1.0, 0.0, 1.0], 10)
    expected = SparsePCA(3).fit(np.repeat(X, weights.astype(int), axis=0))
    cases = [(X, 1e-8), (scipy.sparse.csr_array(X), 1e-8), (X.astype(np.float32), 1e-4)]
    for rows, near in cases:
        model = SparsePCA(3).fit(rows, sample_weight=weights)
        np.testing.assert_allclose(model.components_, expected.components_, atol=near)
        assert model.transform(rows).dtype == rows.dtype
    wide = np.hstack([X[:30], np.zeros((30, 50))])  # more columns than rows
    model, tall = SparsePCA(3).fit(wide), SparsePCA(3).fit(X[:30])
    np.testing.assert_allclose(model.components_[:, :10], tall.components_, atol=1e-6)
    assert not model.components_[:, 10:].any()


@pytest.mark.parametrize("width", [10, 80])
def test_parts_one_after_the_other_are_all_rows_at_once(width):
    rng = np.random.default_rng(0)
    X = rows_of_two_factors(60) @ rng.standard_normal((10, width)) + 100.0
    whole, model = SparsePCA(2).fit(X), SparsePCA(2)
    for part in np.split(X, 4):
        model.partial_fit(part)
    np.testing.assert_allclose(model.components_, whole.components_, atol=1e-5)
    np.testing.assert_allclose(model.mean_, whole.mean_)


def test_components_come_back_from_their_file(tmp_path):
    X = rows_of_two_factors()
    model = SparsePCA(3, variance=0.8).fit(X)
    model.save(tmp_path / "components.garrote")
    again = garrote.load(tmp_path / "components.garrote")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.certificate_ == model.certificate_
    np.testing.assert_array_equal(
        again.partial_fit(X).components_, model.partial_fit(X).components_
    )


def test_finding_components_tells_how_far_it_is():
    told = []
    for method in METHODS:
        SparsePCA(2, method=method, callback=told.append).fit(rows_of_two_factors())
    assert {one.stage for one in told} == {"components", "strengths"}


def test_empty_constant_and_equal_columns_have_their_answers():
    constant = SparsePCA(2).fit(np.ones((6, 3)))
    assert not constant.components_.any()
    assert constant.certificate_.value == 0.0
    assert not constant.transform(np.ones((6, 3))).any()
    assert constant.score(np.ones((6, 3))) == 1.0
    X = rows_of_two_factors()
    none = SparsePCA(2, 100.0).fit(X)  # no column has such a deviation
    assert not none.components_.any()
    assert none.certificate_.value == 0.0
    X[:, 3] = 7.0
    copied = SparsePCA(2).fit(np.hstack([X, X[:, :1]]))
    assert copied.components_[0, 0] == pytest.approx(copied.components_[0, 10])
    assert not copied.components_[:, 3].any()
    more = SparsePCA(3, method="jointly").fit(X[:, [0, 0, 0, 0]])
    assert np.count_nonzero(more.explained_variance_) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"n_components": 11}, "n_components=11 components cannot be found in 150 rows of 10"),
        ({"alpha": -1.0}, "alpha must be >= 0 and finite"),
        ({"alpha": [1.0, 2.0]}, "alpha has 2 numbers for 10 components"),
        ({"variance": 1.5}, "variance is the share that is kept, above 0 and at most 1, got 1.5"),
        ({"method": "both"}, r"method must be one of \('deflation', 'jointly'\), got 'both'"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"tol": 0.0}, "tol must be positive"),
    ],
)
def test_what_no_components_could_come_of_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        SparsePCA(**change).fit(rows_of_two_factors())


def test_gaps_and_single_rows_are_refused_with_their_place():
    X = rows_of_two_factors()
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="row 7, column 3"):
        SparsePCA(2).fit(X)
    with pytest.raises(ValueError, match=r"n_components=5 components cannot be found in 4 rows"):
        SparsePCA(5).fit(X[:4])
    with pytest.raises(ValueError, match="minimum of 2"):
        SparsePCA(1).fit(X[:1])
    with pytest.raises(ValueError, match="X has 3 columns, but there are 2 atoms"):
        SparsePCA(2).fit(X[:5]).inverse_transform(np.ones((2, 3)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha", [None, 0.4])
def test_the_objective_along_steps_never_rises_and_ends_where_it_is(method, alpha, tmp_path):
    X = rows_of_two_factors()
    model = SparsePCA(3, alpha, method=method).fit(X)
    record = model.record_
    assert np.diff(record.objective).max(initial=0.0) <= 1e-10 * record.objective[0]
    if method == "jointly":
        assert record.objective[-1] == pytest.approx(objective(X, model.loadings_, model.alpha_))
    centred = X - X.mean(axis=0)
    left, rest = centred, centred.copy()
    for loading in model.loadings_[np.abs(model.loadings_).sum(axis=1) > 0]:
        score = left @ loading / np.linalg.norm(left @ loading)
        left = left - np.outer(score, score @ left)
        rest -= np.sqrt(len(X)) * np.outer(score, loading)
    error = np.sum(rest**2) / len(X)
    paid = np.sum(model.alpha_ * np.abs(model.loadings_).sum(axis=1))
    if method == "deflation":
        assert record.objective[-1] == pytest.approx(0.5 * error + paid)
        assert record.left[-1] == pytest.approx(error / np.sum(centred**2) * len(X))
    assert record.size[-1] == np.count_nonzero(np.abs(model.loadings_).sum(axis=1))
    model.save(tmp_path / "components.garrote")
    again = garrote.load(tmp_path / "components.garrote")
    assert LearningDisplay.from_estimator(again).line_.get_ydata()[-1] == record.objective[-1]
