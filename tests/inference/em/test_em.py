"""EM for the Bernoulli-Gaussian model and for a narrow spike: the plain algorithms, ascent, optima."""

import numpy as np
import pytest
from scipy.special import expit

from garrote import SpikeSlabRegressor
from garrote.inference import EM, Beliefs, MeanField
from garrote.inference.auditing import audited_columns
from garrote.inference.em.bernoulli_gaussian import BernoulliGaussian
from garrote.inference.em.em_posterior import make_starts
from garrote.inference.em.narrow_spike import NarrowSpike
from garrote.inference.em.steps import run_em
from garrote.inference.mean_field.hyperparameters import Hyperparameters, Learning
from garrote.inference.mean_field.paired_mean_field import fit_paired
from garrote.priors import GaussianSlab
from garrote.priors.inclusion import Inclusion
from garrote.priors.mask import MaskRule
from garrote.problem import Problem
from garrote.rules import moments, shrink
from garrote.solvers.algebra.weighted_ridge import WeightedRidge
from garrote.solvers.control import Control
from garrote.solvers.models.enumeration import enumerate_models
from reference import bernoulli_gaussian_em, narrow_spike_em, sparse_regression
from scikit_checks import scikit_learn_checks

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")

TIGHT = Control(1e-9, 20_000)
SPIKE = 1e-3


def _problem(n=80, d=10, seed=3, correlation=0.5):
    X, y, _ = sparse_regression(n, d, 3, seed, 1.0, correlation)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (y - y.mean()) / y.std()
    return X, y, Problem.from_rows(X, y)


def _beliefs(problem, a=1.0, b=3.0, **slab):
    offsets = np.zeros(len(problem.usable))
    return Beliefs.about(problem, GaussianSlab(**slab), Inclusion.beta(a, b, offsets))


def _model(problem, spike=None, **slab):
    learning = Learning.under(_beliefs(problem, **slab), "em")
    ridge = WeightedRidge(problem)
    if spike is None:
        return BernoulliGaussian(problem, learning, ridge)
    return NarrowSpike(problem, learning, ridge, spike)


