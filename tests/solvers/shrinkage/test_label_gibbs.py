"""The Gibbs sampler of shrinkage priors for labels, against sums over grids and a plain sampler."""

import numpy as np
import pytest
from scipy.special import expit, log_expit

from garrote import Problem
from garrote.inference import Gibbs, infer
from garrote.likelihoods import Binomial
from garrote.priors import (
    FusedLaplacePrior,
    GroupLaplacePrior,
    HorseshoePrior,
    LaplacePrior,
    StudentPrior,
)
from garrote.scale_mixtures.laws import LaplaceLaw, StudentLaw
from garrote.solvers.labels.logistic_gibbs import LabelledRows
from garrote.solvers.shrinkage.label_gibbs import WIDEST, WeighedLabels
from reference_shrinkage import logistic_horseshoe

SCALE = 0.6


@pytest.fixture(scope="module")
def pair():
    """Two correlated columns in standard deviations, and labels."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((30, 2))
    X[:, 1] += 0.8 * X[:, 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (rng.random(30) < expit(0.9 * X[:, 0] - 0.4)).astype(float)


def on_grid(X, y, log_prior, weights=None, offset=None, scales=(SCALE,), typical=1.0):
    """Return means, deviations and chances of being positive of intercept and two coefficients."""
    weights = np.ones(len(y)) if weights is None else weights
    offset = np.zeros(len(y)) if offset is None else offset
    level, places = np.linspace(-3.5, 2.5, 25), np.linspace(-8.5, 8.5, 100)
    w = 0.002 * np.sinh(places)  # dense where small scales have their coefficients
    points = np.stack(np.meshgrid(level, w, w, indexing="ij"), axis=-1).reshape(-1, 3)
    log = np.log(np.hypot(points[:, 1:], 0.002)).sum(axis=1)  # how far apart they are
    for row, label, weight, known in zip(X, y, weights, offset, strict=True):
        eta = points[:, 0] + points[:, 1:] @ row + known
        log += weight * log_expit(eta if label else -eta)
    prior = np.full(len(points), -np.inf)
    for scale in scales:
        hyper = 0.0 if len(scales) == 1 else np.log(scale / (1 + (scale / typical) ** 2))
        prior = np.logaddexp(prior, log_prior(points[:, 1:] / scale) - 2 * np.log(scale) + hyper)
    log += prior - np.square(points[:, 1:] / WIDEST).sum(axis=1) / 2
    p = np.exp(log - log.max())
    p /= p.sum()
    mean = p @ points
    return mean, np.sqrt(p @ points**2 - mean**2), p @ (points > 0)


def assert_agrees(posterior, expected):
    """Means, deviations and signs, as close as the sampler's own errors allow."""
    mean, deviation, positive = expected
    error = 4 * posterior.accuracy.monte_carlo_error + 0.02 * deviation[1:]
    assert (np.abs(posterior.mean - mean[1:]) < error).all()
    np.testing.assert_allclose(np.sqrt(posterior.variance), deviation[1:], rtol=0.05)
    found = (posterior.law.draws > 0).mean(axis=0)
    np.testing.assert_allclose(found, positive[1:], atol=0.03)
    assert posterior.law.mean_intercept == pytest.approx(mean[0], abs=0.05 * deviation[0])
    assert posterior.law.intercept.std() == pytest.approx(deviation[0], rel=0.06)


LAWS = [
    (LaplacePrior, {}, lambda v: LaplaceLaw().log_density(v).sum(axis=-1)),
    (StudentPrior, {"degrees": 3.0}, lambda v: StudentLaw(3.0).log_density(v).sum(axis=-1)),
    (GroupLaplacePrior, {"groups": np.array([0, 0])}, lambda v: -np.linalg.norm(v, axis=-1)),
    (
        FusedLaplacePrior,
        {"l1_ratio": 0.3},
        lambda v: -0.3 * np.abs(v).sum(axis=-1) - 0.7 * np.abs(v[..., 1] - v[..., 0]),
    ),
]


