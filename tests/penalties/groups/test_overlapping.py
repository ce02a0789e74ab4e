"""Groups that overlap and trees of groups: operators by brute force, fits by certificates and pairs."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize

from garrote import SparseClassifier, SparseRegressor, load
from garrote.paths import FollowPath
from garrote.penalties import GroupLasso, OverlappingGroups
from garrote.proximal import overlapping_groups

TREE = [[0], [1], [0, 1, 2], [3, 4], [0, 1, 2, 3, 4, 5]]
RING = [[0, 1, 2], [2, 3, 4], [4, 5, 0]]
HIERARCHY = {"a": [0], "b": [1, 2], "c": [3, 4, 5], "d": [6, 7]}
LIGHT = FollowPath(alphas=6)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 8)) + 0.5 * rng.standard_normal((80, 1))
    return X, X[:, :3] @ [1.0, -0.5, 0.5] + rng.standard_normal(80)


@pytest.mark.parametrize("groups", [TREE, RING])
@pytest.mark.parametrize("strength", [0.3, 1.0])
def test_the_operator_is_the_minimum(groups, strength):
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 1.5, len(groups))
    x = 2 * rng.standard_normal(6)
    z = overlapping_groups(x, strength, groups, weights)

    def objective(w):
        norms = [np.linalg.norm(w[group]) for group in groups]
        return 0.5 * np.sum((w - x) ** 2) + strength * weights @ norms

    found = minimize(objective, x, method="Nelder-Mead", options={"maxfev": 20_000, "fatol": 1e-13})
    assert objective(z) <= found.fun + 1e-9
    for other in z + 0.1 * rng.standard_normal((300, 6)):
        assert objective(z) <= objective(other) + 1e-12


def test_groups_that_are_apart_are_the_group_lasso(table):
    X, y = table
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    lists = [np.flatnonzero(labels == g) for g in range(3)]
    ours = SparseRegressor(OverlappingGroups(lists), 0.05).fit(X, y)
    theirs = SparseRegressor(GroupLasso(labels), 0.05).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    signs = SparseRegressor(OverlappingGroups(lists), 0.02, bounds=(0, None)).fit(X, y)
    assert signs.coef_.min() == 0
    assert signs.certificate_["duality gap"] < 1e-6


def test_a_child_is_in_only_with_its_parent(table):
    X, _ = table
    y = X[:, 3:6] @ [1.0, 1.0, -1.0] + np.random.default_rng(2).standard_normal(80)
    tree = OverlappingGroups(HIERARCHY, parents={"c": "b", "b": "a"})
    path = SparseRegressor(tree, "bic", method=LIGHT).fit(X, y).path_
    assert path.certificate.max() < 1e-6
    for coef in path.coefficients().toarray():
        ins = {name: np.any(coef[columns]) for name, columns in HIERARCHY.items()}
        assert ins["a"] >= ins["b"] >= ins["c"]


@pytest.mark.parametrize("groups", [[[0, 1, 2, 3], [2, 3], [4, 5, 6]], [[0, 1, 2], [2, 3, 4]]])
@pytest.mark.parametrize("family", ["gaussian", "poisson", "huber", "binomial"])
def test_weights_offsets_covariates_and_sparse_columns_go_together(table, groups, family):
    X, y = table
    X, rng = np.where(np.abs(X) > 0.5, X, 0.0), np.random.default_rng(1)
    kinds = {"poisson": rng.poisson(np.exp(np.clip(0.3 * y, -3, 3))), "binomial": y > 0}
    y = np.asarray(kinds.get(family, y), dtype=float)
    counts, known = rng.integers(0, 3, 80), 0.2 * rng.standard_normal(80)
    free = {"penalty_factor": [1] * 7 + [0]}
    model = SparseRegressor(OverlappingGroups(groups), 0.05, family=family, **free)
    parts = model.fit(scipy.sparse.csr_array(X), y, counts, offset=known)
    found, gap = parts.coef_, parts.certificate_["duality gap"]
    whole = model.fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts), offset=np.repeat(known, counts)
    )
    np.testing.assert_allclose(found, whole.coef_, atol=1e-4)
    assert max(gap, whole.certificate_["duality gap"]) < 1e-6
    assert found[7] != 0


def test_it_is_cross_validated_saved_and_reported(table, tmp_path):
    X, y = table
    tree = OverlappingGroups(HIERARCHY, parents={"c": "b"})
    model = SparseRegressor(tree, method=LIGHT, cv=3).fit(X, y)
    model.save(tmp_path / "tree.garrote")
    np.testing.assert_array_equal(load(tmp_path / "tree.garrote").coef_, model.coef_)
    model.selection_.report(tmp_path / "tree.html")
    assert "overlapping groups" in (tmp_path / "tree.html").read_text()
    classes = SparseClassifier(tree, 0.05).fit(X, np.digitize(y, [-1.0, 1.0]))
    assert classes.coef_.shape == (3, 8)
    assert classes.certificate_["duality gap"] < 1e-6


@pytest.mark.parametrize(
    ("make", "settings", "said"),
    [
        (
            lambda: OverlappingGroups(HIERARCHY, parents={"a": "b", "b": "c", "c": "a"}),
            {},
            "circle: 'a' -> 'b' -> 'c' -> 'a'",
        ),
        (lambda: OverlappingGroups(HIERARCHY, parents={"z": "a"}), {}, "'z', which is no group"),
        (lambda: OverlappingGroups(parents={"z": "a"}), {}, "parents go with groups"),
        (lambda: OverlappingGroups(HIERARCHY, parents=[None]), {}, "for each of 4 groups, got 1"),
        (lambda: OverlappingGroups([[0, 99]]), {}, "groups has column 99"),
        (lambda: OverlappingGroups([["height"]]), {}, "no column names"),
        (lambda: OverlappingGroups([0, 0, 1]), {}, "is for GroupLasso"),
        (lambda: OverlappingGroups([[0], [1]], weights=[1.0]), {}, "each of the 2 groups, got 1"),
        (lambda: OverlappingGroups([[0]], weights=[np.nan]), {}, "finite number >= 0"),
        (lambda: OverlappingGroups([[0, 1]]), {"bounds": (-1, 1)}, "bounds of 0 only"),
        (lambda: OverlappingGroups([[0]]), {"penalty_factor": [1, 2] * 4}, "one factor"),
    ],
)
def test_what_cannot_be_is_refused(table, make, settings, said):
    X, y = table
    with pytest.raises(ValueError, match=said):
        SparseRegressor(make(), 0.1, **settings).fit(X, y)
