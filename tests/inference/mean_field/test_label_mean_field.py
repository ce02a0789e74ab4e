"""Mean field of labels with hyperparameters that are learned, against plain EM."""

import re

import numpy as np
import pytest

from garrote import SpikeSlabClassifier
from garrote.inference import MeanField
from garrote.priors import EffectSlab, TwoHumpedEffectSlab
from reference_binary import bound_mean_field_em


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((120, 5))
    return X, (rng.random(120) < 1 / (1 + np.exp(0.3 - 0.9 * X[:, 1] + 0.7 * X[:, 4]))).astype(
        float
    )


@pytest.mark.parametrize("how", ["em", "anneal"])
def test_hyperparameters_are_those_of_plain_em(data, how):
    X, y = data
    model = SpikeSlabClassifier(method=MeanField(how, tol=1e-6), inclusion=(2.0, 3.0)).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    m, variance, log_odds = bound_mean_field_em(Z, y, np.ones(len(y)), EffectSlab.law, (2.0, 3.0))
    said = model.selection_.rule
    best = model.posterior_.optima.fits[0]
    if how == "em":
        np.testing.assert_allclose(model.inclusion_probability_, m, atol=1e-4)
        assert best.strength == pytest.approx(log_odds, abs=1e-3)
        assert "hyperparameters by EM" in said
        assert not hasattr(model, "path_")
    else:  # the nearest of the gammas visited, with nearly the same answer
        gap = np.diff(model.path_.strengths).max()
        assert best.strength == pytest.approx(log_odds, abs=gap)
        np.testing.assert_allclose(model.inclusion_probability_, m, atol=0.1)
        assert "pi annealed and reheated" in said
    assert float(re.search(r"slab variance ([\d.]+)", said)[1]) == pytest.approx(variance, abs=0.02)
    assert model.certificate_.value <= 1e-6
    assert model.posterior_.checked is not None


def test_what_is_given_stays_as_it_is(data):
    fits = {
        how: SpikeSlabClassifier(EffectSlab(1.0), MeanField(how), inclusion=0.3).fit(*data)
        for how in ("average", "em", "anneal")
    }
    expected = fits["average"].inclusion_probability_
    for how in ("em", "anneal"):
        np.testing.assert_allclose(fits[how].inclusion_probability_, expected, atol=1e-3)
        assert "slab variance 1, prior" in fits[how].selection_.rule


def test_the_best_shape_is_chosen_where_it_is_unknown():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    y = rng.random(300) < 1 / (1 + np.exp(1.2 * X[:, :6] @ [1, -1, 1, 1, -1, 1]))
    model = SpikeSlabClassifier(TwoHumpedEffectSlab(), MeanField("em")).fit(X, y)
    separation = float(re.search(r"separation ([\d.]+)", model.selection_.rule)[1])
    known = SpikeSlabClassifier(TwoHumpedEffectSlab(separation=separation), MeanField("em"))
    expected = known.fit(X, y).inclusion_probability_
    np.testing.assert_allclose(model.inclusion_probability_, expected, atol=1e-3)
    assert model.posterior_.shapes is None
