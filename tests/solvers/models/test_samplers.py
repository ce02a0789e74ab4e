"""Chains of models and searches among them: all agree with the sum over all models."""

import numpy as np
import pytest

from garrote import SpikeSlabRegressor
from garrote.elementary import exponential, logarithm
from garrote.inference import METHODS, Gibbs, Metropolis, Search
from garrote.priors import BIC, GaussianSlab, GPrior
from garrote.priors.inclusion import Inclusion
from garrote.problem import Problem
from garrote.solvers.algebra import gram_rows
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.diagnostics import diagnose_inclusion
from garrote.solvers.models.informed_sampler import InformedWalk
from garrote.solvers.models.metropolis import MetropolisWalk
from garrote.solvers.models.model_chain import Target, run_chain
from garrote.solvers.models.model_search import search_models
from garrote.solvers.models.paired_gibbs import PairedGibbsWalk
from garrote.solvers.models.scored_models import ModelList, products_for, score_models

STEPS = {"sample": 12_000, "metropolis": 60_000, "gibbs": 8_000}
WALKS = [InformedWalk, MetropolisWalk, PairedGibbsWalk]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((70, 10))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = 3 + 0.6 * X[:, 0] + 0.4 * X[:, 4] + rng.standard_normal(70)
    return X, y


PRIORS = [
    {"prior": GaussianSlab(1.0)},
    {"prior": GaussianSlab()},
    {"prior": GaussianSlab(noise_variance=1.1)},
    {
        "prior": GaussianSlab(),
        "inclusion": (1.0, 1.0),
        "prior_log_odds": {2: 1.5},
        "covariates": [3],
    },
    {"prior": GPrior(70.0)},
    {"prior": GPrior("eb"), "inclusion": 0.3},
]


@pytest.mark.parametrize(
    ("method", "settings"),
    # A g-prior ties coefficients together: the Gibbs sampler cannot take them one by one. The quick
    # suite has every prior and every method, and those of one prior with all that may be asked for.
    [
        pytest.param(m, p, marks=() if m == "sample" or p in PRIORS[1:4:2] else pytest.mark.slow)
        for m in STEPS
        for p in PRIORS
        if m != "gibbs" or not isinstance(p.get("prior"), GPrior)
    ],
    ids=str,
)
def test_sampling_agrees_with_enumeration(data, method, settings):
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(*data)
    sampled = SpikeSlabRegressor(
        method=METHODS[method](n_steps=STEPS[method]), random_state=0, **settings
    )
    sampled.fit(*data)
    off = np.abs(exact.inclusion_probability_ - sampled.inclusion_probability_)
    error = sampled.posterior_.accuracy.monte_carlo_error
    assert (off <= 4 * error + 2e-3).all()
    error_of_mean = 6 * error * np.abs(exact.coef_).max() + 5e-3
    assert (np.abs(exact.coef_ - sampled.coef_) <= error_of_mean).all()
    np.testing.assert_allclose(
        exact.posterior_.standard_error.max(), sampled.posterior_.standard_error.max(), rtol=0.1
    )
    models = dict(zip(*_models(exact), strict=True))
    for name, probability in list(zip(*_models(sampled), strict=True))[:3]:
        assert probability == pytest.approx(models[name], abs=0.02)
    assert sampled.certificate_["halves of chains"] < 0.01
    assert sampled.posterior_.accuracy.effective_sample_size.min() > 500


def _models(estimator):
    table = estimator.posterior_.models(1000)
    return table.columns["model"], table.columns["probability"]


@pytest.mark.parametrize(
    "settings",
    [{"prior": GaussianSlab(1.0)}, {"prior": "g-prior"}, {"prior": GaussianSlab()}],
    ids=str,
)
def test_a_search_that_has_time_finds_the_whole_posterior(data, settings):
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(*data)
    found = SpikeSlabRegressor(method=Search(n_steps=20_000), random_state=0, **settings).fit(*data)
    np.testing.assert_allclose(
        found.inclusion_probability_, exact.inclusion_probability_, atol=1e-4
    )
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=1e-3)
    assert found.posterior_.log_evidence == pytest.approx(exact.posterior_.log_evidence, abs=1e-4)
    assert found.certificate_["log probability"] < 1e-6
    assert found.certificate_["found late"] < 1e-3


