"""Estimators of times until an event: paths, folds, searches, models and curves of survival."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.optimize import minimize

import garrote
from garrote import GreedyRegressor, SparseRegressor, SpikeSlabRegressor
from garrote.likelihoods import Cox, survival_times
from garrote.likelihoods.coupled import weighted_deviance
from garrote.likelihoods.survival.concordance import concordance
from garrote.likelihoods.survival.times import read_times
from garrote.paths import FollowPath
from garrote.penalties import MCP, SCAD, ElasticNet, GroupLasso, Ridge
from garrote.priors import EffectSlab, IndependentInclusion
from reference_cox import breslow_hazard, log_partial_likelihood, make_times

SHORT = FollowPath(alphas=8, tol=1e-9)


def objective(X, parts, ties, offset=0.0):
    """Return the mean negative log partial likelihood of coefficients, by a sum over times."""
    weights = parts["weights"]
    return lambda b: -log_partial_likelihood(X @ b + offset, **parts, ties=ties) / weights.sum()


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("stored", [np.asarray, scipy.sparse.csc_array], ids=["dense", "sparse"])
def test_fit_minimises_the_objective_with_weights_offset_factors_and_bounds(ties, stored):
    X, y, parts = make_times(5, n=60)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    offset = 0.3 * np.random.default_rng(0).standard_normal(60)
    factor, alpha = np.array([1.0, 2.0, 0.0, 1.0, 1.0]), 0.03
    model = SparseRegressor(
        "l1", alpha, family=Cox(ties), penalty_factor=factor, bounds=(None, {0: 0.4}),
        method=SHORT, standardize=False,
    ).fit(stored(X), y, parts["weights"], offset=offset)  # fmt: skip
    assert model.certificate_["duality gap"] < 1e-8
    loss = objective(X, parts, ties, offset)

    def whole(b):  # positive and negative parts apart: smooth
        w = b[:5] - b[5:]
        return loss(w) + alpha * factor @ (b[:5] + b[5:])

    limits = [(0.0, 0.4)] + [(0.0, None)] * 9
    best = minimize(whole, np.zeros(10), bounds=limits, tol=1e-12)
    coef = model.coef_
    assert loss(coef) + alpha * factor @ np.abs(coef) <= best.fun + 1e-9
    np.testing.assert_allclose(coef, best.x[:5] - best.x[5:], atol=1e-4)


@pytest.mark.parametrize(
    "penalty", [ElasticNet(0.5), Ridge(), MCP(), SCAD(), GroupLasso([0, 0, 1, 1, 1])], ids=repr
)
def test_penalties_are_certified(penalty):
    X, y, parts = make_times(6, n=60)
    model = SparseRegressor(penalty, "bic", family="cox", method=SHORT).fit(X, y, parts["weights"])
    assert model.path_.certificate.max() < 1e-7
    assert abs(model.coef_[0]) > 0


@pytest.mark.parametrize("solver", ["ista", "fista", "sparsa"])
def test_first_order_solvers_reach_the_same_fit(solver):
    X, y, _ = make_times(7, n=50)
    slow = FollowPath(solver=solver, alphas=[0.05], tol=1e-6)
    model = SparseRegressor(family="cox", alpha=0.05, method=slow).fit(X, y)
    same = SparseRegressor(family="cox", alpha=0.05, method=SHORT).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-3)


def test_folds_are_measured_by_the_deviance_of_all_rows_less_that_of_the_training_rows():
    X, y, parts = make_times(8, n=60)
    splits = [(np.arange(20, 60), np.arange(20)), (np.arange(20), np.arange(20, 60))]
    alphas = [0.2, 0.05]
    precise = FollowPath(alphas=alphas, tol=1e-10)
    model = SparseRegressor(family="cox", cv=splits, method=precise)
    found = model.fit(X, y, parts["weights"]).cv_results_["fold_errors"]
    likelihood, events = Cox().given(y)
    for k, (_train, test) in enumerate(splits):
        weights = parts["weights"].copy()
        weights[test] = 0.0
        for column, alpha in enumerate(alphas):
            fit = SparseRegressor(family="cox", alpha=alpha, method=SHORT).fit(X, y, weights)
            whole = weighted_deviance(likelihood, events, parts["weights"], X @ fit.coef_)
            part = weighted_deviance(likelihood, events, weights, X @ fit.coef_)
            each = (whole - part) / (parts["weights"] * events)[test].sum()
            np.testing.assert_allclose(found[k, column], each, rtol=2e-3)


def test_weights_of_breslow_are_repeats_and_rows_may_come_in_any_order():
    X, y, _ = make_times(9, n=40)
    counts = np.random.default_rng(0).integers(0, 3, 40)
    settings = {"family": Cox("breslow"), "alpha": 0.03, "method": SHORT}
    weighted = SparseRegressor(**settings).fit(X, y, counts.astype(float))
    repeated = SparseRegressor(**settings).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    order = np.random.default_rng(1).permutation(40)
    turned = SparseRegressor(**settings).fit(X[order], y[order], counts[order].astype(float))
    np.testing.assert_allclose(weighted.coef_, turned.coef_, atol=1e-7)


def test_survival_is_that_of_the_breslow_hazard_and_files_keep_it(tmp_path):
    X, y, parts = make_times(10, strata=1)
    model = SparseRegressor(family=Cox("breslow"), alpha=0.05).fit(X, y, parts["weights"])
    eta = X @ model.coef_ + model.intercept_
    np.testing.assert_allclose(np.average(eta, weights=parts["weights"]), 0.0, atol=1e-12)
    times, hazard = breslow_hazard(
        eta, parts["stop"], parts["event"], parts["start"], parts["weights"]
    )
    np.testing.assert_allclose(model.baseline_.all_times, times)
    curves = model.predict_survival(X[:3])
    np.testing.assert_allclose(curves, np.exp(-np.outer(np.exp(eta[:3]), hazard)), rtol=1e-9)
    assert (model.predict_survival(X[:3], [0.0]) == 1.0).all()
    model.save(tmp_path / "model.garrote")
    loaded = garrote.load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(loaded.predict_survival(X[:3]), curves)


def test_strata_have_baselines_of_their_own_and_are_asked_for():
    X, y, _ = make_times(11, strata=2)
    model = SparseRegressor(family="cox", alpha=0.05).fit(X, y)
    a, b = (model.predict_survival(X[:1], [1.0], strata=[label])[0, 0] for label in (0, 1))
    assert a != b
    with pytest.raises(ValueError, match=r"had strata \['0', '1'\]: say by strata="):
        model.predict_survival(X)
    with pytest.raises(ValueError, match="had no rows in the fit"):
        model.predict_survival(X[:1], strata=["7"])


def test_concordance_counts_comparable_pairs():
    X, y, parts = make_times(12, n=30)
    times = read_times(y)
    hazards = np.round(np.exp(X[:, 0]), 1)
    right = whole = 0.0
    weights = parts["weights"]
    for i in np.flatnonzero(times.event):
        for k in range(30):
            later = times.stop[k] > times.stop[i] or (
                times.stop[k] == times.stop[i] and not times.event[k]
            )
            if later and times.start[k] < times.stop[i] and times.stratum[k] == times.stratum[i]:
                pair = weights[i] * weights[k]
                whole += pair
                right += pair * (float(hazards[i] > hazards[k]) + 0.5 * (hazards[i] == hazards[k]))
    np.testing.assert_allclose(concordance(times, hazards, weights), right / whole)
    model = SparseRegressor(family="cox", alpha=0.05).fit(X, y, weights)
    expected = concordance(times, model.predict(X), weights)
    assert model.score(X, y, weights) == pytest.approx(expected)


@pytest.mark.parametrize("search", ["omp", "forward", "splicing"])
def test_searches_find_the_effects_and_maximise_the_likelihood(search):
    X, y, parts = make_times(13, n=80)
    model = GreedyRegressor(search, 2, family="cox").fit(X, y, parts["weights"])
    assert model.get_support(indices=True).tolist() == [0, 1]
    best = minimize(objective(X[:, :2], parts, "efron"), np.zeros(2), tol=1e-12)
    np.testing.assert_allclose(model.coef_[:2], best.x, atol=1e-4)
    assert model.certificate_.value < 1e-7


@pytest.mark.parametrize("method", ["enumerate", "metropolis"])
def test_models_count_by_laplaces_evidence(method):
    """Beside maxima by BFGS, and determinants of finite differences, of all eight models."""
    X, y, parts = make_times(14, n=50)
    X, slab = X[:, :3], 0.5
    model = SpikeSlabRegressor(
        EffectSlab(slab), method, family="cox", inclusion=IndependentInclusion(0.3),
        standardize=False, random_state=0,
    ).fit(X, y, parts["weights"])  # fmt: skip
    logs, inside = [], []
    for number in range(8):
        members = [j for j in range(3) if number >> j & 1]
        logs.append(laplace(X[:, members], parts, slab) + len(members) * np.log(0.3 / 0.7))
        inside.append([float(j in members) for j in range(3)])
    odds = np.exp(np.array(logs) - max(logs))
    expected = odds @ np.array(inside) / odds.sum()
    np.testing.assert_allclose(model.inclusion_probability_, expected, atol=1e-5)
    assert model.predict_survival(X[:2], strata=["0", "1"]).shape[0] == 2


def laplace(X, parts, slab):
    """Log evidence of one model by Laplace's approximation, with nothing of the library."""

    def loss(b):
        return b @ b / (2 * slab) - log_partial_likelihood(X @ b, **parts, ties="efron")

    k, h = X.shape[1], 1e-4
    best = minimize(loss, np.zeros(k), tol=1e-12).x if k else np.zeros(0)
    unit = np.eye(k) * h
    bend = [
        [(loss(best + a + b) - loss(best + a - b) - loss(best - a + b) + loss(best - a - b))
         / (4 * h**2) for a in unit]
        for b in unit
    ]  # fmt: skip
    volume = np.linalg.slogdet(np.array(bend).reshape(k, k))[1] if k else 0.0
    return -loss(best) - 0.5 * k * np.log(slab) - 0.5 * volume


