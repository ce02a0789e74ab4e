"""Sums of single effects: one regression, the loop, the posterior, and what must not go wrong."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

import garrote
from garrote import Problem, SingleEffectsRegressor, SpikeSlabRegressor
from garrote.inference import infer
from garrote.inference.effects.effects_certificate import certify_effects
from garrote.priors import GaussianSlab, SingleEffects
from garrote.solvers.algebra.gram_products import GramProducts
from garrote.solvers.effects.existence import in_order, with_doubt
from garrote.solvers.effects.refining import NumbersFitter, refine
from garrote.solvers.effects.single_effect_regression import (
    SingleEffect,
    best_prior_variance,
    expected_prior_variance,
    kl_from_prior,
    single_effect_regression,
)
from garrote.solvers.effects.single_effects import EffectsTask, fit_single_effects
from reference_single_effects import (
    best_variance,
    fit_single_effects_slowly,
    lower_bound,
    regress_single_effect,
)
from scikit_checks import scikit_learn_checks


def correlated_rows(n=80, D=30, rho=0.8, seed=0, effects=(1.0,), noise=1.0):
    """Centred rows whose neighbours correlate, and a response of a few columns."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, D))
    X[:, 0] = rng.standard_normal(n)
    for j in range(1, D):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * rng.standard_normal(n)
    chosen = rng.choice(D, len(effects), replace=False)
    y = X[:, chosen] @ np.array(effects) + noise * rng.standard_normal(n)
    return X - X.mean(axis=0), y - y.mean(), np.sort(chosen)


def uniform(D):
    return np.full(D, -np.log(D))


def test_one_single_effect_is_what_densities_of_the_estimates_say():
    X, y, _ = correlated_rows()
    log_prior = np.log(np.random.default_rng(1).dirichlet(np.ones(30)))
    log_bf, a, mu, var = regress_single_effect(X, y, log_prior, 0.3, 1.7)
    effect = single_effect_regression(X.T @ y, (X**2).sum(axis=0), log_prior, 0.3, 1.7)
    np.testing.assert_allclose(effect.probability, a, rtol=1e-10)
    np.testing.assert_allclose(effect.mean, mu, rtol=1e-10)
    np.testing.assert_allclose(effect.variance, var, rtol=1e-10)
    np.testing.assert_allclose(
        effect.log_bayes_factor, np.log(np.exp(log_prior) @ np.exp(log_bf)), rtol=1e-10
    )


