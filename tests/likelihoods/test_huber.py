"""Numbers with outliers: the corner and its unit, certified paths, and what outliers cannot do."""

import numpy as np
import pytest
import scipy.optimize

import garrote
from garrote import Problem, SparseRegressor, fit_path
from garrote.likelihoods import (
    Huber,
    adapt_to_data,
    conjugate,
    deviance_explained,
    log_likelihood,
    null_mean,
)
from garrote.paths import FollowPath
from garrote.penalties import L1, MCP, ElasticNet, NoPenalty, Ridge
from reference import lasso_by_proximal_gradient, sparse_regression


def contaminated(n=150, d=10, seed=0):
    """Rows of which every tenth is far off."""
    X, y, _ = sparse_regression(n, d, 3, seed=seed)
    y[::10] += 40.0
    return X, y + 3.0


def loss_of(edge, residual):
    size = np.abs(residual)
    return np.where(size <= edge, 0.5 * size**2, edge * size - 0.5 * edge**2)


def problem_of(X, y, likelihood=None, **settings):
    return Problem.from_rows(X, y, likelihood=likelihood or Huber(), **settings)


def test_the_loss_is_the_square_up_to_the_edge_and_its_tangent_beyond():
    likelihood, residual = Huber(corner=2.0, scale=0.5), np.linspace(-4, 4, 81)
    np.testing.assert_allclose(-log_likelihood(likelihood, residual, 0.0), loss_of(1.0, residual))
    assert likelihood.edge == 1.0


def test_the_unit_is_the_spread_around_the_median():
    X, y = contaminated()
    spread = 1.482602218505602 * np.median(np.abs(y - np.median(y)))
    assert adapt_to_data(Huber(), y).scale == pytest.approx(spread)
    assert adapt_to_data(Huber(scale=2.0), y).scale == 2.0
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    offset = X[:, 4]
    repeated = adapt_to_data(Huber(), np.repeat(y, counts), offset=np.repeat(offset, counts)).scale
    assert adapt_to_data(Huber(), y, counts, offset).scale == pytest.approx(repeated)
    normal = np.random.default_rng(0).normal(0, 3, 20_000)
    assert adapt_to_data(Huber(), normal).scale == pytest.approx(3.0, rel=0.02)


def test_where_most_responses_are_one_number_the_unit_is_a_mean():
    y = np.r_[np.zeros(60), np.arange(1.0, 11.0)]
    assert adapt_to_data(Huber(), y).scale == pytest.approx(1.2533141373155001 * 55 / 70)
    assert adapt_to_data(Huber(), np.ones(5)).scale == 1.0


def test_a_scale_that_was_not_settled_is_asked_for():
    with pytest.raises(ValueError, match="takes its scale from y"):
        log_likelihood(Huber(), 1.0, 0.0)


def test_the_null_mean_is_the_best_constant():
    _, y = contaminated()
    weights = np.random.default_rng(0).uniform(0, 2, len(y))
    likelihood = adapt_to_data(Huber(), y)
    best = scipy.optimize.minimize_scalar(
        lambda m: weights @ loss_of(likelihood.edge, y - m), options={"xtol": 1e-12}
    )
    assert null_mean(likelihood, y, weights) == pytest.approx(best.x, rel=1e-7)
    constant = np.full(len(y), null_mean(likelihood, y, weights))
    assert deviance_explained(likelihood, y, constant, weights) == pytest.approx(0.0, abs=1e-12)
    assert null_mean(likelihood, np.full(3, 2.0)) == 2.0


def test_slopes_beyond_the_edge_cost_infinitely_much():
    assert conjugate(Huber(1.0, 2.0), 0.0, 2.1) == np.inf
    assert conjugate(Huber(1.0, 2.0), 1.0, 2.0) == pytest.approx(0.0)


def test_the_lasso_is_that_of_proximal_gradient_steps():
    X, y = contaminated()
    problem = problem_of(X, y, standardize=False)
    edge = problem.likelihood.edge
    path = fit_path(problem, L1(), [0.3, 0.02])
    for k in range(2):
        b, w = lasso_by_proximal_gradient(
            X, lambda eta: np.clip(y - eta, -edge, edge), path.strengths[k]
        )
        np.testing.assert_allclose(path.coefficients()[[k]].toarray()[0], w, atol=1e-8)
        assert path.intercepts[k] == pytest.approx(b, abs=1e-8)


