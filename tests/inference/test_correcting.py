"""The garrote's probabilities, corrected by sums over models: against a plain sum of them."""

from itertools import combinations

import numpy as np
import pytest

from garrote import VariationalGarrote
from garrote.inference import correcting
from garrote.paths import Anneal
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem


def plain_sum(X, y, gamma, offsets=None, noise=None, always=(), weights=None):
    """Sum over all models: each counts by its largest likelihood and gamma for each variable.

    Returns inclusion probabilities, mean coefficients and the mean of the noise, of least squares on
    n - 1 - k degrees of freedom.
    """
    n, D = X.shape
    weights = np.ones(n) if weights is None else weights
    offsets = np.zeros(D) if offsets is None else offsets
    rows, root, free = weights.sum(), np.sqrt(weights), np.setdiff1d(np.arange(D), always)
    logs, inside, means, noises = [], [], [], []
    for size in range(len(free) + 1):
        for model in combinations(free, size):
            columns = [*always, *model]
            A = np.column_stack([np.ones(n), X[:, columns]]) * root[:, None]
            coef = np.linalg.lstsq(A, y * root)[0]
            left = np.sum((y * root - A @ coef) ** 2)
            fit = -rows / 2 * np.log(left) if noise is None else -left / (2 * noise)
            logs.append(fit + sum(gamma + offsets[j] for j in model))
            inside.append(np.isin(np.arange(D), columns))
            mean = np.zeros(D)
            mean[columns] = coef[1:]
            means.append(mean)
            noises.append(left / (rows - 1 - len(columns)) if noise is None else noise)
    share = np.exp(np.array(logs) - max(logs))
    share /= share.sum()
    return share @ np.array(inside), share @ np.array(means), share @ np.array(noises)


