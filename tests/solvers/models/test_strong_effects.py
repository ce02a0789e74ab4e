"""Samplers where effects are strong: odds of e to the power of thousands, and variables that compete."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit, logsumexp

from garrote import Problem
from garrote.inference import METHODS, Beliefs, Metropolis, Sample, Search, infer
from garrote.priors import BIC, GaussianSlab, GPrior
from garrote.priors.evidence import log_evidence, log_evidence_ratio
from garrote.priors.inclusion import Inclusion
from garrote.solvers.diagnostics import diagnose_inclusion
from garrote.solvers.models.informed_sampler import InformedWalk
from garrote.solvers.models.metropolis import MetropolisWalk
from garrote.solvers.models.model_chain import in_one_unit, run_chain

SLABS = {
    "slab": GaussianSlab(1.0),
    "known noise": GaussianSlab(1.0, noise_variance=1.0),
    "unknown slab": GaussianSlab(),
    "g": GPrior(100.0),
    "hyper-g": GPrior("hyper-g"),
    "hyper-g/n": GPrior("hyper-g/n"),
    "eb": GPrior("eb"),
    "bic": BIC(),
}
STEPS = {"sample": 2000, "metropolis": 20_000, "gibbs": 2000}
# What chains of this length cannot tell: the probability of states that they come to a few times.
SELDOM = 1e-3


def simulate(n, correlation, coef, noise=1.0, seed=0):
    """Moments of n centred rows with columns of given correlations: no row is ever made."""
    rng = np.random.default_rng(seed)
    d = len(coef)
    along = noise * np.linalg.cholesky(correlation) @ rng.standard_normal(d) * np.sqrt(n)
    explained = along @ np.linalg.solve(correlation, along) / n
    left = explained + noise**2 * rng.chisquare(n - 1 - d)
    xty = n * correlation @ coef + along
    yty = n * coef @ correlation @ coef + 2 * coef @ along + left
    return Problem.from_moments(n * correlation, xty, yty, n)


def correlated(d, correlation, copies=0.0):
    """Equal correlations, and two columns at the end that are near copies."""
    matrix = correlation + (1 - correlation) * np.eye(d)
    if copies:
        matrix[-1] = matrix[:, -1] = matrix[-2]
        matrix[-1, -1], matrix[-2, -1], matrix[-1, -2] = 1.0, copies, copies
    return matrix


def believe(problem, slab):
    return Beliefs.about(problem, slab, Inclusion.beta(1.0, 1.0, np.zeros(problem.n_features)))


def assert_agrees(problem, slab, method, seed=0, seldom=SELDOM):
    drawn = METHODS[method](STEPS[method], 200)
    exact = infer(problem, slab, "enumerate", inclusion=(1.0, 1.0)).posterior
    found = infer(problem, slab, drawn, inclusion=(1.0, 1.0), random_state=seed)
    off = np.abs(found.posterior.inclusion_probability - exact.inclusion_probability)
    error = found.posterior.accuracy.monte_carlo_error
    assert (off <= 4 * error + seldom).all(), (off, error)
    largest = np.abs(exact.mean / exact.inclusion_probability).max()  # given that it is in
    assert (np.abs(found.posterior.mean - exact.mean) <= 6 * largest * (error.max() + seldom)).all()
    return found, exact


@pytest.fixture(scope="module")
def competing():
    """Thousands of nats for one variable, and a near copy that is a little worse."""
    coef = np.array([1.0, 0.0, -0.7, 0.0, 0.8, 0.0])
    return simulate(100_000, correlated(6, 0.55, 1 - 2e-5), coef, seed=3)


COMBINATIONS = [
    (method, name)
    for method in STEPS
    for name in SLABS
    if method != "gibbs" or isinstance(SLABS[name], GaussianSlab)
]


@pytest.mark.parametrize(("method", "name"), COMBINATIONS)
def test_chains_agree_with_the_sum_over_all_models(competing, method, name):
    found, exact = assert_agrees(competing, SLABS[name], method)
    assert 0.01 < exact.inclusion_probability[4:].min() < 0.99  # either copy may be the one
    assert found.certificate["Monte Carlo error"] < 0.1


def log_weights(problem, slab):
    """Log posterior of all models, each solved alone, up to a constant."""
    beliefs, xty, weights = believe(problem, slab), problem.xty, {}
    d = problem.n_features
    gram = problem.known_block(np.arange(d))
    rule = beliefs.rule(problem, d)
    for k in range(d + 1):
        for model in map(list, combinations(range(d), k)):
            inside = gram[np.ix_(model, model)] + rule.ridge * np.eye(k)
            left = problem.yty - xty[model] @ np.linalg.solve(inside, xty[model])
            evidence = log_evidence(rule, k, np.linalg.slogdet(inside)[1], left)
            weights[frozenset(model)] = evidence + beliefs.inclusion.by_size[k]
    return weights


def swaps(problem, model):
    """Members of a model, each with every other variable that resembles it."""
    alike = np.abs(problem.known_block(np.arange(problem.n_features))) / problem.curvature[0] > 0.8
    return [(i, j) for i in model for j in set(range(problem.n_features)) - model if alike[i, j]]


@pytest.mark.parametrize("name", ["slab", "known noise", "g", "eb", "bic"])
@pytest.mark.parametrize("n", [1000, 100_000])
def test_odds_and_rates_are_those_of_the_posterior_in_every_model(name, n):
    """From both ends of a flip a variable has the same odds, and pi Z is what the walk leaves alone."""
    slab, noise = SLABS[name], 1.0 if name == "known noise" else 0.01
    problem = simulate(n, correlated(5, 0.6, 0.999), np.array([1.0, 0.5, 0, 0, 0.7]), noise)
    exact = log_weights(problem, slab)
    assert max(exact.values()) - min(exact.values()) > (500 if n == 1000 else 20_000)
    target = believe(problem, slab).target(problem)
    walk = InformedWalk(target, np.random.default_rng(0))
    for model, weight in exact.items():
        walk.begin(sorted(model))
        log_z = walk.log_weight(walk.rule, walk.factor)
        sign = np.array([-1.0 if j in model else 1.0 for j in range(5)])
        gain = np.array([exact[model ^ {j}] - weight for j in range(5)])
        np.testing.assert_allclose(walk.scores.log_odds, sign * gain, rtol=1e-9, atol=1e-5)
        # p_j (1 - 0.75 p_j) + e over the chance that j is as it is; q / (1 + q) for swaps.
        p, q = (
            expit(sign * gain),
            [exact[model ^ {i, j}] - weight for i, j in swaps(problem, model)],
        )
        flips = np.log(p * (1.0 - 0.75 * p) + 0.2) + np.logaddexp(0.0, gain)
        # The larger sum of rates, of those that come or of those that leave, and that of swaps.
        ways = [logsumexp(np.append(flips[sign == way], -np.inf)) for way in (1.0, -1.0)]
        rates = [max(ways), *-np.logaddexp(0.0, -np.array(q))]
        assert log_z == pytest.approx(logsumexp(rates), rel=1e-9, abs=1e-5)
        assert len(q) == len({3, 4} & model) % 2  # near copies for each other


def test_evidence_tells_strong_variables_apart_that_leave_next_to_nothing():
    """Two variables leave 1e-5 and 2e-5 of y'y; both explain all of it to 15 digits of the ratio."""
    yty, n = 5e7, 1e6
    for slab in (GaussianSlab(1.0), GPrior(1e12), BIC()):
        rule = slab.rule(n, yty, 3)
        ratios = [log_evidence_ratio(rule, 0, yty, 7.0, yty * (1 - left)) for left in (1e-5, 2e-5)]
        assert ratios[0] - ratios[1] == pytest.approx(0.5 * n * np.log(2.0), rel=1e-6)


