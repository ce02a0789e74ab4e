"""Trend filtering as a penalty: against a lasso on running sums, and pairs of features."""

import numpy as np
import pytest
import scipy.sparse

from garrote import SparseClassifier, SparseRegressor, load
from garrote.designs.operators import Trends
from garrote.paths import FollowPath
from garrote.penalties import FusedLasso, Terms, TrendFilter
from garrote.rules import proximal_point, violation

LIGHT = FollowPath(alphas=6)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((70, 15))
    w = 1.0 - np.abs(np.arange(15) - 6) / 5
    return X, X @ w + rng.standard_normal(70), w


@pytest.mark.parametrize("order", [0, 1, 2])
def test_it_is_a_lasso_on_what_signals_are_made_of(table, order):
    X, y, _ = table
    places = np.cumsum(np.linspace(1.0, 2.0, 15))
    ours = SparseRegressor(TrendFilter(order, places), 0.02).fit(X, y)
    basis = Trends(15, order, places) @ np.eye(15)
    factor = np.arange(15) > order
    lasso = SparseRegressor("lasso", 0.02, penalty_factor=factor, standardize=False)
    lasso.fit(X @ basis, y)
    assert ours.certificate_["duality gap"] < 1e-8
    np.testing.assert_allclose(ours.coef_, basis @ lasso.coef_, atol=1e-6)


def test_order_0_is_the_fused_lasso_along_a_chain(table):
    X, y, _ = table
    trend = SparseRegressor(TrendFilter(0), "bic", method=LIGHT).fit(X, y)
    fused = SparseRegressor(FusedLasso("chain"), "bic", method=LIGHT).fit(X, y)
    np.testing.assert_allclose(trend.path_.strengths, fused.path_.strengths, rtol=1e-6)
    both = [np.asarray(m.path_.coefficients().todense()) for m in (trend, fused)]
    np.testing.assert_allclose(*both, atol=1e-6)
    # The level counts in any case, and every bend begins a piece that is not 0 here.
    freedom = trend.path_.degrees_of_freedom
    assert (freedom >= fused.path_.degrees_of_freedom).all()
    assert freedom[0] == 1


@pytest.mark.parametrize("family", ["gaussian", "poisson", "huber", "binomial"])
def test_weights_offsets_and_sparse_columns_go_together(table, family):
    X, y, _ = table
    X, rng = np.where(np.abs(X) > 0.7, X, 0.0), np.random.default_rng(1)
    kinds = {"poisson": rng.poisson(np.exp(np.clip(0.3 * y, -3, 3))), "binomial": y > 0}
    y = np.asarray(kinds.get(family, y), dtype=float)
    counts, known = rng.integers(0, 3, 70), 0.2 * rng.standard_normal(70)
    model = SparseRegressor(TrendFilter(1), 0.05, family=family)
    parts = model.fit(scipy.sparse.csr_array(X), y, counts, offset=known)
    found, gap = parts.coef_, parts.certificate_["duality gap"]
    whole = model.fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts), offset=np.repeat(known, counts)
    )
    np.testing.assert_allclose(found, whole.coef_, atol=1e-5)
    assert max(gap, whole.certificate_["duality gap"]) < 1e-6


def test_classes_and_responses_have_trends_of_their_own(table):
    X, y, _ = table
    classes = SparseClassifier(TrendFilter(1), 0.05).fit(X, np.digitize(y, [-1.0, 1.0]))
    assert classes.coef_.shape == (3, 15)
    assert classes.certificate_["duality gap"] < 1e-6
    both = SparseRegressor(TrendFilter(1), 0.05).fit(X, np.column_stack([y, -y]))
    one = SparseRegressor(TrendFilter(1), 0.05).fit(X, y)
    np.testing.assert_allclose(both.coef_, [one.coef_, -one.coef_], atol=1e-7)


def test_the_rule_knows_its_own_proximal_point():
    rule = TrendFilter(1).at(0.3, Terms.equal(9))
    z = np.random.default_rng(0).standard_normal(9)
    point = proximal_point(rule, z, 0.8)
    assert violation(rule, (z - point) / 0.8, point, np.ones(9)).max() < 1e-9
    assert violation(rule, (z - z) / 0.8, z, np.ones(9)).max() > 0.1


def test_it_is_cross_validated_saved_and_reported(table, tmp_path):
    X, y, w = table
    model = SparseRegressor(TrendFilter(1, np.arange(15.0)), method=LIGHT, cv=3).fit(X, y)
    assert np.abs(model.coef_ - w).max() < 0.4
    model.save(tmp_path / "trend.garrote")
    np.testing.assert_array_equal(load(tmp_path / "trend.garrote").coef_, model.coef_)
    model.selection_.report(tmp_path / "trend.html")
    assert "trend filtering" in (tmp_path / "trend.html").read_text()


@pytest.mark.parametrize(
    ("penalty", "settings", "said"),
    [
        (lambda: TrendFilter(3), {}, "order must be 0"),
        (lambda: TrendFilter(1, [0, 2, 1]), {}, "positions must rise"),
        (lambda: TrendFilter(1, np.arange(9)), {}, "a number for each of 15 places"),
        (TrendFilter, {"bounds": (0, None)}, "no bounds"),
        (TrendFilter, {"penalty_factor": [0, *[1] * 14]}, "penalty_factor cannot"),
    ],
)
def test_what_cannot_be_is_refused(table, penalty, settings, said):
    X, y, _ = table
    with pytest.raises(ValueError, match=said):
        SparseRegressor(penalty(), 0.1, **settings).fit(X, y)