@pytest.mark.parametrize(
    ("prior", "settings", "log_prior"), LAWS, ids=["Laplace", "Student", "group", "fused"]
)
def test_every_prior_gives_the_posterior_that_a_grid_sums(pair, prior, settings, log_prior):
    X, y = pair
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    found = infer(problem, prior(scale=SCALE, **settings), Gibbs(2000, 200), random_state=0)
    assert found.converged
    assert_agrees(found.posterior, on_grid(X, y, log_prior))


def test_weights_and_offsets_are_those_of_the_likelihood(pair):
    X, y = pair
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    offset = np.linspace(-1.0, 1.5, len(y))
    problem = Problem.from_rows(
        X, y, weights, likelihood=Binomial(), offset=offset, standardize=False, fit_intercept=True
    )
    found = infer(problem, LaplacePrior(scale=SCALE), Gibbs(2000, 200), random_state=0)
    center = np.average(X, axis=0, weights=weights)
    posterior = found.posterior
    expected = on_grid(X - center, y, LAWS[0][2], weights, offset)
    error = 4 * posterior.accuracy.monte_carlo_error + 0.02 * expected[1][1:]
    assert (np.abs(posterior.mean - expected[0][1:]) < error).all()
    np.testing.assert_allclose(np.sqrt(posterior.variance), expected[1][1:], rtol=0.05)


def test_an_unknown_scale_is_integrated_over(pair):
    X, y = pair
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    prior = LaplacePrior(typical_scale=0.5)
    found = infer(problem, prior, Gibbs(3000, 300), random_state=0)
    expected = on_grid(X, y, LAWS[0][2], scales=np.exp(np.linspace(-6, 4, 31)), typical=0.5)
    posterior = found.posterior
    error = 4 * posterior.accuracy.monte_carlo_error + 0.03 * expected[1][1:]
    assert (np.abs(posterior.mean - expected[0][1:]) < error).all()
    positive = (posterior.law.draws > 0).mean(axis=0)
    np.testing.assert_allclose(positive, expected[2][1:], atol=0.04)


@pytest.mark.parametrize(
    ("columns", "states"), [(5, 5000), pytest.param(60, 8000, marks=pytest.mark.slow)]
)
def test_the_horseshoe_is_that_of_a_plain_sampler(columns, states):
    """Auxiliary variables of Makalic & Schmidt (2016), one block at a time, in plain NumPy.

    With more columns than rows the classes are separated.
    """
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, columns))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (rng.random(50) < expit(2 * X[:, 0] - 1.5 * X[:, 3])).astype(float)
    problem = Problem.from_rows(X, y, likelihood=Binomial())
    found = infer(problem, HorseshoePrior(typical_scale=0.2), Gibbs(2000, 500), random_state=0)
    assert found.converged
    draws = logistic_horseshoe(X, y, 0.2, states, np.random.default_rng(0), WIDEST)
    off = np.abs(found.posterior.mean - draws.mean(axis=0)) / draws.std(axis=0)
    assert off.max() < 0.25
    positive = (found.posterior.law.draws > 0).mean(axis=0)
    np.testing.assert_allclose(positive, (draws > 0).mean(axis=0), atol=0.08)


def test_the_regression_of_labels_is_what_the_fixed_columns_leave():
    rng = np.random.default_rng(0)
    columns, fixed = rng.standard_normal((9, 12)), np.vstack([np.ones(12), rng.standard_normal(12)])
    labels, weights, offset = np.arange(12) % 2.0, rng.uniform(0.5, 2, 12), rng.standard_normal(12)
    held, omega = np.array([0.0, 0.01]), rng.uniform(0.05, 0.25, 12)
    form = WeighedLabels.of(LabelledRows(columns, fixed, held, labels, weights, offset), omega).form
    # The fixed columns integrated out under their precisions.
    inverse = np.linalg.inv((fixed * omega) @ fixed.T + np.diag(held))
    left = np.diag(omega) - (omega[:, None] * fixed.T) @ inverse @ (fixed * omega)
    z = weights * (labels - 0.5) / omega - offset
    expected = columns @ left @ columns.T + np.eye(9) / WIDEST**2
    np.testing.assert_allclose(form.gram, expected, atol=1e-12)
    np.testing.assert_allclose(form.xty, columns @ left @ z, atol=1e-12)
    assert form.yty == pytest.approx(z @ left @ z)
