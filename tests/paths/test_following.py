"""Ways along a path: settings with values, names that stand for them, and what they refuse."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from garrote import (
    SparseClassifier,
    SparseRegressor,
    VariationalGarrote,
    VariationalGarroteClassifier,
)
from garrote.paths import Anneal, AnnealBound, FollowPath
from garrote.paths.annealed import SOLVERS
from garrote.paths.combinations import solvers
from garrote.priors import ExpectedSize

WAYS = [Anneal, AnnealBound, FollowPath]
MODELS = [VariationalGarrote, VariationalGarroteClassifier, SparseRegressor, SparseClassifier]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    return X, X[:, 1] - X[:, 3] + 0.7 * rng.standard_normal(60)


def answers(make, data, **settings):
    X, y = data
    y = y > 0 if "Classifier" in make.__name__ else y
    return make(**settings).fit(X, y).coef_


@pytest.mark.parametrize("way", WAYS)
def test_ways_are_settings(way):
    one = way(tol=1e-5)
    assert clone(one) == one == pickle.loads(pickle.dumps(one)) != way()
    assert hash(clone(one)) == hash(one)
    assert way(**one.get_params()) == one
    with pytest.raises(AttributeError):
        one.tol = 1.0


@pytest.mark.parametrize("way", WAYS)
def test_a_way_has_a_name_for_each_of_its_solvers(way):
    names = {Anneal: tuple(SOLVERS), AnnealBound: ("coordinate",), FollowPath: solvers()}[way]
    assert tuple(way.named()) == names
    assert way.of("coordinate") == way()
    for name in names:
        assert getattr(way.of(name), "solver", "coordinate") == name


@pytest.mark.parametrize("make", MODELS)
def test_a_name_and_its_object_are_the_same_fit(data, make):
    strength = {"gamma": -3.0} if "Garrote" in make.__name__ else {"alpha": 0.05}
    way = make._method_class
    named = answers(make, data, method="coordinate", **strength)
    np.testing.assert_array_equal(named, answers(make, data, method=way(), **strength))
    np.testing.assert_array_equal(named, answers(make, data, **strength))


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (
            Anneal("newton"),
            r"solver must be one of \('coordinate', 'primal', 'dual'\), got 'newton'",
        ),
        (Anneal(reheat="hot"), "reheat must be 'cut' or 'dense', got 'hot'"),
        (Anneal(n_starts=-1), "n_starts must be an integer >= 0, got -1"),
        (Anneal(eps=0.5), "eps must be between 0 and 0.5, got 0.5"),
        (AnnealBound(eps="a"), "eps must be between 0 and 0.5, got 'a'"),
        (AnnealBound(tol=np.nan), "tol must be positive and finite, got nan"),
        (FollowPath(tol=-1.0), "tol must be positive and finite, got -1"),
        (FollowPath(max_iter=1.5), "max_iter must be an integer >= 1, got 1.5"),
        (FollowPath(eps=2.0), "eps must be between 0 and 1, got 2"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_when_they_are_used(way, said):
    with pytest.raises(ValueError, match=said):
        type(way).of(way)


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("method", ["anneal", None, 3, {"tol": 1e-3}, object])
def test_what_is_no_way_is_refused_with_the_names_of_those_there_are(data, make, method):
    way = make._method_class
    said = rf"method must be one of \('coordinate'.*\), or garrote.paths.{way.__name__}\(...\)"
    with pytest.raises(ValueError, match=said):
        answers(make, data, method=method)


def test_the_way_of_another_estimator_is_refused(data):
    with pytest.raises(ValueError, match=r"or garrote.paths.AnnealBound\(...\)"):
        answers(VariationalGarroteClassifier, data, method=Anneal())
    with pytest.raises(ValueError, match=r"or garrote.paths.Anneal\(...\)"):
        answers(VariationalGarrote, data, method=FollowPath())


def test_settings_of_ways_are_reached_through_estimators(data):
    model = SparseRegressor(alpha=0.05, method=FollowPath("fista"))
    copy = clone(model).set_params(method__tol=1e-3, method__alphas=4)
    assert copy.method == FollowPath("fista", 4, tol=1e-3)
    assert model.method == FollowPath("fista")
    search = GridSearchCV(
        VariationalGarrote(ExpectedSize(), method=Anneal()),
        {"gamma__size": [1.0, 3.0], "method__gammas": [4]},
        cv=3,
    ).fit(*data)
    assert search.best_params_["method__gammas"] == 4
    assert search.best_estimator_.gamma == ExpectedSize(search.best_params_["gamma__size"])


def test_bounds_are_a_pair_of_what_columns_have(data):
    X, y = data
    plain = SparseRegressor(alpha=0.01).fit(X, y).coef_
    assert plain[3] < 0 < plain[1]
    by_number = SparseRegressor(alpha=0.01, bounds=(0.0, None)).fit(X, y).coef_
    assert (by_number >= 0).all()
    assert by_number[1] > 0
    lower, upper = np.full(6, -np.inf), np.full(6, 0.5)
    by_array = SparseRegressor(alpha=0.01, bounds=(lower, upper)).fit(X, y).coef_
    assert by_array[1] == 0.5
    assert by_array[3] < -0.5
    by_column = SparseRegressor(alpha=0.01, bounds=[None, {1: 0.5}]).fit(X, y).coef_
    np.testing.assert_allclose(by_column, by_array, atol=1e-6)
    np.testing.assert_array_equal(
        SparseRegressor(alpha=0.01, bounds=(None, None)).fit(X, y).coef_, plain
    )
