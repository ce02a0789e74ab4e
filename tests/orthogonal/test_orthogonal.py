"""The scalar theory of the variational garrote, against brute force and independent formulas."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit, logit

from garrote.orthogonal import (
    best_univariate_solution,
    breiman_garrote_curve,
    critical_point,
    even_odds_line,
    exact_subset,
    lasso_curve,
    orthogonal_solution,
    ridge_curve,
    transition_lines,
    univariate_free_energy,
    univariate_solutions,
    variational_garrote_curve,
)

RHO_SHARE = st.floats(0, 0.999)  # of 1 - explained
EXPLAINED = st.floats(0, 0.95)
N_SAMPLES = st.floats(1, 3000)


def log_odds_residual(log_odds, rho, gamma, n_samples, explained):
    """Left minus right side of Eq. 15, in the log odds of m."""
    noise = (1 - explained - rho) + rho * expit(-log_odds)
    return log_odds - gamma - n_samples / 2 * rho / noise


def slope_of_f(log_odds, rho, n_samples, explained):
    """f'(m) for Eq. 15 as m = f(m), at a solution."""
    noise = (1 - explained - rho) + rho * expit(-log_odds)
    return expit(log_odds) * expit(-log_odds) * n_samples / 2 * (rho / noise) ** 2


def orthogonal_moments(seed, n_features, noiseless=False):
    """Return b and the response's variance of some orthonormal regression."""
    rng = np.random.default_rng(seed)
    b = rng.normal(size=n_features) * rng.choice([0.05, 0.3, 1.0], size=n_features)
    return b, float(b @ b) + (0.0 if noiseless else rng.uniform(0.05, 2.0))


# --- univariate solutions


@given(RHO_SHARE, st.floats(-300, 30), N_SAMPLES, EXPLAINED)
def test_all_roots_of_a_fine_grid_are_found_and_no_others(share, gamma, n_samples, explained):
    rho = share * (1 - explained)
    lines = np.array(transition_lines(rho, n_samples, explained))
    assume(np.all(np.isnan(lines) | (np.abs(lines - gamma) > 1e-3)))  # resolvable by the grid
    largest_signal = n_samples / 2 * rho / (1 - explained - rho)
    # Beyond |log odds| = 45 the noise is constant to rounding: one step each way catches the rest.
    grid = np.linspace(-45, 45, 60_001)
    grid = np.unique(np.concatenate([[gamma - 1], grid, [gamma + largest_signal + 1]]))
    positive = log_odds_residual(grid, rho, gamma, n_samples, explained) > 0
    crossing = np.flatnonzero(positive[1:] != positive[:-1])

    solutions = univariate_solutions(rho, gamma, n_samples, explained)

    assert solutions.log_odds.size == crossing.size
    slack = 1e-9 * (1 + np.abs(solutions.log_odds))
    assert np.all(grid[crossing] - slack <= solutions.log_odds)
    assert np.all(solutions.log_odds <= grid[crossing + 1] + slack)


@given(
    st.one_of(st.floats(0, 1), st.floats(0, 20).map(lambda x: 1 - 10.0**-x)),
    st.one_of(st.floats(-100, 10), st.floats(0, 7).map(lambda x: -(10.0**x))),
    st.floats(-1, 8).map(lambda x: 10.0**x),
    EXPLAINED,
)
def test_solutions_hold_also_for_extreme_parameters(share, gamma, n_samples, explained):
    rho = share * (1 - explained)
    assume(rho < 1 - explained)
    solutions = univariate_solutions(rho, gamma, n_samples, explained)
    t = solutions.log_odds

    assert t.size in (1, 3)
    assert np.all(np.diff(t) >= 0)
    np.testing.assert_array_equal(solutions.probability, expit(t))
    slope = slope_of_f(t, rho, n_samples, explained)
    residual = log_odds_residual(t, rho, gamma, n_samples, explained)
    scale = np.abs(gamma) + np.abs(t) + np.abs(t - gamma) * (1 + explained / (1 - explained - rho))
    assert np.all(np.abs(residual) <= 1e-13 * (1 + scale) * (1 + slope))