def test_a_chain_whose_states_are_all_improbable_has_the_right_averages():
    """Thirty strong variables come in one by one: each state is worth nothing beside the next."""
    problem = simulate(100_000, correlated(30, 0.3), np.linspace(1.0, 2.0, 30))
    target = believe(problem, GaussianSlab(1.0)).target(problem)
    walk = InformedWalk(target, np.random.default_rng(0))
    chain = run_chain(walk, steps=20, burn_in=0)
    again, state, logs, inclusion = InformedWalk(target, np.random.default_rng(1)), set(), [], []
    for flip in chain.flips:
        again.begin(sorted(state))
        logs.append(-again.log_weight(again.rule, again.factor))
        inclusion.append(again.scores.inclusion.copy())
        state ^= {int(flip)} - {-1}
    assert max(logs) < -1000
    weights = np.exp(np.array(logs) - max(logs))
    np.testing.assert_allclose(chain.weights / chain.weight, weights / weights.sum(), atol=1e-9)
    expected = weights @ np.array(inclusion) / weights.sum()
    np.testing.assert_allclose(chain.inclusion, expected, atol=1e-9)


def test_a_chain_that_has_not_arrived_counts_for_nothing_and_is_noticed():
    """Without the variables that are yet to come in, one without effect stands in for them."""
    problem = simulate(100_000, correlated(30, 0.3), np.r_[np.linspace(1.0, 2.0, 29), 0.0])
    target = believe(problem, GaussianSlab(1.0)).target(problem)
    walks = [InformedWalk(target, np.random.default_rng(seed)) for seed in range(2)]
    short = run_chain(walks[0], steps=20, burn_in=0)
    arrived = run_chain(walks[1], start=range(29), steps=200, burn_in=0)
    chains = in_one_unit([short, arrived])
    assert 0 < chains[0].weight < 1e-100 * chains[1].weight
    assert chains[0].inclusion[29] > 0.99
    assert chains[1].inclusion[29] < 0.5
    assert diagnose_inclusion(chains, chains[1].inclusion).split_r_hat[29] > 2


