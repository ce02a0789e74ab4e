"""Posteriors of labels and counts: Polya-Gamma draws, the bound and Laplace, against references."""

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid
from scipy.special import expit, logsumexp
from scipy.stats import kstest, logistic, norm

from garrote import Problem
from garrote.inference import Metropolis, Sample, choose_method, glm_models, infer
from garrote.likelihoods import FAMILIES, Binomial, Poisson
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.priors import (
    EffectSlab,
    Inclusion,
    IndependentInclusion,
    SingleEffects,
    TwoHumpedEffectSlab,
)
from garrote.solvers.control import Control
from garrote.solvers.effects.effects_on_log_odds import fit_label_effects
from garrote.solvers.labels import logistic_bound, logistic_gibbs
from garrote.solvers.labels.bound_annealing import anneal_bound
from garrote.solvers.labels.jaakkola import bound_curvature
from garrote.solvers.labels.label_regression import LabelColumns
from garrote.solvers.labels.logistic_bound import LogisticBound
from garrote.solvers.labels.polya_gamma import draw_polya_gamma, polya_gamma_mean
from reference_binary import (
    bound_mean_field,
    exact_posterior,
    integrate_model,
    laplace_model,
    lower_bound,
    polya_gamma_density,
)


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def simulated(family="binomial", n=60, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    X[:, 1] = 0.9 * X[:, 0] + 0.4 * X[:, 1]
    if family == "binomial":
        return X, (rng.random(n) < expit(X[:, 0] - 0.4)).astype(float)
    return X, rng.poisson(np.exp(0.4 * X[:, 0] - 0.3)).astype(float)


def prior(D=3):
    return Inclusion.beta(1.0, 2.0, np.zeros(D))


def variance_of(shape, tilt):
    if tilt == 0:
        return shape / 24
    return shape * (np.sinh(tilt) - tilt) / (4 * tilt**3 * np.cosh(tilt / 2) ** 2)


@pytest.mark.parametrize(
    ("shape", "tilt"),
    [
        (1, 0.0),
        (1, 0.3),
        (1, 3.1),
        (1, 3.2),
        (1, 40.0),
        (3, 1.0),
        (2.5, 1.0),
        (0.4, 4.0),
        (60, 2.0),
    ],
)
def test_polya_gamma_draws_have_the_mean_and_variance_of_their_law(shape, tilt):
    count = 20_000
    rng = np.random.default_rng(3)
    draws = draw_polya_gamma(rng, np.full(count, float(shape)), np.full(count, tilt))
    mean, spread = polya_gamma_mean(shape, tilt), np.sqrt(variance_of(shape, tilt))
    assert abs(draws.mean() - mean) < 4 * spread / np.sqrt(count)
    # The fourth moment is below 12 standard deviations for the most skewed of these.
    assert draws.var() == pytest.approx(spread**2, rel=4 * np.sqrt(14 / count))


@pytest.mark.parametrize("tilt", [0.0, 1.0, 6.0])
def test_polya_gamma_draws_follow_the_density(tilt):
    draws = draw_polya_gamma(np.random.default_rng(5), np.ones(5000), np.full(5000, tilt))
    x = np.linspace(1e-4, 3.0, 20_001)
    below = cumulative_trapezoid(polya_gamma_density(x, tilt), x, initial=0.0)
    assert below[-1] == pytest.approx(1.0, abs=1e-3)
    assert kstest(draws, lambda t: np.interp(t, x, below)).pvalue > 0.01


def test_extreme_tilts_and_no_weight_give_finite_draws():
    tilt = np.array([0.0, 1e-9, 700.0, -1e5, 3.0])
    draws = draw_polya_gamma(np.random.default_rng(0), np.ones(5), tilt)
    assert np.isfinite(draws).all()
    assert (draws > 0).all()
    assert (draw_polya_gamma(np.random.default_rng(0), np.zeros(5), tilt) == 0).all()


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_laplace_sums_over_models_are_those_of_the_reference(family):
    X, y = simulated(family)
    ones = np.ones(len(y))
    args = (family, standardized(X), y, ones, 0.8, (1.0, 2.0))
    inclusion, mean, evidence = exact_posterior(*args, integrate=laplace_model)
    problem = Problem.from_rows(X, y, likelihood=FAMILIES[family])
    found = infer(problem, EffectSlab(0.8), inclusion=prior())
    posterior = found.posterior
    np.testing.assert_allclose(posterior.inclusion_probability, inclusion, atol=1e-6)
    np.testing.assert_allclose(posterior.mean * X.std(axis=0), mean, atol=1e-6)
    assert posterior.log_evidence == pytest.approx(evidence, abs=1e-6)
    assert found.certificate.value < 1e-6


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_laplace_is_near_numerical_integration(family):
    X, y = simulated(family)
    exact, _, evidence = exact_posterior(
        family, standardized(X), y, np.ones(len(y)), 0.8, (1.0, 2.0)
    )
    problem = Problem.from_rows(X, y, likelihood=FAMILIES[family])
    found = infer(problem, EffectSlab(0.8), inclusion=prior()).posterior
    np.testing.assert_allclose(found.inclusion_probability, exact, atol=0.015)
    assert found.log_evidence == pytest.approx(evidence, abs=0.05)


def test_a_walk_over_models_with_a_slab_finds_what_their_sum_is():
    X, y = simulated("poisson")
    problem = Problem.from_rows(X, y, likelihood=Poisson())
    settings = {"inclusion": prior(), "random_state": 0}
    summed = infer(problem, EffectSlab(0.8), "enumerate", **settings)
    walked = infer(problem, EffectSlab(0.8), Metropolis(500, 100), **settings)
    np.testing.assert_allclose(
        walked.posterior.inclusion_probability, summed.posterior.inclusion_probability, atol=1e-6
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_sampled_inclusion_is_that_of_numerical_integration(weighted):
    X, y = simulated()
    weights = np.ones(len(y))
    if weighted:
        weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], len(y))
    mean = np.average(X, axis=0, weights=weights)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    inclusion, coef, _ = exact_posterior(
        "binomial", (X - mean) / spread, y, weights, 1.0, (1.0, 2.0)
    )
    problem = Problem.from_rows(X, y, weights, likelihood=Binomial())
    found = infer(problem, EffectSlab(1.0), Sample(4000, 200), inclusion=prior(), random_state=0)
    posterior = found.posterior
    error = posterior.accuracy.monte_carlo_error.max()
    assert error < 0.01
    assert np.abs(posterior.inclusion_probability - inclusion).max() < 5 * error
    np.testing.assert_allclose(posterior.mean * spread, coef, atol=0.06)


