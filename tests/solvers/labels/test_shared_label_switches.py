"""Groups of columns that share one switch of the garrote for labels."""

import numpy as np
import pytest
from scipy.special import expit

import reference_label_switches as oracle
from garrote import VariationalGarroteClassifier
from garrote.paths import AnnealBound
from garrote.priors import GroupedInclusion

GROUPS = np.array([0, 0, 0, 1, 1, 1, 2, 3, 4])
LAW = GroupedInclusion(GROUPS)


def words(n=150, seed=0, reference=0):
    rng = np.random.default_rng(seed)
    first, second = np.eye(4)[rng.integers(0, 4, n)], np.eye(3)[rng.integers(0, 3, n)]
    numbers = rng.standard_normal((n, 3))
    eta = first @ [0.0, 1.0, 2.0, -1.0] + numbers[:, 1]
    X = np.column_stack([np.delete(first, reference, axis=1), second, numbers])
    return X, (rng.random(n) < expit(eta)).astype(int)


@pytest.mark.parametrize("weighted", [False, True])
def test_solutions_are_those_of_plain_updates_and_so_is_the_bound(weighted):
    X, y = words()
    weights = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    weights = weights if weighted else np.ones(len(y))
    gamma = -1.0
    method = AnnealBound(gammas=[gamma], tol=1e-6)
    model = VariationalGarroteClassifier(gamma, inclusion=LAW, method=method, correct=False)
    model.fit(X, y, sample_weight=weights)
    m, eta, bound = oracle.solve(X, y, GROUPS, gamma, 1.5625, weights)
    assert ((m > 0.05) & (m < 0.95)).any()
    np.testing.assert_allclose(model.inclusion_probability_, m[GROUPS], atol=1e-4)
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_, eta, atol=2e-3)
    assert -model.path_.free_energy[0] == pytest.approx(bound, abs=1e-4)
    assert model.certificate_.value <= 1e-6
    assert model.path_.expected_size[0] == pytest.approx(m.sum(), abs=1e-4)


def test_it_does_not_matter_which_level_is_left_out():
    answers = []
    for reference in (0, 2):
        X, y = words(reference=reference)
        model = VariationalGarroteClassifier(-2.0, inclusion=LAW).fit(X, y)
        answers.append((model.inclusion_probability_, model.predict_proba(X)))
    for one, two in zip(*answers, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-4)


def test_groups_of_one_column_are_todays_answer_bit_for_bit():
    X, y = words()
    model = VariationalGarroteClassifier().fit(X, y)
    alone = VariationalGarroteClassifier(inclusion=GroupedInclusion(None)).fit(X, y)
    for name in ("coef_", "inclusion_probability_", "intercept_", "gamma_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(alone, name))


def test_columns_outside_of_the_block_have_switches_of_their_own(monkeypatch):
    X, y = words(80)
    X = np.column_stack([X, np.random.default_rng(2).standard_normal((80, 40))])
    law = GroupedInclusion(np.append(GROUPS, 5 + np.arange(40)))
    whole = VariationalGarroteClassifier(-5.0, inclusion=law).fit(X, y)
    monkeypatch.setattr("garrote.solvers.labels.logistic_bound.ENTRIES_AT_HAND", 0)
    some = VariationalGarroteClassifier(-5.0, inclusion=law).fit(X, y)
    np.testing.assert_allclose(some.inclusion_probability_, whole.inclusion_probability_, atol=1e-4)
    np.testing.assert_allclose(some.coef_, whole.coef_, atol=1e-3)


@pytest.mark.parametrize("settings", [{"covariates": [7]}, {"covariates": [3]}, {}])
def test_draws_predictions_and_intervals_go_by_groups(settings):
    X, y = words()
    model = VariationalGarroteClassifier(-2.0, inclusion=LAW, **settings).fit(X, y)
    draws = model.posterior_.sample(4000, random_state=0)
    assert ((draws[:, 0] != 0) == (draws[:, 1] != 0)).all()
    np.testing.assert_allclose(draws.mean(axis=0), model.coef_[0], atol=0.1)
    probability = model.predict_proba(X)[:, 1]
    away = X - X.mean(axis=0)
    level = X.mean(axis=0) @ model.coef_[0] + model.intercept_
    drawn = expit(draws @ away.T + level)
    np.testing.assert_allclose(drawn.mean(axis=0), probability, atol=0.03)
    assert model.certificate_.value <= 1e-4