@given(RHO_SHARE, st.floats(-300, 30), N_SAMPLES, EXPLAINED)
def test_stability_is_the_slope_of_the_fixed_point_map(share, gamma, n_samples, explained):
    rho = share * (1 - explained)
    solutions = univariate_solutions(rho, gamma, n_samples, explained)
    slope = slope_of_f(solutions.log_odds, rho, n_samples, explained)
    clear = np.abs(slope - 1) > 1e-6
    np.testing.assert_array_equal(solutions.stable[clear], slope[clear] < 1)
    assert solutions.stable.tolist() in ([True], [True, False, True])


def test_without_correlation_the_prior_is_the_answer():
    solutions = univariate_solutions(0.0, -3.0, 50)
    np.testing.assert_allclose(solutions.log_odds, [-3.0])


def test_stable_solutions_attract_and_the_unstable_one_repels():
    rho, gamma, n_samples = 0.5, -35.0, 100
    low, middle, high = univariate_solutions(rho, gamma, n_samples).probability
    for m, goal in [(middle - 1e-3, low), (middle + 1e-3, high), (0.0, low), (1.0, high)]:
        for _ in range(200):
            m = expit(gamma + n_samples / 2 * rho / (1 - rho * m))
        assert m == pytest.approx(goal, abs=1e-12)


# --- free energy


def full_free_energy(m, w, beta, b, variance, gamma, n_samples):
    """Eq. 7 as printed, for one feature with unit variance."""
    likelihood = m**2 * w**2 + m * (1 - m) * w**2 - 2 * m * w * b + variance
    entropy = m * np.log(m) + (1 - m) * np.log(1 - m)
    noise_term = -n_samples / 2 * np.log(beta / (2 * np.pi))
    return beta * n_samples / 2 * likelihood - gamma * m + entropy + noise_term


def test_free_energy_is_equation_7_with_weight_and_noise_at_their_optima():
    b, variance, gamma, n_samples = 0.7, 1.3, -12.0, 80
    rho = b**2 / variance
    m = np.linspace(0.01, 0.99, 25)
    beta = 1 / (variance * (1 - rho * m))
    optimum = full_free_energy(m, b, beta, b, variance, gamma, n_samples)

    difference = optimum - univariate_free_energy(m, rho, gamma, n_samples)
    np.testing.assert_allclose(difference, difference[0], rtol=1e-13)
    for dw, factor in product([-1e-3, 0, 1e-3], [0.99, 1, 1.01]):
        nearby = full_free_energy(m, b + dw, beta * factor, b, variance, gamma, n_samples)
        assert np.all(nearby >= optimum)


@given(st.floats(0.01, 0.95), st.floats(-60, 5), st.floats(2, 500), st.floats(0, 0.9))
def test_solutions_are_the_stationary_points_of_the_free_energy(share, gamma, n_samples, explained):
    rho = share * (1 - explained)
    solutions = univariate_solutions(rho, gamma, n_samples, explained)
    for m, stable in zip(solutions.probability, solutions.stable, strict=True):
        if not 1e-3 < m < 1 - 1e-3:
            continue  # finite differences of the entropy need room
        step = 1e-4 * m * (1 - m)
        left, centre, right = univariate_free_energy(
            m + step * np.array([-1, 0, 1]), rho, gamma, n_samples, explained
        )
        curvature = 1 / (m * (1 - m)) - n_samples / 2 * (rho / (1 - explained - rho * m)) ** 2
        size = n_samples / (1 - share) ** 3 + 1 / (m * (1 - m))
        assert abs(right - left) / (2 * step) < 1e-3 * size
        if abs(curvature) * step**2 > 1e-9:
            assert ((left + right) / 2 > centre) == stable


@given(st.floats(0.25, 0.95), st.floats(0, 1), st.floats(20, 500))
def test_best_solution_has_the_lowest_free_energy_of_a_grid(rho, position, n_samples):
    upper, lower = transition_lines(rho, n_samples)
    assume(upper - lower > 1e-3)
    gamma = float(lower + position * (upper - lower))
    grid = expit(np.linspace(-45, 36, 4001))
    best = univariate_free_energy(
        best_univariate_solution(rho, gamma, n_samples), rho, gamma, n_samples
    )
    assert best <= univariate_free_energy(grid, rho, gamma, n_samples).min() + 1e-9 * n_samples


# --- phase plot


