"""Averages above a function: estimates, what Variational Optimization proves of them, bad input."""

import numpy as np
import pytest
from scipy.stats import norm

from garrote.smoothing import BernoulliBound, GaussianBound
from garrote.smoothing.objective import Objective
from garrote.solvers.smoothing.kinks import (
    KINKS,
    absolute_curvature,
    absolute_slope,
    absolute_value,
)

AVERAGE = KINKS["gaussian"]


def at(bound, mu, sigma, stream=1, times=1):
    mu = np.asarray(mu, dtype=float)
    objective = Objective(bound.f, bound.derivative, bound.batched, mu)
    return bound.at(objective, mu, np.broadcast_to(float(sigma), mu.shape), stream, times)


def switches_at(bound, theta, stream=1, times=1):
    theta = np.asarray(theta, dtype=float)
    return bound.at(Objective(bound.f, None, bound.batched, theta), theta, stream, times)


def lengths(x):
    return np.abs(x).sum(axis=1)


@pytest.mark.parametrize("derivative", [None, np.sign])
def test_estimates_are_the_average_within_their_errors(derivative):
    mu, sigma = np.array([0.3, -1.0, 0.0, 2.0]), 0.7
    found = at(GaussianBound(lengths, derivative=derivative, draws=20_000), mu, sigma)
    value, slope = absolute_value(AVERAGE, mu, sigma).sum(), absolute_slope(AVERAGE, mu, sigma)
    assert abs(found.value - value) <= 4 * found.value_error
    assert (np.abs(found.gradient - slope) <= 4 * found.gradient_error + 1e-12).all()
    np.testing.assert_allclose(found.curvature, absolute_curvature(AVERAGE, mu, sigma), atol=0.1)
    assert 0 < found.value_error < 0.02


def test_stated_errors_are_those_of_repeats():
    bound = GaussianBound(lengths, draws=200)
    found = [at(bound, [0.3, -1.0, 0.0], 0.7, stream) for stream in range(400)]
    gradients = np.array([one.gradient for one in found])
    stated = np.array([one.gradient_error for one in found])
    np.testing.assert_allclose(gradients.std(axis=0), stated.mean(axis=0), rtol=0.2)
    truth = absolute_slope(AVERAGE, np.array([0.3, -1.0, 0.0]), 0.7)
    np.testing.assert_allclose(gradients.mean(axis=0), truth, atol=4 * stated.mean() / 20)


def test_what_is_linear_or_a_sum_of_squares_is_known_exactly():
    mu, sigma = np.array([1.0, -2.0, 0.5]), 0.8
    found = at(GaussianBound(lambda x: (x**2) @ [1.0, 2.0, 3.0] + x @ [5.0, 0.0, -1.0]), mu, sigma)
    assert found.value == pytest.approx(mu**2 @ [1, 2, 3] + mu @ [5, 0, -1] + 6 * sigma**2)
    np.testing.assert_allclose(found.gradient, [2 + 5, -8, 3 - 1], rtol=1e-10)
    np.testing.assert_allclose(found.curvature, [2, 4, 6], rtol=1e-10)
    assert found.gradient_error.max() < 1e-10


