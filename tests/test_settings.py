"""Penalties, likelihoods, priors and methods are settings: read, copied, changed and searched over."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from garrote import (
    SparseClassifier,
    SparseRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    VariationalGarrote,
    VariationalGarroteClassifier,
)
from garrote.inference import Sample
from garrote.likelihoods import FAMILIES, Huber, Multinomial, SeveralResponses
from garrote.penalties import (
    L1,
    MCP,
    PENALTIES,
    AdaptiveLasso,
    Bridge,
    ElasticNet,
    FusedLasso,
    GroupLasso,
    GroupMCP,
    GroupSCAD,
    L1WithRidge,
    OverlappingGroups,
    Slope,
    Terms,
    TrendFilter,
)
from garrote.priors import GaussianSlab

LIKELIHOODS = [*FAMILIES.values(), Huber(2.0, 3.0), Multinomial(3), SeveralResponses(2)]
OF_ARRAYS = (GroupLasso, GroupMCP, GroupSCAD, OverlappingGroups, FusedLasso, TrendFilter, Slope)


@pytest.mark.parametrize("name", PENALTIES)
def test_penalties_are_equal_by_their_settings_and_have_no_others(name):
    penalty = PENALTIES[name]()
    assert "name" not in penalty.get_params()
    same = clone(penalty)
    assert same is not penalty
    assert same.get_params().keys() == penalty.get_params().keys()
    if not isinstance(penalty, OF_ARRAYS):  # equal to themselves alone
        assert same == penalty
        assert hash(same) == hash(penalty)
        assert pickle.loads(pickle.dumps(penalty)) == penalty
        assert type(penalty)(**penalty.get_params()) == penalty
    with pytest.raises(AttributeError):
        penalty.strength = 1.0


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=repr)
def test_likelihoods_are_equal_by_their_settings(likelihood):
    assert clone(likelihood) == likelihood
    assert pickle.loads(pickle.dumps(likelihood)) == likelihood
    assert type(likelihood)(**likelihood.get_params()) == likelihood
    with pytest.raises(ValueError, match=f"{type(likelihood).__name__} has no setting 'width'"):
        likelihood.set_params(width=1)


def test_groups_and_graphs_are_copied_and_changed():
    first = GroupLasso([0, 0, 1, 1])
    rule = first.at(1.0, Terms.equal(4))
    copy = clone(first)
    assert copy.groups is not first.groups
    np.testing.assert_array_equal(copy.groups, first.groups)
    copy.set_params(groups=[0, 1, 1, 1])
    assert copy.at(1.0, Terms.equal(4)).starts.tolist() == [0, 1, 4]
    assert first.at(1.0, Terms.equal(4)).starts.tolist() == rule.starts.tolist() == [0, 2, 4]
    fused = clone(FusedLasso([(0, 2), (2, 1)], weights=[1.0, 2.0]))
    assert fused.at(1.0, Terms.equal(3)).graph.weights.tolist() == [1.0, 2.0]
    model = SparseRegressor(GroupLasso({"a": 1, "b": 1}))
    assert clone(model).get_params()["penalty__groups"] == {"a": 1, "b": 1}


def test_what_follows_from_a_setting_changes_with_it():
    bridge = Bridge(0.5)
    assert bridge.singular
    assert not bridge.convex
    bridge.set_params(b=1.5)
    assert bridge.convex
    assert not bridge.singular
    assert bridge == Bridge(1.5)
    net = L1()
    assert net.name == "lasso"
    assert net == ElasticNet(1.0)
    assert net.set_params(l1_ratio=0.3).name == "elastic net"
    assert MCP(np.inf).is_elastic_net
    assert not MCP(3.0).is_elastic_net


def test_settings_that_cannot_be_meant_change_nothing():
    penalty, likelihood = MCP(2.0), Huber(2.0)
    with pytest.raises(ValueError, match="gamma must be > 0"):
        penalty.set_params(gamma=-1.0)
    with pytest.raises(ValueError, match="corner of Huber must be positive"):
        likelihood.set_params(corner=0.0)
    assert (penalty, likelihood) == (MCP(2.0), Huber(2.0))


def test_a_grid_search_finds_the_settings_of_penalties_and_likelihoods():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    y = X[:, 0] + 0.3 * rng.standard_normal(60)
    search = GridSearchCV(
        SparseRegressor(ElasticNet(), alpha=0.05), {"penalty__l1_ratio": [0.1, 1.0]}, cv=3
    ).fit(X, y)
    for l1_ratio, score in zip([0.1, 1.0], search.cv_results_["mean_test_score"], strict=True):
        plain = GridSearchCV(SparseRegressor(alpha=0.05), {"penalty": [ElasticNet(l1_ratio)]}, cv=3)
        assert plain.fit(X, y).best_score_ == score
    robust = SparseRegressor(family=Huber(), alpha=0.05)
    robust.set_params(family__corner=0.5).fit(X, y)
    np.testing.assert_array_equal(
        robust.coef_, SparseRegressor(family=Huber(0.5), alpha=0.05).fit(X, y).coef_
    )


@pytest.mark.parametrize(
    ("model", "changes", "said"),
    [
        (SparseRegressor("mcp"), {"penalty__gamma": 2.0},
         r"penalty is the name 'mcp'; write penalty=MCP\(\) to set its gamma"),
        (SparseRegressor(), {"penalty__l1_ratio": 0.5},
         r"penalty is the name 'lasso'; write penalty=L1\(\) to set its l1_ratio"),
        (SparseRegressor("elasticnet"), {"penalty__l1_ratio": 0.5},
         r"penalty is the name 'elasticnet'; write penalty=ElasticNet\(\) to set its l1_ratio"),
        (SparseClassifier("lasso"), {"penalty__gamma": 2.0},
         r"'lasso', which has no setting 'gamma'; write penalty=GroupMCP\(\) or penalty=MCP\(\) or "),
        (SparseRegressor(family="huber"), {"family__corner": 2.0},
         r"family is the name 'huber'; write family=Huber\(\) to set its corner"),
        (SparseRegressor(MCP()), {"penalty": "scad", "penalty__a": 3.0}, r"write penalty=SCAD\(\)"),
        (SpikeSlabRegressor("spike-slab"), {"prior__variance": 2.0},
         r"prior is the name 'spike-slab'; write prior=TwoHumpedSlab\(\) to set its variance"),
        (SpikeSlabRegressor("spike-slab", "search"), {"prior__variance": 2.0},
         r"write prior=GaussianSlab\(\) to set its variance"),
        (SpikeSlabClassifier("spike-slab"), {"prior__variance": 2.0},
         r"write prior=TwoHumpedEffectSlab\(\)"),
        (SpikeSlabClassifier("spike-slab", "mean-field"), {"prior__variance": 2.0},
         r"write prior=EffectSlab\(\)"),
        (SpikeSlabRegressor(method="auto"), {"method__n_chains": 4},
         r"method is 'auto', which has no setting 'n_chains'; write method=Gibbs\(\) or "),
        (SpikeSlabRegressor(method="sample"), {"method__wide": 4},
         "method is 'sample', which has no setting 'wide'"),
        (SparseRegressor(), {"method__tol": 1e-8},
         r"method is the name 'coordinate'; write method=FollowPath\('coordinate'\) to set its tol"),
        (VariationalGarrote(method="dual"), {"method__n_starts": 3},
         r"write method=Anneal\('dual'\) to set its n_starts"),
        (VariationalGarroteClassifier(), {"method__gammas": 5}, r"write method=AnnealBound\(\) to set"),
        (VariationalGarrote(), {"method__alphas": 5}, "'coordinate', which has no setting 'alphas'"),
        (VariationalGarrote(), {"gamma__size": 5}, "gamma is 'cv', which has no setting 'size'"),
        (SparseRegressor(cv=[[0], [1]]), {"cv__n_splits": 4}, r"cv is \[\[0\], \[1\]\], which"),
        (SparseRegressor(), {"cv__n_splits": 4}, "cv is 5, which has no setting 'n_splits'"),
    ],
)  # fmt: skip
def test_a_name_has_no_settings_and_its_object_is_named(model, changes, said):
    before = repr(model)
    with pytest.raises(ValueError, match=said):
        model.set_params(**changes)
    assert repr(model) == before


def test_objects_take_the_place_of_names_in_one_call():
    model = SparseRegressor("mcp").set_params(penalty=MCP(), penalty__gamma=2.0)
    assert model.penalty == MCP(2.0)
    other = SpikeSlabRegressor(method="auto").set_params(method=Sample(), method__n_steps=500)
    assert other.method == Sample(500)
    with pytest.raises(ValueError, match="Invalid parameter 'penalties'"):
        model.set_params(penalties__gamma=1.0)


def test_penalties_say_what_of_them_needs_a_gaussian_response():
    assert ElasticNet(corrected=True).for_squares == "corrected=True"
    assert AdaptiveLasso(first="ridge").for_squares == "first='ridge'"
    assert PENALTIES["best-subset"]().for_squares == "all subsets"
    assert not any(p.for_squares for p in (L1(), L1WithRidge(), AdaptiveLasso(), MCP()))


def test_a_notebook_shows_the_settings_inside_an_estimators_settings():
    model = SpikeSlabRegressor(method=Sample(n_steps=1234), prior=GaussianSlab(0.7))
    html = make_pipeline(StandardScaler(), model)._repr_html_()
    cells = r'<td class="param">(\w+)</td>\s*<td class="value">(.*?)</td>'
    shown = dict(re.findall(cells, html, flags=re.DOTALL))
    assert shown["method__n_steps"] == "1234"
    assert shown["prior__variance"] == "0.7"
    assert "n_steps" in Sample()._repr_html_()