def test_critical_point_for_100_samples():
    rho, gamma = critical_point(100)
    assert rho == pytest.approx(4 / 100 * (np.sqrt(51) - 1), rel=1e-14)  # Eq. 18
    # The text's Fig. 1 prints 0.28: that is its approximation for many samples, not Eq. 18.
    assert round(rho, 3) == 0.246
    assert round(2 * np.sqrt(2 / 100), 2) == 0.28
    assert gamma == pytest.approx(-np.sqrt(200), rel=0.02)


@pytest.mark.parametrize("n_samples", [1, 10, 100, 10_000])
@pytest.mark.parametrize("explained", [0.0, 0.4, 0.9])
def test_critical_point_is_where_the_roots_of_equation_17_meet(n_samples, explained):
    rho, gamma = critical_point(n_samples, explained)
    a = (1 + n_samples / 2) * rho**2
    b = 2 * rho * (1 - explained) + n_samples / 2 * rho**2
    assert b**2 - 4 * a * (1 - explained) ** 2 == pytest.approx(0, abs=1e-12 * b**2)
    m = b / (2 * a)
    assert gamma == pytest.approx(logit(m) - n_samples / 2 * rho / (1 - explained - rho * m))
    # Unlike the printed Eq. 20, gamma* does not depend on the explained variance.
    assert gamma == critical_point(n_samples)[1]


def test_large_sample_approximations_of_the_critical_point():
    for n_samples in (1e4, 1e6):
        rho, gamma = critical_point(n_samples, explained=0.3)
        assert rho == pytest.approx(0.7 * 2 * np.sqrt(2 / n_samples), rel=3 / np.sqrt(n_samples))
        assert gamma == pytest.approx(-np.sqrt(2 * n_samples), rel=1 / n_samples)


@given(st.floats(0.001, 0.999), N_SAMPLES, EXPLAINED, st.floats(0.01, 0.99), st.floats(1e-6, 50))
def test_three_solutions_strictly_between_the_lines_and_one_outside(
    position, n_samples, explained, inside, outside
):
    critical_rho, _ = critical_point(n_samples, explained)
    rho = critical_rho + position * (1 - explained - critical_rho)
    gamma_1, gamma_2 = transition_lines(rho, n_samples, explained)
    assert gamma_2 <= gamma_1

    def count(gamma):
        return univariate_solutions(rho, gamma, n_samples, explained).probability.size

    if gamma_1 - gamma_2 > 1e-9 * abs(gamma_1):
        assert count(gamma_2 + inside * (gamma_1 - gamma_2)) == 3
    assert count(gamma_1 + outside) == 1
    assert count(gamma_2 - outside) == 1


@pytest.mark.parametrize("explained", [0.0, 0.4])
def test_one_half_solves_the_equation_on_the_line_of_even_odds(explained):
    for rho in (1 - explained) * np.linspace(0.01, 0.9, 10):
        gamma = float(even_odds_line(rho, 50, explained))
        found = univariate_solutions(rho, gamma, 50, explained).probability
        assert np.abs(found - 0.5).min() < 1e-9


def test_lines_start_at_the_critical_point_and_fall_with_rho():
    for explained in (0.0, 0.5):
        rho_star, gamma_star = critical_point(100, explained)
        rho = np.linspace(rho_star, 0.999 * (1 - explained), 500)
        gamma_1, gamma_2 = transition_lines(rho, 100, explained)
        np.testing.assert_allclose([gamma_1[1], gamma_2[1]], gamma_star, rtol=0.05)
        assert np.all(np.diff(gamma_1[1:]) < 0)
        assert np.all(np.diff(gamma_2[1:]) < 0)
        below = transition_lines(rho_star * np.array([0, 0.5, 0.999]), 100, explained)
        assert np.all(np.isnan(below))


@pytest.mark.parametrize("explained", [0.0, 0.3])
def test_sparse_branch_ends_at_gamma_1_and_dense_branch_at_gamma_2(explained):
    rho, n_samples = 0.5, 100
    gamma_1, gamma_2 = transition_lines(rho, n_samples, explained)

    def follow(gammas, m):
        for gamma in gammas:
            previous = m
            for _ in range(20_000):
                m, old = expit(gamma + n_samples / 2 * rho / (1 - explained - rho * m)), m
                if abs(m - old) < 1e-13:
                    break
            if abs(m - previous) > 0.4:
                return gamma
        raise AssertionError("no jump")

    upward = np.arange(gamma_2 - 5, gamma_1 + 5, 0.05)
    assert follow(upward, 0.0) == pytest.approx(gamma_1, abs=0.06)
    assert follow(upward[::-1], 1.0) == pytest.approx(gamma_2, abs=0.06)


