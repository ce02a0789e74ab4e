"""What users say of a function is held against its values, so that no mistake of theirs is certified."""

import numpy as np
import pytest

from garrote.smoothing import BernoulliBound, GaussianBound, minimise

GOAL = np.array([1.2, -2.4, 0.5])


def squares(x):
    return ((x - GOAL) ** 2).sum(axis=1)


def average(mu, sigma):
    return ((mu - GOAL) ** 2).sum() + (sigma**2).sum()


def gradient(mu, sigma):
    return 2 * (mu - GOAL)


def steps(x):
    return np.round(np.abs(x)).sum(axis=1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"derivative": lambda x: GOAL - x}, "derivative is not that of f.* leave it out"),
        ({"derivative": lambda x: 4 * (x - GOAL)}, "derivative is not that of f"),
        ({"f": steps, "derivative": np.zeros_like}, "changes by .* it should by 0"),
        ({"average": average, "gradient": lambda m, s: m}, "gradient is not that of average"),
        (
            {"average": lambda m, s: 1 + average(m, s), "gradient": gradient},
            "average says 1 at x = .* and sigma = 0.001, where f has a mean of",
        ),
        ({"convexity": 2.5}, "convexity=2.5 is more than f has"),
        ({"added": (1.0, 0.0)}, "says that averaging adds 1e-06 at most at sigma = 0.001"),
    ],
)
def test_what_the_values_contradict_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        minimise(GaussianBound(**({"f": squares} | settings)), np.zeros(3))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("sigma", [1e-4, 1.0, 30.0])
def test_what_is_true_is_not_refused(kind, sigma):
    start = np.full(3, 3.0, dtype=kind)
    settings = {"average": average, "gradient": gradient, "added": (3.0, 0.0), "convexity": 2.0}
    for bound in (
        GaussianBound(squares, **settings),
        GaussianBound(squares, derivative=lambda x: 2 * (x - GOAL), convexity=1.0),
        GaussianBound(
            lambda x: np.abs(x - GOAL).sum(axis=1), derivative=lambda x: np.sign(x - GOAL)
        ),
        GaussianBound(
            lambda x: np.cos(300 * x).sum(axis=1),
            derivative=lambda x: -300 * np.sin(300 * x),
            draws=40,
        ),
        # Of tails like these no mean of draws is near the average.
        GaussianBound(
            lambda x: np.exp(x / 10).sum(axis=1),
            average=lambda m, s: np.exp(m / 10 + s**2 / 200).sum(),
            gradient=lambda m, s: np.exp(m / 10 + s**2 / 200) / 10,
        ),
    ):
        assert np.isfinite(minimise(bound, start, sigma=sigma).value)


def test_the_gradient_is_stated_without_the_widths_too():
    fit = minimise(GaussianBound(lambda x: x.sum(axis=1)), np.zeros(4))  # which has no least
    slope = fit.certificate["slope of the average"]
    assert fit.certificate["gradient of the average"] == pytest.approx(2.0)
    assert slope == pytest.approx(2.0 * fit.sigma[0])


def test_an_average_over_switches_is_the_function_where_all_are_certain():
    weights = np.arange(1.0, 4.0)

    def f(x):
        return x @ weights - x[:, 0] * x[:, 1]

    def known(theta):
        return theta @ weights - theta[0] * theta[1]

    def slope(theta):
        return weights - np.array([theta[1], theta[0], 0.0])

    start = np.array([0.9, 0.8, 0.1])
    fit = minimise(BernoulliBound(f, average=known, gradient=slope), start)
    assert fit.x.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match=r"average says 4 at theta = \[1, 1, 0\], where f is 2"):
        minimise(BernoulliBound(f, average=lambda t: 2 * known(t), gradient=slope), start)
    with pytest.raises(ValueError, match=r"gradient says 1 for switch 0 .* changes f by 0"):
        minimise(BernoulliBound(f, average=known, gradient=lambda t: weights), start)
