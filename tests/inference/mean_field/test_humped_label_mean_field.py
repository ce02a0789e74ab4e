"""Mean field of labels under slabs of two humps: the plain algorithm, and sums over coefficients."""

import numpy as np
import pytest
from scipy.special import betaln

from garrote import SpikeSlabClassifier
from garrote.priors import TwoHumpedEffectSlab
from garrote.problem import Problem
from garrote.solvers.control import Control
from garrote.solvers.labels import logistic_bound
from garrote.solvers.labels.bound_annealing import anneal_bound
from garrote.solvers.labels.logistic_bound import LogisticBound
from reference_humps import humped_mean_field, label_models


def _labels(n, coef, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, len(coef)))
    X[:, 1] += 0.5 * X[:, 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (X @ coef + rng.logistic(size=n) > 0).astype(float)


def test_given_the_bound_factors_are_those_of_the_plain_algorithm():
    X, y = _labels(120, [1.2, 0.0, -1.2, 0.0, 0.4])
    problem = Problem.from_rows(X, y, likelihood="binomial")
    bound = LogisticBound(problem, np.zeros(5), Control(1e-8, 5000), separation=0.9)
    for one in anneal_bound(bound, np.array([-8.0, -5.0, -3.0, -1.0]), 1.0).forward[1:]:
        weights = np.tanh(one.xi / 2) / (2 * one.xi)
        response = (y - 0.5) / weights
        Z = X - weights @ X / weights.sum()
        moments = (Z.T * weights) @ Z, (Z.T * weights) @ response
        slab = np.full(5, one.strength), one.variance, 0.9
        q = humped_mean_field(*moments, 0.0, 1.0, *slab, noise=1.0)
        assert one.certificate.value < 1e-7
        np.testing.assert_allclose(one.probability, q.inclusion[one.columns], atol=1e-6)
        np.testing.assert_allclose(one.coef, q.coef[one.columns], atol=1e-6)
        given = (q.square / q.inclusion - (q.coef / q.inclusion) ** 2)[one.columns]
        np.testing.assert_allclose(one.spread, given, atol=1e-6)


def test_columns_that_are_not_at_hand_are_looked_at_too(monkeypatch):
    X, y = _labels(300, [2.0, 0.0, -2.0, 0.0, 0.0])
    problem = Problem.from_rows(X, y, likelihood="binomial")
    found = []
    for most in (logistic_bound.ENTRIES_AT_HAND, 0):
        monkeypatch.setattr(logistic_bound, "ENTRIES_AT_HAND", most)
        bound = LogisticBound(problem, np.zeros(5), Control(1e-5, 5000), separation=0.9)
        found.append(bound.solve(-16.0, bound.empty(-16.0, 1.0)))
    assert len(bound.at_hand.columns) < 5
    one, other = (np.bincount(each.columns, each.probability, 5) for each in found)
    np.testing.assert_allclose(one, other, atol=1e-5)
    assert one.max() > 0.9
    assert found[0].bound == pytest.approx(found[1].bound, abs=1e-4)
    assert found[0].expected_size == pytest.approx(found[1].expected_size, abs=1e-4)


# In doubt the bound errs as much as under a Gaussian slab, for which it has .19 in place of .36.
@pytest.mark.parametrize(("n", "coef", "off"), [(60, [0.9, 0.3], 0.2), (150, [0.9, 0.5], 0.01)])
def test_averages_over_shapes_are_near_sums_over_coefficients(n, coef, off):
    X, y = _labels(n, coef)
    b = np.sqrt(2)
    slabs = [(log, 0.8, slab.separation) for log, slab in TwoHumpedEffectSlab(0.8).shapes()]
    inclusion, mean, shares = label_models(
        X, y, lambda k: betaln(1 + k, b + 2 - k) - betaln(1.0, b), slabs
    )
    found = SpikeSlabClassifier(TwoHumpedEffectSlab(0.8), "mean-field").fit(X, y)
    np.testing.assert_allclose(found.inclusion_probability_, inclusion, atol=off)
    np.testing.assert_allclose(np.ravel(found.coef_), mean, atol=0.1)
    np.testing.assert_allclose(found.posterior_.shapes.probability, shares, atol=0.06)
    assert found.posterior_.checked is None
    assert found.certificate_.value < 1e-4


def test_unknown_variances_follow_the_effects():
    X, y = _labels(200, [1.5, 0.0, -1.5, 0.0, 1.5, 0.0])
    prior = TwoHumpedEffectSlab(separation=0.9)
    found = SpikeSlabClassifier(prior, "mean-field").fit(X, y)
    drawn = SpikeSlabClassifier(prior, "sample", random_state=0).fit(X, y)
    np.testing.assert_allclose(found.inclusion_probability_, drawn.inclusion_probability_, atol=0.1)
    np.testing.assert_allclose(found.coef_, drawn.coef_, atol=0.15)
