"""Bounds on the penalty, and rates of priors beside learned noise, as problems written plainly."""

import json

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import garrote
from garrote import NonNegativeGarrote, Problem, SparseClassifier, SparseRegressor
from garrote.datasets import load_prostate
from garrote.paths import Bound, FollowPath, PriorRate
from garrote.penalties import (
    L1,
    MCP,
    AdaptiveLasso,
    ElasticNet,
    FusedLasso,
    GroupLasso,
    L1WithRidge,
)
from garrote.solvers.lockstep import run_together
from pairwise import pairwise

D, N = 6, 60


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((N, D)) < 0.6, rng.standard_normal((N, D)), 0.0) * (
        1 + np.arange(D) / 4
    )
    return X, 1.0 + X @ [1.5, -1.0, 0.5, 0.0, 0.0, 0.4] + rng.standard_normal(N)


def standardised(X, weights):
    share = weights / weights.sum()
    deviation = np.sqrt(share @ (X - share @ X) ** 2)
    return X / deviation, deviation


def losses(family, y, eta):
    if family == "gaussian":
        return 0.5 * (y - eta) ** 2, eta - y
    if family == "binomial":
        return np.logaddexp(0, eta) - y * eta, expit(eta) - y
    return np.exp(eta) - y * eta, np.exp(eta) - y


def constrained(family, Z, y, weights, known, factor, lower, share, size):
    """Return min mean loss(b + Zw) s.t. sum factor (share |w| + (1 - share) w^2 / 2) <= size."""
    weights = weights / weights.sum()

    def objective(x):
        eta = x[-1] + Z @ (x[:D] - x[D : 2 * D]) + known
        value, slope = losses(family, y, eta)
        down = Z.T @ (weights * slope)
        return weights @ value, np.concatenate([down, -down, [weights @ slope]])

    def left(x):
        w = x[:D] - x[D : 2 * D]
        return size - factor @ (share * (x[:D] + x[D : 2 * D]) + 0.5 * (1 - share) * w**2)

    def left_slope(x):
        w = (1 - share) * (x[:D] - x[D : 2 * D])
        return -np.concatenate([factor * (share + w), factor * (share - w), [0.0]])

    limits = [(0, None)] * D + [(0, None if np.isinf(lower) else 0)] * D + [(None, None)]
    found = minimize(
        objective,
        np.zeros(2 * D + 1),
        jac=True,
        bounds=limits,
        constraints={"type": "ineq", "fun": left, "jac": left_slope},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return found.fun


SETTINGS = {
    "family": ["gaussian", "binomial", "poisson"],
    "share": [1.0, 0.5, 0.0],
    "weights": [False, True],
    "offset": [False, True],
    "factors": ["equal", "some free", "unequal"],
    "signs": [False, True],
    "storage": [np.asarray, scipy.sparse.csr_array],
}


@pytest.mark.parametrize("row", pairwise(SETTINGS), ids=str)
def test_a_bound_gives_the_optimum_of_the_constrained_problem(row, data):
    X, y = data
    rng = np.random.default_rng(2)
    if row["family"] != "gaussian":
        y = (y > 1) * 1.0 if row["family"] == "binomial" else rng.poisson(np.exp(0.3 * y)) * 1.0
    weights = rng.integers(0, 3, N) * 1.0 if row["weights"] else np.ones(N)
    known = 0.3 * rng.standard_normal(N) if row["offset"] else np.zeros(N)
    factor = {"equal": np.ones(D), "unequal": np.arange(1.0, D + 1)}.get(row["factors"])
    factor = np.where(np.arange(D) == 2, 0.0, 1.0) if factor is None else factor
    lower = 0.0 if row["signs"] else -np.inf
    if row["signs"]:
        factor = np.maximum(factor, 0.5)
    size, share = 0.4, row["share"]
    model = SparseRegressor(
        ElasticNet(share),
        alpha=Bound(size),
        family=row["family"],
        penalty_factor=factor,
        bounds=(0, None) if row["signs"] else None,
    ).fit(row["storage"](X), y, sample_weight=weights, offset=known if row["offset"] else None)
    Z, deviation = standardised(X, weights)
    w = model.coef_ * deviation
    charged = factor @ (share * np.abs(w) + 0.5 * (1 - share) * w**2)
    assert charged <= size * (1 + 1e-6)
    assert charged >= size * (1 - 1e-6) or model.alpha_ < 1e-6  # what is free may be within it
    assert model.certificate_.value < 1e-6
    eta = model.intercept_ + X @ model.coef_ + known
    mine = np.average(losses(row["family"], y, eta)[0], weights=weights)
    best = constrained(row["family"], Z, y, weights, known, factor, lower, share, size)
    assert mine == pytest.approx(best, abs=1e-7)


def test_the_lasso_of_a_bound_is_exact():
    prostate = load_prostate()
    X, y = prostate.X, prostate.y
    for size in (0.01, 0.3, 1.0, 1.5):
        for method in ("coordinate", "homotopy"):
            model = SparseRegressor(alpha=Bound(size), method=method).fit(X, y)
            deviation = X.std(axis=0)
            assert np.abs(model.coef_ * deviation).sum() == pytest.approx(size, rel=1e-12)
            assert model.certificate_["duality gap"] < 1e-13


def test_a_bound_beyond_least_squares_gives_least_squares_and_0_the_empty_model(data):
    X, y = data
    whole = SparseRegressor("none").fit(X, y)
    for penalty in ("lasso", "elastic-net", "ridge", GroupLasso([0, 0, 1, 1, 2, 2])):
        model = SparseRegressor(penalty, alpha=Bound(1e3)).fit(X, y)
        assert model.alpha_ == 0.0
        np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-9)
    for penalty in ("lasso", "elastic-net", GroupLasso([0, 0, 1, 1, 2, 2])):
        empty = SparseRegressor(penalty, alpha=Bound(0)).fit(X, y)
        assert not empty.coef_.any()
        assert empty.intercept_ == pytest.approx(y.mean())
        assert empty.certificate_.value < 1e-12
    near = np.abs(whole.coef_ * X.std(axis=0)).sum()
    for share in (1 - 1e-9, 1.0, 1 + 1e-9):
        model = SparseRegressor(alpha=Bound(share * near)).fit(X, y)
        np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-7)