@pytest.mark.parametrize("seed", range(4))
def test_the_bernoulli_gaussian_model_is_solved_as_by_the_plain_algorithm(seed):
    X, y, problem = _problem()
    start = np.random.default_rng(seed).uniform(size=10)
    model = _model(problem)
    state = run_em(model, model.first(start), TIGHT).state
    m, mu, noise, variance, pi = bernoulli_gaussian_em(X, y, start.copy(), 1.0, 3.0)
    np.testing.assert_allclose(state.probability, m, atol=1e-6)
    np.testing.assert_allclose(state.weight, mu, atol=1e-6)
    assert state.noise == pytest.approx(noise, rel=1e-6)
    assert state.at.variance == pytest.approx(variance, rel=1e-5)
    assert expit(state.at.log_odds) == pytest.approx(pi, rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_narrow_spike_is_solved_as_by_the_plain_algorithm(seed):
    X, y, problem = _problem()
    start = np.random.default_rng(seed).uniform(size=10)
    model = _model(problem, SPIKE)
    state = run_em(model, model.first(start), TIGHT).state
    p, w, noise, variance, pi = narrow_spike_em(X, y, start, SPIKE, 1.0, 3.0)
    np.testing.assert_allclose(state.probability, p, atol=1e-6)
    np.testing.assert_allclose(state.weight, w, atol=1e-6)
    assert state.noise == pytest.approx(noise, rel=1e-6)
    assert state.at.variance == pytest.approx(variance, rel=1e-5)
    assert expit(state.at.log_odds) == pytest.approx(pi, rel=1e-5)


@pytest.mark.parametrize("spike", [None, 1e-2, 1e-4])
@pytest.mark.parametrize("shape", [(80, 10), (40, 90)])
def test_no_step_lowers_the_objective(shape, spike):
    _, _, problem = _problem(*shape)
    model = _model(problem, spike)
    rng = np.random.default_rng(0)
    climbed = []
    for _ in range(5):
        trace = np.array(run_em(model, model.first(rng.uniform(size=shape[1])), TIGHT).trace)
        assert np.diff(trace).min() > -1e-9 * np.abs(trace).max()
        climbed.append(trace[-1] - trace[0])
    assert min(climbed) > 1e-3


@pytest.mark.parametrize("spike", [None, SPIKE])
def test_the_certificate_tells_a_solution_from_its_neighbours(spike):
    _, _, problem = _problem()
    model = _model(problem, spike)
    found = run_em(model, model.first(np.full(10, 0.5)), TIGHT)
    assert found.fit.certificate.value < 1e-8
    assert found.fit.message == "converged"
    nothing = Control(1e-9, 0)
    state = found.state
    moved = state.probability.copy()
    moved[0] = 0.5 * moved[0] + 0.2
    for name, other in (
        ("inclusion", state._replace(probability=moved)),
        ("weight", state._replace(weight=state.weight + 0.01)),
        ("noise", state._replace(noise=1.1 * state.noise)),
        ("hyperparameters", state._replace(at=Hyperparameters(2.0, state.at.log_odds))),
        ("hyperparameters", state._replace(at=Hyperparameters(state.at.variance, 1.0))),
    ):
        fit = run_em(model, other, nothing).fit
        assert fit.certificate.parts[name] > 1e-2
        assert "not converged" in fit.message


@pytest.mark.parametrize("spike", [None, SPIKE])
@pytest.mark.parametrize("shape", [(80, 10), (40, 90)])
def test_rows_moments_and_weights_are_one_problem(shape, spike):
    X, y, _ = _problem(*shape)
    rows = Problem.from_rows(X, y)
    moments_only = Problem.from_moments(X.T @ X, X.T @ y, y @ y, len(y))
    twice = Problem.from_rows(np.vstack([X, X]), np.concatenate([y, y]))
    heavy = Problem.from_rows(X, y, np.full(len(y), 2.0))
    start = np.random.default_rng(1).uniform(size=shape[1]) * (np.arange(shape[1]) < 8)
    for one, other in ((rows, moments_only), (twice, heavy)):
        a, b = (run_em(m, m.first(start), TIGHT) for m in (_model(p, spike) for p in (one, other)))
        np.testing.assert_allclose(a.state.probability, b.state.probability, atol=1e-6)
        np.testing.assert_allclose(a.state.weight, b.state.weight, atol=1e-6)
        assert a.fit.free_energy == pytest.approx(b.fit.free_energy, abs=1e-6)


@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("shape", [(30, 8), (20, 50)])
def test_ridge_regression_is_solved_by_columns_and_by_rows(shape, spread):
    X, y, problem = _problem(*shape)
    spreads = spread * np.random.default_rng(0).uniform(size=shape[1])
    spreads[3] = 0.0
    solved = WeightedRidge(problem).solve(spreads)
    kept = np.delete(np.arange(shape[1]), 3)
    system = X[:, kept].T @ X[:, kept] + np.diag(1 / spreads[kept])
    np.testing.assert_allclose(
        solved.coef[kept], np.linalg.solve(system, X[:, kept].T @ y), rtol=1e-6
    )
    assert solved.coef[3] == 0.0
    residual = y - X @ solved.coef
    assert solved.squared_residual == pytest.approx(residual @ residual, abs=1e-8)
    np.testing.assert_allclose(solved.gradient, X.T @ residual, atol=1e-8)


def test_the_mask_rule_minimises_its_share_of_the_bound():
    rule = MaskRule(np.array([-1.5]), np.array([0.4]), np.array([0.02]), np.array([2.5]))
    c, z = 30.0, 0.3
    m = np.linspace(1e-6, 1 - 1e-6, 200_001)
    # E[c (s w - z)^2] / (2 noise) with E[w^2] = 0.4^2 + 0.02 / 2.5, less the entropy and the odds.
    squares = m * (0.4**2 + 0.02 / 2.5) - 2 * m * 0.4 * z
    cost = 0.5 * 2.5 * c * squares + m * np.log(m) + (1 - m) * np.log(1 - m) + 1.5 * m
    probability, weight, variance = moments(rule, 0, z, c)
    assert probability == pytest.approx(m[np.argmin(cost)], abs=1e-5)
    assert shrink(rule, 0, z, c) == probability * weight
    second = probability * (0.4**2 + 0.02 / 2.5)
    assert variance == pytest.approx(second - (probability * 0.4) ** 2)


def test_the_bernoulli_gaussian_bound_lies_below_the_paired_one_and_below_the_evidence():
    _, _, problem = _problem()
    slab = GaussianSlab(1.0, 0.5)
    inclusion = Inclusion.independent(np.full(10, 0.2), np.zeros(10))
    beliefs = Beliefs.about(problem, slab, inclusion)
    exact = enumerate_models(
        slab.rule(problem.n, problem.yty, 10), problem.whole_gram(), problem.xty, problem.yty,
        inclusion.by_size, inclusion.log_odds,
    )  # fmt: skip
    evidence = exact.log_total - 0.5 * problem.n * np.log(2 * np.pi * 0.5)
    paired = fit_paired(problem, beliefs, control=TIGHT).bound
    apart = [
        -run_em(model, state, TIGHT).fit.free_energy
        for model, state in make_starts(problem, beliefs, TIGHT, None).values()
    ]
    assert max(apart) < paired < evidence
    assert max(apart) > evidence - 10.0


@scikit_learn_checks(
    variants=[
        SpikeSlabRegressor(method="em"),
        SpikeSlabRegressor(method=EM(spike_variance=1e-2)),
        SpikeSlabRegressor(method=MeanField("em")),
        SpikeSlabRegressor(method=MeanField("anneal")),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def clear():
    """Orthogonal columns, of which some matter beyond doubt."""
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((200, 12)) - 0.0)
    X = Q * np.sqrt(200)
    return X, X[:, :3] @ [0.8, -0.6, 0.7] + rng.standard_normal(200)


SETTINGS = {"inclusion": 0.1, "prior": GaussianSlab(1.0, noise_variance=1.0)}


@pytest.mark.parametrize("spike", [None, SPIKE])
def test_clear_effects_of_orthogonal_columns_have_nearly_exact_probabilities(clear, spike):
    exact = SpikeSlabRegressor(method="enumerate", **SETTINGS).fit(*clear)
    found = SpikeSlabRegressor(method=EM(spike_variance=spike), **SETTINGS).fit(*clear)
    assert found.method_ == "em"
    np.testing.assert_allclose(found.inclusion_probability_, exact.inclusion_probability_, atol=0.1)
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=0.02)
    np.testing.assert_allclose(
        found.posterior_.standard_error[:3], np.sqrt(exact.posterior_.variance[:3]), rtol=0.05
    )
    assert found.selection_.converged
    assert found.certificate_.value < 1e-4


@pytest.mark.parametrize("spike", [None, SPIKE])
def test_the_audit_tells_where_an_effect_is_too_weak_for_em(spike):
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((200, 12)))
    X = Q * np.sqrt(200)
    y = X[:, :3] @ [0.3, 0.25, 0.2] + rng.standard_normal(200)
    settings = {**SETTINGS, "inclusion": 0.3}
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(X, y).inclusion_probability_
    found = SpikeSlabRegressor(method=EM(spike_variance=spike), **settings).fit(X, y)
    assert np.abs(found.inclusion_probability_ - exact).max() > 0.1
    with pytest.warns(UserWarning, match="prefer method='sample'"):
        audit = found.posterior_.audit()
    assert audit.largest_difference > 0.1
    np.testing.assert_allclose(audit.checked, exact[audit.columns], atol=0.05)
    assert any("exact sums" in said for said in found.selection_.warnings)


