"""Functions minimised by way of their averages: optima, certificates, libraries of arrays, bad input."""

from importlib.util import find_spec

import array_api_strict
import numpy as np
import pytest

import garrote
from conftest import NO_TORCH
from garrote import Problem, fit_path
from garrote.penalties import L1
from garrote.smoothing import (
    LBFGS,
    BernoulliBound,
    GaussianBound,
    NaturalGradient,
    Newton,
    Shrinking,
    minimise,
)
from garrote.solvers.control import Control
from garrote.solvers.smoothing.kinks import (
    KINKS,
    absolute_curvature,
    absolute_slope,
    absolute_value,
)

AVERAGE = KINKS["gaussian"]


class Lasso:
    """||y - Xw||^2 + size |w|_1 with its average over normal w, Eqs. 11-16."""

    def __init__(self, n=60, count=12, size=20.0, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((n, count))
        self.y = self.X[:, :3] @ [3.0, -2.0, 1.0] + 0.3 * rng.standard_normal(n)
        self.gram, self.size = self.X.T @ self.X, size

    def f(self, w):
        return ((self.y - w @ self.X.T) ** 2).sum(axis=1) + self.size * np.abs(w).sum(axis=1)

    def average(self, mu, sigma):
        squares = np.sum((self.y - self.X @ mu) ** 2) + np.diag(self.gram) @ sigma**2
        return squares + self.size * absolute_value(AVERAGE, mu, sigma).sum()

    def gradient(self, mu, sigma):
        return 2 * (self.gram @ mu - self.X.T @ self.y) + self.size * absolute_slope(
            AVERAGE, mu, sigma
        )

    def diagonal(self, mu, sigma):
        return 2 * np.diag(self.gram) + self.size * absolute_curvature(AVERAGE, mu, sigma)

    def matrix(self, mu, sigma):
        return 2 * self.gram + np.diag(self.size * absolute_curvature(AVERAGE, mu, sigma))

    def bound(self, curvature=None, **settings):
        linear = self.size * len(self.gram) * np.sqrt(2 / np.pi)
        return GaussianBound(
            self.f, self.average, self.gradient, curvature, added=(np.trace(self.gram), linear),
            convexity=2 * float(np.linalg.eigvalsh(self.gram)[0]), **settings,
        )  # fmt: skip

    def least(self):
        problem = Problem.from_rows(
            self.X, self.y, standardize=False, fit_intercept=False, scale_response=False
        )
        strength = [self.size / (2 * len(self.y))]
        path = fit_path(problem, L1(), strength, control=Control(1e-14))
        return float(self.f(path.coefficients().toarray())[0])


NARROW = Shrinking(1.0, 1e-7, 0.3)


@pytest.mark.parametrize(
    ("curvature", "optimiser"),
    [
        ("diagonal", "auto"),
        ("matrix", "auto"),
        (None, "auto"),
        ("matrix", "lbfgs"),
        ("diagonal", NaturalGradient(learn=False, steps=2000)),
        ("diagonal", LBFGS(learn=True, steps=1000)),
        ("diagonal", NaturalGradient(steps=3000)),
    ],
)
def test_a_lasso_whose_average_is_known_is_solved_by_every_optimiser(curvature, optimiser):
    lasso = Lasso()
    bound = lasso.bound(getattr(lasso, curvature) if curvature else None)
    learns = getattr(optimiser, "learn", False)
    start = np.zeros(12)
    if isinstance(optimiser, NaturalGradient) and not learns:
        sigma = Shrinking(1e-2, 1e-2, 0.5)
    else:
        sigma = Shrinking(0.1, 1e-6) if learns else NARROW
    fit = minimise(bound, start, sigma=sigma, optimiser=optimiser)
    near = 1e-2 if isinstance(optimiser, NaturalGradient) else 1e-4 if learns else 1e-6
    assert 0 <= fit.value / lasso.least() - 1 + 1e-13 <= near
    assert fit.bound >= lasso.least()


def test_diagonal_steps_of_equation_20_reach_twelve_digits():
    lasso = Lasso(500, 50, 30.0 * 50)
    steps = Newton(length=0.1, steps=1, search=False)
    fit = minimise(
        lasso.bound(lasso.diagonal), np.zeros(50),
        sigma=Shrinking(0.1**0.5, 1e-14, 0.9**0.5), optimiser=steps,
    )  # fmt: skip
    assert abs(fit.value / lasso.least() - 1) <= 1e-12
    assert 500 < fit.n_iter < 650


@pytest.mark.parametrize("optimiser", ["auto", "natural", "lbfgs"])
def test_a_sampled_lasso_is_near_its_optimum(optimiser):
    lasso = Lasso()
    fit = minimise(GaussianBound(lasso.f), np.zeros(12), optimiser=optimiser)
    assert fit.value <= lasso.least() * (1 + 5e-3)
    assert fit.certificate["error of the slope"] > 0


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 40))]
)
def test_an_error_asked_for_is_kept_and_a_gap_stated_is_true(seed):
    rng = np.random.default_rng(seed)
    lasso = Lasso(40, 6, rng.lognormal(3.0), seed)
    for error in (100.0, 1.0):
        bound = lasso.bound(lasso.matrix)
        fit = minimise(bound, rng.standard_normal(6), sigma=1.0, error=error)
        assert fit.certificate["averaging adds"] <= error * (1 + 1e-9)
        above = fit.value - lasso.least()
        assert above <= error
        assert above <= fit.certificate["gap"] + 1e-9
        assert fit.certificate["gap"] <= error * (1 + 1e-6)


