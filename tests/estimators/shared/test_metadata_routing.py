"""Offsets, weights and groups of rows reach estimators through scikit-learn's own tools."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import garrote
from garrote import SparseClassifier, SparseRegressor
from garrote.estimators.registry import every_place

EVERY = [place.load() for _, place in every_place()]


@pytest.fixture(autouse=True)
def _routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6)) * [1, 2, 3, 1, 1, 1]
    exposure = rng.uniform(0.5, 20.0, 120)
    y = rng.poisson(exposure * np.exp(0.5 * X[:, 0] - 0.2 * X[:, 1]))
    return {
        "X": X,
        "y": y.astype(float),
        "offset": np.log(exposure),
        "sample_weight": rng.integers(1, 4, 120).astype(float),
        "groups": np.repeat(np.arange(30), 4),
    }


def asking(model, **others):
    """Return a model that asks for offsets and weights wherever it takes them."""
    return (
        model.set_fit_request(offset=True, sample_weight=True, **others)
        .set_predict_request(offset=True)
        .set_score_request(offset=True, sample_weight=True)
    )


def by_hand(model, data, splits, scale=False):
    """Return the scores of folds that are cut, fitted and scored one by one."""
    scores = []
    for inside, outside in splits:
        X = data["X"]
        if scale:
            X = (X - X[inside].mean(axis=0)) / X[inside].std(axis=0)
        trained, held = (
            {name: data[name][part] for name in ("offset", "sample_weight")}
            for part in (inside, outside)
        )
        fitted = clone(model).fit(X[inside], data["y"][inside], **trained)
        scores.append(fitted.score(X[outside], data["y"][outside], **held))
    return scores


def told(data, *names):
    return {name: data[name] for name in names}


def test_a_pipeline_hands_offsets_on_to_fit_predict_and_score(counts):
    model = SparseRegressor(alpha=0.1, family="poisson")
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipe = make_pipeline(scaler, asking(model))
    rows, rest = told(counts, "X", "y"), told(counts, "offset", "sample_weight")
    pipe.fit(*rows.values(), **rest)
    X = StandardScaler().fit_transform(counts["X"])
    alone = SparseRegressor(alpha=0.1, family="poisson").fit(X, counts["y"], **rest)
    assert np.array_equal(pipe[-1].coef_, alone.coef_)
    offset = counts["offset"]
    assert np.array_equal(pipe.predict(counts["X"], offset=offset), alone.predict(X, offset=offset))
    assert pipe.score(*rows.values(), **rest) == alone.score(X, counts["y"], **rest)


def test_cross_val_score_cuts_offsets_and_weights_as_it_cuts_rows(counts):
    model = SparseRegressor(alpha=0.1, family="poisson")
    folds = KFold(3)
    pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asking(model))
    rest = told(counts, "offset", "sample_weight")
    scores = cross_val_score(pipe, counts["X"], counts["y"], cv=folds, params=rest)
    expected = by_hand(model, counts, folds.split(counts["X"]), scale=True)
    np.testing.assert_allclose(scores, expected, rtol=1e-10)


def test_a_grid_search_reaches_into_a_penalty_with_offsets_weights_and_groups(counts):
    model = SparseRegressor(garrote.penalties.ElasticNet(), alpha=0.1, family="poisson")
    folds, shares = GroupKFold(3), [0.2, 0.9]
    search = GridSearchCV(asking(model, groups=False), {"penalty__l1_ratio": shares}, cv=folds)
    search.fit(counts["X"], counts["y"], **told(counts, "offset", "sample_weight", "groups"))
    splits = list(folds.split(counts["X"], groups=counts["groups"]))
    for share, found in zip(shares, search.cv_results_["mean_test_score"], strict=True):
        one = clone(model).set_params(penalty__l1_ratio=share)
        assert found == pytest.approx(np.mean(by_hand(one, counts, splits)), rel=1e-10)


def test_groups_reach_the_folds_inside_an_estimator(counts):
    labels = np.where(counts["y"] > np.median(counts["y"]), "many", "few")
    pipe = make_pipeline(StandardScaler(), SparseClassifier(cv=3).set_fit_request(groups=True))
    pipe.fit(counts["X"], labels, groups=counts["groups"])
    X = StandardScaler().fit_transform(counts["X"])
    alone = SparseClassifier(cv=3).fit(X, labels, groups=counts["groups"])
    assert pipe[-1].alpha_ == alone.alpha_
    assert np.array_equal(pipe[-1].cv_results_["fold_errors"], alone.cv_results_["fold_errors"])


def test_what_nobody_asked_for_is_refused_rather_than_dropped(counts):
    model = SparseRegressor(alpha=0.1, family="poisson")
    with pytest.raises(
        ValueError, match=r"offset.* but are not explicitly set as requested or not"
    ):
        make_pipeline(StandardScaler(), model).fit(
            counts["X"], counts["y"], offset=counts["offset"]
        )


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_every_estimator_can_ask_for_offsets_weights_and_groups(kind):
    requests = asking(kind(), groups=True).get_metadata_routing()
    assert requests.consumes("fit", ["offset", "sample_weight", "groups"]) == {
        "offset",
        "sample_weight",
        "groups",
    }
    assert requests.consumes("predict", ["offset"]) == {"offset"}
    assert requests.consumes("score", ["offset", "sample_weight"]) == {"offset", "sample_weight"}
