"""Penalties of groups of coefficients: certified optima, and columns that come in together."""

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.sparse
from sklearn.linear_model import MultiTaskLasso
from sklearn.metrics import r2_score

from garrote import Problem, SparseClassifier, SparseRegressor, fit_path
from garrote.likelihoods import Binomial, Gaussian, Poisson, log_likelihood, saturated
from garrote.likelihoods.multinomial import Multinomial
from garrote.likelihoods.several import SeveralResponses
from garrote.penalties import L1, GroupLasso, Terms
from garrote.proximal import group_l2, group_linf, soft_threshold
from garrote.rules import proximal_point
from garrote.solvers.control import Control
from reference import group_lasso, sparse_regression

KINDS = [{}, {"norm": "inf"}, {"l1_ratio": 0.4}, {"norm": "inf", "l1_ratio": 0.3}]
GROUPS = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 2, 4])


def problem_of(X, y, **settings):
    return Problem.from_rows(X, y, scale_response=False, **settings)


def grouped_data(n=60, seed=0, correlation=0.5):
    X, y, _ = sparse_regression(n, 12, 4, seed=seed, correlation=correlation)
    return X, y


@pytest.mark.parametrize("settings", KINDS)
def test_paths_are_those_of_plain_proximal_gradient(settings):
    X, y = grouped_data()
    path = fit_path(
        problem_of(X, y, standardize=False, fit_intercept=False), GroupLasso(GROUPS, **settings), 12
    )
    assert path.certificate.max() < 1e-6
    for k in (0, 4, 8, 11):
        expected = group_lasso(X, y, GROUPS, path.strengths[k], **settings)
        np.testing.assert_allclose(
            path.coefficients()[[k]].toarray()[0], expected, atol=2e-4 * np.abs(y).max()
        )


@pytest.mark.parametrize("settings", KINDS)
def test_a_tight_tolerance_gives_nearly_all_digits(settings):
    X, y = grouped_data()
    problem = problem_of(X, y, standardize=False, fit_intercept=False)
    path = fit_path(problem, GroupLasso(GROUPS, **settings), 6, control=Control(1e-12))
    expected = group_lasso(X, y, GROUPS, path.strengths[3], **settings, steps=200_000)
    np.testing.assert_allclose(path.coefficients()[[3]].toarray()[0], expected, atol=1e-8)


@pytest.mark.parametrize("settings", KINDS)
@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial(), Poisson()])
def test_gaps_bound_what_other_coefficients_could_gain(likelihood, settings):
    rng = np.random.default_rng(1)
    X, _ = grouped_data(80)
    eta = 0.8 * X[:, 0] - 0.5 * X[:, 6]
    y = {
        Gaussian(): eta + rng.standard_normal(80),
        Binomial(): (rng.random(80) < 1 / (1 + np.exp(-eta))).astype(float),
        Poisson(): rng.poisson(np.exp(0.5 * eta)).astype(float),
    }[likelihood]
    weights = rng.uniform(0.5, 2.0, 80)
    penalty = GroupLasso(GROUPS, **settings)
    problem = problem_of(X, y, likelihood=likelihood, sample_weight=weights, fit_intercept=False)
    path = fit_path(problem, penalty, 4, control=Control(1e-3))
    Z = X / problem.scale.column_scale
    sizes = np.bincount(GROUPS)

    def objective(w, alpha):
        eta = Z @ w
        if likelihood.least_squares:
            loss = 0.5 * (y - eta) ** 2
        else:
            loss = saturated(likelihood, y) - log_likelihood(likelihood, y, eta)
        share, total = settings.get("l1_ratio", 0.0), 0.0
        for g, size in enumerate(sizes):
            own = w[g == GROUPS]
            if settings.get("norm") == "inf":
                total += size * np.abs(own).max()
            else:
                total += np.sqrt(size) * np.linalg.norm(own)
        penalty = (1 - share) * total + share * np.abs(w).sum()
        return weights @ loss / weights.sum() + alpha * penalty

    null = objective(np.zeros(12), 0.0)
    for k, fit in enumerate(path.fits):
        own = path.coefficients()[[k]].toarray()[0] * problem.scale.column_scale
        reached = objective(own, fit.strength)
        assert fit.certificate["duality gap"] <= 1e-3
        rng = np.random.default_rng(k)
        for scale in (1e-1, 1e-2, 1e-3, 1e-4):
            for _ in range(50):
                other = own * (1 + scale * rng.standard_normal(12))
                other += scale * rng.standard_normal(12) * (rng.random(12) < 0.3)
                least = reached - fit.certificate["duality gap"] * null * (1 + 1e-9)
                assert objective(other, fit.strength) >= least