@pytest.mark.parametrize(
    ("penalty", "charge"),
    [
        (GroupLasso([0, 0, 1, 1, 2, 2], weights=[1.0, 2.0, 1.0]), None),
        (L1WithRidge(0.2), lambda w: np.abs(w).sum()),
        (L1(), lambda w: np.abs(w).sum()),
    ],
)
def test_penalties_of_all_kinds_reach_their_bound(penalty, charge, data):
    X, y = data
    model = SparseRegressor(penalty, alpha=Bound(0.7)).fit(X, y)
    w = model.coef_ * X.std(axis=0)
    lengths = np.sqrt((w.reshape(3, 2) ** 2).sum(axis=1)) @ [1.0, 2.0, 1.0]
    assert (lengths if charge is None else charge(w)) == pytest.approx(0.7, rel=1e-6)
    assert model.certificate_.value < 1e-6


def test_fused_signals_adaptive_weights_and_several_outputs_have_bounds(data):
    X, y = data
    signal = np.repeat([0.0, 3.0, 1.0], 10) + 0.3 * np.random.default_rng(0).standard_normal(30)
    fused = SparseRegressor(FusedLasso(), alpha=Bound(4.0)).fit(np.eye(30), signal)
    assert np.abs(np.diff(fused.coef_)).sum() == pytest.approx(4.0, rel=1e-8)
    assert fused.certificate_.value < 1e-8
    adaptive = SparseRegressor(AdaptiveLasso(), alpha=Bound(1.0)).fit(X, y)
    assert adaptive.certificate_.value < 1e-8
    both = SparseRegressor(alpha=Bound(1.0)).fit(X, np.column_stack([y, -y]))
    assert np.abs(both.coef_ * X.std(axis=0)).sum() == pytest.approx(1.0, rel=1e-7)
    three = SparseClassifier(alpha=Bound(1.0)).fit(X, np.digitize(y, [0.0, 2.0]))
    assert np.abs(three.coef_ * X.std(axis=0)).sum() == pytest.approx(1.0, rel=1e-5)
    breiman = NonNegativeGarrote(alpha=Bound(2.0)).fit(X, y)
    assert breiman.certificate_.value < 1e-8


