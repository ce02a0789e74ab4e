"""Single effects of groups of columns."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

import reference_group_effects as oracle
from garrote import SingleEffectsClassifier, SingleEffectsRegressor
from garrote.inference.beliefs import Beliefs
from garrote.inference.effects.columns_of_effects import GroupedColumns
from garrote.inference.effects.single_effects import make_task
from garrote.priors import GroupedInclusion, SingleEffects
from garrote.priors.inclusion import Inclusion
from garrote.problem import Problem
from garrote.solvers.effects.effect_groups import EffectGroups
from garrote.solvers.effects.single_effect_regression import (
    best_prior_variance,
    expected_prior_variance,
    kl_from_prior,
    single_effect_regression,
)
from garrote.solvers.effects.single_effects import fit_single_effects

GROUPS = np.array([0, 0, 0, 1, 1, 1, 2, 3, 4])


def words(n=60, seed=0, reference=0):
    rng = np.random.default_rng(seed)
    first, second = np.eye(4)[rng.integers(0, 4, n)], np.eye(3)[rng.integers(0, 3, n)]
    numbers = rng.standard_normal((n, 3))
    y = first @ [0.0, 0.7, 1.2, -0.6] + 0.5 * numbers[:, 1] + rng.standard_normal(n)
    X = np.column_stack([np.delete(first, reference, axis=1), second, numbers])
    return X, (y - y.mean()) / y.std()


def task_of(X, y, **settings):
    problem = Problem.from_rows(X, y)
    law = GroupedInclusion(GROUPS).over(problem.usable, len(GROUPS))
    beliefs = Beliefs(SingleEffects(**settings), law, float(len(y)), 0.0)
    return make_task(problem, beliefs, GroupedColumns(problem, law))


def test_effects_of_known_size_are_those_of_plain_densities():
    X, y = words()
    task = task_of(X, y, effects=2, variance=0.1, noise_variance=0.7, tol=1e-9)
    found = fit_single_effects(task)
    a, fitted, evidence = oracle.fit(X, y, GROUPS, 2, 0.7, 0.1)
    order = np.argsort(-evidence)
    for effect, k in zip(found.effects, order, strict=True):
        np.testing.assert_allclose(effect.probability[:5], a[k], atol=1e-6)
        assert effect.log_bayes_factor == pytest.approx(evidence[k], abs=1e-6)
        products = task.problem.whole_gram() @ effect.coef
        z = np.concatenate(oracle.bases(X, GROUPS), axis=1)
        np.testing.assert_allclose(
            np.linalg.norm(products), np.linalg.norm(_own(task, X) @ fitted[k]), rtol=1e-5
        )
        assert z.shape[1] == task.units.rank.sum()


def _own(task, X):
    """Return the coordinates of all groups, one in each row."""
    problem = Problem.from_rows(X, np.arange(float(len(X))))
    law = GroupedInclusion(GROUPS).over(problem.usable, len(GROUPS))
    turned = GroupedColumns(problem, law).coordinates.problem
    return turned.table.block(np.arange(len(GROUPS))).T


def test_the_best_size_has_the_largest_evidence_and_steps_of_em_lead_there():
    X, y = words()
    Z = oracle.bases(X, GROUPS)
    task = task_of(X, y, noise_variance=0.7)
    terms = task.problem.xty, task.problem.curvature, task.log_prior
    best = best_prior_variance(*terms, 0.7, 0.0, task.units)

    def loss(log_v):
        logs = oracle.log_bayes_factors(Z, y, 0.7, np.exp(log_v))
        return -logsumexp(logs - np.log(len(Z)))

    expected = minimize_scalar(loss, bounds=(-6, 2), method="bounded").x
    assert np.log(best) == pytest.approx(expected, abs=1e-3)
    effect = single_effect_regression(*terms, best, 0.7, task.units)
    assert effect.log_bayes_factor == pytest.approx(-loss(expected), abs=1e-6)
    assert expected_prior_variance(effect) == pytest.approx(best, rel=1e-3)


def test_the_divergence_is_that_of_the_evidence():
    # log BF = expected log likelihood ratio - KL, for the exact posterior of one effect.
    X, y = words()
    task = task_of(X, y, noise_variance=0.7)
    terms = task.problem.xty, task.problem.curvature, task.log_prior
    effect = single_effect_regression(*terms, 0.2, 0.7, task.units)
    ratio = effect.coef @ task.problem.xty - 0.5 * effect.second_moment @ task.problem.curvature
    divergence = kl_from_prior(effect, task.log_prior)
    assert ratio / 0.7 - divergence == pytest.approx(effect.log_bayes_factor, abs=1e-9)


def test_groups_of_one_column_are_columns_bit_for_bit():
    rng = np.random.default_rng(2)
    b, c, p = rng.standard_normal(6) * 20, rng.uniform(20, 60, 6), np.log(np.full(6, 1 / 6))
    units = EffectGroups.of(np.arange(6), c)
    plain = best_prior_variance(b, c, p, 0.8)
    assert best_prior_variance(b, c, p, 0.8, 0.0, units) == pytest.approx(plain, rel=1e-9)
    one = single_effect_regression(b, c, p, plain, 0.8)
    same = single_effect_regression(b, c, p, plain, 0.8, units)
    np.testing.assert_array_equal(one.probability, same.probability)
    np.testing.assert_array_equal(one.mean, same.mean)


@pytest.mark.parametrize("covariates", [None, [8]])
@pytest.mark.parametrize("labels", [False, True])
def test_it_does_not_matter_which_level_is_left_out(labels, covariates):
    answers = []
    for reference in (0, 2):
        X, y = words(120, reference=reference)
        make = SingleEffectsClassifier if labels else SingleEffectsRegressor
        model = make(inclusion=GroupedInclusion(GROUPS), covariates=covariates)
        model.fit(X, (y > 0) if labels else y)
        p = model.inclusion_probability_
        assert np.ptp(p[:3]) == np.ptp(p[3:6]) == 0
        assert model.certificate_.value <= 1e-3
        sets = {found.names for found in model.posterior_.credible_sets()}
        assert labels or ("0",) in sets
        assert model.groups_.numbers.tolist() == GROUPS.tolist()
        said = model.predict_proba(X) if labels else model.predict(X, return_std=True)
        answers.append((p, *said))
    for one, two in zip(*answers, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_a_law_of_single_columns_is_no_law_of_groups():
    law = GroupedInclusion(None).over(np.arange(4), 4)
    assert isinstance(law, Inclusion)