@pytest.mark.parametrize("effect", [0.0, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_prior_variance_has_the_evidence_of_a_fine_grid(effect, seed):
    X, y, _ = correlated_rows(effects=(effect,), seed=seed)
    c, log_prior = (X**2).sum(axis=0), uniform(30)
    v = best_prior_variance(X.T @ y, c, log_prior, 1.0)
    slow = best_variance(X, y, log_prior, 1.0)
    found, wanted = (
        single_effect_regression(X.T @ y, c, log_prior, u).log_bayes_factor for u in (v, slow)
    )
    assert found >= wanted - 1e-8


def test_a_variance_is_never_worse_than_the_one_it_started_from():
    rng = np.random.default_rng(5)
    for start in 10.0 ** rng.uniform(-6, 3, 40):
        X, y, _ = correlated_rows(effects=(0.4, -0.4), seed=rng.integers(1000))
        b, c, log_prior = X.T @ y, (X**2).sum(axis=0), uniform(30)
        v = best_prior_variance(b, c, log_prior, 1.0, start)
        before, after = (
            single_effect_regression(b, c, log_prior, u).log_bayes_factor for u in (start, v)
        )
        assert after >= before - 1e-10


def test_steps_of_em_raise_the_evidence_of_the_prior_variance():
    X, y, _ = correlated_rows()
    b, c, log_prior = X.T @ y, (X**2).sum(axis=0), uniform(30)
    v, before = 0.01, -np.inf
    for _ in range(300):
        effect = single_effect_regression(b, c, log_prior, v)
        assert effect.log_bayes_factor >= before - 1e-12
        before, v = effect.log_bayes_factor, expected_prior_variance(effect)
    np.testing.assert_allclose(v, best_prior_variance(b, c, log_prior), rtol=1e-3)


def test_the_bound_of_one_effect_is_its_evidence():
    """With a single effect the variational family holds the exact posterior."""
    X, y, _ = correlated_rows()
    log_prior, v, s = uniform(30), 0.4, 1.3
    effect = single_effect_regression(X.T @ y, (X**2).sum(axis=0), log_prior, v, s)
    a, mu, var = (x[None] for x in (effect.probability, effect.mean, effect.variance))
    bound = lower_bound(X, y, log_prior, a, mu, var, np.array([v]), s)
    null = -len(y) / 2 * np.log(2 * np.pi * s) - y @ y / (2 * s)
    np.testing.assert_allclose(bound - null, effect.log_bayes_factor, rtol=1e-10)
    fit = X @ effect.coef
    gain = (2 * y @ fit - effect.second_moment @ (X**2).sum(axis=0)) / (2 * s)
    np.testing.assert_allclose(gain - kl_from_prior(effect, log_prior), bound - null, rtol=1e-9)


def test_enormous_bayes_factors_stay_finite():
    """susieR #201: log Bayes factors of infinity. Columns without content have no say."""
    X, y, _ = correlated_rows(effects=(1e6,), noise=1e-3)
    X[:, 4] = 0.0
    log_prior = np.where(np.arange(30) == 4, -np.inf, -np.log(29))
    b, c = X.T @ y, (X**2).sum(axis=0)
    v = best_prior_variance(b, c, log_prior, 1e-6)
    effect = single_effect_regression(b, c, log_prior, v, 1e-6)
    assert np.isfinite(effect.log_bayes_factor)
    assert effect.log_bayes_factor > 1e9
    assert np.isfinite(kl_from_prior(effect, log_prior))
    assert effect.probability[4] == 0
    assert effect.probability.sum() == pytest.approx(1)


# --- the loop


def task_of(problem, rows=None, prior=None):
    """What the solver is given, with equal prior probabilities."""
    log_prior = np.where(problem.curvature > 0, 0.0, -np.inf)
    log_prior -= np.log(len(problem.usable))
    prior = prior or SingleEffects(effects=4, tol=1e-7)
    return EffectsTask(problem, prior, log_prior, rows or problem.n, GramProducts(problem))


def unscaled(X, y):
    return Problem.from_rows(X, y, fit_intercept=False, standardize=False, scale_response=False)


@pytest.mark.parametrize("seed", range(2))
def test_the_loop_is_iterative_bayesian_stepwise_selection_line_by_line(seed):
    X, y, _ = correlated_rows(effects=(1.0, -0.8, 0.5), seed=seed)
    a, mu, var, v, s, bounds = fit_single_effects_slowly(X, y, uniform(30), 4, sweeps=30)
    fit = fit_single_effects(task_of(unscaled(X, y)))
    kept = np.flatnonzero(v > 0)
    assert len(fit.effects) == len(kept)
    np.testing.assert_allclose(fit.bound, bounds[-1], atol=1e-6)
    np.testing.assert_allclose(fit.noise, s, rtol=1e-5)
    ours = np.array([effect.probability for effect in fit.effects])
    theirs = a[kept]
    for row in theirs:  # in any order
        assert np.abs(ours - row).max(axis=1).min() < 1e-4
    np.testing.assert_allclose(
        sum(effect.coef for effect in fit.effects), (a * mu)[kept].sum(axis=0), atol=1e-4
    )
    np.testing.assert_allclose(
        sum(effect.second_moment for effect in fit.effects),
        (a * (mu**2 + var))[kept].sum(axis=0),
        atol=1e-4,
    )


@pytest.mark.parametrize("variance", ["optim", "em", 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_never_falls(variance, seed):
    X, y, _ = correlated_rows(D=60, rho=0.95, effects=(0.7, -0.7, 0.4, 0.4), seed=seed)
    fit = fit_single_effects(task_of(unscaled(X, y), prior=SingleEffects(6, variance)))
    assert fit.fall < 1e-6
    assert np.isfinite(fit.bounds).all()


def inference_of(problem, effects=None):
    return infer(problem, effects or SingleEffects(5, tol=1e-6))


@pytest.mark.parametrize("kind", ["C order", "float32", "sparse", "moments", "wide C", "repeats"])
def test_designs_that_hold_the_same_numbers_give_the_same_answer(kind):
    wide = kind == "wide C"
    X, y, _ = correlated_rows(n=60 if wide else 120, D=150 if wide else 25, effects=(1, -1))
    X = np.round(X, 3)
    wanted = inference_of(Problem.from_rows(np.asfortranarray(X), y)).posterior
    problem = {
        "C order": lambda: Problem.from_rows(np.ascontiguousarray(X), y),
        "wide C": lambda: Problem.from_rows(np.ascontiguousarray(X), y),
        "float32": lambda: Problem.from_rows(X.astype(np.float32), y),
        "sparse": lambda: Problem.from_rows(scipy.sparse.csc_array(X), y),
        "repeats": lambda: Problem.from_rows(
            np.vstack([X, X[:30]]), np.append(y, y[:30]), np.append(np.full(len(y), 1.0), np.zeros(30))
        ),
        "moments": lambda: Problem.from_moments(
            (X - X.mean(axis=0)).T @ (X - X.mean(axis=0)), (X - X.mean(axis=0)).T @ y,
            (y - y.mean()) @ (y - y.mean()), len(y),
        ),
    }[kind]()  # fmt: skip
    found = inference_of(problem).posterior
    tol = 1e-4 if kind == "float32" else 1e-6
    np.testing.assert_allclose(found.inclusion_probability, wanted.inclusion_probability, atol=tol)
    np.testing.assert_allclose(found.mean, wanted.mean, atol=tol)


def test_weights_count_as_repeats_and_shifts_do_not_count():
    """susieR #70: means that were not taken out."""
    X, y, _ = correlated_rows(effects=(1, -1))
    weights = np.random.default_rng(3).integers(0, 4, len(y))
    settings = {"prior": SingleEffects(effects=4)}
    one = SingleEffectsRegressor(**settings).fit(X, y, sample_weight=weights)
    two = SingleEffectsRegressor(**settings).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-8)
    moved = SingleEffectsRegressor(**settings).fit(X + 1e6, y - 1e6, sample_weight=weights)
    np.testing.assert_allclose(moved.inclusion_probability_, one.inclusion_probability_, atol=1e-6)
    np.testing.assert_allclose(moved.predict(X + 1e6) + 1e6, one.predict(X), atol=1e-4)


def test_order_and_signs_of_columns_do_not_matter():
    X, y, _ = correlated_rows(n=90, D=40, rho=0.9, effects=(1, -1, 0.5))
    rng = np.random.default_rng(8)
    order, signs = rng.permutation(40), rng.choice([-1.0, 1.0], 40)
    one = inference_of(Problem.from_rows(X, y)).posterior
    two = inference_of(Problem.from_rows((X * signs)[:, order], -3 * y)).posterior
    np.testing.assert_allclose(
        two.inclusion_probability, one.inclusion_probability[order], atol=1e-5
    )
    np.testing.assert_allclose(two.mean, -3 * (one.mean * signs)[order], atol=1e-4)


def test_products_by_kept_rows_are_those_of_the_whole_matrix():
    X, y, _ = correlated_rows(n=40, D=200)
    problem = Problem.from_rows(np.asfortranarray(X), y)
    products, rng = GramProducts(problem), np.random.default_rng(0)
    for count in (1, 3, 3, 8, 60, 200, 2):
        coef = np.zeros(200)
        coef[rng.choice(200, count, replace=False)] = rng.standard_normal(count)
        np.testing.assert_allclose(
            products.times(coef), problem.whole_gram() @ coef, atol=1e-9 * np.abs(coef).sum() * 40
        )
    assert not products.times(np.zeros(200)).any()


# --- the certificate


def test_the_certificate_is_small_at_the_answer_and_large_beside_it():
    X, y, _ = correlated_rows(n=60, D=90, effects=(1, -1))
    task = task_of(Problem.from_rows(np.asfortranarray(X), y))
    fit = fit_single_effects(task)
    found = certify_effects(task, fit)
    assert found.value < 1e-5
    assert set(found.parts) >= {"inclusion", "weight", "noise", "lower bound"}
    effect = fit.effects[0]
    shifted = effect._replace(mean=effect.mean + 0.1 * np.sqrt(effect.variance))
    worse = replace(fit, effects=(shifted, *fit.effects[1:]))
    assert certify_effects(task, worse)["weight"] > 0.05
    assert certify_effects(task, worse)["lower bound"] > 1e-7
    assert certify_effects(task, replace(fit, noise=1.1 * fit.noise))["noise"] > 0.05
    rotated = effect._replace(probability=np.roll(effect.probability, 1))
    turned = replace(fit, effects=(rotated, *fit.effects[1:]))
    assert certify_effects(task, turned)["inclusion"] > 0.01


def test_stopping_early_is_told():
    X, y, _ = correlated_rows(D=60, rho=0.95, effects=(0.7, -0.7))
    with pytest.warns(ConvergenceWarning, match="did not settle"):
        model = SingleEffectsRegressor(SingleEffects(max_iter=2, refine=False)).fit(X, y)
    assert not model.selection_.converged


# --- local optima


def trapped(seed=0, n=300):
    """A column that resembles the sum of two that matter, and is the best single one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 12))
    X[:, 5] = (X[:, 0] + X[:, 1]) / np.sqrt(2) + 0.25 * rng.standard_normal(n)
    return X, X[:, 0] + X[:, 1] + rng.standard_normal(n)


def test_refining_leaves_an_optimum_that_single_updates_cannot():
    X, y = trapped()
    problem = Problem.from_rows(X, y)
    task = task_of(problem, prior=SingleEffects(2, 0.3))
    wrong = fit_single_effects(
        task, fit_single_effects(task, log_prior=_only(task, [5])), log_prior=_only(task, [5])
    )
    stuck = fit_single_effects(task, wrong)
    better, rounds = refine(NumbersFitter(task), stuck)
    assert better.bound >= stuck.bound
    top = {int(np.argmax(effect.probability)) for effect in better.effects}
    assert {0, 1} <= top
    assert rounds >= (0 if stuck.bound > better.bound - 0.01 else 1)


def with_small_effects(seed=0, n=600, D=400):
    """The trap above beside columns that all have small effects."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    X[:, 5] = (X[:, 0] + X[:, 1]) / np.sqrt(2) + 0.25 * rng.standard_normal(n)
    return X, X[:, 0] + X[:, 1] + X @ rng.normal(0, 0.04, D) + rng.standard_normal(n)


def stuck_beside_spread_effects(prior):
    """A fit with one effect on the trap, and one over nearly all columns."""
    task = task_of(unscaled(*with_small_effects()), prior=prior)
    trap = fit_single_effects(task, log_prior=_only(task, [5]))
    left = task.problem.xty - task.products.times(trap.effects[0].coef)
    terms = left, task.problem.curvature, task.log_prior
    spread = single_effect_regression(*terms, 1e-3, trap.noise)
    return task, replace(trap, effects=(trap.effects[0], spread))


@pytest.mark.parametrize(("most", "refining"), [(None, True), (2, True), (None, "thorough")])
def test_trials_hold_spread_effects_and_state_the_bound_of_all(most, refining):
    task, stuck = stuck_beside_spread_effects(SingleEffects(most, refine=refining))
    fitter = NumbersFitter(task)
    found = fitter.rough(stuck)(stuck.left_out(0))
    held = [effect for effect in found.effects if effect is stuck.effects[1]]
    # It makes room where there may be two, and moves on request.
    assert len(held) == (most is None and refining is True)
    assert len(found.effects) == (2 if most else 3)
    a, mu, var, v = (
        np.array([getattr(effect, name) for effect in found.effects])
        for name in ("probability", "mean", "variance", "prior_variance")
    )
    bound = lower_bound(*with_small_effects(), task.log_prior, a, mu, var, v, found.noise)
    assert found.bound == pytest.approx(bound, abs=1e-6)


def test_refining_leaves_a_trap_beside_spread_effects():
    task, stuck = stuck_beside_spread_effects(SingleEffects())
    better, rounds = refine(NumbersFitter(task), stuck)
    assert rounds >= 1
    assert better.bound > stuck.bound + 10
    assert {int(np.argmax(effect.probability)) for effect in better.effects[:2]} == {0, 1}


def _only(task, columns):
    log_prior = np.full(task.problem.n_features, -np.inf)
    log_prior[columns] = -np.log(len(columns))
    return log_prior


# --- the estimator


@scikit_learn_checks(SingleEffectsRegressor(SingleEffects(effects=3)))
@pytest.mark.filterwarnings("ignore:.*rows are left beside means")
@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def copies():
    """Three columns that are nearly the same, one of which matters, and another one that does."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 12))
    X[:, 5], X[:, 7] = (X[:, 2] + size * rng.standard_normal(100) for size in (0.01, 0.02))
    return X, X[:, 2] + 0.7 * X[:, 9] + rng.standard_normal(100)


@pytest.fixture(scope="module")
def model(copies):
    return SingleEffectsRegressor().fit(*copies)


def test_the_number_of_effects_is_found_and_null_ones_are_not_stated(model):
    assert len(model.posterior_.law) == 2
    assert model.method_ == "single-effects"
    assert model.certificate_.value < 1e-4
    assert "found by itself" in model.selection_.rule


def test_many_effects_are_found_though_few_are_tried_first():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 60))
    y = X[:, :17] @ rng.choice([-1.0, 1.0], 17) + rng.standard_normal(400)
    model = SingleEffectsRegressor().fit(X, y)
    assert len(model.posterior_.law) == 17
    assert set(model.get_support(indices=True)) == set(range(17))


def test_more_effects_than_columns_are_as_many_as_columns(copies):
    X, y = copies[0][:, [2, 9]], copies[1]
    one = SingleEffectsRegressor(SingleEffects(effects=50)).fit(X, y)
    two = SingleEffectsRegressor(SingleEffects(effects=2)).fit(X, y)
    np.testing.assert_allclose(one.coef_, two.coef_)


def test_a_number_of_effects_that_is_used_up_is_told(copies):
    model = SingleEffectsRegressor(SingleEffects(effects=1)).fit(*copies)
    assert any("there may be more" in text for text in model.selection_.warnings)


def test_draws_have_the_stated_means_and_deviations(model):
    draws = model.posterior_.sample(40_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), model.coef_, atol=0.02)
    np.testing.assert_allclose(draws.std(axis=0), np.sqrt(model.posterior_.variance), atol=0.02)
    support = model.posterior_.support
    wanted = model.posterior_.covariance
    np.testing.assert_allclose(np.cov(draws[:, support].T), wanted, atol=0.01)


def test_predictive_deviations_are_those_of_draws(copies, model):
    rows = copies[0][:20] * [1, 1, 2, 1, 1, 1, 1, -1, 1, 3, 1, 1]  # copies that disagree
    mean, deviation = model.predict(rows, return_std=True)
    draws = rows @ model.posterior_.sample(40_000, random_state=1).T + model.intercept_
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.05)
    spread = np.sqrt(draws.var(axis=1) + model.noise_variance_ * (1 + 1 / 100))
    np.testing.assert_allclose(spread, deviation, rtol=0.03)


def test_prior_log_odds_divide_a_probability_between_copies(copies):
    X = copies[0].copy()
    X[:, 5] = X[:, 7] = X[:, 2]
    model = SingleEffectsRegressor(prior_log_odds={5: np.log(3)}).fit(X, copies[1])
    np.testing.assert_allclose(model.inclusion_probability_[[2, 5, 7]], [0.2, 0.6, 0.2], atol=1e-6)


def test_covariates_are_taken_out_of_everything(copies):
    X, y = copies
    plain = SingleEffectsRegressor(covariates=[9]).fit(X, y)
    model = SingleEffectsRegressor(covariates=[9]).fit(X, y + 5 * X[:, 9])
    np.testing.assert_allclose(model.coef_, plain.coef_ + 5 * (np.arange(12) == 9), atol=1e-6)
    basis = np.column_stack([np.ones(100), X[:, 9]])
    left = y - X[:, [2, 5, 7]] @ model.coef_[[2, 5, 7]]
    np.testing.assert_allclose(np.linalg.lstsq(basis, left)[0][1], plain.coef_[9], atol=1e-6)
    assert not any(9 in one.variables for one in model.posterior_.credible_sets())
    assert model.inclusion_probability_[9] == 1


def test_noise_leaves_no_effects_and_a_constant_response_none():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 40))
    X[:, 3] = 7.0
    model = SingleEffectsRegressor().fit(X, rng.standard_normal(200))
    assert not model.posterior_.credible_sets()
    assert model.inclusion_probability_.max() < 0.5
    assert model.inclusion_probability_[3] == 0
    with pytest.warns(UserWarning, match="y is constant"):
        empty = SingleEffectsRegressor().fit(X, np.full(200, 3.0))
    assert not empty.coef_.any()
    assert len(empty.posterior_.law) == 0
    assert not empty.posterior_.sample(2).any()


def test_an_effect_counts_by_the_probability_that_it_is_there():
    X, y, _ = correlated_rows(n=60, D=8, effects=(0.3,), seed=4)
    sure = fit_single_effects(task_of(unscaled(X, y))).effects[0]
    log_prior, s = uniform(8), sure.variance[0] * sure.prior_variance
    s /= (sure.prior_variance - sure.variance[0]) / (X[:, 0] ** 2).sum()
    c = float(sure.probability @ (X**2).sum(axis=0))
    evidence = []
    places = np.linspace(np.log(s / c), np.log(60 * s / c), 2001)
    products = sure.mean / sure.variance * s
    for v in np.exp(places):
        lengths = (X**2).sum(axis=0)
        log_bf = products**2 * v / (2 * s * (s + v * lengths)) - np.log1p(v * lengths / s) / 2
        evidence.append(np.exp(log_prior + log_bf).sum())
    wanted = np.mean(evidence) / (1 + np.mean(evidence))
    (stated,) = with_doubt([sure], log_prior, 60)
    assert 0.05 < wanted < 0.95
    assert stated.probability.sum() == pytest.approx(wanted, abs=2e-3)
    np.testing.assert_allclose(stated.probability / wanted, sure.probability, rtol=0.01)


def test_how_many_effects_there_are_has_a_uniform_prior():
    def an_effect(log_bayes_factor):
        share = np.array([0.7, 0.3])
        return SingleEffect(share / (1 + np.exp(-log_bayes_factor)), share, share, 0.0, 1.0)

    one, two, three = in_order([an_effect(b) for b in (np.log(0.5), 50.0, np.log(2.0))])
    total = np.exp(50.0) * (1 + 2.0 + 2.0 * 0.5)  # of one, two and three effects, and next to none
    assert two.probability.sum() == pytest.approx(1.0)
    assert three.probability.sum() == pytest.approx(np.exp(50.0) * 3.0 / total)
    assert one.probability.sum() == pytest.approx(np.exp(50.0) * 1.0 / total)
    np.testing.assert_allclose(one.probability[0] / one.probability.sum(), 0.7)
    assert in_order([]) == ()


def test_noise_is_seldom_selected_from_small_tables():
    """Effects that noise has made share few columns: taken for sure they select 39 of these."""
    selected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((150, 8)), rng.standard_normal(150)
        selected += SingleEffectsRegressor().fit(X, y).get_support().sum()
    assert selected <= 3


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e100])
def test_a_response_without_noise_has_a_finite_bound_and_a_positive_noise_variance(size):
    """susieR #135, #219: NaN in the bound, a noise variance of 0 or less."""
    X, _, _ = correlated_rows(effects=(1,))
    y = size * (X[:, 3] - 2 * X[:, 20])
    model = SingleEffectsRegressor(SingleEffects(effects=4)).fit(X, y)
    assert np.isfinite(model.posterior_.log_evidence)
    if size < 1e10:  # beyond, its square is beyond the numbers
        assert model.noise_variance_ >= 0
    np.testing.assert_allclose(model.coef_[[3, 20]] / size, [1, -2], rtol=1e-4)
    assert set(model.get_support(indices=True)) == {3, 20}


def test_few_rows_warn_and_make_no_sets_of_luck():
    """susieR #264: with n small, sets that are too sure."""
    wrong = made = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((12, 100)), rng.standard_normal(12)
        with pytest.warns(UserWarning, match="11 rows are left"):
            model = SingleEffectsRegressor().fit(X, y)
        wrong += len(model.posterior_.credible_sets())
        y = 4 * X[:, 0] + 0.5 * rng.standard_normal(12)
        with pytest.warns(UserWarning, match="11 rows are left"):
            model = SingleEffectsRegressor().fit(X, y)
        made += any(0 in one.variables for one in model.posterior_.credible_sets())
    assert wrong <= 1
    assert made >= 10


def test_a_known_noise_is_held(copies):
    model = SingleEffectsRegressor(SingleEffects(noise_variance=2.5)).fit(*copies)
    assert model.noise_variance_ == pytest.approx(2.5)
    assert model.certificate_["noise"] == 0


def test_few_rows_of_known_noise_need_no_warning():
    X, y, _ = correlated_rows(n=15, D=8)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = SingleEffectsRegressor(SingleEffects(noise_variance=1.0)).fit(X, y)
    assert [str(one.message) for one in said] == []
    assert not any("rows are left" in note for note in model.selection_.warnings)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prior__effects": 0}, "effects must be a positive integer"),
        ({"prior__effects": 2.5}, "effects must be a positive integer"),
        ({"prior": GaussianSlab(1.0)}, "prior must be one of .*SingleEffects"),
        ({"prior": "spike-slab"}, "prior must be one of"),
        ({"method": "sample"}, "Invalid parameter 'method'"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(copies, settings, said):
    with pytest.raises(ValueError, match=said):
        SingleEffectsRegressor(SingleEffects()).set_params(**settings).fit(*copies)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"variance": "best"}, "variance must be one of"),
        ({"variance": -1.0}, "variance must be one of"),
        ({"noise_variance": 0.0}, "noise_variance must be positive"),
        ({"doubt": 0.5}, "doubt must be True or False"),
        ({"tol": 0}, "tol must be positive"),
        ({"max_iter": 0}, "max_iter must be a positive integer"),
    ],
)
def test_settings_of_the_prior_that_cannot_be_meant_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        SingleEffects(**settings)