def test_sampled_coefficients_and_covariates_have_the_law_of_their_model():
    X, y = simulated()
    problem = Problem.from_rows(X, y, covariates=np.array([2]), likelihood=Binomial())
    sure = Inclusion.independent(np.array([0.999999, 1e-9]), np.zeros(2))
    found = infer(problem, EffectSlab(1.0), Sample(6000, 200, 1), inclusion=sure, random_state=0)
    Z = standardized(X)[:, [2, 0]]
    _, mean, covariance = integrate_model("binomial", Z, y, np.ones(len(y)), 1.0, held=[0.01])
    spread = X.std(axis=0)[[2, 0]]
    draws = found.posterior.law
    coef = draws.coefficients[:, [2, 0]].toarray() * spread
    level = draws.intercept + draws.coefficients @ X.mean(axis=0)
    together = np.column_stack([level, coef])
    np.testing.assert_allclose(together.mean(axis=0), mean, atol=0.08)
    np.testing.assert_allclose(np.cov(together.T), covariance, atol=0.05)


@pytest.mark.parametrize("slab", [EffectSlab(), TwoHumpedEffectSlab()])
def test_a_sweep_in_pieces_draws_what_one_in_a_piece_does(slab, monkeypatch):
    X, y = simulated()
    problem = Problem.from_rows(X, y, covariates=np.array([2]), likelihood=Binomial())
    whole = infer(problem, slab, Sample(100, 10), random_state=0).posterior
    monkeypatch.setattr(logistic_gibbs, "ENTRIES_PER_CALL", len(y))  # one column a call
    pieces = infer(problem, slab, Sample(100, 10), random_state=0).posterior
    np.testing.assert_allclose(pieces.inclusion_probability, whole.inclusion_probability, rtol=1e-6)
    np.testing.assert_allclose(
        pieces.law.coefficients.toarray(), whole.law.coefficients.toarray(), rtol=1e-6, atol=1e-9
    )


def test_an_unknown_slab_variance_is_sampled_as_it_is_integrated_over():
    X, y = simulated()
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    settings = {"inclusion": prior(), "random_state": 0}
    summed = infer(problem, EffectSlab(), "enumerate", **settings).posterior
    sampled = infer(problem, EffectSlab(), Sample(4000, 200), **settings).posterior
    off = sampled.inclusion_probability - summed.inclusion_probability
    assert np.abs(off).max() < 0.03