def test_groups_of_one_are_the_lasso():
    X, y, _ = sparse_regression(50, 80, 4, correlation=0.5)
    problem = problem_of(X, y)
    alone = fit_path(problem, GroupLasso(), 15, control=Control(1e-10))
    lasso = fit_path(problem, L1(), alone.strengths)
    np.testing.assert_allclose(
        alone.coefficients().toarray(), lasso.coefficients().toarray(), atol=1e-7
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_groups_are_in_or_out_as_a_whole(sparse):
    X, y, _ = sparse_regression(60, 100, 5, seed=2)
    stored = scipy.sparse.csc_array(X) if sparse else X
    groups = np.arange(100) % 20
    path = fit_path(problem_of(stored, y), GroupLasso(groups), 20)
    for row in path.coefficients().toarray():
        counts = np.bincount(groups, row != 0, minlength=20)
        assert set(counts.tolist()) <= {0.0, 5.0}
    assert path.certificate.max() < 1e-6


def test_only_the_largest_norm_gives_members_equal_sizes():
    X, y, _ = sparse_regression(60, 40, 5, seed=2)
    problem, groups = problem_of(X, y, standardize=False), np.arange(40) % 10

    def ties(norm):
        row = np.abs(fit_path(problem, GroupLasso(groups, norm), 10).coefficients().toarray()[2])
        sizes = row.reshape(4, 10)[:, row.reshape(4, 10).max(axis=0) > 0]
        return np.isclose(sizes, sizes.max(axis=0)).sum(axis=0)

    assert (ties("inf") >= 2).mean() > 0.5
    assert (ties(2) == 1).all()


def test_more_columns_than_rows_are_solved_on_the_rows():
    """Beyond a thousand columns of the working set no cross products are made."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 2400))
    y = X[:, :80] @ rng.standard_normal(80) + rng.standard_normal(400)
    groups = np.repeat(np.arange(30), 80)
    path = fit_path(problem_of(X, y), GroupLasso(groups), 12, eps=2e-2, control=Control(1e-4))
    assert max(len(fit.columns) for fit in path.fits) > 1000
    assert path.certificate.max() < 1e-4


def test_a_class_has_coefficients_where_all_have():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 15))
    labels = np.array(["a", "b", "c"])[
        np.argmax(X[:, :3] + 0.5 * rng.standard_normal((120, 3)), axis=1)
    ]
    model = SparseClassifier(penalty="group-lasso", alpha=0.05).fit(X, labels)
    assert model.coef_.shape == (3, 15)
    used = model.coef_ != 0
    assert (used.all(axis=0) == used.any(axis=0)).all()
    assert used.any()
    assert not used.all()
    assert model.certificate_["duality gap"] < 1e-6


def test_a_multinomial_gap_is_confirmed_by_a_smooth_optimiser():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((90, 4))
    y = np.argmax(X[:, :3] + rng.standard_normal((90, 3)), axis=1).astype(float)
    problem = problem_of(X, y, likelihood=Multinomial(3), standardize=False, fit_intercept=False)
    path = fit_path(problem, GroupLasso(), 5, control=Control(1e-9))
    fit = path.fits[-1]
    alpha = fit.strength

    def objective(v):
        w = v.reshape(3, 4)
        loss = Multinomial(3).loss(y, w @ X.T).mean()
        return loss + alpha * np.sqrt(3) * np.sqrt((w**2).sum(axis=0) + 1e-16).sum()

    best = scipy.optimize.minimize(objective, 0.1 * rng.standard_normal(12), tol=1e-12)
    ours = np.zeros(12)
    ours[fit.columns] = fit.coef
    assert objective(ours) <= best.fun + 1e-7


def test_cross_validation_finds_the_groups():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 60))
    y = X[:, :6] @ np.ones(6) + rng.standard_normal(100)
    model = SparseRegressor(penalty=GroupLasso(np.repeat(np.arange(20), 3)), rule="1se").fit(X, y)
    assert set(np.flatnonzero(model.coef_)) == set(range(6))


def test_groups_can_be_named_by_patterns():
    X, y, _ = sparse_regression(60, 5, 2)
    frame = pd.DataFrame(X, columns=["gene1_a", "gene1_b", "gene2_a", "gene2_b", "age"])
    model = SparseRegressor(
        penalty=GroupLasso([["gene1_*"], ["gene2_a", "gene2_b"], ["age"]]), alpha=None
    ).fit(frame, y)
    for row in model.path_.coefficients().toarray():
        assert (row[0] == 0) == (row[1] == 0)
        assert (row[2] == 0) == (row[3] == 0)


def test_unequal_groups_are_weighted_by_the_root_of_their_size():
    rule = GroupLasso([0, 0, 0, 0, 1]).at(0.5, Terms.equal(5))
    np.testing.assert_allclose(rule.weight, [1.0, 0.5])


def test_one_group_with_no_penalty_is_always_in():
    X, _ = grouped_data()
    rng = np.random.default_rng(0)
    labels = (X[:, 5] + rng.standard_normal(60) > 0).astype(float)
    factor = np.where(GROUPS == 2, 0.0, 1.0)
    model = SparseRegressor(
        penalty=GroupLasso(GROUPS), family="binomial", alpha=None, penalty_factor=factor
    ).fit(X, labels)
    assert (model.path_.coefficients().toarray()[:, GROUPS == 2] != 0).all()
    assert model.path_.certificate.max() < 1e-6


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 1], [1, 2], [3, 4]], "share column 1"),
        ([[0, 1], [2, 3]], "columns 4 are in no group"),
        ([[0, 1, 2, 3, 4], []], "group 1 is empty"),
        ([0, 0, 1], "3 labels for 5 columns"),
        ([["a*"], [0]], "no column names"),
        ([[0, 1, 2, 3, 7]], "has column 7"),
        ("colours", "got 'colours'"),
        ("factors", "has no names"),
    ],
)
def test_impossible_groups_are_refused(groups, message):
    X, y, _ = sparse_regression(30, 5, 2)
    with pytest.raises(ValueError, match=message):
        SparseRegressor(penalty=GroupLasso(groups), alpha=0.1).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"norm": 1}, "norm must be 2 or 'inf'"),
        ({"l1_ratio": 1.0}, "below 1"),
        ({"l1_ratio": "a"}, "l1_ratio must be a number .* got 'a'"),
        ({"l1_ratio": None}, "l1_ratio must be a number .* got None"),
        ({"weights": "count"}, "'size', 'equal'"),
        ({"weights": [1.0, np.inf]}, "a finite number >= 0 for each group, .* got .1.0, inf"),
        ({"weights": [1.0, np.nan]}, "a finite number >= 0 for each group"),
        ({"weights": [1.0, -1.0]}, "a finite number >= 0 for each group"),
        ({"weights": {"a": 1.0}}, "a finite number >= 0 for each group, .* got {'a': 1.0}"),
        ({"weights": None}, "a finite number >= 0 for each group, .* got None"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        GroupLasso([0, 1], **settings)


def test_factors_that_differ_within_a_group_and_bounds_are_refused():
    X, y, _ = sparse_regression(30, 4, 2)
    groups = GroupLasso([0, 0, 1, 1])
    frame = pd.DataFrame(X, columns=list("abcd"))
    said = "penalty_factor is 1 for column 'a' and 2 for 'b', which are in one group"
    with pytest.raises(ValueError, match=said):
        SparseRegressor(penalty=groups, penalty_factor=[1, 2, 1, 1], alpha=0.1).fit(frame, y)
    terms = Terms.equal(4)._replace(factor=np.array([1.0, 2.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match="same factor of the penalty"):
        fit_path(problem_of(X, y), groups, 3, terms=terms)
    with pytest.raises(ValueError, match="no bounds"):
        SparseRegressor(penalty=groups, bounds=(0.0, None), alpha=0.1).fit(X, y)


@pytest.mark.parametrize("settings", KINDS)
def test_the_proximal_point_of_a_group_rule_is_that_of_the_public_operators(settings):
    z = np.random.default_rng(0).standard_normal(12) * 3
    rule = GroupLasso(GROUPS, **settings).at(0.7, Terms.equal(12))
    point = proximal_point(rule, z, 0.5)
    softened = soft_threshold(z, 0.5 * 0.7 * settings.get("l1_ratio", 0.0))
    operator = group_linf if settings.get("norm") == "inf" else group_l2
    expected = operator(softened, 1.0, GROUPS, weights=0.5 * rule.weight)
    np.testing.assert_allclose(point, expected, atol=1e-12)


def test_several_responses_share_their_support_as_in_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30))
    Y = X[:, :4] @ rng.standard_normal((4, 3)) + rng.standard_normal((80, 3)) + [0.0, 5.0, -2.0]
    problem = problem_of(X, Y, likelihood=SeveralResponses(3), standardize=False)
    path = fit_path(problem, GroupLasso(weights="equal"), 15, control=Control(1e-10))
    assert path.certificate.max() < 1e-10
    for k in (4, 14):
        theirs = MultiTaskLasso(alpha=path.strengths[k], tol=1e-12, max_iter=100_000).fit(X, Y)
        coef = path.coefficients()[[k]].toarray().reshape(3, -1)
        np.testing.assert_allclose(coef, theirs.coef_, atol=1e-6)
        np.testing.assert_allclose(path.intercepts[k], theirs.intercept_, atol=1e-6)


@pytest.mark.parametrize("alpha", ["cv", "bic", 0.1])
def test_a_variable_is_in_for_all_responses_or_for_none(alpha):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30))
    Y = X[:, :4] @ rng.standard_normal((4, 3)) + rng.standard_normal((80, 3)) + [0.0, 5.0, -2.0]
    model = SparseRegressor(penalty="group-lasso", alpha=alpha, rule="1se").fit(X, Y)
    used = model.coef_ != 0
    assert (used.all(axis=0) == used.any(axis=0)).all()
    assert used[:, :4].all()
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X)))
    assert "on the response that a variable matters most to" in str(model.selection_)


def test_several_responses_of_one_lasso_are_lassos_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20))
    Y = X[:, :2] @ rng.standard_normal((2, 2)) + rng.standard_normal((60, 2))
    weights = rng.uniform(0.5, 2.0, 60)
    both = SparseRegressor(alpha=0.1).fit(X, Y, sample_weight=weights)
    for k in range(2):
        alone = SparseRegressor(alpha=0.1).fit(X, Y[:, k], sample_weight=weights)
        np.testing.assert_allclose(both.coef_[k], alone.coef_, atol=1e-8)
        assert both.intercept_[k] == pytest.approx(alone.intercept_, abs=1e-8)


def test_several_responses_that_are_not_numbers_are_refused():
    X, Y = np.ones((10, 2)), np.ones((10, 2))
    with pytest.raises(ValueError, match="y has 2 columns, which family='poisson' cannot take"):
        SparseRegressor(family="poisson").fit(X, Y)
    with pytest.raises(ValueError, match=r"offset must have shape \(10, 2\), a column for each"):
        SparseRegressor().fit(X, Y, offset=np.ones(10))
    with pytest.raises(ValueError, match="cannot fit"):
        SparseRegressor(method="homotopy").fit(X, Y)
