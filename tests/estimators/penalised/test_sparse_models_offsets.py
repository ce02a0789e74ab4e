"""Offsets and weights of penalised models: known parts of linear predictors, rows that count more."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.exceptions import NotFittedError

from garrote import Problem, SparseClassifier, SparseRegressor, fit_path
from garrote.likelihoods.multinomial import Multinomial
from garrote.paths import FollowPath
from garrote.paths.penalised import equal_terms
from garrote.penalties import L1
from garrote.solvers.control import Control

FAMILIES = ("gaussian", "binomial", "probit", "poisson", "huber")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 6))
    known = rng.normal(size=60)
    y = 3 + 2 * X[:, 0] - X[:, 1] + known + rng.normal(size=60)
    return X, y, known


@pytest.fixture(scope="module")
def classes(rows):
    X, _, _ = rows
    rng = np.random.default_rng(2)
    offset = rng.normal(size=(60, 3))
    drawn = offset + X @ rng.normal(size=(6, 3)) + rng.gumbel(size=(60, 3))
    return X, drawn.argmax(axis=1), offset


def response(rows, family):
    X, y, known = rows
    if family == "poisson":
        return np.random.default_rng(3).poisson(np.exp(0.5 * X[:, 0] + known))
    return (y > 3).astype(int) if family in ("binomial", "probit") else y


@pytest.mark.parametrize("family", FAMILIES)
def test_a_score_compares_with_a_constant_beside_the_offset(rows, family):
    X, _, known = rows
    y = response(rows, family)
    weights = np.random.default_rng(4).integers(0, 3, len(y))
    model = SparseRegressor(alpha=0.1, family=family).fit(X, y, weights, offset=known)
    explained = model.path_.deviance_explained[-1]
    assert model.score(X, y, weights, offset=known) == pytest.approx(explained, abs=1e-9)
    assert abs(model.score(X, y, weights, offset=np.zeros(len(y))) - explained) > 1e-3


@pytest.mark.parametrize("D", [6, 80])
def test_several_classes_take_an_offset_for_each(classes, D):
    X, y, offset = classes
    X = np.c_[X, np.random.default_rng(5).normal(size=(60, D - 6))]
    model = SparseClassifier("ridge", 0.3, standardize=False, method=FollowPath(tol=1e-12)).fit(
        X, y, offset=offset
    )

    def objective(flat):
        level, coef = flat[:3], flat[3:].reshape(3, -1)
        eta = X @ coef.T + level + offset
        return (logsumexp(eta, axis=1) - eta[np.arange(60), y]).mean() + 0.15 * (coef**2).sum()

    found = np.append(model.intercept_, model.coef_)
    best = minimize(objective, np.zeros_like(found), options={"gtol": 1e-7})
    assert objective(found) <= best.fun + 1e-10
    np.testing.assert_allclose(model.coef_, best.x[3:].reshape(3, -1), atol=1e-4)
    proba = np.exp(X @ model.coef_.T + model.intercept_ + offset)
    proba /= proba.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X, offset), proba)
    assert model.score(X, y, offset=offset) == np.mean(proba.argmax(axis=1) == y)


def test_equal_offsets_of_all_classes_change_nothing(classes):
    X, y, offset = classes
    equal = np.repeat(offset[:, :1], 3, axis=1)
    one, two = (SparseClassifier(alpha=0.05).fit(X, y, offset=o) for o in (equal, None))
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-7)
    assert one.certificate_["duality gap"] < 1e-6
    with pytest.raises(ValueError, match="one number a row would move all of them alike"):
        SparseClassifier(alpha=0.05).fit(X, y, offset=offset[:, 0])


@pytest.mark.parametrize("centred", [True, False])
def test_the_gap_of_several_classes_with_offsets_bounds_what_can_be_gained(classes, centred):
    X, y, offset = classes
    problem = Problem.from_rows(
        X, y, likelihood=Multinomial(3), offset=offset, fit_intercept=centred
    )
    rough, fine = (
        fit_path(problem, L1(), [0.05], control=Control(tol, rounds), terms=equal_terms(problem))
        for tol, rounds in ((0.5, 3), (1e-10, 10_000))
    )
    costs = [path.fits[0].loss + 0.05 * np.abs(path.fits[0].coef).sum() for path in (rough, fine)]
    gained = (costs[0] - costs[1]) / fine.null_loss
    assert 1e-12 < gained <= rough.fits[0].certificate["duality gap"]
    assert fine.fits[0].certificate["duality gap"] < 1e-10


def test_several_responses_take_an_offset_for_each(rows):
    X, y, known = rows
    Y, offset = np.c_[y, -2 * y], np.c_[known, known**2]
    model = SparseRegressor(alpha="cv", method=FollowPath(alphas=10), cv=3).fit(X, Y, offset=offset)
    plain = SparseRegressor(alpha="cv", method=FollowPath(alphas=10), cv=3).fit(X, Y - offset)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-10)
    np.testing.assert_allclose(model.predict(X, offset), plain.predict(X) + offset)
    assert model.score(X, Y, offset=offset) == pytest.approx(plain.score(X, Y - offset))
    assert model.certificate_["duality gap"] < 1e-6


def test_shown_predictions_of_numbers_count_their_offset(rows):
    X, y, known = rows
    shown = SparseRegressor(alpha=0.1).fit(X, y, offset=known).selection_.predictions
    left = shown.observed - shown.predicted[-1]
    expected = y - SparseRegressor(alpha=0.1).fit(X, y, offset=known).predict(X, known)
    np.testing.assert_allclose(left, expected[shown.rows])


def test_offsets_of_counts_may_be_large_but_not_absurd(rows):
    X, _, known = rows
    y = response(rows, "poisson")
    model = SparseRegressor(alpha=0.05, family="poisson")
    plain = model.fit(X, y, offset=known).coef_
    intercept = model.intercept_
    model.fit(X, y, offset=known + 500)
    np.testing.assert_allclose(model.coef_, plain, atol=1e-7)
    assert model.intercept_ == pytest.approx(intercept - 500)
    with pytest.raises(ValueError, match=r"offsets differ by .* give the logarithms of exposures"):
        model.fit(X, y, offset=500 * known)


def test_balanced_classes_have_equal_weights_whatever_the_rows_weigh(rows):
    X, y, _ = rows
    labels, weights = (y > 4).astype(int), np.random.default_rng(6).integers(0, 4, len(y))
    settings = {"alpha": 0.05, "class_weight": "balanced"}
    weighted = SparseClassifier(**settings).fit(X, labels, weights)
    repeated = SparseClassifier(**settings).fit(
        np.repeat(X, weights, axis=0), np.repeat(labels, weights)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-7)
    total = np.bincount(labels, weights)
    given = SparseClassifier(alpha=0.05, class_weight={0: total[1], 1: total[0]})
    np.testing.assert_allclose(weighted.coef_, given.fit(X, labels, weights).coef_, atol=1e-7)


def test_a_class_of_weight_0_is_no_class(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match="one class only"):
        SparseClassifier(class_weight={0: 0.0, 1: 1.0}).fit(X, (y > 3).astype(int))


def test_scores_need_a_fit(rows):
    X, y, _ = rows
    with pytest.raises(NotFittedError):
        SparseRegressor().score(X, y)


def test_too_few_rows_for_the_folds_are_told_the_remedy(rows):
    X, y, _ = rows
    with pytest.raises(
        ValueError, match=r"\(X has 3 rows\): take fewer folds by cv, or choose alpha"
    ):
        SparseRegressor().fit(X[:3], y[:3])


@pytest.mark.parametrize("factor", [0.0, {0: 0.0}, 2.0])
def test_without_a_penalty_its_factors_do_not_matter(rows, factor):
    X, y, _ = rows
    model = SparseRegressor("none", penalty_factor=factor).fit(X, y)
    expected = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean())[0]
    np.testing.assert_allclose(model.coef_, expected)


@pytest.mark.parametrize("place", [0, 1])
def test_several_responses_are_those_of_glmnet(place):
    """mgaussian: rows of coefficients together, weights, and an offset for each response."""
    stored = json.loads((Path(__file__).parents[2] / "data" / "multi_response.json").read_text())
    table = {name: np.array(values) for name, values in stored["table"].items()}
    found = np.array(stored["mgaussian"][place])
    # Norms count here by the root of how many coefficients they have.
    alpha = stored["strengths"][place] / np.sqrt(3)
    model = SparseRegressor("group-lasso", alpha, method=FollowPath(tol=1e-12))
    model.fit(table["X"], table["Y"], table["weights"], offset=table["offset"])
    np.testing.assert_allclose(model.coef_, found[:, 1:], atol=1e-9)
    np.testing.assert_allclose(model.intercept_, found[:, 0], atol=1e-9)