@pytest.mark.parametrize("method", [EM(), EM(spike_variance=SPIKE)], ids=str)
def test_more_columns_than_rows(method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 400))
    y = 2 * X[:, 3] - 2 * X[:, 70] + rng.standard_normal(60)
    model = SpikeSlabRegressor(method=method, covariates=[5]).fit(X, y)
    assert {3, 70} <= set(model.get_support(indices=True))
    assert model.get_support().sum() <= 6
    assert model.inclusion_probability_[5] == 1.0
    assert model.selection_.converged
    assert 0.2 < model.noise_variance_ < 2.0


def test_a_narrow_spike_has_many_optima_and_care_finds_a_good_one():
    """Murphy: "this is likely to suffer from severe local minima"."""
    distinct, lucky, careful = [], [], []
    for seed in range(5):
        _, _, problem = _problem(100, 20, seed)
        starts = make_starts(problem, Beliefs.about(problem), Control(), SPIKE)
        careful += [
            min(run_em(*starts[how], Control()).fit.free_energy for how in ("annealed", "narrowed"))
        ]
        model, rng = starts["annealed"][0], np.random.default_rng(seed)
        random = [
            run_em(model, model.first(rng.uniform(size=20)), Control()).fit.free_energy
            for _ in range(10)
        ]
        distinct.append(len(np.unique(np.round(random, 2))))
        lucky.append(min(random))
    assert np.mean(distinct) > 3
    assert (np.array(careful) < np.array(lucky) + 0.01).all()


