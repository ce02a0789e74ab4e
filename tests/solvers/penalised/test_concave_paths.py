"""Penalties that are not convex: no worse an optimum than a plain warm-started path finds."""

import numpy as np
import pytest

from garrote import Problem, SparseRegressor, fit_path
from garrote.paths import FollowPath
from garrote.penalties import L0, MCP, SCAD, Bridge, LogSum
from reference import concave_cost, concave_path_by_shooting

SHAPES = {"MCP": (1.2, 1.5, 3.0, 10.0), "SCAD": (2.1, 2.5, 3.7, 10.0)}


def correlated_rows(seed, rows, columns):
    """Return columns of mean square 1, correlated in one of two ways, and a centred response."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(*rows)), int(rng.integers(*columns))
    rho, base = rng.choice([0.0, 0.3, 0.6, 0.8, 0.9, 0.95]), rng.standard_normal((n, d))
    X = np.sqrt(rho) * rng.standard_normal((n, 1)) + np.sqrt(1 - rho) * base
    if seed % 2:
        X = base.copy()
        for j in range(1, d):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * base[:, j]
    w = np.zeros(d)
    w[rng.choice(d, min(d, 5), replace=False)] = 2 * rng.standard_normal(min(d, 5))
    signal = X @ w
    y = signal + rng.choice([0.3, 1.0, 2.0]) * signal.std() * rng.standard_normal(n)
    return (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()


def penalty_of(name, shape):
    return MCP(shape) if name == "MCP" else SCAD(shape)


def objective(X, y, name, shape, strength, w):
    charged = sum(concave_cost(name, strength, shape, each) for each in w)
    return np.sum((y - X @ w) ** 2) / (2 * len(y)) + charged


def beside_the_plain_path(name, seeds, rows, columns, count):
    """Return our objectives as shares of those of a plain path, at every point of some problems."""
    shares = []
    for seed in seeds:
        X, y = correlated_rows(seed, rows, columns)
        shape = SHAPES[name][seed % 4]
        path = fit_path(Problem.from_rows(X, y), penalty_of(name, shape), count)
        plain = concave_path_by_shooting(X, y, name, shape, path.strengths)
        assert path.certificate.max() < 1e-8
        for fit, other in zip(path.fits, plain, strict=True):
            ours = np.bincount(fit.columns, fit.coef, X.shape[1])
            values = [objective(X, y, name, shape, fit.strength, w) for w in (ours, other)]
            shares.append(values[0] / values[1])
    return np.array(shares)


@pytest.mark.parametrize("name", SHAPES)
def test_no_point_is_worse_than_that_of_a_plain_warm_started_path(name):
    shares = beside_the_plain_path(name, range(10), (20, 40), (5, 16), 12)
    assert shares.max() <= 1.01
    assert (shares < 0.99).sum() > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_hardly_any_point_of_a_battery_is_worse_than_that_of_a_plain_path(name):
    shares = beside_the_plain_path(name, range(200, 260), (20, 101), (5, 51), 20)
    assert (shares > 1.01).mean() < 0.005
    assert (shares < 0.99).mean() > 0.1


@pytest.mark.parametrize("name", SHAPES)
def test_a_strength_alone_is_reached_from_the_dense_side_too(name):
    """The estimator has one alpha and what is above it; a whole path has also what is below."""
    for seed in range(4):
        X, y = correlated_rows(seed, (25, 40), (8, 16))
        penalty = penalty_of(name, SHAPES[name][seed % 4])
        path = fit_path(Problem.from_rows(X, y), penalty, 12)
        for k in (4, 8):
            if k >= len(path):
                continue
            strength = path.strengths[k]
            model = SparseRegressor(
                penalty, strength, method=FollowPath(alphas=path.strengths)
            ).fit(X, y)
            whole = np.bincount(path.fits[k].columns, path.fits[k].coef, X.shape[1])
            values = [
                objective(X, y, name, SHAPES[name][seed % 4], strength, w)
                for w in (model.coef_, whole)
            ]
            assert values[0] <= 1.05 * values[1]
            assert len(model.path_) == k + 1


@pytest.mark.parametrize("penalty", [MCP(1.5), SCAD(2.5), LogSum(0.1), Bridge(0.5), L0()])
def test_what_is_fitted_beyond_the_last_strength_is_no_part_of_the_answer(penalty):
    X, y = correlated_rows(3, (30, 40), (8, 12))
    path = fit_path(Problem.from_rows(X, y), penalty, 10)
    assert len(path) <= 10
    assert (np.diff(path.strengths) < 0).all()
    assert path.certificate.max() < 1e-8