def test_a_saved_model_has_the_same_sets(copies, tmp_path):
    model = SingleEffectsRegressor(SingleEffects(effects=5)).fit(*copies)
    model.save(tmp_path / "model.garrote")
    same = garrote.load(tmp_path / "model.garrote")
    assert same.prior == model.prior
    for one, two in zip(
        model.posterior_.credible_sets(), same.posterior_.credible_sets(), strict=True
    ):
        np.testing.assert_array_equal(one.variables, two.variables)
        assert str(one) == str(two)
    np.testing.assert_array_equal(model.predict(copies[0]), same.predict(copies[0]))


def test_few_rows_with_a_given_prior_variance_count_no_effect_twice():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((15, 8))
    y = 2.0 * X[:, 1] + rng.standard_normal(15)
    with pytest.warns(UserWarning, match="rows are left"):
        model = SingleEffectsRegressor(SingleEffects(variance=1e-3)).fit(X, y)
    assert 1.0 < model.coef_[1] < 3.0


def test_single_effects_have_a_method_of_their_own_and_no_other(copies):
    problem = Problem.from_rows(*copies)
    found = infer(problem, SingleEffects(3)).posterior
    same = infer(problem, SingleEffects(3), "single-effects").posterior
    np.testing.assert_array_equal(found.mean, same.mean)
    with pytest.raises(TypeError, match=r"prior must be an object of garrote\.priors"):
        infer(problem, "single-effects")
    with pytest.raises(ValueError, match=r"one of \('auto', 'single-effects'\) for a gaussian"):
        infer(problem, SingleEffects(3), "sample")


def test_the_source_is_that_of_the_method_that_was_used(copies):
    def source(model):
        return model.fit(*copies).selection_.provenance["reference"]

    assert source(SingleEffectsRegressor()).startswith("Wang et al. (2020)")
    factorised = source(SpikeSlabRegressor(GaussianSlab(), "mean-field"))
    assert "Carbonetto" in factorised
    assert "Wang" not in factorised


def test_many_columns_beside_few_rows_are_told_of():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 700))
    model = SingleEffectsRegressor().fit(X, X[:, 0] + rng.standard_normal(60))
    assert any("are many for 59 rows" in text for text in model.selection_.warnings)
    model.fit(X[:, :100], X[:, 0])
    assert not any("are many for" in text for text in model.selection_.warnings)
