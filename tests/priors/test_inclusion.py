"""Priors on which variables are in: they add up to 1, and say the same however they are stated."""

from itertools import product

import numpy as np
import pytest
from scipy.special import betaln, logit, logsumexp

from garrote import (
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    VariationalGarrote,
    VariationalGarroteClassifier,
)
from garrote.inference import METHODS, Sample
from garrote.priors import ExpectedSize, GaussianSlab, inclusion
from garrote.priors.inclusion import BetaInclusion, Inclusion

OFFSETS = np.array([0.0, 1.5, -2.0, 0.3, 40.0, -700.0])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    return X, X[:, 0] - 0.5 * X[:, 3] + rng.standard_normal(40)


@pytest.mark.parametrize(
    "prior",
    [
        Inclusion.independent(np.full(6, 0.3), OFFSETS),
        Inclusion.beta(2.0, 5.0, OFFSETS),
        Inclusion.beta(1.0, 0.01, -OFFSETS),
        BetaInclusion().over(np.arange(6), 6, np.full(6, -0.7)),
        BetaInclusion().over(np.arange(6), 6),
    ],
)
def test_the_probabilities_of_all_models_add_up_to_1(prior):
    models = np.array(list(product([0, 1], repeat=6)))
    logs = prior.by_size[models.sum(axis=1)] + models @ prior.log_odds
    assert logsumexp(logs) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("summed", [2000, 10])
def test_many_variables_add_up_to_1_too(summed, monkeypatch):
    monkeypatch.setattr(inclusion, "_SUMMED", summed)
    offsets = np.random.default_rng(0).normal(0, 2, 400)
    prior = Inclusion.beta(1.0, 20.0, offsets)
    # The sum over the models of each size, one variable after the other.
    by_size = np.full(401, -np.inf)
    by_size[0] = 0.0
    for offset in offsets:
        by_size[1:] = np.logaddexp(by_size[1:], by_size[:-1] + offset)
    assert logsumexp(prior.by_size + by_size) == pytest.approx(0.0, abs=1e-8)
    sizes = np.arange(401)
    plain = betaln(1 + sizes, 20 + 400 - sizes) - betaln(1, 20)
    np.testing.assert_allclose(np.ptp(prior.by_size - plain), 0.0, atol=1e-9)


@pytest.mark.parametrize("method", ["enumerate", "search", "mean-field"])
def test_the_evidence_is_the_same_however_one_prior_is_stated(data, method):
    one, two = (
        SpikeSlabRegressor(GaussianSlab(1.0), method, random_state=0, **said).fit(*data)
        for said in (
            {"inclusion": 0.2},
            {"inclusion": 0.5, "prior_log_odds": np.full(6, logit(0.2))},
        )
    )
    assert two.posterior_.log_evidence == pytest.approx(one.posterior_.log_evidence, abs=1e-9)


@pytest.mark.parametrize("make", [VariationalGarrote, VariationalGarroteClassifier])
def test_the_expected_size_is_one_of_candidates(data, make):
    X, y = data
    X = np.column_stack([X, np.ones(40)])
    y = y > 0 if make is VariationalGarroteClassifier else y
    model = make(ExpectedSize(2), covariates=[5]).fit(X, y)
    assert model.gamma_ == pytest.approx(logit(2 / 5))
    with pytest.raises(ValueError, match="that may be in or out, 5"):
        make(ExpectedSize(5), covariates=[5]).fit(X, y)


@pytest.mark.parametrize("make", [SpikeSlabRegressor, SpikeSlabClassifier])
def test_bayesian_selection_counts_the_same_candidates(data, make):
    X, y = data
    X = np.column_stack([X, np.ones(40)])
    y = y > 0 if make is SpikeSlabClassifier else y
    with pytest.raises(ValueError, match="that may be in or out, 5"):
        make(inclusion=ExpectedSize(5), covariates=[5]).fit(X, y)


@pytest.mark.filterwarnings("ignore:sampled inclusion")
@pytest.mark.parametrize("method", ["sample", "metropolis", "gibbs"])
def test_samplers_state_no_evidence(data, method):
    model = SpikeSlabRegressor(method=METHODS[method](n_steps=100, burn_in=5), random_state=0).fit(
        *data
    )
    assert model.posterior_.log_evidence is None
    assert np.isnan(model.posterior_.free_energy)


@pytest.mark.filterwarnings("ignore:sampled inclusion")
def test_samplers_of_labels_state_no_evidence_either(data):
    X, y = data
    model = SpikeSlabClassifier(method=Sample(n_steps=100, burn_in=5), random_state=0).fit(X, y > 0)
    assert model.posterior_.log_evidence is None
    assert np.isnan(model.posterior_.free_energy)