@given(st.floats(0, 0.999), N_SAMPLES, st.floats(0, 100), st.floats(-200, 0))
def test_solution_is_unique_above_gamma_star_or_below_rho_star(rho, n_samples, above, gamma):
    rho_star, gamma_star = critical_point(n_samples)
    assert univariate_solutions(rho, gamma_star + above, n_samples).stable.tolist() == [True]
    assert univariate_solutions(rho * rho_star, gamma, n_samples).stable.tolist() == [True]


# --- exact subsets


def log_posterior(support, b, variance, gamma, n_samples):
    noise = variance - np.sum(b[support] ** 2)
    return gamma * np.sum(support) - n_samples / 2 * np.log(noise)


def maximiser_by_enumeration(b, variance, gamma, n_samples):
    subsets = [np.array(s, dtype=bool) for s in product([False, True], repeat=b.size)]
    return max(subsets, key=lambda s: log_posterior(s, b, variance, gamma, n_samples))


@given(st.integers(0, 10_000), st.integers(1, 8), st.floats(-60, 3), st.integers(5, 200))
def test_maximum_subset_is_the_best_of_all_subsets(seed, n_features, gamma, n_samples):
    b, variance = orthogonal_moments(seed, n_features)
    support, noise = exact_subset(b, variance, gamma, n_samples, rule="maximum")
    best = maximiser_by_enumeration(b, variance, gamma, n_samples)
    arguments = b, variance, gamma, n_samples
    assert log_posterior(support, *arguments) == pytest.approx(log_posterior(best, *arguments))
    assert noise == pytest.approx(variance - np.sum(b[support] ** 2))


@given(st.integers(0, 10_000), st.integers(1, 8), st.floats(-60, 3), st.integers(5, 200))
def test_stationary_subset_keeps_its_promises(seed, n_features, gamma, n_samples):
    b, variance = orthogonal_moments(seed, n_features)
    support, noise = exact_subset(b, variance, gamma, n_samples)
    assert noise == pytest.approx(variance - np.sum(b[support] ** 2))
    # Eq. 14 holds for every feature at the final noise,
    margin = n_samples * b**2 / (2 * noise) + gamma
    assert np.all(margin[support] >= -1e-9)
    assert np.all(margin[~support] < 1e-9)
    # the posterior rises with each feature taken,
    chosen = np.zeros_like(support)
    order = np.argsort(-np.abs(b))
    levels = [log_posterior(chosen, b, variance, gamma, n_samples)]
    for feature in order[: support.sum()]:
        chosen[feature] = True
        levels.append(log_posterior(chosen, b, variance, gamma, n_samples))
    assert np.all(np.diff(levels) > -1e-9)
    # and the subset lies within the maximiser.
    maximiser, _ = exact_subset(b, variance, gamma, n_samples, rule="maximum")
    assert np.all(support <= maximiser)


def test_equation_14_is_not_the_maximum_of_the_posterior():
    """The text's exact transition -N rho / 2 ends the stability of s = 0; s = 1 wins before."""
    b, variance, n_samples = np.array([np.sqrt(0.5)]), 1.0, 100
    gamma = -30.0  # -N rho / 2 = -25 and N log(1 - rho) / 2 = -34.7
    assert not exact_subset(b, variance, gamma, n_samples)[0][0]
    assert maximiser_by_enumeration(b, variance, gamma, n_samples)[0]
    # The variational garrote's best solution sides with the maximum.
    assert best_univariate_solution(0.5, gamma, n_samples) > 0.99


@given(st.floats(0.001, 0.99), st.floats(0.1, 60), st.booleans())
def test_best_variational_solution_agrees_with_the_maximum_subset(rho, distance, above):
    gamma = 50 * np.log1p(-rho) + (distance if above else -distance)
    maximiser, _ = exact_subset([np.sqrt(rho)], 1.0, gamma, 100, rule="maximum")
    assert (best_univariate_solution(rho, gamma, 100) > 0.5) == maximiser[0]