def test_the_spike_must_be_positive_and_narrower_than_the_slab(clear):
    X, y = clear
    with pytest.raises(ValueError, match="spike_variance must be positive"):
        SpikeSlabRegressor(method=EM(spike_variance=0.0)).fit(X, y)
    with pytest.raises(ValueError, match="must be below the slab's variance"):
        SpikeSlabRegressor(GaussianSlab(1.0), EM(spike_variance=2.0)).fit(X, y)
    with pytest.raises(ValueError, match="ties the coefficients together"):
        SpikeSlabRegressor("g-prior", "em").fit(X, y)


WAYS = [
    {"method": "em"},
    {"method": EM(spike_variance=SPIKE)},
    {"method": "mean-field", "prior": GaussianSlab()},
    {"method": MeanField("em")},
    {"method": MeanField("anneal"), "prior": GaussianSlab()},
]


@pytest.mark.filterwarnings("ignore:y is constant")
@pytest.mark.parametrize("settings", WAYS, ids=str)
def test_hard_tables_get_an_answer(settings):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6))
    X[:, 5] = X[:, 4]
    X = np.column_stack([X, np.ones(30)])
    perfect, noise, shared = X[:, 0].copy(), rng.standard_normal(30), X[:, 4]
    for y in (perfect, noise, shared + 0.5 * noise, np.full(30, 2.0)):
        model = SpikeSlabRegressor(**settings).fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert model.inclusion_probability_[6] == 0.0
        assert ((model.inclusion_probability_ >= 0) & (model.inclusion_probability_ <= 1)).all()
        if y is perfect:
            assert model.get_support(indices=True).tolist() == [0]
    empty = SpikeSlabRegressor(**settings).fit(np.ones((20, 3)), rng.standard_normal(20))
    assert not empty.coef_.any()


@pytest.mark.parametrize("settings", WAYS, ids=str)
def test_copies_of_a_column_share_what_they_explain(settings):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 9))
    X[:, 8] = X[:, 0]
    model = SpikeSlabRegressor(**settings).fit(X, X[:, 0] + 0.5 * rng.standard_normal(50))
    probability = model.inclusion_probability_[[0, 8]]
    assert probability.sum() > 0.9
    assert probability.min() > 0.05
    assert len(model.posterior_.optima) >= 2


def test_a_saved_model_keeps_its_optima(clear, tmp_path):
    from garrote import load

    model = SpikeSlabRegressor(method="em", **SETTINGS).fit(*clear)
    model.save(tmp_path / "em.garrote")
    again = load(tmp_path / "em.garrote")
    assert str(again.posterior_.local_optima()) == str(model.posterior_.local_optima())
    assert again.certificate_ == model.certificate_


@pytest.mark.parametrize("away", [0.0, 0.1])
def test_the_audit_looks_at_copies_that_are_stated_to_be_out(away):
    rng = np.random.default_rng(17)
    X = rng.standard_normal((60, 8))
    X[:, 1] = X[:, 0] + away * rng.standard_normal(60)
    X[:, 3] = X[:, 2] + away * rng.standard_normal(60)
    y = X[:, 0] + 0.7 * X[:, 2] + rng.standard_normal(60)
    exact = SpikeSlabRegressor(GaussianSlab(), "enumerate").fit(X, y).inclusion_probability_
    posterior = SpikeSlabRegressor(GaussianSlab(), "em").fit(X, y).posterior_
    off = np.abs(posterior.inclusion_probability - exact).max()
    assert off > 0.1
    assert {0, 1, 2, 3} <= set(posterior.checked.columns)
    assert posterior.checked.largest_difference == pytest.approx(off, abs=0.02)
    with pytest.warns(UserWarning, match="prefer method='sample'"):
        posterior.audit()


def test_the_audit_has_room_for_copies_among_many_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 40))
    X[:, 30:36] = X[:, [0]] + 0.05 * rng.standard_normal((80, 6))
    problem = Problem.from_rows(X, rng.standard_normal(80))
    stated = np.full(40, 0.001)
    stated[0], stated[1:20] = 1.0, 0.02
    chosen = audited_columns(problem, stated, 14)
    assert len(chosen) == 14
    assert {0, *range(30, 36)} <= set(chosen)
    explaining = np.zeros(40)
    explaining[25] = 1.0
    stated[1:20] = 0.001
    assert set(audited_columns(problem, stated, 10, explaining)) >= {0, 25, *range(30, 36)}
    sure = np.ones(40)
    np.testing.assert_array_equal(audited_columns(problem, sure, 14), np.arange(14))