def test_a_short_search_says_that_it_was_short():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40))
    y = X[:, :8] @ np.full(8, 0.4) + rng.standard_normal(60)
    short, long = (
        SpikeSlabRegressor(GaussianSlab(1.0), Search(steps), random_state=0).fit(X, y)
        for steps in (100, 3000)
    )
    assert short.certificate_["found late"] > 2 * long.certificate_["found late"]
    assert short.posterior_.log_evidence < long.posterior_.log_evidence


def test_a_search_evaluates_no_model_twice(data):
    X, y = data
    found = search_models(_target(X, y), np.random.default_rng(0), start=[], expansions=50)
    models = found.found.models()
    assert len(set(models)) == len(models) == len(set(found.keys.tolist()))


def test_neighbours_of_models_are_weighed_as_each_model_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 12))
    y = X[:, 0] - X[:, 4] + rng.standard_normal(40)
    target = _target(X, y)
    rows = GramRows(target.problem)
    found = search_models(target, np.random.default_rng(0), rows=rows, start=[], expansions=20)
    models, products = found.found.models(), products_for(rows, found.columns)
    np.testing.assert_allclose(
        score_models(target, products, models), found.log_weights, rtol=1e-12
    )
    alone = [score_models(target, products, ModelList.of([model]))[0] for model in models]
    np.testing.assert_allclose(alone, found.log_weights, rtol=1e-12)
    inside = np.array([np.isin(np.arange(12), model) for model in models])
    weights = np.exp(found.log_weights - found.log_total)
    np.testing.assert_allclose(weights @ inside, found.inclusion, atol=1e-12)


def _target(X, y, slab=GaussianSlab(1.0)):  # noqa: B008 - frozen
    problem = Problem.from_rows(X, y)
    D = X.shape[1]
    return Target(problem, slab, Inclusion.beta(1.0, 1.0, np.zeros(D)), len(y) - 1.0)


@pytest.mark.parametrize("walk", WALKS)
def test_rows_of_the_gram_matrix_that_do_not_fit_are_computed_again(walk):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 120))
    y = X[:, 0] + X[:, 1] + rng.standard_normal(50)
    target = _target(X, y)

    def run(room):
        rows = GramRows(target.problem, room)
        return run_chain(walk(target, np.random.default_rng(1), rows), steps=400, burn_in=0)

    whole, few = run(gram_rows.GRAM_BYTES), run(0)
    np.testing.assert_array_equal(whole.flips, few.flips)
    np.testing.assert_allclose(whole.inclusion, few.inclusion, atol=1e-9)


@pytest.mark.parametrize("walk", WALKS)
def test_the_way_of_a_chain_leads_to_its_averages(data, walk):
    """States replayed from the flips have the sizes and the total weight that were counted."""
    chain = run_chain(walk(_target(*data), np.random.default_rng(2)), steps=500, burn_in=50)
    state, by_size = set(chain.start), np.zeros(11)
    for flip, weight in zip(chain.flips, chain.weights, strict=True):
        by_size[len(state)] += weight
        state ^= {flip} - {-1}
    np.testing.assert_allclose(by_size / by_size.sum(), chain.size_probability, atol=1e-12)
    assert chain.weights.sum() == pytest.approx(chain.weight)


