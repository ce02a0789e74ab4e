"""Moves of many variables at once: what they lead to is distributed as the posterior."""

import numpy as np
import pytest

from garrote import SpikeSlabRegressor
from garrote.priors import GaussianSlab, GPrior, TwoHumpedSlab
from garrote.priors.inclusion import Inclusion
from garrote.problem import Problem
from garrote.solvers.models.informed_sampler import InformedWalk
from garrote.solvers.models.model_chain import Target
from garrote.solvers.models.signed.signed_walk import SignedWalk


@pytest.fixture(scope="module")
def data():
    """Two columns that resemble each other with effects that oppose each other, and four others."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 6))
    X[:, 1] = 0.9 * X[:, 0] + np.sqrt(1 - 0.81) * X[:, 1]
    X[:, 5] = 0.6 * X[:, 4] + 0.8 * X[:, 5]
    y = 0.7 * X[:, 0] - 0.7 * X[:, 1] + 0.3 * X[:, 4] + rng.standard_normal(60)
    return X, y


@pytest.mark.parametrize(
    ("walk", "slab"),
    [
        (InformedWalk, GaussianSlab(0.5)),
        (InformedWalk, GPrior(60.0)),
        (SignedWalk, TwoHumpedSlab(0.5, separation=0.9)),
        (SignedWalk, TwoHumpedSlab(0.5, noise_variance=1.2, separation=0.5)),
    ],
    ids=str,
)
def test_moves_among_all_columns_keep_the_posterior(data, walk, slab):
    X, y = data
    exact = SpikeSlabRegressor(slab, "enumerate", inclusion=(1.0, 1.0)).fit(X, y)
    target = Target(
        Problem.from_rows(X, y), slab, Inclusion.beta(1.0, 1.0, np.zeros(6)), len(y) - 1.0
    )
    if slab.known_noise is not None:
        unit = target.problem.scale.response_scale
        target = Target(target.problem, slab.in_unit(unit), target.inclusion, target.n)
    moving = walk(target, np.random.default_rng(0))
    moving.begin([2, 3])
    moving._core._choose(np.arange(6), np.full(6, 0.5))
    place, inside = moving._place(), []
    for _ in range(6000):
        place = moving._core.moved(place, moving._empty, moving.rng)
        inside.append(np.isin(np.arange(6), place.members))
    inside = np.array(inside, float)
    p = exact.inclusion_probability_
    # Moves of 24 steps each leave little of where they began: errors are those of one draw in three.
    error = np.sqrt(p * (1 - p) / 2000)
    assert (np.abs(inside.mean(axis=0) - p) <= 4 * error + 1e-3).all()
    both = (inside[:, 0] * inside[:, 1]).mean()
    models = exact.posterior_.models(64)
    together = sum(
        probability
        for names, probability in zip(
            models.columns["model"], models.columns["probability"], strict=True
        )
        if {"x0", "x1"} <= set(names.split(" + "))
    )
    assert both == pytest.approx(together, abs=4 * np.sqrt(0.25 / 2000))


def test_pairs_that_hide_each_other_belong_to_the_core():
    """Neither of two opposed neighbours is likely alone, and a chain from nothing finds both."""
    rng = np.random.default_rng(1)
    X = np.zeros((200, 60))
    X[:, 0] = rng.standard_normal(200)
    for j in range(1, 60):
        X[:, j] = 0.95 * X[:, j - 1] + np.sqrt(1 - 0.95**2) * rng.standard_normal(200)
    y = 2.0 * (X[:, 30] - X[:, 31]) + rng.standard_normal(200)
    target = Target(
        Problem.from_rows(X, y), GaussianSlab(1.0), Inclusion.beta(1.0, 60.0, np.zeros(60)), 199.0
    )
    walk = InformedWalk(target, np.random.default_rng(0))
    walk.begin([])
    walk.score()
    for _ in range(5):
        walk._core.learn(np.zeros(60), walk.factor, walk.partners)
    assert {30, 31} <= set(walk._core._columns.tolist())