def test_copies_of_a_column_share_their_probability_when_sampled():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3))
    X = np.column_stack([X, X[:, 0]])
    y = (rng.random(100) < expit(2 * X[:, 0])).astype(float)
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    found = infer(problem, method=Sample(2000, 200), random_state=0)
    p = found.posterior.inclusion_probability
    assert p[0] == pytest.approx(p[3], abs=0.06)
    assert p[0] + p[3] > 0.95


@pytest.mark.parametrize("variance", [1.0, 25.0])
def test_the_bound_settles_where_plain_updates_do(variance):
    X, y = simulated()
    weights = np.random.default_rng(1).choice([1.0, 2.0], len(y))
    problem = Problem.from_rows(X, y, weights, likelihood=Binomial())
    Z = (X - problem.scale.column_mean) / problem.scale.column_scale
    m, w, xi, value = bound_mean_field(Z, y, weights, variance, -1.0)
    bound = LogisticBound(problem, np.zeros(3), Control(1e-8, 1000))
    solution = bound.solve(-1.0, bound.empty(-1.0, variance))
    np.testing.assert_allclose(solution.probability, m, atol=1e-6)
    np.testing.assert_allclose(solution.weight, w, atol=1e-6)
    np.testing.assert_allclose(solution.xi, xi, atol=1e-5)
    assert solution.bound == pytest.approx(value, abs=1e-7)
    assert solution.certificate.value < 1e-7


def test_the_bound_rises_with_every_round_and_stays_below_the_evidence():
    X, y = simulated()
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    bound = LogisticBound(problem, np.zeros(3), Control(1e-4, 1))
    start, values = bound.empty(-1.0, 1.0), []
    for _ in range(12):
        start = bound.solve(-1.0, start)
        # From its definition, by the factors and xi alone.
        m, w = np.zeros(3), np.zeros(3)
        m[start.columns], w[start.columns] = start.probability, start.weight
        one = (m, w, start.xi)
        values.append(lower_bound(standardized(X), y, np.ones(60), 1.0, -1.0, *one))
        assert values[-1] == pytest.approx(start.bound, abs=1e-6)
    assert (np.diff(values) > -1e-9).all()
    independent = infer(
        Problem.from_rows(X, y, likelihood=Binomial()), EffectSlab(1.0),
        inclusion=IndependentInclusion(float(expit(-1.0))),
    )  # fmt: skip
    assert values[-1] < independent.posterior.log_evidence


def test_weights_of_the_bound_are_those_of_its_definition():
    xi = np.array([0.0, 1e-6, 0.5, 3.0, 800.0])
    assert bound_curvature(xi)[0] == 0.25
    np.testing.assert_allclose(
        bound_curvature(xi)[1:], np.tanh(xi[1:] / 2) / (2 * xi[1:]), rtol=1e-10
    )


def test_mean_field_agrees_with_integration_where_columns_are_independent():
    rng = np.random.default_rng(3)
    Z = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, 8).T
    X = np.repeat(Z, 20, axis=0)
    y = (rng.random(160) < expit(1.2 * X[:, 0] + 0.3 * X[:, 1])).astype(float)
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    exact = infer(problem, EffectSlab(1.0), "enumerate", inclusion=0.3).posterior
    field = infer(problem, EffectSlab(1.0), "mean-field", inclusion=0.3)
    off = field.posterior.inclusion_probability - exact.inclusion_probability
    assert np.abs(off).max() < 0.06
    assert field.posterior.checked.largest_difference < 0.06
    np.testing.assert_allclose(field.posterior.mean, exact.mean, atol=0.05)
    # Of a variable that is surely in; doubt about inclusion widens the others'.
    assert field.posterior.standard_error[0] == pytest.approx(exact.standard_error[0], rel=0.03)


def test_annealing_both_ways_keeps_the_higher_bound():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 12))
    y = (rng.random(80) < expit(2 * X[:, 0] - 2 * X[:, 5])).astype(float)
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    bound = LogisticBound(problem, np.zeros(12), Control(1e-4, 500))
    annealed = anneal_bound(bound, np.linspace(-14.0, -1.0, 12), 4.0)
    for f, b, kept in zip(annealed.forward, annealed.backward, annealed.solutions, strict=True):
        assert kept.bound == max(f.bound, b.bound)
        assert kept.certificate.value <= 1e-4
    assert annealed.forward[0].expected_size < 0.1
    assert set(annealed.solutions[8].columns[annealed.solutions[8].probability > 0.5]) == {0, 5}