def test_the_step_function_of_section_1_1_has_the_printed_slope():
    bound = GaussianBound(lambda x: (x[:, 0] >= 0) * 1.0, draws=40_000)
    for theta in (-1.0, 0.0, 0.7):
        found = at(bound, [theta], 1.0)
        printed = np.exp(-(theta**2) / 2) / np.sqrt(2 * np.pi)
        assert abs(found.gradient[0] - printed) <= 4 * found.gradient_error[0]
        assert found.value == pytest.approx(norm.cdf(theta), abs=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_the_average_of_a_convex_function_is_convex_in_mean_and_width_together(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((7, 3))
    bound = GaussianBound(lambda x: np.abs(x @ A.T).max(axis=1), draws=200)
    objective = Objective(bound.f, None, True, np.zeros(3))

    def value(mu, sigma):
        # The mean over common draws is convex as each of them is; the control variate is left out.
        normal = np.random.default_rng(0).standard_normal((50, 3))
        return np.mean(objective.values(mu + sigma * normal))

    one, other = [(rng.standard_normal(3), rng.uniform(0.1, 2.0, 3)) for _ in range(2)]
    for share in (0.2, 0.5, 0.9):
        mixed = [share * a + (1 - share) * b for a, b in zip(one, other, strict=True)]
        assert value(*mixed) <= share * value(*one) + (1 - share) * value(*other) + 1e-12


def test_common_random_numbers_make_the_average_a_function_of_the_mean():
    bound = GaussianBound(lengths)
    first, again, other = (at(bound, [1.0, 2.0], 0.5, stream) for stream in (3, 3, 4))
    assert first.value == again.value
    np.testing.assert_array_equal(first.gradient, again.gradient)
    assert first.value != other.value


def cut(x):
    """A function of switches with products."""
    weights = np.arange(1.0, 1.0 + x.shape[1])
    return -np.abs(np.diff(x, axis=1)) @ weights[1:] + x @ np.cos(weights)


def test_slopes_of_switches_are_differences_of_averages():
    theta = np.array([0.2, 0.9, 0.5, 0.7])
    exact = switches_at(BernoulliBound(cut), theta)
    for j in range(4):
        ends = [
            switches_at(BernoulliBound(cut), np.where(np.arange(4) == j, e, theta)) for e in (0, 1)
        ]
        assert exact.gradient[j] == pytest.approx(ends[1].value - ends[0].value)
        inside = exact.value - theta[j] * exact.gradient[j]
        assert ends[0].value == pytest.approx(inside)


def test_sampled_switches_agree_with_the_sum_over_all_states():
    theta = np.linspace(0.1, 0.9, 13)
    exact_of_12 = switches_at(BernoulliBound(cut), theta[:12])

    def padded(x):
        return cut(x[:, :12])

    found = switches_at(BernoulliBound(padded, draws=400), theta)
    assert abs(found.value - exact_of_12.value) <= 4 * found.value_error
    errors = found.gradient_error[:12]
    assert (np.abs(found.gradient[:12] - exact_of_12.gradient) <= 4 * errors + 1e-12).all()
    assert found.gradient[12] == 0.0


def test_a_bound_is_tight_where_all_switches_are_certain():
    state = np.array([1.0, 0.0, 1.0, 1.0])
    assert switches_at(BernoulliBound(cut), state).value == pytest.approx(cut(state[None, :])[0])
    assert (
        switches_at(BernoulliBound(cut), np.full(4, 0.5)).value
        >= cut(((np.arange(16)[:, None] >> np.arange(4)) & 1) * 1.0).min()
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianBound(lengths, draws=2), "draws must be an integer >= 4, got 2"),
        (lambda: GaussianBound(lengths, average=lengths), "average and gradient go together"),
        (lambda: GaussianBound(lengths, curvature=lengths), "curvature goes with average"),
        (lambda: GaussianBound(lengths, added=(1.0, -2.0)), "added must be two numbers >= 0"),
        (lambda: GaussianBound(lengths, added=3.0), "added must be two numbers >= 0, got 3.0"),
        (lambda: GaussianBound(lengths, added="ab"), "added must be two numbers >= 0"),
        (lambda: GaussianBound(lengths, convexity=-1.0), "convexity must be >= 0"),
        (lambda: GaussianBound(lengths, convexity="much"), "convexity must be >= 0"),
        (lambda: GaussianBound(lengths, random_state=None), "random_state must be an integer >= 0"),
        (lambda: BernoulliBound(lengths, random_state=-1), "random_state must be an integer >= 0"),
        (lambda: GaussianBound(lengths).width_for(1.0), "give added="),
        (lambda: BernoulliBound(lengths, draws=1.5), "draws must be an integer"),
        (lambda: BernoulliBound(lengths, gradient=lengths), "average and gradient go together"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"f": lambda x: x},
            r"one number for each of its points.*got shape \(1, 2\)|got shape \(32, 2\)",
        ),
        ({"f": lambda x: x.sum(axis=1) * np.nan}, r"f returned nan at x = \["),
        ({"f": lambda x: 1 / (x[:, 0] * 0 + 0.0)}, r"f returned inf at x = \["),
        ({"derivative": lambda x: x[:, 0]}, "derivative must return an array of shape"),
        ({"derivative": lambda x: x * np.nan}, "derivative of f is not finite at x = "),
        ({"derivative": "chain rule"}, "a function, 'autograd' or None"),
        (
            {"average": lambda m, s: m, "gradient": lambda m, s: m},
            r"average must return .* got \(2,\)",
        ),
        (
            {"average": lambda m, s: 0.0, "gradient": lambda m, s: m * np.nan},
            "gradient returned a number that is not finite at sigma = 0.5",
        ),
        (
            {
                "average": lambda m, s: 0.0,
                "gradient": lambda m, s: m,
                "curvature": lambda m, s: 1.0,
            },
            r"curvature must return an array of shape \(2,\) or \(2, 2\)",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_functions_that_answer_nonsense_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        at(GaussianBound(**{"f": lengths} | settings), [1.0, 2.0], 0.5)
    with pytest.raises(ValueError, match="gradient must return finite numbers"):
        switches_at(BernoulliBound(cut, average=lambda t: 0.0, gradient=lambda t: 0.0), [0.5, 0.5])