def test_more_columns_than_rows_take_any_bound():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 40)), rng.standard_normal(20)
    least = np.abs(SparseRegressor("basis-pursuit", None, standardize=False).fit(X, y).coef_).sum()
    for share in (0.5, 0.99, 2.0):
        model = SparseRegressor(alpha=Bound(share * least), standardize=False).fit(X, y)
        assert np.abs(model.coef_).sum() <= share * least * (1 + 1e-9)
        assert model.certificate_.value < 1e-6
    np.testing.assert_allclose(model.predict(X), y, atol=1e-3)


def test_moments_and_z_scores_have_bounds_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = X[:, 0] + rng.standard_normal(200)
    Z, yc = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    z = Z.T @ yc / np.sqrt(200)
    z = z * np.sqrt(198 / (200 - z**2))
    model = SparseRegressor(alpha=Bound(0.3)).fit_zscores(z, np.corrcoef(X.T), 200, mismatch=0)
    assert np.abs(model.coef_).sum() == pytest.approx(0.3, rel=1e-9)


def test_a_bound_is_said_in_the_selection_stored_and_searched_over(data, tmp_path):
    X, y = data
    model = SparseRegressor(alpha=Bound(1.0)).fit(X, y)
    assert "chosen such that the penalty is at most 1" in model.selection_.rule
    assert "Bound(size=1.0)" in json.dumps(model.selection_.to_json())
    model.save(tmp_path / "model.garrote")
    back = garrote.load(tmp_path / "model.garrote")
    assert back.alpha == Bound(1.0) == clone(Bound(1.0))
    np.testing.assert_array_equal(back.coef_, model.coef_)
    search = GridSearchCV(SparseRegressor(alpha=Bound(1.0)), {"alpha__size": [0.1, 2.0]}, cv=3)
    assert search.fit(X, y).best_params_ == {"alpha__size": 2.0}
    again = SparseRegressor(alpha=Bound(1.0), stability=5).fit(X, y).selection_.stability
    assert again.refits == 5


def test_what_has_no_bound_says_what_has(data):
    X, y = data
    with pytest.raises(ValueError, match=r"number >= 0, got -1"):
        Bound(-1)
    with pytest.raises(ValueError, match="number >= 0, got 'much'"):
        Bound("much")
    for penalty in (MCP(), "none", "basis-pursuit", "best-subset"):
        with pytest.raises(ValueError, match="a Bound is for convex penalties"):
            SparseRegressor(penalty, alpha=Bound(1)).fit(X, y)
    for settings, said in [
        ({"refit": True}, "leave refit at False"),
        ({"method": "least-angle"}, "take method='homotopy'"),
        ({"penalty": ElasticNet(corrected=True)}, "corrected=False"),
        ({"penalty": "ridge", "alpha": Bound(0)}, "a size above 0"),
        ({"penalty": ElasticNet([0.2, 0.8])}, "take alpha='cv'"),
    ]:
        with pytest.raises(ValueError, match=said):
            SparseRegressor(**{"alpha": Bound(1)} | settings).fit(X, y)


# --- a prior beside noise that is learned


def em_of_the_text(X, y, rate, shape, scale, rounds):
    """Murphy's Eqs. 13.91-13.95, line by line; returns w, sigma^2 and the log posteriors."""
    w = np.full(X.shape[1], 0.3)
    way = []
    variance = (scale + 0.5 * y @ y) / (shape + 0.5 * len(y))
    for _ in range(rounds):
        lam = rate / np.maximum(np.abs(w), 1e-150)
        root = 1 / np.sqrt(lam)
        inner = variance * np.eye(len(w)) + (root * (X.T @ X)) * root[:, None]
        w = root * np.linalg.solve(inner, root * (X.T @ y))
        squared = (y - X @ w) @ (y - X @ w)
        a, b = shape + 0.5 * len(y), scale + 0.5 * squared
        variance = b / a
        way.append(-a * np.log(b) - rate * np.abs(w).sum())
    return w, variance, np.array(way)


