"""Iba's mean field in spins: his bound against enumeration, and his fixed points as the garrote's."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

import reference
from garrote.paths.annealed import fit_path
from garrote.problem import Problem
from garrote.solvers.control import Control
from garrote.solvers.garrote.spins import (
    best_noise,
    log_likelihood,
    log_partition,
    make_ising,
    mean_energy,
    soft_coefficients,
    solve_spins,
)


@pytest.fixture(scope="module")
def problem():
    X, y, _ = reference.sparse_regression(60, 8, 3, seed=2, correlation=0.4)
    return Problem.from_rows(X, y)


def _minus_residual(problem, a, included):
    v = a * included
    return -(problem.yty - 2 * v @ problem.xty + v @ problem.whole_gram() @ v)


def test_the_spins_energy_is_minus_the_squared_residual_of_the_submodel(problem):
    a = np.random.default_rng(0).standard_normal(8)
    ising = make_ising(problem, problem.whole_gram(), a)
    for spins in list(product([-1.0, 1.0], repeat=8))[::17]:
        s = np.array(spins)
        expected = _minus_residual(problem, a, (1 + s) / 2)
        assert mean_energy(ising, s) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("h", [0.5, 2.0, 4.0])
def test_the_mean_field_bounds_the_partition_function_for_fixed_coefficients(problem, h):
    found = solve_spins(problem, h)
    gram = problem.whole_gram()
    rng = np.random.default_rng(1)
    for a in (found.coefficients, 0.3 * rng.standard_normal(8)):
        ising, noise = make_ising(problem, gram, a), found.noise_variance
        exact = logsumexp(
            [
                _minus_residual(problem, a, (1 + np.array(s)) / 2) / (2 * noise) - h * sum(s)
                for s in product([-1.0, 1.0], repeat=8)
            ]
        )
        m = np.zeros(8)
        for _ in range(2000):  # Eq. 17 alone, a held
            field = (ising.couplings @ m + ising.fields) / (2 * noise) - h
            m = 0.8 * m + 0.2 * np.tanh(field)
        bound = log_partition(ising, m, noise, h)
        assert bound <= exact + 1e-9
        assert bound > exact - 2.0
        for _ in range(20):
            other = np.clip(m + 0.05 * rng.standard_normal(8), -1, 1)
            assert log_partition(ising, other, noise, h) <= bound + 1e-12
        assert log_likelihood(exact, 8, problem.n, noise, h) >= log_likelihood(
            bound, 8, problem.n, noise, h
        )


@pytest.mark.parametrize("noise", [None, 0.3])
def test_fixed_points_are_the_garrotes_at_gamma_minus_two_h(problem, noise):
    data = reference.centred(*reference.sparse_regression(60, 8, 3, seed=2, correlation=0.4)[:2])
    scale = problem.scale
    for h in (0.5, 1.0, 2.0, 3.0):
        found = solve_spins(problem, h, noise_variance=noise, tol=1e-12)
        a = found.coefficients * scale.response_scale / scale.column_scale
        precision = 1.0 / (found.noise_variance * scale.response_scale**2)
        off = reference.certificate(data, -2 * h, found.probability, a, precision)
        assert max(off[:2]) < 1e-6
        if noise is None:
            assert off[2] < 1e-6
    if noise is None:
        path = fit_path(
            problem, None, np.array([-10.0, -8.0, -6.0]), control=Control(1e-10, 10_000)
        )
        fit = path.forward[-1]
        start = -np.ones(8)
        start[fit.columns] = 2 * fit.probability - 1
        found = solve_spins(problem, 3.0, start, tol=1e-12)
        np.testing.assert_allclose(found.probability[fit.columns], fit.probability, atol=1e-7)
        np.testing.assert_allclose(found.coefficients[fit.columns], fit.weight, atol=1e-7)
        # His (22) has the prior's normaliser, which the free energy leaves out.
        assert found.log_likelihood == pytest.approx(
            -fit.free_energy - 8 * np.logaddexp(0.0, -6.0), abs=1e-7
        )


def test_the_marginal_likelihood_is_stationary_at_the_solution(problem):
    found = solve_spins(problem, 1.0, tol=1e-12)
    gram = problem.whole_gram()

    def value(m, a, noise):
        ising = make_ising(problem, gram, a)
        bound = log_partition(ising, m, noise, found.h)
        return log_likelihood(bound, 8, problem.n, noise, found.h)

    def slope(name, j=0, step=1e-5):
        point = {
            "m": found.magnetisation.copy(),
            "a": found.coefficients.copy(),
            "noise": np.array([found.noise_variance]),
        }
        ends = []
        for sign in (1, -1):
            moved = {key: values.copy() for key, values in point.items()}
            moved[name][j] += sign * step
            ends.append(value(moved["m"], moved["a"], float(moved["noise"][0])))
        return (ends[0] - ends[1]) / (2 * step)

    soft = np.flatnonzero(np.abs(found.magnetisation) < 0.999)
    assert len(soft) >= 3
    assert value(found.magnetisation, found.coefficients, found.noise_variance) == pytest.approx(
        found.log_likelihood
    )
    assert max(abs(slope("m", j)) for j in soft) < 1e-4
    assert max(abs(slope("a", j)) for j in range(8)) < 1e-4
    assert abs(slope("noise")) < 1e-3
    # What the slopes are small beside:
    moved = found.coefficients + 0.1
    assert value(found.magnetisation, moved, found.noise_variance) < found.log_likelihood - 1


def test_damping_does_not_change_the_solution_and_the_noise_is_the_best_one(problem):
    slow, quick = (solve_spins(problem, 2.0, damping=d, tol=1e-12) for d in (0.2, 0.9))
    np.testing.assert_allclose(slow.magnetisation, quick.magnetisation, atol=1e-8)
    assert slow.n_iter > quick.n_iter
    ising = make_ising(problem, problem.whole_gram(), slow.coefficients)
    best = best_noise(problem, ising, slow.magnetisation)
    assert slow.noise_variance == pytest.approx(best)
    for factor in (0.95, 1.05):
        bound = log_partition(ising, slow.magnetisation, factor * best, 2.0)
        assert log_likelihood(bound, 8, problem.n, factor * best, 2.0) < slow.log_likelihood


def test_soft_coefficients_are_least_squares_where_all_are_in_and_alone_where_none_is(problem):
    gram = problem.whole_gram()
    everyone = soft_coefficients(gram, problem.xty, np.ones(8))
    np.testing.assert_allclose(everyone, np.linalg.solve(gram, problem.xty))
    nobody = soft_coefficients(gram, problem.xty, -np.ones(8))
    np.testing.assert_allclose(nobody, problem.xty / np.diag(gram))


def test_bad_settings_are_refused(problem):
    with pytest.raises(ValueError, match="damping must be above 0"):
        solve_spins(problem, 1.0, damping=0.0)
    with pytest.raises(ValueError, match="start must be 8 magnetisations"):
        solve_spins(problem, 1.0, np.full(8, 2.0))
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[:, 1] = 1.0
    with pytest.raises(ValueError, match="drop constant ones"):
        solve_spins(Problem.from_rows(X, X[:, 0]), 1.0)