def test_a_function_of_plateaus_and_one_of_a_single_point_at_a_time():
    def stairs(x):
        return float(np.floor(np.abs(x - 3.0)).sum())

    fit = minimise(GaussianBound(stairs, batched=False), np.zeros(2), sigma=2.0, lower=0.0)
    assert fit.value == 0.0
    assert fit.certificate.value == 0.0
    assert fit.certificate["gap"] == 0.0
    assert fit.history.shape == (11, 2)
    assert "SmoothFit(x=[" in repr(fit)


def test_progress_is_told_width_by_width_or_step_by_step():
    told = []

    def far(x):
        return (x**2).sum(axis=1)

    minimise(
        GaussianBound(far), np.ones(2), sigma=Shrinking(1.0, 0.2), callback=told.append,
    )  # fmt: skip
    assert [(one.done, one.total) for one in told] == [(k, 4) for k in (1, 2, 3, 4)]
    told.clear()
    learned = NaturalGradient(steps=30)
    minimise(GaussianBound(far), np.ones(2), optimiser=learned, callback=told.append)
    assert [(one.done, one.total) for one in told] == [(k, 30) for k in range(1, 31)]
    for optimiser in (NaturalGradient(steps=5), LBFGS(steps=5)):
        told.clear()
        minimise(BernoulliBound(far), np.full(2, 0.3), optimiser=optimiser, callback=told.append)
        assert [one.done for one in told[:5]] == [1, 2, 3, 4, 5][: len(told)]
        assert {(one.stage, one.total) for one in told} == {("smoothing", 5)}


@pytest.mark.parametrize("optimiser", ["auto", "lbfgs"])
@pytest.mark.parametrize("seed", range(5))
def test_switches_end_in_the_least_of_all_states(optimiser, seed):
    Q = np.random.default_rng(seed).standard_normal((10, 10))

    def energy(x):
        return ((x @ Q) * x).sum(axis=1)

    states = ((np.arange(1024)[:, None] >> np.arange(10)) & 1) * 1.0
    fit = minimise(BernoulliBound(energy), np.full(10, 0.5), optimiser=optimiser)
    assert fit.certificate["one flip"] == 0.0
    assert fit.value <= fit.bound + 1e-12
    assert fit.bound >= energy(states).min()
    # One start of a problem that is not convex: near the least, if not there.
    assert fit.value <= energy(states).min() * 0.9


