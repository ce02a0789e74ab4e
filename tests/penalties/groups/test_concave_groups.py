"""MCP and SCAD of groups' norms: closed forms on orthonormal groups, stationarity, pairs of features."""

import numpy as np
import pytest
import scipy.sparse

from garrote import SparseClassifier, SparseRegressor, load
from garrote.paths import FollowPath
from garrote.penalties import MCP, SCAD, GroupLasso, GroupMCP, GroupSCAD, Terms
from garrote.rules import proximal_point, total_cost

GROUPS = np.repeat(np.arange(4), 3)
LIGHT = FollowPath(alphas=8)
KINDS = [GroupMCP, GroupSCAD]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 12))
    return X, X[:, :3] @ [1.0, -1.0, 0.5] + rng.standard_normal(90)


def firm(norm, t, gamma):
    """The multivariate firm threshold of Breheny & Huang (2015), Eq. 2.6."""
    return norm if norm > gamma * t else gamma / (gamma - 1) * max(norm - t, 0.0)


def test_fits_to_orthonormal_groups_are_firm_thresholds():
    rng = np.random.default_rng(0)
    X = np.sqrt(60) * np.linalg.qr(rng.standard_normal((60, 12)))[0]
    y = X @ np.repeat([1.0, 0.4, 0.2, 0.0], 3) + 0.5 * rng.standard_normal(60)
    settings = {"fit_intercept": False, "standardize": False, "method": LIGHT}
    path = SparseRegressor(GroupMCP(GROUPS, gamma=3.0), "bic", **settings).fit(X, y).path_
    coefs, z = path.coefficients().toarray(), (X.T @ y / 60).reshape(4, 3)
    for alpha, coef in zip(path.strengths, coefs, strict=True):
        norms = np.linalg.norm(z, axis=1)
        new = np.array([firm(norm, np.sqrt(3) * alpha, 3.0) for norm in norms])
        np.testing.assert_allclose(coef.reshape(4, 3), z * (new / norms)[:, None], atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_proximal_point_is_the_lowest(kind):
    rule = kind(GROUPS[:6]).at(0.5, Terms.equal(6))
    rng = np.random.default_rng(1)
    for size in (0.3, 1.0, 3.0):
        z = size * rng.standard_normal(6)
        point = proximal_point(rule, z, 0.9)

        def objective(w, z=z):
            return np.sum((w - z) ** 2) / 1.8 + total_cost(rule, np.arange(6), w)

        for other in [0 * z, z, *(point + rng.standard_normal((300, 6)) * 0.2)]:
            assert objective(point) <= objective(other) + 1e-12


@pytest.mark.parametrize(("kind", "single"), [(GroupMCP, MCP), (GroupSCAD, SCAD)])
def test_groups_of_one_are_single_coefficients(table, kind, single):
    X, y = table
    whole = SparseRegressor(kind(), 0.2).fit(X, y)
    each = SparseRegressor(single(), 0.2).fit(X, y)
    np.testing.assert_allclose(whole.coef_, each.coef_, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", ["gaussian", "poisson", "huber", "binomial"])
def test_weights_offsets_covariates_and_sparse_columns_go_together(table, kind, family):
    X, y = table
    X, rng = np.where(np.abs(X) > 0.5, X, 0.0), np.random.default_rng(1)
    kinds = {"poisson": rng.poisson(np.exp(np.clip(0.3 * y, -3, 3))), "binomial": y > 0}
    y = np.asarray(kinds.get(family, y), dtype=float)
    counts, known = rng.integers(0, 3, 90), 0.2 * rng.standard_normal(90)
    free = {"penalty_factor": [1] * 11 + [0]}
    model = SparseRegressor(kind(GROUPS), 0.05, family=family, **free)
    parts = model.fit(scipy.sparse.csr_array(X), y, counts, offset=known)
    found, off = parts.coef_, parts.certificate_.value
    whole = model.fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts), offset=np.repeat(known, counts)
    )
    np.testing.assert_allclose(found, whole.coef_, atol=1e-5)
    assert max(off, whole.certificate_.value) < 1e-6
    assert found[11] != 0
    assert np.abs(found[:3]).min() > 0  # in as a whole


def test_a_fit_is_stationary_and_shrinks_less_than_the_group_lasso(table):
    X, y = table
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = SparseRegressor(GroupSCAD(GROUPS), 0.1).fit(X, y)
    rule = GroupSCAD(GROUPS).at(0.1, Terms.equal(12))

    def objective(w):
        left = y - y.mean() - X @ w
        return 0.5 * left @ left / 90 + total_cost(rule, np.arange(12), w)

    used = np.flatnonzero(model.coef_)
    for j in used:
        step = 1e-5 * (np.arange(12) == j)
        slope = (objective(model.coef_ + step) - objective(model.coef_ - step)) / 2e-5
        assert abs(slope) < 1e-7
    lasso = SparseRegressor(GroupLasso(GROUPS), 0.1).fit(X, y)
    assert np.linalg.norm(model.coef_) > np.linalg.norm(lasso.coef_)


def test_it_is_cross_validated_saved_and_reported(table, tmp_path):
    X, y = table
    model = SparseRegressor(GroupMCP(GROUPS), method=LIGHT, cv=3).fit(X, y)
    model.save(tmp_path / "groups.garrote")
    np.testing.assert_array_equal(load(tmp_path / "groups.garrote").coef_, model.coef_)
    model.selection_.report(tmp_path / "groups.html")
    assert "group MCP" in (tmp_path / "groups.html").read_text()
    classes = SparseClassifier(GroupMCP(GROUPS), 0.05).fit(X, np.digitize(y, [-1.0, 1.0]))
    assert classes.certificate_.value < 1e-6


@pytest.mark.parametrize(
    ("make", "settings", "said"),
    [
        (lambda: GroupMCP(GROUPS, gamma=0), {}, "gamma must be a finite number > 0"),
        (lambda: GroupSCAD(GROUPS, a=1.0), {}, "a must be a finite number > 1"),
        (lambda: GroupMCP([[0, 1], [1, 2]]), {}, "group"),
        (lambda: GroupMCP([["height"]]), {}, "no column names"),
        (lambda: GroupMCP(GROUPS), {"bounds": (0, None)}, "no bounds"),
        (lambda: GroupMCP(GROUPS), {"penalty_factor": [1, 2, *[1] * 10]}, "in one group"),
        (lambda: GroupMCP(GROUPS), {"method": "fista"}, "cannot fit penalty 'group MCP'"),
    ],
)
def test_what_cannot_be_is_refused(table, make, settings, said):
    X, y = table
    with pytest.raises(ValueError, match=said):
        SparseRegressor(make(), 0.1, **settings).fit(X, y)
