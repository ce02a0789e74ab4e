"""Bayesian matching pursuit against the sum over all models."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from garrote import SpikeSlabRegressor
from garrote.inference import BayesianMatchingPursuit
from garrote.priors import GaussianSlab


def rows(n=60, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    return X, X[:, 2] - 0.6 * X[:, 5] + rng.standard_normal(n)


@pytest.mark.parametrize("slab", [GaussianSlab(1.0), GaussianSlab()], ids=["known", "unknown"])
def test_a_beam_that_holds_all_models_sums_over_all(slab):
    X, y = rows()
    exact = SpikeSlabRegressor(slab, "enumerate").fit(X, y)
    found = SpikeSlabRegressor(slab, BayesianMatchingPursuit(300)).fit(X, y)
    # Models less probable than the best by e^-16 are dropped.
    np.testing.assert_allclose(
        found.inclusion_probability_, exact.inclusion_probability_, atol=2e-5
    )
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=1e-4)
    assert found.posterior_.law.models is not None


def test_what_a_narrow_beam_misses_is_told():
    X, y = rows()
    exact = SpikeSlabRegressor(GaussianSlab(1.0), "enumerate").fit(X, y)
    for beam in (4, 20):
        found = SpikeSlabRegressor(GaussianSlab(1.0), BayesianMatchingPursuit(beam)).fit(X, y)
        off = np.abs(found.inclusion_probability_ - exact.inclusion_probability_).max()
        assert off <= max(found.certificate_["found late"], 1e-4)
    with pytest.warns(ConvergenceWarning):
        SpikeSlabRegressor(GaussianSlab(1.0), BayesianMatchingPursuit(1)).fit(X, y)


def test_models_have_no_more_variables_than_asked_for():
    X, y = rows()
    method = BayesianMatchingPursuit(5, max_features=2)
    found = SpikeSlabRegressor(GaussianSlab(1.0), method).fit(X, y)
    assert max(map(len, found.posterior_.law.models.members)) <= 2
    with pytest.raises(ValueError, match="beam must be an integer >= 1, got 0"):
        SpikeSlabRegressor(method=BayesianMatchingPursuit(0)).fit(X, y)