def test_without_a_penalty_it_is_the_minimum_of_the_loss():
    X, y = contaminated()
    model = SparseRegressor(NoPenalty(), family="huber", alpha=0.0).fit(X, y)
    edge = 1.345 * model.scale_

    def loss(v):
        residual = y - v[0] - X @ v[1:]
        slope = np.clip(residual, -edge, edge)
        return loss_of(edge, residual).sum(), -np.r_[slope.sum(), X.T @ slope]

    best = scipy.optimize.minimize(
        loss, np.zeros(11), jac=True, method="BFGS", options={"gtol": 1e-9}
    )
    np.testing.assert_allclose(model.coef_, best.x[1:], atol=1e-6)
    tiny = SparseRegressor(family="huber", alpha=1e-9).fit(X, y)
    np.testing.assert_allclose(tiny.coef_, model.coef_, atol=1e-6)


@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.3), Ridge(), MCP()], ids=lambda p: p.name)
def test_with_a_large_corner_it_is_least_squares_at_the_same_alpha(penalty):
    X, y = contaminated(n=60, d=8)
    wide = fit_path(problem_of(X, y, Huber(corner=1e4)), penalty, 8, eps=0.05)
    squares = fit_path(Problem.from_rows(X, y, scale_response=False), penalty, wide.strengths)
    np.testing.assert_allclose(
        wide.coefficients().toarray(), squares.coefficients().toarray(), atol=1e-6
    )
    np.testing.assert_allclose(wide.intercepts, squares.intercepts, atol=1e-6)
    np.testing.assert_allclose(wide.deviance_explained, squares.deviance_explained, atol=1e-8)


@pytest.mark.parametrize("scale", [None, 0.3, 1e-2, 1e2])
@pytest.mark.parametrize(("n", "d"), [(150, 10), (60, 150)])
def test_any_unit_and_shape_is_certified(scale, n, d):
    X, y = contaminated(n, d)
    path = fit_path(problem_of(X, y, Huber(scale=scale)), L1(), 15, eps=0.05)
    assert path.certificate.max() < 1e-6
    assert (np.diff(path.deviance_explained) > -1e-9).all()


def test_a_start_where_every_residual_is_an_outlier_is_left():
    X, y = contaminated()
    path = fit_path(problem_of(X, y + 1e6, Huber(scale=1.0)), L1(), 4)
    same = fit_path(problem_of(X, y, Huber(scale=1.0)), L1(), path.strengths)
    assert path.certificate.max() < 1e-6
    np.testing.assert_allclose(
        path.coefficients().toarray(), same.coefficients().toarray(), atol=1e-6
    )
    no_intercept = problem_of(X, y + 1e4, Huber(scale=1.0), fit_intercept=False)
    assert fit_path(no_intercept, L1(), 3).certificate.max() < 1e-6


def test_outliers_hardly_move_it_and_do_move_least_squares():
    X, y = contaminated()
    clean = y.copy()
    clean[::10] -= 40.0
    moved = {
        family: np.abs(
            SparseRegressor(family=family, alpha=0.05).fit(X, y).coef_
            - SparseRegressor(family=family, alpha=0.05).fit(X, clean).coef_
        ).max()
        for family in ("huber", "gaussian")
    }
    assert moved["huber"] < 0.5 * moved["gaussian"]
    once, further = (
        SparseRegressor(family=Huber(scale=1.0), alpha=0.05).fit(X, np.where(y > 20, at, y))
        for at in (100.0, 1e6)
    )
    np.testing.assert_allclose(once.coef_, further.coef_, atol=1e-7)


@pytest.mark.parametrize("times", [1e-9, 1e9])
def test_units_of_the_response_do_not_matter(times):
    X, y = contaminated()
    one = SparseRegressor(family="huber", method=FollowPath(alphas=10)).fit(X, y)
    two = SparseRegressor(family="huber", method=FollowPath(alphas=10)).fit(
        X, times * y + 5 * times
    )
    np.testing.assert_allclose(two.coef_, times * one.coef_, rtol=1e-6)
    assert two.alpha_ == pytest.approx(times * one.alpha_, rel=1e-6)
    assert two.scale_ == pytest.approx(times * one.scale_)
    np.testing.assert_allclose(two.predict(X), times * (one.predict(X) + 5), rtol=1e-6)
    assert two.score(X, times * y + 5 * times) == pytest.approx(one.score(X, y))


