"""Columns of a regression as switches: against the objective itself, and all subsets."""

import numpy as np
import pytest

from garrote import Problem
from garrote.binary import maximise_binary, subset_programme
from garrote.datasets import make_sparse_regression
from reference_switches import settings


def some_problem(seed, **more):
    data = make_sparse_regression(40, 6, 3, correlation=0.6, random_state=seed)
    return data, Problem.from_rows(data.X, data.y, scale_response=False, **more)


def test_the_value_is_what_a_selection_takes_off_the_penalised_error():
    weights = np.random.default_rng(0).random(40)
    data, problem = some_problem(1, sample_weight=weights)
    coef = np.random.default_rng(1).standard_normal(6)
    programme = subset_programme(problem, coef, 0.07)
    X = (data.X - np.average(data.X, axis=0, weights=weights)) / problem.scale.column_scale
    y = data.y - np.average(data.y, weights=weights)
    scaled = weights * problem.n / weights.sum()
    for x in settings(6)[::5]:
        error = scaled @ (y**2 - (y - X @ (x * coef)) ** 2) / (2 * problem.n)
        assert programme.value(x) == pytest.approx(error - 0.07 * x.sum(), rel=1e-9, abs=1e-12)


def test_orthogonal_columns_make_the_programme_the_best_subset():
    rng = np.random.default_rng(2)
    Q = np.linalg.qr(rng.standard_normal((50, 8)))[0]
    xty = 3.0 * rng.standard_normal(8)
    problem = Problem.from_moments(50 * Q.T @ Q, xty, 60.0, 50, standardize=False)
    programme = subset_programme(problem, problem.xty / problem.curvature, 0.001)
    found = maximise_binary(programme.A, programme.b)
    assert found.certified
    gains = problem.xty**2 / problem.curvature / (2 * problem.n)
    assert np.array_equal(found.x, gains > 0.001)
    assert 0 < found.x.sum() < 8


def test_at_fixed_coefficients_the_mean_is_the_energy_of_the_mean_field():
    _, problem = some_problem(3)
    coef, theta = np.random.default_rng(4).standard_normal((2, 6))
    theta = 1.0 / (1.0 + np.exp(-theta))
    gram = problem.known_block(np.arange(6)) / problem.n
    programme = subset_programme(problem, coef, 0.1)
    spread = theta * (1 - theta) * coef**2 * np.diag(gram)
    soft = theta * coef
    expected = soft @ problem.xty / problem.n - 0.5 * (soft @ gram @ soft + spread.sum())
    assert programme.mean(theta) == pytest.approx(expected - 0.1 * theta.sum(), rel=1e-12)


def test_problems_that_are_no_quadratic_functions_are_refused():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 2))
    labels = Problem.from_rows(X, (X[:, 0] > 0).astype(float), likelihood="binomial")
    with pytest.raises(ValueError, match="family 'gaussian', not 'binomial'"):
        subset_programme(labels, np.zeros(2), 0.1)
    _, problem = some_problem(6)
    with pytest.raises(ValueError, match="coef must hold 6 finite numbers"):
        subset_programme(problem, np.zeros(5), 0.1)
    with pytest.raises(ValueError, match="price must be positive"):
        subset_programme(problem, np.zeros(6), 0.0)