@pytest.fixture
def table():
    """Seven columns of which the first three resemble each other."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 7))
    X[:, 1] = X[:, 0] + 0.4 * rng.standard_normal(60)
    X[:, 2] = X[:, 0] + 0.6 * rng.standard_normal(60)
    y = X[:, 0] + 0.8 * X[:, 4] + 1.5 * rng.standard_normal(60)
    return X * np.arange(1, 8), y + 3.0


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"noise": 2.0},
        {"offsets": np.linspace(-1, 1, 7)},
        {"always": (4,)},
        {"weights": np.arange(60) % 3.0},
        {"weights": 1.0 + np.arange(60) % 2, "always": (1, 5), "offsets": np.linspace(1, -1, 7)},
    ],
    ids=["plain", "known noise", "prior odds", "covariate", "weights", "all"],
)
def test_probabilities_are_those_of_a_plain_sum_over_models(table, more):
    X, y = table
    settings = {
        "noise_variance": more.get("noise"),
        "prior_log_odds": more.get("offsets"),
        "covariates": list(more["always"]) if "always" in more else None,
    }
    # Prior odds of -2: every column has more than 0.01, so that all are summed.
    model = VariationalGarrote(-2.0, **settings).fit(X, y, more.get("weights"))
    inclusion, mean, noise = plain_sum(X, y, model.gamma_, **more)
    np.testing.assert_allclose(model.inclusion_probability_, inclusion, atol=1e-9)
    np.testing.assert_allclose(model.coef_, mean, atol=1e-9)
    np.testing.assert_allclose(model.noise_variance_, noise, rtol=1e-9)
    assert model.certificate_["log probability"] < 1e-8


def test_what_annealing_found_stays_on_the_path(table):
    corrected, annealed = (VariationalGarrote(-2.0, correct=c).fit(*table) for c in (True, False))
    at = int(np.argmin(np.abs(corrected.path_.strengths + 2.0)))
    np.testing.assert_array_equal(
        corrected.path_.inclusion_probability()[[at]].toarray(),
        annealed.path_.inclusion_probability()[[at]].toarray(),
    )
    assert np.abs(corrected.inclusion_probability_ - annealed.inclusion_probability_).max() > 0.05
    shown = corrected.selection_.path
    assert shown is not None
    stated = corrected.inclusion_probability_[shown.columns]
    np.testing.assert_array_equal(shown.probability[shown.chosen], stated)


def test_sampled_models_agree_with_summed_ones(table, monkeypatch):
    X, y = table
    summed = VariationalGarrote(-2.0).fit(X, y)
    monkeypatch.setattr(correcting, "_SUMMED", 2)
    sampled = VariationalGarrote(-2.0).fit(X, y)
    again = VariationalGarrote(-2.0).fit(X, y)
    error = sampled.posterior_.accuracy.monte_carlo_error
    off = np.abs(sampled.inclusion_probability_ - summed.inclusion_probability_)
    assert (off <= 4 * error + 1e-3).all()
    np.testing.assert_array_equal(sampled.inclusion_probability_, again.inclusion_probability_)
    assert "Monte Carlo error" in sampled.certificate_.parts


def test_of_two_near_copies_neither_is_certain():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 30))
    X[:, 5] = X[:, 3] + 0.05 * rng.standard_normal(100)
    y = 2 * X[:, 3] - X[:, 7] + rng.standard_normal(100)
    model = VariationalGarrote().fit(X, y)
    assert model.inclusion_probability_[[3, 5]].max() < 0.95
    assert "one of these 2: x3, x5" in str(model.selection_)
    annealed = VariationalGarrote(correct=False).fit(X, y)
    assert annealed.inclusion_probability_[3] > 0.999


@pytest.mark.parametrize("most_summed", [2, 15])
def test_exact_copies_share_their_probability_also_where_annealing_has_both(
    monkeypatch, most_summed
):
    monkeypatch.setattr(correcting, "_SUMMED", most_summed)
    rng = np.random.default_rng(0)
    once = rng.standard_normal((60, 6))
    y = 2 * once[:, 1] - once[:, 4] + 0.5 * rng.standard_normal(60)
    model = VariationalGarrote(-1.7, method="primal").fit(np.column_stack([once, once]), y)
    p = model.inclusion_probability_
    np.testing.assert_allclose(p[[1, 4, 7, 10]], 0.5, atol=0.06)


def test_moments_and_z_scores_are_corrected_as_their_rows_are():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((200, 6)) + rng.standard_normal((200, 1))
    y = X[:, 0] + 2 * rng.standard_normal(200)
    X, y = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    r = X.T @ y / 200
    z = r * np.sqrt(199 / (1 - r**2))
    rows = VariationalGarrote(-3.0).fit(X, y)
    scores = VariationalGarrote(-3.0).fit_zscores(z, np.corrcoef(X.T), n=200, mismatch=0.0)
    np.testing.assert_allclose(
        scores.inclusion_probability_, rows.inclusion_probability_, atol=5e-3
    )


def test_columns_outside_keep_what_annealing_found_of_them():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 300))
    y = 2 * X[:, 3] + rng.standard_normal(80)
    corrected, annealed = (VariationalGarrote(correct=c).fit(X, y) for c in (True, False))
    outside = annealed.inclusion_probability_ <= 0.01
    outside &= np.abs(np.corrcoef(X.T)[3]) < 0.5
    assert outside.sum() > 250
    np.testing.assert_array_equal(
        corrected.inclusion_probability_[outside], annealed.inclusion_probability_[outside]
    )


def test_effects_of_one_sign_are_not_corrected_and_it_is_said(table):
    model = VariationalGarrote(-2.0, signs=1).fit(*table)
    annealed = VariationalGarrote(-2.0, signs=1, correct=False).fit(*table)
    np.testing.assert_array_equal(model.inclusion_probability_, annealed.inclusion_probability_)
    assert any("those of annealing" in text for text in model.selection_.warnings)


def test_where_models_interpolate_the_annealed_solution_is_kept_and_it_is_said():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 60))
    y = X[:, 0] + 0.1 * rng.standard_normal(30)
    prior = SpikeTerms(np.zeros(60), np.zeros(60))
    model = VariationalGarrote(correct=False).fit(X, y)
    dense = SpikeTerms(prior.offsets + 30.0, prior.signs)
    stated = model.posterior_
    found, why = correcting.correct(Problem.from_rows(X, y), dense, _all_possible(stated), seed=0)
    assert found is None
    assert "smaller gamma" in why


def _all_possible(stated):
    from dataclasses import replace

    return replace(stated, inclusion_probability=np.maximum(stated.inclusion_probability, 0.02))


def test_a_solution_of_more_variables_than_a_quarter_of_the_rows_is_kept_at_once():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((40, 30))
    y = X[:, :20] @ rng.choice([-1.0, 1.0], 20) + 0.1 * rng.standard_normal(40)
    model = VariationalGarrote(-1.0, method=Anneal(tol=1e-2)).fit(X, y)
    assert (model.inclusion_probability_ > 0.5).sum() > 10
    assert any("smaller gamma" in text for text in model.selection_.warnings)


def test_nothing_to_correct_is_no_error():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((50, 20))
    with pytest.warns(UserWarning, match="y is constant"):
        model = VariationalGarrote(-3.0).fit(X, np.ones(50))
    assert not model.inclusion_probability_[model.inclusion_probability_ > 0.5].size
    noise = VariationalGarrote().fit(X, rng.standard_normal(50))
    assert np.isfinite(noise.inclusion_probability_).all()


def test_more_likenesses_than_there_is_room_for_are_told_of(monkeypatch):
    monkeypatch.setattr(correcting, "_MOST", 20)
    rng = np.random.default_rng(6)
    shared = rng.standard_normal((100, 1))
    X = shared + 0.5 * rng.standard_normal((100, 60))
    y = 2 * X[:, 7] + rng.standard_normal(100)
    model = VariationalGarrote().fit(X, y)
    assert any("more variables correlate" in text for text in model.selection_.warnings)


def many_alike(n=3000, count=18, others=4, seed=5):
    """Effects of equal size, each worth less than its price alone, all together far more."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, count + others))
    y = X[:, :count].sum(axis=1) + np.sqrt(count / 5) * rng.standard_normal(n)
    return X, y


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_that_began_with_nothing_does_not_undo_what_annealing_found(seed):
    X, y = many_alike(seed=seed)
    model = VariationalGarrote(gamma=-110.0, random_state=seed).fit(X, y)
    assert model.inclusion_probability_[:18].min() > 0.99
    assert model.inclusion_probability_[18:].max() < 0.01