def test_data_frames_and_stability_and_criteria_go_together():
    X, y, _ = make_times(15, n=60, truncated=False, strata=1)
    frame = pd.DataFrame({"time": y["time"], "status": y["event"].astype(int)})
    model = SparseRegressor(family="cox", alpha="bic", stability=10).fit(X, frame)
    same = SparseRegressor(family="cox", alpha="bic").fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert model.selection_.stability is not None
    assert model.selection_.response == "time to event"


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (np.arange(12.0), "needs a time and an event for each row"),
        (np.column_stack([np.arange(12.0), np.zeros(12)]), "all 12 rows are censored"),
        (np.column_stack([-np.arange(12.0), np.ones(12)]), "must not be negative, got -1 at row 1"),
        (survival_times(np.arange(11.0), np.ones(11)), "12"),
    ],
    ids=["no events", "censored", "negative", "length"],
)
def test_bad_responses_are_refused(y, said):
    X = np.random.default_rng(0).standard_normal((12, 2))
    for model in (SparseRegressor(family="cox"), GreedyRegressor(family="cox")):
        with pytest.raises(ValueError, match=said):
            model.fit(X, y)


def test_ties_everywhere_and_events_everywhere_are_fitted():
    X = np.random.default_rng(0).standard_normal((30, 3))
    model = SparseRegressor(family="cox", alpha=0.05)
    model.fit(X, survival_times(np.arange(1.0, 31.0), np.ones(30)))
    assert model.certificate_["duality gap"] < 1e-6
    with pytest.warns(UserWarning, match="no event has rows at risk beside it"):
        model.fit(X, survival_times(np.ones(30), np.ones(30)))
    assert not model.coef_.any()


def test_events_in_order_without_exception_are_told_of():
    """A perfect predictor has no finite maximum: penalised fits exist, searches stop and say so."""
    x = np.linspace(-1, 1, 40)[:, None]
    y = survival_times(np.arange(40.0, 0.0, -1.0), np.ones(40))
    assert SparseRegressor(family="cox", alpha=0.01).fit(x, y).coef_[0] > 0
    with pytest.warns(UserWarning, match="take a method with a prior"):
        GreedyRegressor("forward", 1, family="cox").fit(x, y)
    found = SpikeSlabRegressor(family="cox").fit(x, y)
    assert found.inclusion_probability_[0] > 0.99


def test_predict_survival_is_for_times_alone():
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(ValueError, match="is for family='cox'"):
        SparseRegressor(alpha=0.1).fit(X, X[:, 0]).predict_survival(X)
