"""Several values of l1_ratio: the choice by folds and criteria, and all that is told of it."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import ElasticNetCV
from sklearn.model_selection import GridSearchCV, KFold

import garrote
from garrote import SparseClassifier, SparseRegressor
from garrote.paths import FollowPath
from garrote.penalties import ElasticNet

RATIOS = [0.1, 0.5, 0.9]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 15))
    X[:, 1:] += 0.6 * X[:, :-1]
    return X, X[:, :4] @ [1.0, 0.8, 0.6, 0.4] + 1.5 * rng.standard_normal(80)


@pytest.mark.parametrize("seed", range(4))
def test_the_choice_is_that_of_scikit_learn_on_the_same_folds_and_grids(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 12)) @ (np.eye(12) + 0.5 * rng.standard_normal((12, 12)))
    y = X[:, :3] @ [1.0, 1.0, -1.0] + 3 * rng.standard_normal(60)
    folds = KFold(5, shuffle=True, random_state=seed)
    peer = ElasticNetCV(
        l1_ratio=RATIOS, alphas=60, eps=1e-3, cv=folds, tol=1e-9, max_iter=100_000
    ).fit(X, y)
    model = SparseRegressor(
        ElasticNet(RATIOS), cv=folds, standardize=False, method=FollowPath(alphas=60, eps=1e-3)
    ).fit(X, y)
    assert model.l1_ratio_ == peer.l1_ratio_
    assert model.alpha_ == pytest.approx(peer.alpha_, rel=1e-10)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(model.cv_results_["alphas"], peer.alphas_, rtol=1e-10)
    np.testing.assert_allclose(
        model.cv_results_["mean_errors"], peer.mse_path_.mean(axis=2), rtol=1e-2
    )


@pytest.mark.parametrize("alpha", ["cv", "bic", "ebic"])
@pytest.mark.parametrize("rule", ["min", "1se"])
def test_it_is_the_best_of_fits_with_one_ratio_each(alpha, rule, data):
    X, y = data
    weights = np.random.default_rng(1).integers(1, 3, 80) * 1.0
    known = {"sample_weight": weights, "offset": 0.1 * X[:, 5]}
    each = [
        SparseRegressor(ElasticNet(share), alpha=alpha, rule=rule).fit(X, y, **known)
        for share in RATIOS
    ]
    model = SparseRegressor(ElasticNet(RATIOS), alpha=alpha, rule=rule)
    model.fit(scipy.sparse.csc_array(X), y, **known)
    same = each[RATIOS.index(model.l1_ratio_)]
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-10)
    assert model.alpha_ == pytest.approx(same.alpha_, rel=1e-10)
    if alpha == "cv":
        best = [one.cv_results_["mean_error"].min() for one in each]
        assert np.argmin(best) == RATIOS.index(model.l1_ratio_)
        np.testing.assert_allclose(model.cv_results_["mean_errors"].min(axis=1), best)
        np.testing.assert_array_equal(model.cv_results_["l1_ratio"], RATIOS)
    assert f"with l1_ratio = {model.l1_ratio_:g} of 0.1, 0.5, 0.9" in model.selection_.rule


def test_labels_and_z_scores_choose_too(data):
    X, y = data
    model = SparseClassifier(ElasticNet((0.2, 1.0)), method=FollowPath(alphas=15)).fit(X, y > 0)
    assert model.l1_ratio_ in (0.2, 1.0)
    assert model.cv_results_["mean_errors"].shape[0] == 2
    z = np.sqrt(80) * np.array([np.corrcoef(x, y)[0, 1] for x in X.T])
    scores = SparseRegressor(ElasticNet([0.2, 1.0])).fit_zscores(z, np.corrcoef(X.T), 80)
    assert "with l1_ratio" in scores.selection_.rule


def test_refits_files_and_searches_know_what_was_chosen(data, tmp_path):
    X, y = data
    model = SparseRegressor(ElasticNet(RATIOS), stability=4).fit(X, y)
    assert model._refit_settings()["penalty"] == ElasticNet(model.l1_ratio_)
    assert model.selection_.stability.refits == 4
    model.save(tmp_path / "model.garrote")
    back = garrote.load(tmp_path / "model.garrote")
    assert back.penalty == ElasticNet(RATIOS)
    assert back.l1_ratio_ == model.l1_ratio_
    np.testing.assert_array_equal(back.cv_results_["mean_errors"], model.cv_results_["mean_errors"])
    grid = {"penalty__l1_ratio": [0.2, 0.9]}
    search = GridSearchCV(SparseRegressor(ElasticNet(), alpha=0.1), grid, cv=3).fit(X, y)
    assert search.best_params_["penalty__l1_ratio"] in (0.2, 0.9)
    again = model.set_params(penalty=ElasticNet(0.5)).fit(X, y)
    assert not hasattr(again, "l1_ratio_")
    assert "alphas" not in again.cv_results_


def test_lists_that_cannot_be_meant_are_refused(data):
    X, y = data
    for share, said in [
        ([0.5, 1.5], "between 0 and 1, got 1.5"),
        ([0.5, "a"], "between 0 and 1, got 'a'"),
        ([0.5, 0.5], "lists a number twice"),
        ([], "between 0 and 1"),
    ]:
        with pytest.raises(ValueError, match=said):
            ElasticNet(share)
    for alpha in (0.1, None):
        with pytest.raises(ValueError, match="take alpha='cv', 'bic' or 'ebic'"):
            SparseRegressor(ElasticNet(RATIOS), alpha=alpha).fit(X, y)
    problem = garrote.Problem.from_rows(X, y)
    with pytest.raises(ValueError, match="l1_ratio lists 3 numbers"):
        garrote.fit_path(problem, ElasticNet(RATIOS))
    one = SparseRegressor(ElasticNet([0.5]), alpha=0.1).fit(X, y)
    np.testing.assert_array_equal(
        one.coef_, SparseRegressor(ElasticNet(0.5), alpha=0.1).fit(X, y).coef_
    )
