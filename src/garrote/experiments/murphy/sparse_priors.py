"""Murphy Figures 13.17 and 13.18: priors that are not log-concave, and the posteriors they lead to."""

from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import trapezoid
from scipy.optimize import minimize
from scipy.special import gammaln

from garrote.arrays import Array, Floats
from garrote.experiments.drawing import LASSO, OTHER, make_axes
from garrote.experiments.murphy.thresholding import hierarchical_penalty
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

# Gaussian, Laplace and exponential power, all of unit variance.
_POWERS = (2.0, 1.0, 0.4)
# One observation y = x'w + noise; the text does not print its own.
_X, _Y, _NOISE = np.array([1.0, 2.0]), 1.5, 0.3
_HIERARCHICAL_A, _SCALES = 1.0, (0.01, 0.1, 1.0)
_LEVELS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])


class Surface(NamedTuple):
    """Log prior and log posterior on a grid of two coefficients, and the posterior's modes."""

    grid: Floats
    prior: Floats
    posterior: Floats
    modes: Floats
    heights: Floats


def run_figure_13_17(settings: StudySettings) -> Report:
    """Draw the three priors and posteriors, and find the modes."""
    surfaces = {b: _surface(b, 401 if settings.quick else 1201) for b in _POWERS}
    claims = {
        2.0: "one mode, on neither axis",
        1.0: "one mode, w_1 = 0",
        0.4: "two modes, one on each axis",
    }
    depth = surfaces[0.4].heights[0] - surfaces[0.4].heights[-1]
    return Report(
        "Murphy Figure 13.17: Gaussian, Laplace and exponential power priors and their posteriors",
        (
            Table(
                {
                    "b": [f"{b:g}" for b in _POWERS],
                    "variance of the prior": [f"{_variance(b):.4f}" for b in _POWERS],
                    "paper": [claims[b] for b in _POWERS],
                    "ours: modes (w_1, w_2)": [
                        "; ".join(f"({u:.2f}, {v:.2f})" for u, v in surfaces[b].modes)
                        for b in _POWERS
                    ],
                },
            ),
        ),
        (
            f"one observation x = ({_X[0]:g}, {_X[1]:g}), y = {_Y:g}, noise {_NOISE:g}: the text does "
            "not print its own. Modes are in order of their height",
            "with b < 1 the density has a cusp at 0, which is then always a mode; the text does not "
            f"count it, and its log posterior is here {depth:.1f} below that of the best",
        ),
        {"surfaces": surfaces},
        lambda: _draw_13_17(surfaces),
    )


def log_prior(w: Floats, b: float) -> Floats:
    """Return the log density of the exponential power law of unit variance (Eq. 13.132)."""
    scale = np.exp(0.5 * (gammaln(1 / b) - gammaln(3 / b)))
    return np.log(b) - np.log(2 * scale) - gammaln(1 / b) - (np.abs(w) / scale) ** b


def _variance(b: float) -> float:
    w = np.linspace(0.0, 400.0, 4_000_001)
    density = np.exp(log_prior(w, b))
    return float(2 * trapezoid(density * w**2, w))


def _surface(b: float, size: int) -> Surface:
    grid = np.linspace(-2.0, 2.0, size)
    first, second = np.meshgrid(grid, grid, indexing="ij")
    prior = log_prior(first, b) + log_prior(second, b)
    posterior = log_posterior(first, second, b)
    starts = grid[local_maxima(posterior)]
    modes = np.unique([_climb(start, b) for start in starts], axis=0)
    heights = log_posterior(modes[:, 0], modes[:, 1], b)
    order = np.argsort(-heights)
    return Surface(grid, prior, posterior, modes[order], heights[order])


def log_posterior(first: Floats, second: Floats, b: float) -> Floats:
    """Return the log posterior of two coefficients, up to a constant."""
    residual = _Y - _X[0] * first - _X[1] * second
    return log_prior(first, b) + log_prior(second, b) - 0.5 * (residual / _NOISE) ** 2


def _climb(start: Floats, b: float) -> Floats:
    """Climb from a maximum on the grid, which may be none between its points, to a mode."""
    settings = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 10_000}
    corners = start + np.array([[0.0, 0.0], [1e-3, 0.0], [0.0, 1e-3]])
    found = minimize(
        lambda w: -float(log_posterior(w[0], w[1], b)),
        start,
        method="Nelder-Mead",
        options={**settings, "initial_simplex": corners},
    )
    return np.round(found.x, 4) + 0.0


def local_maxima(values: Floats) -> Array:
    """Return where a surface is higher than at all eight neighbours (K x 2)."""
    padded = np.pad(values, 1, constant_values=-np.inf)
    rows, columns = values.shape
    around = np.max(
        [
            padded[1 + i : 1 + i + rows, 1 + j : 1 + j + columns]
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if (i, j) != (0, 0)
        ],
        axis=0,
    )
    return np.argwhere(values > around)