@pytest.mark.parametrize("rule", ["stationary", "maximum"])
def test_noiseless_response_takes_the_explaining_features_only(rule):
    b = np.array([0.0, 3.0, -4.0, 0.0])
    support, noise = exact_subset(b, 25.0, -5.0, 50, rule=rule)
    assert support.tolist() == [False, True, True, False]
    assert noise == 0


@pytest.mark.parametrize("rule", ["stationary", "maximum"])
def test_subsets_may_be_empty_or_everything(rule):
    b = np.array([0.1, -0.2, 0.15])
    assert not exact_subset(b, 1.0, -1e3, 50, rule=rule)[0].any()
    support, noise = exact_subset(b, 1.0, 5.0, 50, rule=rule)
    assert support.all()
    assert noise == pytest.approx(1 - b @ b)
    assert exact_subset([], 1.0, -1.0, 50, rule=rule)[0].shape == (0,)


# --- the multivariate orthogonal solution


@given(
    st.integers(0, 10_000), st.integers(1, 12), st.floats(-60, 3), st.sampled_from([10, 100, 2000])
)
def test_orthogonal_solution_satisfies_equations_8_and_10(seed, n_features, gamma, n_samples):
    b, variance = orthogonal_moments(seed, n_features)
    sparse = orthogonal_solution(b, variance, gamma, n_samples, start="sparse")
    dense = orthogonal_solution(b, variance, gamma, n_samples, start="dense")
    for solution in (sparse, dense):
        m, noise = solution.probability, solution.noise_variance
        np.testing.assert_allclose(m, expit(gamma + n_samples * b**2 / (2 * noise)), rtol=1e-12)
        assert noise == pytest.approx(variance - np.sum(b**2 * m), rel=1e-7)
        assert solution.violation < 1e-7
    assert sparse.noise_variance >= dense.noise_variance * (1 - 1e-12)
    assert np.all(sparse.probability <= dense.probability + 1e-12)


@given(st.floats(0, 0.99), st.floats(-200, 10), st.sampled_from([10, 100, 1000]))
def test_one_feature_gives_the_ends_of_the_univariate_solutions(rho, gamma, n_samples):
    lines = np.array(transition_lines(rho, n_samples))
    assume(np.all(np.isnan(lines) | (np.abs(lines - gamma) > 0.01)))
    assume(abs(rho - critical_point(n_samples)[0]) > 1e-3)
    expected = univariate_solutions(rho, gamma, n_samples).probability
    b = [-np.sqrt(3 * rho)]
    sparse = orthogonal_solution(b, 3.0, gamma, n_samples, start="sparse")
    dense = orthogonal_solution(b, 3.0, gamma, n_samples, start="dense")
    np.testing.assert_allclose(sparse.probability[0], expected[0], rtol=1e-6)
    np.testing.assert_allclose(dense.probability[0], expected[-1], rtol=1e-6)


@pytest.mark.parametrize("start", ["sparse", "dense"])
def test_each_feature_solves_the_univariate_equation_given_the_others(start):
    b, variance = orthogonal_moments(3, 6)
    m = orthogonal_solution(b, variance, -8.0, 60, start=start).probability
    share = b**2 * m / variance
    for j in range(b.size):
        solutions = univariate_solutions(
            b[j] ** 2 / variance, -8.0, 60, explained=share.sum() - share[j]
        )
        assert np.min(np.abs(solutions.probability - m[j])) < 1e-9


@pytest.mark.parametrize("start", ["sparse", "dense"])
def test_orthonormal_columns_satisfy_equation_9_with_the_least_squares_weights(start):
    rng = np.random.default_rng(0)
    n_samples, n_features = 40, 5
    basis = np.linalg.qr(rng.normal(size=(n_samples, n_features)))[0] * np.sqrt(n_samples)
    y = basis @ [1.0, -0.5, 0.1, 0, 0] + rng.normal(size=n_samples)
    b, variance = basis.T @ y / n_samples, y @ y / n_samples
    m = orthogonal_solution(b, variance, -4.0, n_samples, start=start).probability
    chi = basis.T @ basis / n_samples
    system = chi * m + np.diag((1 - m) * np.diag(chi))
    np.testing.assert_allclose(np.linalg.solve(system, b), b, rtol=1e-10)