def test_rounds_of_the_bound_end_among_many_like_columns():
    # Factors with no more digits than the tolerance would never be still enough for xi.
    rng = np.random.default_rng(3)
    shared = np.sqrt(0.95) * rng.standard_normal((40, 1))
    X = shared + np.sqrt(0.05) * rng.standard_normal((40, 300))
    y = (2 * X[:, 0] + rng.logistic(size=40) > 0).astype(float)
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    bound = LogisticBound(problem, np.zeros(300), Control(1e-4, 200))
    for one in anneal_bound(bound, np.linspace(-8.0, -4.0, 6), 1.5625).forward:
        assert one.n_iter < 50
        assert one.certificate.value <= 1e-4


def test_columns_that_are_not_listed_do_not_add_up_to_anything():
    # Each has a probability far below the tolerance, and all point the same way.
    rng = np.random.default_rng(5)
    X = np.sqrt(0.9) * rng.standard_normal((50, 1)) + np.sqrt(0.1) * rng.standard_normal((50, 2000))
    y = (X[:, 0] + rng.logistic(size=50) > 0).astype(float)
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    bound = LogisticBound(problem, np.zeros(2000), Control(1e-4, 500))
    found = anneal_bound(bound, np.linspace(-18.0, -12.0, 7), 1.5625).forward
    assert all(one.certificate.value <= 1e-4 for one in found)
    assert len(found[0].columns) < 2000 < 2 * len(found[-1].columns)


def test_solutions_without_a_certificate_are_the_same():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((80, 40))
    y = (rng.random(80) < expit(2 * X[:, 3] - X[:, 8])).astype(float)
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    stated, found = (
        LogisticBound(problem, np.zeros(40), Control(1e-6, 500), certifies=certifies)
        for certifies in (True, False)
    )
    one, two = (b.solve(-4.0, b.empty(-4.0, 1.5)) for b in (stated, found))
    np.testing.assert_allclose(one.probability, two.probability, atol=1e-5)
    np.testing.assert_allclose(one.eta, two.eta, atol=1e-4)
    np.testing.assert_allclose(one.eta_variance, two.eta_variance, atol=1e-4)
    assert one.bound == pytest.approx(two.bound, abs=1e-5)
    assert one.expected_size == pytest.approx(two.expected_size, abs=1e-4)


def test_columns_out_of_hand_change_nothing(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 300))
    y = (rng.random(60) < expit(3 * X[:, 7])).astype(float)
    monkeypatch.setattr(logistic_bound, "ENTRIES_AT_HAND", 0)
    problem, control = Problem.from_rows(X, y, likelihood=Binomial()), Control(1e-4, 500)
    some = LogisticBound(problem, np.zeros(300), control)
    every = LogisticBound(problem, np.zeros(300), control)
    every.at_hand.add(problem.usable)
    # At these odds most columns are never taken in.
    one, two = (b.solve(-11.0, b.solve(-14.0, b.empty(-14.0, 4.0))) for b in (some, every))
    assert len(some.at_hand.columns) < 100
    assert one.bound == pytest.approx(two.bound, abs=1e-4)
    assert one.expected_size == pytest.approx(two.expected_size, abs=1e-3)


def test_means_over_a_gaussian_predictor_are_integrals():
    eta, variance = np.array([-1.0, 2.0, 30.0]), np.array([0.0, 9.0, 100.0])
    found = gaussian_mean(Binomial(), eta, variance)
    t = np.linspace(-9, 9, 200_001)
    for k in range(3):
        p = expit(eta[k] + np.sqrt(variance[k]) * t)
        assert found[k] == pytest.approx(np.trapezoid(p * norm.pdf(t), t), abs=1e-9)
    np.testing.assert_allclose(
        gaussian_mean(Poisson(), np.array([0.5]), np.array([0.4])), np.exp(0.7)
    )
    # A rate beyond all data is a number, beyond what may be predicted.
    (far,) = gaussian_mean(Poisson(), np.array([5.0]), np.array([1e6]))
    assert np.exp(300.0) < far < np.inf