def run_figure_13_18(settings: StudySettings) -> Report:
    """Draw from the model of part a, whose coefficients should have the density of part b."""
    contours = run_figure_13_18b(settings)
    rng = np.random.default_rng(settings.streams(1)[0])
    w = np.abs(
        draw_hierarchical(_HIERARCHICAL_A, _SCALES[1], 20_000 if settings.quick else 10**6, rng)
    )
    # The density (a / 2b) (1 + |w| / b)^-(a + 1) leaves (1 + |w| / b)^-a beyond a size.
    expected = _SCALES[1] * ((1 - _LEVELS) ** (-1 / _HIERARCHICAL_A) - 1)
    drawn = np.quantile(w, _LEVELS)
    return Report(
        "Murphy Figure 13.18: the hierarchical adaptive lasso, its model and its contours",
        (
            Table(
                {
                    "share of |w| below": [f"{level:g}" for level in _LEVELS],
                    "drawn from the model (a)": [f"{size:.4f}" for size in drawn],
                    "of the density behind (b)": [f"{size:.4f}" for size in expected],
                },
                caption=f"a = {_HIERARCHICAL_A:g}, b = {_SCALES[1]:g}: gamma, then tau^2, then w",
            ),
            *contours.tables,
        ),
        (
            "part a is a diagram without numbers: what is checked is that drawing along its arrows "
            "gives the density whose penalty part b shows. tau^2 has the rate 1 / (2 gamma^2), which "
            "Eq. 13.137 needs; Eq. 13.134 prints gamma^2 / 2",
            *contours.remarks,
        ),
        {"drawn": drawn, "expected": expected, **contours.numbers},
        contours.draw,
    )


def draw_hierarchical(a: float, b: float, count: int, rng: np.random.Generator) -> Floats:
    """Draw coefficients along the arrows of the hierarchical adaptive lasso (Eqs. 13.133-13.135)."""
    gamma = b / rng.gamma(a, size=count)
    variance = rng.exponential(2 * gamma**2)
    return np.sqrt(variance) * rng.standard_normal(count)


def run_figure_13_18b(settings: StudySettings) -> Report:
    """Draw the contours of the hierarchical adaptive penalty for several b."""
    rows = []
    for b in _SCALES:
        # Where the contour through (1, 0) meets the diagonal: 2 log(1 + w / b) = log(1 + 1 / b).
        rows.append((b, b * (np.sqrt(1 + 1 / b) - 1)))
    return Report(
        "Murphy Figure 13.18b: contours of the hierarchical adaptive penalty",
        (
            Table(
                {
                    "b": [f"{b:g}" for b, _ in rows] + ["Laplace (13.3)", "Gaussian"],
                    "the contour through (1, 0) meets w_1 = w_2 at": [
                        *(f"{diagonal:.3f}" for _, diagonal in rows), "0.500", "0.707",
                    ],
                    "convex": ["no"] * len(rows) + ["yes", "yes"],
                },
                caption=f"a = {_HIERARCHICAL_A:g}; below 0.5 the set within a contour is a star",
            ),
        ),
        ("the text prints no number: it says that the contours look like a star fish, not convex",),
        {"diagonal": dict(rows)},
        _draw_13_18,
    )  # fmt: skip


def _draw_13_17(surfaces: dict[float, Surface]) -> Any:
    figure, axes = make_axes(2, 3, width=10, height=6.6)
    for column, (b, surface) in enumerate(surfaces.items()):
        for axis, values in zip(axes[:, column], (surface.prior, surface.posterior), strict=True):
            levels = values.max() - np.array([12.0, 9.0, 6.5, 4.5, 3.0, 1.8, 0.9, 0.3])
            axis.contour(
                surface.grid,
                surface.grid,
                values.T,
                levels,
                colors=OTHER,
                linestyles="-",
                linewidths=1,
            )
            axis.set(xlabel="$w_1$", ylabel="$w_2$", aspect="equal")
        edge = (_Y - _X[0] * surface.grid) / _X[1]
        for shift in (-_NOISE, _NOISE):
            axes[0, column].plot(surface.grid, edge + shift / _X[1], color=LASSO, lw=1)
        axes[0, column].set(ylim=(-2, 2), title=f"log prior, b = {b:g}")
        axes[1, column].plot(*surface.modes.T, "x", color=LASSO, ms=8, mew=2)
        axes[1, column].set(title="log posterior, x: modes")
    return figure


def _draw_13_18() -> Any:
    figure, axes = make_axes(1, len(_SCALES), width=10, height=3.6)
    grid = np.linspace(-1, 1, 401)
    for axis, b in zip(axes[0], _SCALES, strict=True):
        one = hierarchical_penalty(grid, _HIERARCHICAL_A, b)
        values = one[:, None] + one[None, :]
        radii = np.array([0.05, 0.2, 0.4, 0.6, 0.8, 1.0])
        levels = hierarchical_penalty(radii, _HIERARCHICAL_A, b)
        axis.contour(grid, grid, values, levels, colors=LASSO, linewidths=1)
        axis.set(xlabel="$w_1$", ylabel="$w_2$", title=f"a = 1, b = {b:g}", aspect="equal")
    return figure