def test_metropolis_exchanges_variables_that_stand_in_for_each_other():
    """Flips alone would have to pass through the model with neither of two near copies."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 6))
    X[:, 1] = X[:, 0] + 0.02 * rng.standard_normal(200)
    y = 3 * X[:, 0] + 0.3 * rng.standard_normal(200)
    settings = {"inclusion": 1e-3, "prior": GaussianSlab(1.0)}
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(X, y)
    walked = SpikeSlabRegressor(method=Metropolis(n_steps=20_000), random_state=0, **settings)
    walked.fit(X, y)
    np.testing.assert_allclose(
        walked.inclusion_probability_, exact.inclusion_probability_, atol=0.03
    )


@pytest.mark.parametrize("copies", [2, 3])
@pytest.mark.parametrize("variance", [1e4, 1e10])
def test_a_copy_comes_in_beside_another_under_a_wide_slab(copies, variance):
    """Given the other's coefficient it comes in once in sqrt(rows * variance) sweeps."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    X[:, 1:copies] = X[:, :1]
    y = 0.8 * X[:, 0] + 0.4 * X[:, 3] + rng.standard_normal(60)
    settings = {"inclusion": 0.5, "prior": GaussianSlab(variance)}
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(X, y)
    drawn = SpikeSlabRegressor(method=Gibbs(n_steps=4000), random_state=0, **settings).fit(X, y)
    off = np.abs(drawn.inclusion_probability_ - exact.inclusion_probability_)
    error = drawn.posterior_.accuracy.monte_carlo_error
    assert (off <= 4 * error).all()
    assert error.max() < 0.02
    assert drawn.certificate_["halves of chains"] < 0.01


@pytest.mark.parametrize("walk", [InformedWalk, MetropolisWalk])
@pytest.mark.parametrize("start", [[0, 1], [0, 5]], ids=["copies", "ruled out"])
def test_a_walk_from_a_model_without_probability_begins_with_none(data, walk, start):
    X, y = data
    X = X[:, [0, 0, 1, 2, 3, 4]]
    target = _target(X, y, BIC())
    target.inclusion.log_odds[5] = -np.inf
    chain = run_chain(walk(target, np.random.default_rng(0)), start=start, steps=400, burn_in=0)
    assert chain.start == ()
    assert chain.inclusion[0] + chain.inclusion[1] == pytest.approx(1.0, abs=0.1)
    assert chain.inclusion[5] == 0.0


def test_a_g_prior_is_refused_by_the_paired_gibbs_sampler(data):
    with pytest.raises(ValueError, match="ties the coefficients together"):
        PairedGibbsWalk(_target(*data, GPrior(10.0)), np.random.default_rng(0))


def test_chains_that_disagree_have_a_large_r_hat(data):
    walks = [InformedWalk(_target(*data), np.random.default_rng(k)) for k in range(2)]
    good = [run_chain(walk, steps=5000, burn_in=100) for walk in walks]
    mean = np.mean([chain.inclusion for chain in good], axis=0)
    assert diagnose_inclusion(good, mean).split_r_hat.max() < 1.02
    stuck = [run_chain(walk, steps=200, burn_in=0) for walk in walks]
    stuck[0].batch_inclusion[:, 7] = 0.9 * stuck[0].batch_weight
    stuck[1].batch_inclusion[:, 7] = 0.1 * stuck[1].batch_weight
    apart = diagnose_inclusion(stuck, np.mean([chain.inclusion for chain in stuck], axis=0))
    # Variance 0.09 within halves, 4 / 3 * 0.16 between them.
    assert apart.split_r_hat[7] == pytest.approx(np.sqrt(1 + 0.64 / 3 / 0.09))
    # 40 batches, all of them 0.4 off: 39 * 0.25 / 0.16 draws, about.
    assert apart.effective_size[7] == pytest.approx(61, rel=0.1)


def test_exponential_and_logarithm_are_those_of_the_c_library():
    x = np.random.default_rng(0).uniform(-690, 690, 2000)
    ours = np.array([exponential(v) for v in x])
    np.testing.assert_allclose(ours, np.exp(x), rtol=1e-15)
    np.testing.assert_allclose([logarithm(v) for v in ours], x, rtol=0, atol=2e-13)
    small = 10.0 ** -np.arange(1.0, 16.0)
    np.testing.assert_allclose([logarithm(1 - u) for u in small], np.log1p(-small), atol=2e-16)
    assert exponential(1e6) == exponential(700.0)
    assert exponential(-1e6) == exponential(-700.0)