@pytest.mark.parametrize("walk", [InformedWalk, MetropolisWalk])
def test_a_walk_leaves_models_that_bic_rules_out(walk):
    problem = simulate(12, correlated(8, 0.0), np.array([3.0, 0, 0, 0, 0, 0, 0, 0]))
    target = believe(problem, BIC()).target(problem)
    chain = run_chain(walk(target, np.random.default_rng(0)), start=range(8), steps=500, burn_in=50)
    assert np.isfinite(chain.inclusion).all()
    assert chain.size_probability[6:].sum() == 0.0
    assert chain.inclusion[0] > 0.9


def test_a_search_weighs_strong_models_right(competing):
    given = {"prior": GaussianSlab(1.0), "inclusion": (1.0, 1.0), "random_state": 0}
    exact = infer(competing, method="enumerate", **given).posterior
    found = infer(competing, method=Search(200), **given).posterior
    np.testing.assert_allclose(found.inclusion_probability, exact.inclusion_probability, atol=1e-6)
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=1e-6)


@pytest.mark.parametrize("method", ["sample", "metropolis"])
def test_copies_may_both_be_in_beside_a_slab_as_wide_as_their_effect(method):
    """The slab's precision is 3e-10 of a column's length, and still tells one copy from two."""
    coef = np.array([0.0, 0.5, 0.0, 1.0, 0.0])
    problem = simulate(100_000, correlated(5, 0.3, 1 - 1e-13), coef, 0.005, seed=4)
    _, exact = assert_agrees(problem, GaussianSlab(3e4), method)
    assert exact.inclusion_probability[3:].min() > 0.6


def test_certain_variables_stay_certain_whatever_the_data_say():
    """Prior odds of e^2000 against evidence of thousands of nats: sums of both decide."""
    problem = simulate(3000, correlated(3, 0.9), np.array([1.5, 0.0, 0.0]))
    log_odds = np.array([0.0, 2000.0, -2000.0])
    inclusion = Inclusion.beta(1.0, 1.0, log_odds)
    for method in (Sample(1000, 100), Metropolis(1000, 100)):
        found = infer(
            problem, GaussianSlab(1.0), method, inclusion=inclusion, random_state=0
        ).posterior
        np.testing.assert_allclose(found.inclusion_probability, [1.0, 1.0, 0.0], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_chains_agree_in_random_strong_problems(seed):
    """Any size, fit, correlation and prior; Gibbs only where it has a prior and no near copies."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(4, 9)), int(10 ** rng.uniform(3, 5))
    copies = 1 - 10 ** rng.uniform(-5, -1) if rng.random() < 0.5 else 0.0
    coef = np.where(rng.random(d) < 0.5, rng.standard_normal(d), 0.0)
    noise = 10 ** rng.uniform(-2, 0.3)
    problem = simulate(n, correlated(d, rng.uniform(0, 0.9), copies), coef, noise, seed)
    for name, slab in SLABS.items():
        for method in STEPS:
            gibbs = isinstance(slab, GaussianSlab) and copies < 0.99
            if (method != "gibbs" or gibbs) and (name != "known noise" or noise > 0.3):
                assert_agrees(problem, slab, method, seed, seldom=2e-3)