@pytest.mark.parametrize("method", [Sample(1000, 200), "mean-field", "auto", "enumerate"])
def test_separated_classes_have_finite_coefficients(method):
    x = logistic.ppf(np.linspace(0.05, 0.95, 40))
    rng = np.random.default_rng(0)
    X = np.column_stack([x, rng.standard_normal((40, 2))])
    y = (x > 0).astype(float)
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    given = SingleEffects() if method == "auto" else None
    posterior = infer(problem, given, method, random_state=0).posterior
    assert posterior.inclusion_probability[0] > 0.99
    assert np.isfinite(posterior.mean).all()
    assert 0.5 < posterior.mean[0] < 50


def test_a_single_effect_is_shared_as_the_models_of_one_variable_are():
    X, y = simulated(n=100)
    Z, ones = standardized(X), np.ones(100)
    logs = [integrate_model("binomial", Z[:, [j]], y, ones, 0.5)[0] for j in range(3)]
    exact = np.exp(logs - logsumexp(logs))
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    found = infer(problem, SingleEffects(1, variance=0.5))
    np.testing.assert_allclose(found.posterior.inclusion_probability, exact, atol=0.03)


def test_the_bound_of_single_effects_never_falls_and_copies_make_a_set():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 20))
    X[:, 7] = X[:, 3]
    y = (rng.random(150) < expit(1.5 * X[:, 3] - 1.5 * X[:, 12])).astype(float)
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    columns = LabelColumns(problem)
    columns.add(problem.usable)
    equal = np.full(20, -np.log(20.0))
    fitted = fit_label_effects(columns, equal, Control(1e-6, 500))
    assert (np.diff(fitted.bounds) > -1e-9).all()
    assert fitted.converged
    assert fitted.certificate.value < 1e-5
    assert len(fitted.effects) == 2
    found = infer(problem, SingleEffects()).posterior
    sets = [set(one.variables.tolist()) for one in found.credible_sets(0.95)]
    assert {3, 7} in sets
    assert {12} in sets
    p = found.inclusion_probability[[3, 7]]
    assert p[0] == pytest.approx(p[1], abs=1e-9)
    assert p.sum() > 0.99


def test_methods_are_chosen_by_size():
    def chosen(usable, rows):
        return choose_method(EffectSlab(), Binomial().integration, usable, rows).name

    assert chosen(10, 10**6) == "enumerate"
    assert chosen(50, 1000) == "sample"
    assert chosen(5000, 1000) == "mean-field"


def test_methods_that_cannot_be_meant_are_refused(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 18)), np.arange(40) % 2.0
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    with pytest.raises(ValueError, match="method must be one of"):
        infer(problem, method="guess")
    with pytest.raises(ValueError, match=r"method must be one of .*'mean-field'\) for a binomial"):
        infer(problem, method="search")
    with pytest.raises(
        ValueError, match=r"method must be one of \('auto', 'sample', 'mean-field'\)"
    ):
        infer(problem, TwoHumpedEffectSlab(), "search")
    with pytest.raises(ValueError, match="give the prior a variance, or name fewer"):
        infer(problem, method="enumerate")
    monkeypatch.setattr(glm_models, "ENTRIES_KEPT", 40 * 18 - 1)
    with pytest.raises(ValueError, match="use method='mean-field', or screen"):
        infer(problem, method="sample")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["enumerate", Sample(500, 100, 1)], ids=str)
def test_inclusion_probabilities_are_frequencies(method):
    # Truths are drawn from the prior, so that a right posterior is calibrated.
    rng = np.random.default_rng(0)
    stated, true = [], []
    for _ in range(200):
        X = rng.standard_normal((80, 6))
        X[:, 1] = 0.7 * X[:, 0] + 0.7 * X[:, 1]
        inside = rng.random(6) < 0.3
        coef = np.where(inside, rng.standard_normal(6), 0.0) / X.std(axis=0)
        y = (rng.random(80) < expit(X @ coef + 0.5)).astype(float)
        problem = Problem.from_rows(X, y, likelihood=Binomial())
        found = infer(problem, EffectSlab(1.0), method, inclusion=0.3, random_state=0)
        stated.append(found.posterior.inclusion_probability)
        true.append(inside)
    p, s = np.concatenate(stated), np.concatenate(true)
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 1.0)):
        inside = (p >= low) & (p <= high)
        error = np.sqrt((p[inside] * (1 - p[inside])).sum()) / inside.sum()
        assert abs(s[inside].mean() - p[inside].mean()) < 3.5 * error