@pytest.mark.parametrize(("rate", "shape", "scale"), [(3.0, 0.0, 0.0), (12.0, 2.0, 5.0)])
def test_learned_noise_is_that_of_the_text(rate, shape, scale, data):
    X, y = data
    model = SparseRegressor(
        alpha=PriorRate(rate, shape, scale),
        method=FollowPath("em", tol=1e-9),
        fit_intercept=False,
        standardize=False,
    ).fit(X, y)
    w, variance, way = em_of_the_text(X, y, rate, shape, scale, 20_000)
    assert (np.diff(way) > -1e-9).all()
    np.testing.assert_allclose(model.coef_, w, atol=2e-4)
    assert model.noise_variance_ == pytest.approx(variance, rel=1e-4)
    left = y - X @ model.coef_
    a, b = shape + 0.5 * N, scale + 0.5 * left @ left
    assert model.noise_variance_ == pytest.approx(b / a, rel=1e-6)
    assert model.alpha_ == pytest.approx(rate * b / a / N, rel=1e-6)
    assert -a * np.log(b) - rate * np.abs(model.coef_).sum() >= way[-1] - 1e-8
    assert model.certificate_.value < 1e-6
    assert model.certificate_["noise"] < 1e-6


def test_the_log_posterior_never_falls_and_the_fit_is_a_lasso_at_its_own_strength(data):
    from garrote.penalties import Terms
    from garrote.solvers.classical.learned_noise import NoiseLaw, learn_noise
    from garrote.solvers.control import Control

    X, y = data
    problem = Problem.from_rows(X, y, scale_response=False)
    law, control = NoiseLaw(8.0), Control(1e-10)
    task = learn_noise(problem, L1(), Terms.equal(D), law, control)
    (found,) = run_together([task], problem.table.stored)
    assert (np.diff(found.log_posterior) >= -1e-9).all()
    assert len(found.log_posterior) > 3
    assert found.certificate.value <= 1e-10
    lasso = SparseRegressor(alpha=found.alpha).fit(X, y)
    np.testing.assert_allclose(found.coef, lasso.coef_ * X.std(axis=0), atol=1e-6)


def test_learned_noise_counts_weights_means_and_offsets(data):
    X, y = data
    rng = np.random.default_rng(1)
    weights, known = rng.integers(0, 3, N), rng.standard_normal(N)
    rows = np.repeat(np.arange(N), weights)
    settings = {"alpha": PriorRate(6.0), "method": FollowPath("em", tol=1e-9)}
    factor = {"penalty_factor": [0, 1, 1, 1, 1, 1]}
    one = SparseRegressor(**settings, **factor).fit(
        scipy.sparse.csc_array(X), y, sample_weight=weights * 1.0, offset=known
    )
    two = SparseRegressor(**settings, **factor).fit(X[rows], (y - known)[rows])
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-7)
    assert one.noise_variance_ == pytest.approx(two.noise_variance_, rel=1e-7)
    left = (y - known - one.intercept_ - X @ one.coef_)[rows]
    assert one.noise_variance_ == pytest.approx(left @ left / (len(rows) - 2), rel=1e-7)
    swept = SparseRegressor(**settings | {"method": "coordinate"}, **factor).fit(
        X[rows], (y - known)[rows]
    )
    np.testing.assert_allclose(swept.coef_, two.coef_, atol=1e-6)


def test_learned_noise_refuses_what_it_cannot_learn(data):
    X, y = data
    for settings, said in [
        ({"penalty": "mcp"}, "noise is learned for a Gaussian response under 'lasso'"),
        ({"family": "huber"}, "noise is learned for a Gaussian response"),
        ({"bounds": (0, None)}, "leave out the bounds"),
        ({"refit": True}, "leave refit at False"),
    ]:
        with pytest.raises(ValueError, match=said):
            SparseRegressor(**{"alpha": PriorRate(1.0)} | settings).fit(X, y)
    with pytest.raises(ValueError, match="runs away to 0"):
        SparseRegressor(alpha=PriorRate(1e-3)).fit(X, X[:, 0])
    for given in ({"rate": 0.0}, {"rate": 1.0, "scale": -1.0}, {"rate": 1.0, "shape": "a"}):
        with pytest.raises(ValueError, match="PriorRate must be"):
            PriorRate(**given)


@pytest.mark.parametrize("family", ["probit", "huber", "poisson"])
def test_noise_is_learned_of_numbers_alone(family):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = (X[:, 0] + rng.standard_normal(40) > 0).astype(float)
    with pytest.raises(ValueError, match="noise is learned for a Gaussian response"):
        SparseRegressor(family=family, alpha=PriorRate(10.0)).fit(X, y)


def test_a_learned_noise_leaves_the_name_of_the_method_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    model = SparseRegressor(alpha=PriorRate(10.0)).fit(X, X[:, 0] + rng.standard_normal(40))
    assert model.selection_.method == "lasso (least squares)"
