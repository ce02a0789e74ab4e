"""The garrote's probabilities of groups, corrected by sums over sets of them: against plain sums."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from garrote import VariationalGarrote, VariationalGarroteClassifier
from garrote.inference import correcting
from garrote.priors import GroupedInclusion
from reference_groups import largest_likelihood_posterior

# Two words whose levels nearly agree, of which the second has all its levels, and three numbers.
GROUPS = np.array([0, 0, 1, 1, 1, 2, 3, 4])
LAW = GroupedInclusion(GROUPS)


@pytest.fixture
def table():
    rng = np.random.default_rng(4)
    n = 90
    first = rng.integers(0, 3, n)
    second = np.where(rng.random(n) < 0.75, first, rng.integers(0, 3, n))
    numbers = rng.standard_normal((n, 3))
    y = np.array([0.0, 0.9, -0.6])[first] + 0.4 * numbers[:, 1] + 1.3 * rng.standard_normal(n)
    X = np.column_stack([np.eye(3)[first][:, 1:], np.eye(3)[second], numbers])
    return X * np.arange(1, 9), y + 2.0


MORE = {
    "plain": {},
    "known noise": {"noise": 2.0},
    "prior odds": {"odds": np.array([0.5, -0.5, 1.0, 0.0, -1.0])},
    "a covariate": {"always": (6,)},
    "a level that is always in": {"always": (0,)},
    "weights": {"weights": np.arange(90) % 3.0},
    "sparse": {},
}


@pytest.mark.parametrize("name", MORE)
def test_probabilities_are_those_of_a_plain_sum_over_sets_of_groups(table, name):
    X, y = table
    more = MORE[name]
    model = VariationalGarrote(
        -2.0,
        inclusion=LAW,
        noise_variance=more.get("noise"),
        prior_log_odds=more["odds"][GROUPS] if "odds" in more else None,
        covariates=list(more["always"]) if "always" in more else None,
    ).fit(scipy.sparse.csc_array(X) if name == "sparse" else X, y, more.get("weights"))
    inclusion, mean, noise = largest_likelihood_posterior(X, y, GROUPS, -2.0, **more)
    expected = inclusion[GROUPS]
    expected[list(more.get("always", ()))] = 1.0
    annealed = clone(model).set_params(correct=False)
    annealed.fit(X, y, more.get("weights"))
    assert np.abs(annealed.inclusion_probability_ - expected).max() > 0.02
    np.testing.assert_allclose(model.inclusion_probability_, expected, atol=1e-8)
    fitted = X @ mean
    np.testing.assert_allclose(X @ model.coef_ - fitted, (X @ model.coef_ - fitted)[0], atol=1e-7)
    rows = np.ones(90) if "weights" not in more else more["weights"]
    assert np.average(model.predict(X) - y, weights=rows) == pytest.approx(0.0, abs=1e-8)
    np.testing.assert_allclose(model.noise_variance_, noise, rtol=1e-8)
    assert model.certificate_["log probability"] < 1e-8
    assert not any("those of annealing" in text for text in model.selection_.warnings)


def test_sampled_sets_agree_with_summed_ones(table, monkeypatch):
    X, y = table
    summed = VariationalGarrote(-2.0, inclusion=LAW).fit(X, y)
    monkeypatch.setattr(correcting, "_SUMMED", 2)
    sampled, again = (VariationalGarrote(-2.0, inclusion=LAW).fit(X, y) for _ in range(2))
    error = sampled.posterior_.accuracy.monte_carlo_error
    off = np.abs(sampled.inclusion_probability_ - summed.inclusion_probability_)
    assert (off <= 4 * error + 1e-3).all()
    np.testing.assert_array_equal(sampled.inclusion_probability_, again.inclusion_probability_)
    assert "Monte Carlo error" in sampled.certificate_.parts


def test_a_word_that_resembles_a_selected_one_is_in_question_however_sure_annealing_is(table):
    X, y = table
    strong = y + 3 * (X[:, 0] != 0)
    more = np.random.default_rng(0).standard_normal((90, 40))
    law = GroupedInclusion(np.append(GROUPS, 5 + np.arange(40)))
    model = VariationalGarrote(-6.0, inclusion=law).fit(np.column_stack([X, more]), strong)
    assert model.inclusion_probability_[0] > 0.99
    inside = model.posterior_.models(1000).columns["model"]
    assert any("1" in label.split(" + ") for label in inside)
    assert np.ptp(model.inclusion_probability_[2:5]) == 0


def test_a_level_without_rows_has_the_corrected_probability_of_its_variable(table):
    X, y = table
    wider = np.column_stack([X, np.zeros(90)])
    law = GroupedInclusion(np.append(GROUPS, 1))
    model = VariationalGarrote(-2.0, inclusion=law).fit(wider, y)
    inclusion, *_ = largest_likelihood_posterior(X, y, GROUPS, -2.0)
    np.testing.assert_allclose(
        model.inclusion_probability_, np.append(inclusion[GROUPS], inclusion[1]), atol=1e-8
    )
    assert model.coef_[8] == 0
    # Where nothing but an empty column shares a switch, columns are in question.
    alone = GroupedInclusion([0, 1, 2, 2])
    narrow = np.column_stack([X[:, 5:], np.zeros(90)])
    model = VariationalGarrote(-2.0, inclusion=alone).fit(narrow, y)
    single = VariationalGarrote(-2.0).fit(X[:, 5:], y)
    np.testing.assert_allclose(
        model.inclusion_probability_, single.inclusion_probability_[[0, 1, 2, 2]], atol=1e-8
    )


def test_too_many_columns_leave_whole_groups_out_and_it_is_said(table, monkeypatch):
    monkeypatch.setattr(correcting, "_MOST", 4)
    model = VariationalGarrote(-2.0, inclusion=LAW).fit(*table)
    assert any("more variables correlate" in text for text in model.selection_.warnings)
    assert all(np.ptp(model.inclusion_probability_[g == GROUPS]) == 0 for g in range(5))


@pytest.mark.parametrize("correct", [True, False])
def test_discoveries_and_sets_of_the_garrote_count_groups(table, correct):
    X, y = table
    model = VariationalGarrote(-2.0, inclusion=LAW, correct=correct).fit(X, y + (X[:, 0] != 0))
    _assert_groups_are_counted(model)


@pytest.mark.parametrize("covariates", [None, [6], [3]])
def test_discoveries_and_sets_of_labels_count_groups(table, covariates):
    X, y = table
    labels = y + 2 * (X[:, 0] != 0) > np.median(y)
    model = VariationalGarroteClassifier(-2.0, inclusion=LAW, covariates=covariates)
    _assert_groups_are_counted(model.fit(X, labels))


def _assert_groups_are_counted(model):
    posterior = model.posterior_
    assert posterior.groups is model.groups_
    found = posterior.discoveries(0.5)
    covariates = posterior.covariates
    for g in range(5):
        own = np.setdiff1d(np.flatnonzero(g == GROUPS), covariates)
        assert np.isin(own, found).sum() in (0, len(own))
    sets = posterior.credible_sets(0.5)
    assert sets
    for one in sets:
        assert len(set(GROUPS[one.variables])) == len(one.variables)
        assert not np.isin(one.variables, covariates).any()
        assert set(one.names) <= set("01234")