def test_a_known_average_of_switches_is_used_and_rounded_below_itself():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((40, 40)), rng.standard_normal(40)
    A = 0.5 * (A + A.T)
    np.fill_diagonal(A, 0.0)
    bound = BernoulliBound(
        lambda x: ((x @ A) * x).sum(axis=1) + x @ b,
        average=lambda t: t @ A @ t + b @ t,  # Eq. 43
        gradient=lambda t: 2 * A @ t + b,
    )
    fit = minimise(bound, rng.random(40), optimiser=NaturalGradient(steps=5))
    assert fit.value <= fit.bound
    sampled = minimise(BernoulliBound(bound.f), np.full(40, 0.5))
    assert sampled.certificate["one flip"] == 0.0
    assert sampled.value < 0.8 * fit.bound


def test_arrays_of_another_library_come_back_as_they_were():
    def far(x):
        return array_api_strict.sum(array_api_strict.abs(x - 1.0), axis=1)

    fit = minimise(GaussianBound(far), array_api_strict.zeros(3, dtype=array_api_strict.float32))
    assert isinstance(fit.x, type(array_api_strict.zeros(3)))
    assert fit.x.dtype == array_api_strict.float32
    np.testing.assert_allclose(np.asarray(fit.x), 1.0, atol=1e-2)


def test_torch_differentiates_what_is_smooth_inside():
    if find_spec("torch") is None:
        pytest.skip(NO_TORCH)
    import torch

    goal = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)

    def f(x):
        return torch.logsumexp(x - goal, dim=1) + torch.abs(x - goal).sum(dim=1)

    start = torch.zeros(3, dtype=torch.float64)
    for derivative in (None, "autograd"):
        fit = minimise(GaussianBound(f, derivative=derivative), start)
        assert isinstance(fit.x, torch.Tensor)
        assert torch.abs(fit.x - goal).max() < 0.02
    alone = GaussianBound(lambda x: torch.abs(x - goal).sum(), derivative="autograd", batched=False)
    assert torch.abs(minimise(alone, start).x - goal).max() < 0.02


def test_what_torch_cannot_differentiate_is_said_so():
    if find_spec("torch") is None:
        pytest.skip(NO_TORCH)
    import torch

    def f(x):
        return torch.abs(x - 1.0).sum(dim=-1)

    start = torch.zeros(3, dtype=torch.float64)
    for lost in (lambda x: f(x).detach(), lambda x: f(x.detach()).numpy()):
        for batched in (True, False):
            bound = GaussianBound(lost, derivative="autograd", batched=batched)
            with pytest.raises(TypeError, match="needs an f that PyTorch can follow"):
                minimise(bound, start)
    steps = GaussianBound(lambda x: torch.round(x).abs().sum(dim=1), derivative="autograd")
    with pytest.raises(ValueError, match=r"derivative is not that of f.*where f has jumps"):
        minimise(steps, start + 3.0)
    scale = torch.nn.Parameter(torch.ones((), dtype=torch.float64))
    with torch.no_grad():  # of the caller, who may be evaluating a model
        bound = GaussianBound(lambda x: scale * f(x), derivative="autograd")
        assert torch.abs(minimise(bound, start).x - 1.0).max() < 0.02
    with pytest.raises(TypeError, match=r"float32 or float64.*got int64"):
        minimise(GaussianBound(f), torch.zeros(3, dtype=torch.int64))


def test_a_function_that_works_in_place_changes_no_point():
    def f(x):
        x -= 1.0
        x *= x
        return x.sum(axis=1)

    fit = minimise(GaussianBound(f), np.zeros(3))
    np.testing.assert_allclose(fit.x, 1.0, atol=1e-6)
    assert fit.value == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_array_equal(fit.x, fit.mean)


