"""Posteriors over models by BIC, for every family, against brute force over all models."""

import json
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import d2_tweedie_score, log_loss

import garrote
from garrote import Problem, SpikeSlabRegressor
from garrote.cli.main import main
from garrote.inference import Metropolis, Sample, Search, choose_method, glm_models, infer
from garrote.likelihoods import FAMILIES, Binomial, inverse_link, log_likelihood
from garrote.priors import ExpectedSize
from garrote.priors.evidence import log_evidence, log_evidence_ratio
from garrote.priors.inclusion import Inclusion
from garrote.priors.slab import BIC
from garrote.results.laws import Models
from garrote.solvers.models import fitted_models
from garrote.solvers.models.fitted_walk import FittedTarget, _Proposals, climb

FAMILY_NAMES = ("gaussian", "binomial", "poisson")


def simulated(family, n=90, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 2 + 1
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    eta = 0.45 * (X[:, 0] - 1) - 0.3 * (X[:, 3] - 1)
    if family == "binomial":
        return X, (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    if family == "poisson":
        return X, rng.poisson(np.exp(eta)).astype(float)
    return X, eta + rng.standard_normal(n)


def maximum(family, Z, y, weights):
    """The log likelihood at its maximum, up to a constant, and the coefficients, by scipy alone."""
    if family == "gaussian":
        root = np.sqrt(weights)
        b = np.linalg.lstsq(root[:, None] * Z, root * y, rcond=None)[0]
        left = weights @ (y - Z @ b) ** 2
        return -0.5 * weights.sum() * np.log(left), b

    def loss(b):
        eta = Z @ b
        if family == "binomial":
            mean = 1 / (1 + np.exp(-eta))
            value = weights @ (np.logaddexp(0, eta) - y * eta)
        else:
            mean = np.exp(eta)
            value = weights @ (mean - y * eta)
        return value, Z.T @ (weights * (mean - y))

    found = minimize(loss, np.zeros(Z.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-8})
    return -found.fun, found.x


def brute_force(family, X, y, inclusion, weights=None, fixed=()):
    """Eq. 13.18 for every model, each fitted alone: models, probabilities, inclusion, mean."""
    n, d = X.shape
    weights = np.ones(n) if weights is None else weights
    free = [j for j in range(d) if j not in fixed]
    models, logs, means = [], [], []
    for size in range(len(free) + 1):
        for chosen in combinations(range(len(free)), size):
            members = sorted([*fixed, *(free[j] for j in chosen)])
            Z = np.column_stack([np.ones(n), X[:, members]])
            value, b = maximum(family, Z, y, weights)
            prior = inclusion.by_size[size] + inclusion.log_odds[list(chosen)].sum()
            logs.append(value - 0.5 * size * np.log(weights.sum()) + prior)
            models.append(members)
            mean = np.zeros(d)
            mean[members] = b[1:]
            means.append(mean)
    p = np.exp(np.array(logs) - logsumexp(logs))
    masks = np.array([np.isin(np.arange(d), members) for members in models])
    return models, p, p @ masks, p @ np.array(means)


METHODS = {
    "gaussian": ["enumerate", "sample", "metropolis", "search"],
    "binomial": ["enumerate", "metropolis"],
    "poisson": ["enumerate", "metropolis"],
}


@pytest.mark.parametrize(
    ("family", "method"), [(f, m) for f, methods in METHODS.items() for m in methods]
)
def test_every_method_agrees_with_brute_force(family, method):
    X, y = simulated(family)
    inclusion = Inclusion.beta(1.0, np.sqrt(6), np.zeros(6))
    models, p, probability, mean = brute_force(family, X, y, inclusion)
    ways = {"sample": Sample(8000), "metropolis": Metropolis(40_000), "search": Search(8000)}
    model = SpikeSlabRegressor("bic", ways.get(method, method), family=family, random_state=0)
    model.fit(X, y)
    sampled = family == "gaussian" and method in ("sample", "metropolis")
    np.testing.assert_allclose(
        model.inclusion_probability_, probability, atol=0.02 if sampled else 1e-5
    )
    np.testing.assert_allclose(model.coef_, mean, atol=0.02 if sampled else 1e-5)
    table = model.posterior_.models(3).columns
    order = np.argsort(-p)[:3]
    labels = [" + ".join(f"x{j}" for j in models[k]) or "(none)" for k in order]
    assert sampled or table["model"] == labels
    np.testing.assert_allclose(table["probability"], p[order], atol=0.03 if sampled else 1e-5)
    assert model.method_ == method


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_weights_covariates_and_prior_odds_count_as_in_brute_force(family):
    X, y = simulated(family, n=60)
    weights = np.random.default_rng(1).integers(0, 4, 60).astype(float)
    odds = np.array([0.0, 1.0, -0.5, 0.0, 0.0, 2.0])
    inclusion = Inclusion.independent(np.full(5, 0.3), odds[[0, 1, 3, 4, 5]])
    _, _, probability, mean = brute_force(family, X, y, inclusion, weights, fixed=(2,))
    model = SpikeSlabRegressor(
        "bic", family=family, inclusion=0.3, covariates=[2], prior_log_odds=odds
    ).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.inclusion_probability_, probability, atol=1e-5)
    np.testing.assert_allclose(model.coef_, mean, atol=1e-5)
    assert model.selection_.always_in == ("x2",)


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_weights_are_repeats(family):
    X, y = simulated(family)
    counts = np.random.default_rng(2).integers(0, 3, len(y))
    weighted = SpikeSlabRegressor("bic", family=family).fit(X, y, sample_weight=counts)
    repeated = SpikeSlabRegressor("bic", family=family).fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts)
    )
    np.testing.assert_allclose(
        weighted.inclusion_probability_, repeated.inclusion_probability_, atol=1e-8
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    np.testing.assert_allclose(
        weighted.predict(X, return_std=True)[1], repeated.predict(X, return_std=True)[1], rtol=1e-6
    )


def test_the_gaussian_rule_is_the_maximised_likelihood_of_the_rows():
    X, y = simulated("gaussian")
    n = len(y)
    y = y - y.mean()
    rule = BIC().rule(n - 1.0, float(y @ y), 6, spent=1.0)
    values = []
    for g in ([], [0], [0, 3], [1, 2, 4]):
        Z = X[:, g] - X[:, g].mean(axis=0)
        left = float(y @ y - y @ Z @ np.linalg.solve(Z.T @ Z, Z.T @ y)) if g else float(y @ y)
        noise = left / n
        density = -0.5 * n * np.log(2 * np.pi * noise) - 0.5 * left / noise
        values.append(log_evidence(rule, len(g), 3.3, left) - density + 0.5 * len(g) * np.log(n))
    np.testing.assert_allclose(values, values[0], atol=1e-9)
    ratio = log_evidence_ratio(rule, 2, 7.0, 1.0, 3.0)
    assert ratio == pytest.approx(log_evidence(rule, 3, 0.0, 4.0) - log_evidence(rule, 2, 0.0, 7.0))
    assert log_evidence(rule, 60, 0.0, 1.0) == -np.inf
    assert log_evidence_ratio(rule, 44, 7.0, 1.0, 3.0) == -np.inf


def test_gaussian_coefficients_given_a_model_have_least_squares_errors():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = 5 * X[:, 0] - 4 * X[:, 1] + 3 * X[:, 2] + rng.standard_normal(80)
    model = SpikeSlabRegressor("bic").fit(X, y)
    Z = np.column_stack([np.ones(80), X])
    b, left = np.linalg.lstsq(Z, y, rcond=None)[:2]
    errors = np.sqrt(np.diag(np.linalg.inv(Z.T @ Z)) * left[0] / 76)
    np.testing.assert_allclose(model.coef_, b[1:], rtol=1e-6)
    np.testing.assert_allclose(model.posterior_.standard_error, errors[1:], rtol=1e-4)
    assert model.noise_variance_ == pytest.approx(left[0] / 76, rel=1e-4)


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_true_variables_are_found_among_more_columns_than_rows(family):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 200))
    eta = 2.0 * X[:, 0] - 1.5 * X[:, 1]
    y = {
        "binomial": (rng.random(120) < 1 / (1 + np.exp(-eta))).astype(float),
        "poisson": rng.poisson(np.exp(eta)).astype(float),
    }[family]
    method = (Sample if family == "gaussian" else Metropolis)(n_steps=2000)
    model = SpikeSlabRegressor("bic", method, family=family, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_that_crowd_at_their_largest_size_are_said_to():
    """BIC supposes more rows than columns: among many columns it prefers to interpolate."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 150))
    y = 1.8 * X[:, 0] + 0.5 * rng.standard_normal(60)
    crowded = SpikeSlabRegressor("bic", Sample(n_steps=2000), random_state=0).fit(X, y)
    assert any("BIC supposes many more rows" in text for text in crowded.selection_.warnings)
    assert crowded.posterior_.size_probability[30:].sum() < 1e-200
    few = SpikeSlabRegressor(
        "bic", Sample(n_steps=2000), inclusion=ExpectedSize(0.01), random_state=0
    ).fit(X, y)
    assert not any("BIC supposes" in text for text in few.selection_.warnings)


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_the_walk_agrees_with_the_sum_over_all_models(family):
    X, y = simulated(family, n=120, d=10)
    settings = {"family": family, "random_state": 1, "inclusion": (1.0, 1.0)}
    exact = SpikeSlabRegressor("bic", "enumerate", **settings).fit(X, y)
    walk = SpikeSlabRegressor("bic", Metropolis(3000), **settings).fit(X, y)
    np.testing.assert_allclose(walk.inclusion_probability_, exact.inclusion_probability_, atol=0.02)
    np.testing.assert_allclose(walk.coef_, exact.coef_, atol=0.02)
    errors = [np.sqrt(model.posterior_.variance) for model in (walk, exact)]
    np.testing.assert_allclose(*errors, atol=0.02)
    assert (walk.posterior_.accuracy.monte_carlo_error < 0.1).all()
    assert walk.certificate_.value < 0.1
    assert exact.certificate_.value < 1e-5


def test_proposals_go_back_and_forth_by_the_stated_ratio():
    """Count transitions between two models by simulation, against the ratio that is claimed."""
    rates = np.array([0.2, 1.0, 0.5, 0.05])
    propose = _Proposals(rates, np.random.default_rng(0))
    pairs = [((0,), (0, 2)), ((0,), (1,)), ((1, 2), (1, 3)), ((), (3,))]
    for here, there in pairs:
        counts, claimed = [], {}
        for start, end in ((here, there), (there, here)):
            drawn = [propose(start) for _ in range(40_000)]
            hits = [log for state, log in drawn if state == end]
            counts.append(len(hits))
            claimed[start] = hits[0]
        assert claimed[here] == pytest.approx(-claimed[there])
        off = np.log(counts[1] / counts[0]) - claimed[here]
        assert abs(off) < 4 * np.sqrt(1 / counts[0] + 1 / counts[1])


def test_score_statistics_foretell_what_a_variable_gains():
    X, y = simulated("binomial", n=400)
    table = fitted_table(X, y)
    target = FittedTarget(Binomial(), [(0.0, table)], 0.0, np.zeros(7), np.zeros(6))
    scores = target.scores((3,))
    assert scores[3] == 0.0
    for j in (0, 1, 2, 4, 5):
        gain = target.log_weight(tuple(sorted((3, j)))) - target.log_weight((3,))
        assert 0.5 * scores[j] == pytest.approx(gain, rel=0.1, abs=0.02)
    start, rates = climb(target)
    assert set(start) == set(range(6))  # without a penalty every variable helps
    assert (rates > 0).all()


def fitted_table(X, y):
    columns = np.vstack([np.ones(len(y)), ((X - X.mean(axis=0)) / X.std(axis=0)).T])
    samples = fitted_models.Samples(
        columns, y, np.ones(len(y)), np.zeros(len(y)), np.zeros(len(columns))
    )
    return fitted_models.make_table(Binomial(), samples, 1, len(y) / 2)


def test_threads_and_stretches_change_nothing(monkeypatch):
    X, y = simulated("binomial")
    whole = SpikeSlabRegressor("bic", family="binomial").fit(X, y)
    monkeypatch.setattr(fitted_models, "_MOST_PER_CALL", 5)
    parts = SpikeSlabRegressor("bic", family="binomial", n_jobs=2).fit(X, y)
    np.testing.assert_allclose(
        whole.inclusion_probability_, parts.inclusion_probability_, atol=1e-9
    )
    settings = {"family": "binomial", "random_state": 0, "method": Metropolis(300)}
    one = SpikeSlabRegressor("bic", **settings).fit(X, y)
    two = SpikeSlabRegressor("bic", n_jobs=2, **settings).fit(X, y)
    np.testing.assert_array_equal(one.inclusion_probability_, two.inclusion_probability_)


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_draws_have_the_stated_means_and_frequencies(family):
    X, y = simulated(family, n=300)
    model = SpikeSlabRegressor("bic", family=family, inclusion=(1.0, 1.0)).fit(X, y)
    draws = model.posterior_.sample(20_000, random_state=0)
    np.testing.assert_allclose((draws != 0).mean(axis=0), model.inclusion_probability_, atol=0.02)
    np.testing.assert_allclose(draws.mean(axis=0), model.coef_, atol=0.02)
    np.testing.assert_allclose(draws.std(axis=0), np.sqrt(model.posterior_.variance), atol=0.02)


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_predictions_are_means_averaged_over_models(family):
    X, y = simulated(family)
    model = SpikeSlabRegressor("bic", family=family).fit(X, y)
    inclusion = Inclusion.beta(1.0, np.sqrt(6), np.zeros(6))
    models, p, _, _ = brute_force(family, X, y, inclusion)
    expected = np.zeros(len(y))
    for members, weight in zip(models, p, strict=True):
        Z = np.column_stack([np.ones(len(y)), X[:, members]])
        b = maximum(family, Z, y, np.ones(len(y)))[1]
        expected += weight * inverse_link(FAMILIES[family], Z @ b)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_only_deviations_ask_for_the_variance_of_responses(family, monkeypatch):
    X, y = simulated(family)
    model = SpikeSlabRegressor("spike-slab", "enumerate", family=family).fit(X, y)
    mean, _ = model.predict(X, return_std=True)
    monkeypatch.delattr(Models, "response_moments")
    np.testing.assert_array_equal(model.predict(X), mean)
    with pytest.raises(NotImplementedError):
        model.predict(X, return_std=True)


def test_scores_are_those_of_scikit_learn():
    X, y = simulated("poisson")
    model = SpikeSlabRegressor("bic", family="poisson").fit(X, y)
    theirs = d2_tweedie_score(y, model.predict(X), power=1)
    assert model.score(X, y) == pytest.approx(theirs)
    X, y = simulated("binomial")
    weights = np.linspace(0.5, 2.0, len(y))
    model = SpikeSlabRegressor("bic", family="binomial").fit(X, y)
    null = log_loss(y, np.full(len(y), np.average(y, weights=weights)), sample_weight=weights)
    theirs = 1 - log_loss(y, model.predict(X), sample_weight=weights) / null
    assert model.score(X, y, weights) == pytest.approx(theirs)


def test_predicted_deviations_are_those_of_new_responses():
    rng = np.random.default_rng(0)
    off = []
    for seed in range(30):
        X, y = simulated("poisson", n=120, seed=seed)
        model = SpikeSlabRegressor("bic", family="poisson").fit(X[:60], y[:60])
        mean, deviation = model.predict(X[60:], return_std=True)
        off.append((y[60:] - mean) / deviation)
    assert np.mean(np.square(off)) == pytest.approx(1.0, abs=0.12)
    labels = (rng.random(60) < 0.4).astype(float)
    model = SpikeSlabRegressor("bic", family="binomial").fit(X[:60], labels)
    mean, deviation = model.predict(X[60:], return_std=True)
    np.testing.assert_allclose(deviation, np.sqrt(mean * (1 - mean)))


def test_separated_classes_are_selected_and_said_to_be():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    y = (X[:, 2] > 0).astype(float)
    model = SpikeSlabRegressor("bic", family="binomial").fit(X, y)
    assert model.get_support(indices=True).tolist() == [2]
    assert any("the classes are separated" in text for text in model.selection_.warnings)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.posterior_.sample(10, random_state=0)).all()
    assert ((model.predict(X) > 0.5) == y).all()


def test_counts_that_vanish_in_a_group_are_said_to():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(80) < 30, rng.standard_normal((80, 3))]).astype(float)
    y = np.where(X[:, 0] > 0, 0.0, rng.poisson(3.0, 80))
    model = SpikeSlabRegressor("bic", family="poisson").fit(X, y)
    assert model.get_support(indices=True).tolist() == [0]
    assert any("a group has no counts" in text for text in model.selection_.warnings)


def test_duplicated_columns_share_their_probability():
    X, y = simulated("binomial", n=300)
    double = np.column_stack([X[:, [0, 3, 4]], X[:, 3]])
    for method in ("enumerate", "metropolis"):
        model = SpikeSlabRegressor("bic", method, family="binomial", random_state=0)
        model.fit(double, y)
        inclusion = model.inclusion_probability_
        assert inclusion[1] == pytest.approx(inclusion[3], abs=1e-6)
        together = [m for m in model.posterior_.law.models.members if {1, 3} <= set(m.tolist())]
        assert not together


def test_null_labels_leave_the_model_empty():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((150, 60)), (rng.random(150) < 0.5).astype(float)
    model = SpikeSlabRegressor(
        "bic", Metropolis(n_steps=2000), family="binomial", random_state=0
    ).fit(X, y)
    assert model.method_ == "metropolis"
    assert not model.get_support().any()


def test_constant_columns_and_dependent_covariates_are_left_out():
    X, y = simulated("poisson")
    more = np.column_stack([X, np.ones(len(y)), 2 * X[:, 0] + 1])
    model = SpikeSlabRegressor("bic", family="poisson", covariates=[0, 7]).fit(more, y)
    plain = SpikeSlabRegressor("bic", family="poisson", covariates=[0]).fit(X, y)
    assert model.selection_.constant == ("x6",)
    np.testing.assert_allclose(
        model.inclusion_probability_[1:6], plain.inclusion_probability_[1:6], atol=1e-7
    )


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_a_model_without_an_intercept_has_none(family):
    X, y = simulated(family)
    model = SpikeSlabRegressor("bic", family=family, fit_intercept=False).fit(X, y)
    assert model.intercept_ == 0.0
    empty = inverse_link(FAMILIES[family], 0.0)
    np.testing.assert_allclose(model.predict(np.zeros((1, 6))), empty)


def test_sparse_and_dense_agree():
    X, y = simulated("poisson")
    X = np.where(np.abs(X) > 1, X, 0.0)
    dense = SpikeSlabRegressor("bic", family="poisson").fit(X, y)
    sparse = SpikeSlabRegressor("bic", family="poisson").fit(scipy.sparse.csc_array(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-8)
    np.testing.assert_allclose(
        dense.predict(X), sparse.predict(scipy.sparse.csr_array(X)), atol=1e-8
    )


@pytest.mark.parametrize(
    ("settings", "y", "said"),
    [
        (
            {"family": "binomial", "prior": "g-prior"},
            None,
            "GPrior is for a gaussian response",
        ),
        ({"family": "tobit"}, None, "family must be one of"),
        ({"family": "cox"}, None, "needs a time and an event for each row"),
        ({"family": "binomial", "method": "mean-field"}, None, "BIC has no law of them"),
        ({"family": "poisson", "method": "mean-field"}, None, "method must be one of"),
        ({"family": "binomial"}, [0, 1, 2], "labels 0 and 1 in y, got 0.0, 1.0, 2.0"),
        ({"family": "binomial"}, [1], "every label in y is 1"),
        ({"family": "poisson"}, [0, 1, -1], "got -1 at row 2"),
        ({"method": "mean-field"}, None, "ties the coefficients together"),
        ({"method": "gibbs"}, None, "needs prior='spike-slab'"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings, y, said):
    X, labels = simulated("binomial")
    y = labels if y is None else np.resize(np.array(y, float), len(labels))
    with pytest.raises(ValueError, match=said):
        SpikeSlabRegressor(**{"prior": "bic", **settings}).fit(X, y)


def test_labels_that_are_words_are_refused():
    X, y = simulated("binomial")
    with pytest.raises(ValueError, match=r"got 'no', 'yes': .* take SpikeSlabClassifier"):
        SpikeSlabRegressor("bic", family="binomial").fit(X, np.where(y > 0, "yes", "no"))


def test_the_method_follows_the_number_of_columns():
    for family in ("binomial", "poisson"):
        assert choose_method(BIC(), FAMILIES[family].integration, 12, 500).name == "enumerate"
        assert choose_method(BIC(), FAMILIES[family].integration, 13, 500).name == "metropolis"
    with pytest.raises(ValueError, match=r"2\^30 models, about .* hours; use method='metropolis'"):
        glm_models.refuse_many_fits(30, 500, False)


def test_a_table_whose_dense_copy_would_not_fit_is_refused(monkeypatch):
    X, y = simulated("binomial")
    monkeypatch.setattr(glm_models, "ENTRIES_KEPT", X.size - 1)
    with pytest.raises(ValueError, match=r"keeps X dense, .* GB: screen the columns first"):
        infer(Problem.from_rows(X, y, likelihood=Binomial()), BIC())


def test_progress_is_reported():
    X, y = simulated("binomial")
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    for method, stage in (("enumerate", "enumeration"), (Metropolis(200, 0, 1), "sampling")):
        events = []
        infer(problem, BIC(), method, random_state=0, callback=events.append)
        assert {event.stage for event in events} == {stage}
        assert events[-1].done == events[-1].total


def test_an_unsettled_walk_is_announced():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 40))
    y = rng.poisson(np.exp(0.15 * X.sum(axis=1))).astype(float)
    model = SpikeSlabRegressor(
        "bic", Metropolis(n_steps=100, burn_in=0), family="poisson", random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="raise n_steps"):
        model.fit(X, y)
    assert not model.selection_.converged


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_report_json_and_saving_work_as_for_every_estimator(family, tmp_path):
    X, y = simulated(family)
    frame = pd.DataFrame(X).add_prefix("v")
    model = SpikeSlabRegressor("bic", family=family, covariates=["v2"]).fit(frame, y)
    document = json.loads(model.selection_.to_json())
    assert document["noise_variance"] is None
    assert document["certificate"]["parts"].keys() == {"log probability", "gradient"}
    assert document["provenance"]["settings"]["family"] == family
    np.testing.assert_allclose(
        document["predictions"]["predicted"][0],
        model.predict(frame)[document["predictions"]["rows"]],
        rtol=1e-4,
    )
    model.selection_.report(tmp_path / "report.html")
    model.save(tmp_path / "model.garrote")
    again = garrote.load(tmp_path / "model.garrote")
    for mine, theirs in zip(
        again.predict(frame, return_std=True), model.predict(frame, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    assert str(again.posterior_.models()) == str(model.posterior_.models())
    assert "noise variance" not in str(model.summary())
    clone(model)


def test_labels_in_a_file_are_selected_and_predicted_from_the_command_line(tmp_path, capsys):
    X, y = simulated("binomial", n=200)
    frame = pd.DataFrame(X).add_prefix("v").assign(sick=y.astype(int))
    frame.to_csv(tmp_path / "data.csv", index=False)
    arguments = ["select", str(tmp_path / "data.csv"), "--target", "sick", "--method", "spike-slab"]
    arguments += ["--set", "family=binomial", "--set", "prior=bic"]
    arguments += ["--save", str(tmp_path / "m.garrote"), "--report", str(tmp_path / "r.html")]
    assert main(arguments) == 0
    assert "weighed by BIC" in " ".join(capsys.readouterr().out.split())
    assert main(["predict", str(tmp_path / "m.garrote"), str(tmp_path / "data.csv")]) == 0
    lines = capsys.readouterr().out.split()
    assert lines[0] == "prediction,standard_deviation"
    shown = np.array([[float(v) for v in line.split(",")] for line in lines[1:]])
    np.testing.assert_allclose(
        shown[:, 0], garrote.load(tmp_path / "m.garrote").predict(X), rtol=1e-6
    )


def test_the_log_evidence_is_the_sum_over_models():
    X, y = simulated("binomial", d=4)
    model = SpikeSlabRegressor("bic", family="binomial", inclusion=0.5).fit(X, y)
    logs = []
    for size in range(5):
        for members in combinations(range(4), size):
            Z = np.column_stack([np.ones(len(y)), X[:, members]])
            b = maximum("binomial", Z, y, np.ones(len(y)))[1]
            logs.append(
                log_likelihood(Binomial(), y, Z @ b).sum() - size / 2 * np.log(len(y))
            )  # fmt: skip
    expected = logsumexp(logs) - 4 * np.log(2)
    assert model.posterior_.log_evidence == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("prior", ["bic", "g-prior"])
def test_chains_do_not_begin_with_both_of_two_copies(prior):
    rng = np.random.default_rng(0)
    once = rng.standard_normal((60, 8))
    y = 2 * once[:, :4].sum(axis=1) + 0.5 * rng.standard_normal(60)
    model = SpikeSlabRegressor(prior, Sample(500, 100), inclusion=0.9, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few states may be off
        model.fit(np.column_stack([once, once]), y)
    either = model.inclusion_probability_[:4] + model.inclusion_probability_[8:12]
    np.testing.assert_allclose(either, 1.0, atol=0.02)