def test_weights_are_repeats_and_rows_have_no_order():
    X, y = contaminated()
    counts = np.random.default_rng(2).integers(0, 4, len(y))
    known = 0.3 * X[:, 5]
    settings = {"family": "huber", "alpha": 0.05, "method": FollowPath(alphas=10)}
    one = SparseRegressor(**settings).fit(X, y, sample_weight=counts, offset=known)
    order = np.random.default_rng(3).permutation(np.repeat(np.arange(len(y)), counts))
    two = SparseRegressor(**settings).fit(X[order], y[order], offset=known[order])
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-7)
    assert one.intercept_ == pytest.approx(two.intercept_, abs=1e-7)
    assert one.scale_ == pytest.approx(two.scale_)
    np.testing.assert_allclose(
        one.predict(X, offset=known), one.predict(X, offset=0 * known) + known
    )


def test_held_out_errors_are_huber_losses():
    X, y = contaminated()
    folds = [(np.arange(75), np.arange(75, 150)), (np.arange(75, 150), np.arange(75))]
    model = SparseRegressor(family="huber", method=FollowPath(alphas=5), cv=folds).fit(X, y)
    edge = 1.345 * model.scale_
    alphas = model.path_.strengths
    for k, (inside, outside) in enumerate(folds):
        part = problem_of(X[inside], y[inside], Huber(scale=model.scale_))
        path = fit_path(part, L1(), alphas)
        predicted = path.coefficients() @ X[outside].T + path.intercepts[:, None]
        errors = 2 * loss_of(edge, y[outside] - predicted).mean(axis=1)
        np.testing.assert_allclose(model.cv_results_["fold_errors"][k], errors, rtol=1e-3)


def test_criteria_do_not_depend_on_units():
    X, y = contaminated()
    for alpha in ("bic", "ebic"):
        one = SparseRegressor(family="huber", alpha=alpha).fit(X, y)
        two = SparseRegressor(family="huber", alpha=alpha).fit(X, 1e3 * y)
        assert two.alpha_ == pytest.approx(1e3 * one.alpha_, rel=1e-6)
        assert set(one.get_support(indices=True)) >= {0, 1, 2}


def test_a_model_is_fitted_anew_and_saved_with_its_unit(tmp_path):
    X, y = contaminated()
    model = SparseRegressor(family=Huber(corner=2.0), method=FollowPath(alphas=10)).fit(X, y)
    model.save(tmp_path / "model.garrote")
    again = garrote.load(tmp_path / "model.garrote")
    assert again.family == Huber(corner=2.0)
    assert again.score(X, y) == model.score(X, y)
    first = model.scale_
    assert model.fit(X, 10 * y).scale_ == pytest.approx(10 * first)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"corner": 0.0}, "corner of Huber must be positive and finite, got 0.0"),
        ({"corner": -1}, "corner of Huber must be positive"),
        ({"corner": np.inf}, "corner of Huber must be positive and finite"),
        ({"corner": None}, "corner of Huber must be a positive number, got None"),
        ({"corner": "wide"}, "corner of Huber must be a positive number"),
        ({"scale": 0.0}, "scale of Huber must be positive"),
        ({"scale": True}, "scale of Huber must be a positive number"),
    ],
)
def test_corners_that_cannot_be_meant_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        Huber(**settings)


def test_a_constant_response_is_the_empty_model():
    X, _ = contaminated()
    with pytest.warns(UserWarning, match="constant"):
        model = SparseRegressor(family="huber", method=FollowPath(alphas=5)).fit(
            X, np.full(len(X), 7.0)
        )
    assert model.intercept_ == pytest.approx(7.0)
    assert not model.coef_.any()


def test_a_level_far_from_0_costs_no_digits():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 8))
    y = 2 * X[:, 0] - X[:, 1] + rng.normal(size=50)
    near, far = (
        SparseRegressor(family="huber", alpha=0.05).fit(X, y + level) for level in (0, 1e8)
    )
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    assert far.intercept_ - 1e8 == pytest.approx(near.intercept_, abs=1e-6)
    assert far.certificate_["duality gap"] < 1e-6
    np.testing.assert_allclose(far.predict(X) - 1e8, near.predict(X), atol=1e-6)