def test_bad_input_is_refused_with_what_is_allowed():
    def f(x):
        return (x**2).sum(axis=1)

    bound = GaussianBound(f)
    for sigma in (0.0, -1.0, np.nan):
        with pytest.raises(
            ValueError, match=f"sigma must be a number above 0, got first = {sigma!r}"
        ):
            minimise(bound, np.zeros(2), sigma=sigma)
    for sigma in (np.ones(2), "wide", True):
        with pytest.raises(ValueError, match="sigma must be a number above 0, got first = "):
            minimise(bound, np.zeros(2), sigma=sigma)
    with pytest.raises(ValueError, match="lower must be a finite number or None, got nan"):
        minimise(bound, np.zeros(2), lower=np.nan)
    with pytest.raises(TypeError, match="f must be a function of points, got 3"):
        minimise(GaussianBound(3), np.zeros(2))
    for answer, named in ((["a", "b"], "list"), (1j, "complex"), (None, "NoneType")):
        with pytest.raises(TypeError, match=f"f must return real numbers.*got {named}"):
            minimise(GaussianBound(lambda x, answer=answer: answer), np.zeros(2))
    with pytest.raises(ValueError, match=r"f returned .*e\+300.*their squares overflow"):
        minimise(GaussianBound(lambda x: 1e300 * (1 + f(x))), np.zeros(2))
    with pytest.raises(ValueError, match="start must be finite, got nan at position 1"):
        minimise(bound, np.array([0.0, np.nan]))
    with pytest.raises(ValueError, match=r"start must be one point.*got shape \(2, 2\)"):
        minimise(bound, np.zeros((2, 2)))
    with pytest.raises(TypeError, match="array of real numbers"):
        minimise(bound, ["a"])
    with pytest.raises(ValueError, match="optimiser must be one of"):
        minimise(bound, np.zeros(2), optimiser="sgd")
    with pytest.raises(ValueError, match="Newton needs curvature="):
        minimise(Lasso().bound(), np.zeros(12), optimiser="newton")
    with pytest.raises(ValueError, match="widths are learned by second derivatives"):
        minimise(Lasso().bound(), np.zeros(12), optimiser="natural")
    with pytest.raises(ValueError, match="give added="):
        minimise(bound, np.zeros(2), error=1.0)
    with pytest.raises(ValueError, match="error sets the last width"):
        minimise(bound, np.zeros(2), sigma=Shrinking(), error=1.0)
    with pytest.raises(ValueError, match=r"lower=5 is no lower bound of f"):
        minimise(bound, np.ones(2), lower=5.0)
    with pytest.raises(TypeError, match="derivative='autograd' is PyTorch's"):
        minimise(GaussianBound(f, derivative="autograd"), np.zeros(2))
    with pytest.raises(ValueError, match="probabilities from 0 to 1, got 2 at position 0"):
        minimise(BernoulliBound(f), np.array([2.0, 0.5]))
    with pytest.raises(ValueError, match="Newton has no curvature there"):
        minimise(BernoulliBound(f), np.array([0.2, 0.5]), optimiser="newton")
    for sigma in (1e-200, 1e200):
        with pytest.raises(ValueError, match="whose square is no number to count with"):
            minimise(bound, np.zeros(2), sigma=sigma)
    for settings in ({"sigma": -1.0}, {"error": 1.0}):
        with pytest.raises(ValueError, match="switches have probabilities alone"):
            minimise(BernoulliBound(f), np.array([0.2, 0.5]), **settings)
    with pytest.raises(
        TypeError, match="must be a GaussianBound or a BernoulliBound, got a function"
    ):
        minimise(f, np.zeros(2))
    with pytest.raises(TypeError, match=r"float32 or float64.*got float16"):
        minimise(bound, np.zeros(2, dtype=np.float16))
    with pytest.raises(TypeError, match=r"float32 or float64.*got int64"):
        minimise(bound, array_api_strict.zeros(2, dtype=array_api_strict.int64))
    with pytest.raises(ValueError, match="factor must be between 0 and 1"):
        Shrinking(factor=1.0)
    with pytest.raises(ValueError, match="rate must be positive"):
        NaturalGradient(rate=0.0)


def test_the_room_is_found_by_its_name():
    assert garrote.smoothing.minimise is minimise