def test_dense_start_without_noise_is_the_interpolating_branch():
    b, variance = orthogonal_moments(1, 4, noiseless=True)
    dense = orthogonal_solution(np.append(b, 0.0), variance, -20.0, 30, start="dense")
    assert dense.noise_variance == pytest.approx(0, abs=1e-12 * variance)
    np.testing.assert_allclose(dense.probability, [1, 1, 1, 1, expit(-20.0)])
    sparse = orthogonal_solution(b, variance, -200.0, 30, start="sparse")
    assert sparse.noise_variance == pytest.approx(variance)


# --- shrinkage curves


def test_curves_of_figure_2():
    w = np.array([0.0, 0.2, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(ridge_curve(w), [0, 0.1, 0.25, 0.5, 1])
    np.testing.assert_allclose(lasso_curve(w), [0, 0, 0, 0.5, 1.5])
    np.testing.assert_allclose(breiman_garrote_curve(w), [0, 0, 0, 0.75, 1.875])
    garrote = variational_garrote_curve(w)
    np.testing.assert_allclose(garrote[[0, 1]], 0, atol=1e-3)
    np.testing.assert_allclose(garrote[[3, 4]], w[[3, 4]], rtol=1e-6)
    # Half-way at rho = 2 / 11, where m = 1/2 solves Eq. 15 for gamma = -10 and N = 100.
    half = np.sqrt(2 / 9)
    assert variational_garrote_curve(half) == pytest.approx(half / 2)
    fixed = variational_garrote_curve(np.sqrt(2 / 11), response_variance=1.0)
    assert fixed == pytest.approx(np.sqrt(2 / 11) / 2)


@pytest.mark.parametrize(
    "curve", [ridge_curve, lasso_curve, breiman_garrote_curve, variational_garrote_curve]
)
def test_curves_are_odd_increasing_shrink_and_keep_shapes(curve):
    w = np.linspace(-3, 3, 121)
    value = curve(w)
    np.testing.assert_array_equal(curve(-w), -value)
    assert np.all(np.diff(value) >= 0)
    assert np.all(np.abs(value) <= np.abs(w))
    assert curve(w.reshape(11, 11)).shape == (11, 11)
    assert np.shape(curve(0.3)) == ()


def test_branches_of_the_garrote_curve_enclose_the_best():
    w = np.linspace(0, 2, 41)
    sparse, best, dense = (
        variational_garrote_curve(w, gamma=-40, branch=branch)
        for branch in ("sparse", "best", "dense")
    )
    assert np.all((sparse <= best) & (best <= dense))
    assert np.any(sparse < best)
    assert np.any(best < dense)


# --- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: univariate_solutions(1.0, -1, 10), r"rho must be in \[0, 1 - explained\)"),
        (lambda: univariate_solutions(-0.1, -1, 10), "got -0.1"),
        (lambda: univariate_solutions(0.5, -1, 10, explained=0.5), "got 0.5"),
        (lambda: univariate_solutions(np.nan, -1, 10), "got nan"),
        (lambda: univariate_solutions(0.5, np.nan, 10), "gamma must be finite, got nan"),
        (lambda: univariate_solutions(0.5, -1, 0), "n_samples must be > 0 and finite, got 0"),
        (lambda: univariate_free_energy(1.5, 0.5, -1, 10), r"m must be in \[0, 1\], got 1.5"),
        (lambda: critical_point(10, explained=1), r"explained must be in \[0, 1\), got 1"),
        (lambda: exact_subset([1.0, 1.0], 1.5, -1, 10), "the sum of b.2 is 2.0, more than"),
        (lambda: exact_subset([[1.0]], 1.5, -1, 10), "b must be finite and one-dimensional"),
        (lambda: exact_subset([1.0], 1.5, -1, 10, rule="best"), "rule must be .* got 'best'"),
        (lambda: orthogonal_solution([1.0], 0, -1, 10), "response_variance must be > 0"),
        (lambda: orthogonal_solution([1.0], 2, -1, 10, start="x"), "start must be .* got 'x'"),
        (lambda: variational_garrote_curve(0.5, branch="x"), "branch must be .* got 'x'"),
        (lambda: variational_garrote_curve(1.0, response_variance=1.0), "rho must be in"),
    ],
)
def test_impossible_parameters_are_refused_with_the_value_given(call, message):
    with pytest.raises(ValueError, match=message):
        call()
