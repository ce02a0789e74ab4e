"""The evidence of variances, its gradient, and the ways to its maxima, against plain formulas."""

import numpy as np
import pytest

import reference_relevance as plain
from garrote import Problem
from garrote.solvers.control import Control
from garrote.solvers.relevance.climbing import climb, em_step, fixed_point_step
from garrote.solvers.relevance.evidence import (
    Hyperpriors,
    gain_of_one,
    gradient,
    log_evidence,
    without_itself,
)
from garrote.solvers.relevance.given_variances import ByColumns, ByRows, regression_of
from garrote.solvers.relevance.labelled_rows import LabelledRows
from garrote.solvers.relevance.sequential import solve_sequentially


def centred(rows=30, columns=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    y = X[:, 0] - 0.6 * X[:, 1] + rng.standard_normal(rows)
    return X - X.mean(axis=0), y - y.mean()


def both(X, y):
    return ByRows(X, y), ByColumns(X.T @ X, X.T @ y, float(y @ y))


@pytest.mark.parametrize("shape", [(30, 6), (8, 20)])
@pytest.mark.parametrize("by_columns", [False, True])
def test_evidence_and_posterior_are_those_of_plain_matrices(shape, by_columns):
    X, y = centred(*shape)
    variance = np.random.default_rng(1).uniform(0.1, 2.0, shape[1])
    data, laws = both(X, y)[by_columns], Hyperpriors(0, 0, 0, 0, len(y))
    given = data.given(variance, 0.7)
    mean, covariance = plain.posterior(X, y, variance, 0.7)
    np.testing.assert_allclose(given.mean, mean, atol=1e-10)
    np.testing.assert_allclose(
        variance * given.strength, 1 - np.diag(covariance) / variance, atol=1e-10
    )
    expected = plain.log_evidence(X, y, variance, 0.7, len(y))
    assert log_evidence(given, variance, 0.7, laws) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("laws", [(0, 0, 0, 0), (0.3, 0.2, 0.5, 0.1)])
def test_gradient_is_that_of_finite_differences(laws):
    X, y = centred()
    data, laws = ByRows(X, y), Hyperpriors(*laws, 29.0)
    variance, noise, h = np.linspace(0.2, 2.0, 6), 0.8, 1e-5

    def value(shift, of_noise):
        t, s = variance * np.exp(shift), noise * np.exp(of_noise)
        return log_evidence(data.given(t, s), t, s, laws)

    by_variance, by_noise = gradient(data.given(variance, noise), variance, noise, laws)
    for j in range(6):
        step = h * (np.arange(6) == j)
        assert by_variance[j] == pytest.approx(
            (value(step, 0) - value(-step, 0)) / (2 * h), abs=1e-6
        )
    zero = np.zeros(6)
    assert by_noise == pytest.approx((value(zero, h) - value(zero, -h)) / (2 * h), abs=1e-6)


def test_gain_of_a_variable_is_the_best_over_a_grid_of_its_variance():
    X, y = centred(seed=3)
    data, laws = ByRows(X, y), Hyperpriors(0, 0, 0, 0, 29.0)
    variance = np.array([1.0, 0.5, 0.0, 0.3, 0.0, 0.0])
    given = data.given(variance, 0.9)
    gains = gain_of_one(*without_itself(given, variance))
    grid = np.concatenate([[0.0], np.geomspace(1e-5, 1e2, 801)])
    for j in range(6):
        values = []
        for t in grid:
            there = np.where(np.arange(6) == j, t, variance)
            values.append(log_evidence(data.given(there, 0.9), there, 0.9, laws))
        assert gains[j] == pytest.approx(max(values) - values[0], abs=1e-3)


def test_em_makes_the_steps_of_the_text_and_never_lowers_the_evidence():
    X, y = centred()
    start = np.full(6, 0.5), 0.5
    variance, noise, reached = plain.em(X, y, *start, 29.0, 40, 0.2, 0.1, 0.3, 0.4)
    data, laws = ByRows(X, y), Hyperpriors(0.2, 0.1, 0.3, 0.4, 29.0)
    t, s = start
    for _ in range(40):
        t, s = em_step(data.given(t, s), t, s, laws)
    np.testing.assert_allclose(t, variance, rtol=1e-9)
    assert s == pytest.approx(noise, rel=1e-9)
    *_, reached = plain.em(X, y, *start, 29.0, 200)
    assert (np.diff(reached) >= -1e-10).all()


@pytest.mark.parametrize("seed", range(4))
def test_all_ways_reach_a_level_evidence_and_agree_where_it_has_one_peak(seed):
    X, y = centred(60, 8, seed)
    problem = Problem.from_rows(X, y)
    laws = Hyperpriors(0, 0, 0, 0, 59.0)
    data = regression_of(problem, "em")
    ways = [
        solve_sequentially(problem, laws, 0.1, Control(1e-8))[0],
        climb(data, laws, (np.full(8, 0.1), 0.1), em_step, Control(1e-8, 100_000))[0],
        climb(data, laws, (np.full(8, 0.1), 0.1), fixed_point_step, Control(1e-8, 100_000))[0],
    ]
    for found in ways:
        given = data.given(found.variance, found.noise)
        slopes, of_noise = gradient(given, found.variance, found.noise, laws)
        assert np.abs(slopes[found.variance > 0]).max(initial=0.0) < 1e-6
        assert abs(of_noise) < 1e-5
        assert found.log_evidence == pytest.approx(ways[0].log_evidence, abs=1e-6)
        np.testing.assert_allclose(found.variance, ways[0].variance, atol=1e-5)


def test_noise_is_held_where_the_evidence_would_interpolate():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 120))
    y = X[:, 0] + rng.standard_normal(40)
    problem = Problem.from_rows(X, y)
    laws = Hyperpriors(0, 0, 0, 0, 39.0, None, problem.most_variables, problem.smallest_noise)
    found, _ = solve_sequentially(problem, laws, 0.1, Control(1e-6))
    assert found.cut
    given = regression_of(problem, "em").given(found.variance, found.noise)
    assert (found.variance * given.strength).sum() <= problem.most_variables
    assert found.noise > 1e-4


def test_labels_have_the_evidence_of_laplace_by_plain_newton():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((80, 4))
    y = (X[:, 0] + rng.logistic(size=80) > 0).astype(float)
    one, zero = np.ones((80, 1)), np.zeros(80)
    rows = LabelledRows(X, one, np.zeros(1), y, np.ones(80), zero)
    laws = Hyperpriors(0, 0, 0, 0, 79.0, 1.0)

    def both(variance):
        given = rows.given(variance, 1.0)
        expected, w = plain.laplace_evidence(X, y, variance)
        np.testing.assert_allclose(given.mean, w[1:], atol=1e-6)
        return log_evidence(given, variance, 1.0, laws) - expected

    first, second = both(np.array([1.0, 0.2, 0.5, 3.0])), both(np.array([0.1, 2.0, 0.5, 0.01]))
    assert first == pytest.approx(second, abs=1e-7)  # equal up to a constant
