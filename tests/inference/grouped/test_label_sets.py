"""Sets of groups of labels and counts: fitted, walked along and sampled, as quadrature has them."""

import numpy as np
import pytest
from scipy.special import expit, log_expit, logsumexp

from garrote import SpikeSlabClassifier, SpikeSlabRegressor
from garrote.inference import Metropolis, Sample
from garrote.priors import EffectSlab, GroupedInclusion
from word_columns import make_table

FIRST = [0, 3, 4, 5, 6]


@pytest.fixture(scope="module")
def labels():
    X, z, groups = make_table(3, n=150)
    noise = np.random.default_rng(0).logistic(size=len(z))
    return X, (z + 0.5 * noise > 0).astype(int), groups


def test_fitted_sets_agree_with_quadrature():
    rng = np.random.default_rng(0)
    level = rng.integers(3, size=80)
    X = np.eye(3)[level][:, 1:]
    y = (rng.random(80) < expit(np.array([-0.5, 0.8, 0.0])[level])).astype(int)
    model = SpikeSlabClassifier(EffectSlab(1.0), "enumerate", inclusion=GroupedInclusion([0, 0]))
    found = model.fit(X, y).inclusion_probability_[0]
    # Coordinates in which the columns are orthonormal, and a flat intercept.
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / 80)
    turned = centred @ (vectors / np.sqrt(values))
    grid, level_grid = np.linspace(-4, 4, 61), np.linspace(-3, 3, 61)
    v = np.array(np.meshgrid(grid, grid)).reshape(2, -1)
    sign = 2.0 * y - 1.0
    steps = np.log(grid[1] - grid[0]), np.log(level_grid[1] - level_grid[0])
    logs = np.array([log_expit(sign[:, None] * (b + turned @ v)).sum(axis=0) for b in level_grid])
    slab = -0.5 * (v**2).sum(axis=0) - np.log(2 * np.pi)
    inside = logsumexp(logs + slab) + 2 * steps[0] + steps[1]
    outside = logsumexp([log_expit(sign * b).sum() for b in level_grid]) + steps[1]
    assert found == pytest.approx(expit(inside - outside), abs=0.01)  # Laplace's error


@pytest.mark.parametrize("parents", [None, {"4": ["0", "1"], "3": "2"}])
def test_chains_and_walks_agree_with_all_sets_fitted(labels, parents):
    X, y, groups = labels
    law = GroupedInclusion(groups, parents=parents)
    every = SpikeSlabClassifier(EffectSlab(1.0), "enumerate", inclusion=law).fit(X, y)
    for method, near in ((Sample(n_steps=3000), 0.015), (Metropolis(n_steps=1500), 1e-3)):
        model = SpikeSlabClassifier(EffectSlab(1.0), method, inclusion=law, random_state=0)
        found = model.fit(X, y)
        np.testing.assert_allclose(
            found.inclusion_probability_, every.inclusion_probability_, atol=near
        )
        np.testing.assert_allclose(found.predict_proba(X), every.predict_proba(X), atol=0.02)
        assert len(np.unique(found.inclusion_probability_[:3])) == 1


@pytest.mark.parametrize("prior", ["spike-slab", "bic"])
def test_the_reference_level_of_labels_does_not_matter(labels, prior):
    X, y, groups = labels
    other, _, others = make_table(3, n=150, reference=(2, None))
    one = SpikeSlabClassifier(prior, inclusion=GroupedInclusion(groups)).fit(X, y)
    two = SpikeSlabClassifier(prior, inclusion=GroupedInclusion(others)).fit(other, y)
    assert one.method_ == "enumerate"
    np.testing.assert_allclose(
        one.inclusion_probability_[FIRST], two.inclusion_probability_[FIRST], rtol=1e-8
    )
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(other), rtol=1e-8)


def test_counts_with_an_offset_covariates_and_weights():
    X, z, groups = make_table(5, n=120)
    other, _, others = make_table(5, n=120, reference=(1, 2))
    rng = np.random.default_rng(1)
    offset, weights = 0.3 * rng.standard_normal(120), rng.integers(1, 3, 120)
    y = rng.poisson(np.exp(0.4 * z + offset))
    fits = [
        SpikeSlabRegressor(
            family="poisson", inclusion=GroupedInclusion(law), covariates=[4], method=method
        ).fit(table, y, sample_weight=weights, offset=offset)
        for table, law in ((X, groups), (other, others))
        for method in ("enumerate", Metropolis(n_steps=1500))
    ]
    assert all(each.inclusion_probability_[4] == 1.0 for each in fits)
    for each in fits[1:]:
        np.testing.assert_allclose(
            each.inclusion_probability_[FIRST], fits[0].inclusion_probability_[FIRST], atol=2e-3
        )
    mean, deviation = fits[0].predict(X, return_std=True, offset=offset)
    again = fits[2].predict(other, return_std=True, offset=offset)
    np.testing.assert_allclose(again[0], mean, rtol=1e-6)
    np.testing.assert_allclose(again[1], deviation, rtol=1e-6)


def test_many_groups_of_labels_are_sampled_and_predict(labels):
    X, y, groups = labels
    wide = np.column_stack([X, np.random.default_rng(0).standard_normal((150, 8))])
    law = GroupedInclusion([*groups, *range(5, 13)])
    model = SpikeSlabClassifier(method="auto", inclusion=law, random_state=0)
    model.set_params(method="auto").fit(wide, y)
    assert model.method_ == "sample"
    assert model.posterior_.shapes is None  # the slab is Gaussian
    draws = model.posterior_.sample(50, random_state=0)
    together = draws[:, :3] != 0
    assert (together.all(axis=1) == together.any(axis=1)).all()
    assert model.score(wide, y) > 0.6


def test_more_sets_than_are_certified_are_all_fitted():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 8))
    y = X[:, 0] + rng.logistic(size=120) > 0
    law = GroupedInclusion([0, 0, 1, 2, 3, 4, 5, 6])
    model = SpikeSlabClassifier(method="enumerate", inclusion=law).fit(X, y)
    assert "all 128 sets of groups fitted" in model.selection_.rule
    assert model.certificate_.value < 0.01
