"""Labels under slabs of two humps: chains against sums over a grid of coefficients."""

import numpy as np
import pytest
import scipy.sparse
from scipy.special import betaln

from garrote import SpikeSlabClassifier, SpikeSlabRegressor
from garrote.inference import Sample
from garrote.priors import EffectSlab, TwoHumpedEffectSlab
from reference_humps import label_models


@pytest.fixture(scope="module")
def labels():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 2))
    X[:, 1] += 0.5 * X[:, 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (X @ [0.9, 0.3] + rng.logistic(size=60) > 0).astype(int)


def _exact(X, y, slabs, **rows):
    b = np.sqrt(2)
    return label_models(X, y, lambda k: betaln(1 + k, b + 2 - k) - betaln(1.0, b), slabs, **rows)


def test_chains_agree_with_sums_over_coefficients(labels):
    prior = TwoHumpedEffectSlab(0.8, separation=0.9)
    inclusion, mean, _ = _exact(*labels, [(0.0, 0.8, 0.9)])
    drawn = SpikeSlabClassifier(prior, Sample(n_steps=8000), random_state=0).fit(*labels)
    np.testing.assert_allclose(drawn.inclusion_probability_, inclusion, atol=0.03)
    np.testing.assert_allclose(np.ravel(drawn.coef_), mean, atol=0.03)


def test_shapes_are_averaged_over(labels):
    slabs = [(log, 0.8, slab.separation) for log, slab in TwoHumpedEffectSlab(0.8).shapes()]
    inclusion, mean, shares = _exact(*labels, slabs)
    drawn = SpikeSlabClassifier(TwoHumpedEffectSlab(0.8), Sample(n_steps=8000), random_state=0)
    drawn.fit(*labels)
    np.testing.assert_allclose(drawn.inclusion_probability_, inclusion, atol=0.03)
    np.testing.assert_allclose(np.ravel(drawn.coef_), mean, atol=0.03)
    np.testing.assert_allclose(drawn.posterior_.shapes.probability, shares, atol=0.03)


def test_rows_count_by_their_weights_and_have_their_offsets(labels):
    X, y = labels
    rng = np.random.default_rng(4)
    weights, offset = rng.integers(0, 4, len(y)) * 1.0, rng.standard_normal(len(y))
    Z = X - np.average(X, axis=0, weights=weights)
    scale = np.sqrt(np.average(Z**2, axis=0, weights=weights))
    slabs = [(log, 0.8, slab.separation) for log, slab in TwoHumpedEffectSlab(0.8).shapes()]
    inclusion, mean, _ = _exact(Z / scale, y, slabs, weights=weights, offset=offset)
    drawn = SpikeSlabClassifier(TwoHumpedEffectSlab(0.8), Sample(n_steps=3000), random_state=0)
    drawn.fit(scipy.sparse.csc_array(X), y, weights, offset=offset)
    np.testing.assert_allclose(drawn.inclusion_probability_, inclusion, atol=0.04)
    np.testing.assert_allclose(np.ravel(drawn.coef_) * scale, mean, atol=0.04)


def test_unknown_variances_are_drawn(labels):
    logs = np.linspace(-4.0, 5.0, 19)
    slabs = [(float(EffectSlab.log_density(u)), float(np.exp(u)), 0.9) for u in logs]
    inclusion, mean, _ = _exact(*labels, slabs)
    prior = TwoHumpedEffectSlab(separation=0.9)
    drawn = SpikeSlabClassifier(prior, Sample(n_steps=8000), random_state=0).fit(*labels)
    np.testing.assert_allclose(drawn.inclusion_probability_, inclusion, atol=0.04)
    np.testing.assert_allclose(np.ravel(drawn.coef_), mean, atol=0.04)


def test_auto_samples_and_methods_without_signs_refuse(labels):
    assert (
        SpikeSlabClassifier(TwoHumpedEffectSlab(), random_state=0).fit(*labels).method_ == "sample"
    )
    for method in ("enumerate", "metropolis"):
        with pytest.raises(ValueError, match="has no slab of two humps: it needs prior=EffectSlab"):
            SpikeSlabClassifier(TwoHumpedEffectSlab(), method).fit(*labels)
    counts = SpikeSlabRegressor(TwoHumpedEffectSlab(), family="poisson")
    with pytest.raises(ValueError, match="for a binomial response, not for"):
        counts.fit(*labels)
