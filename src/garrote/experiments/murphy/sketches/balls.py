"""Murphy Figure 13.3: least squares in an l1 ball has zeros, and in an l2 ball has none."""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.murphy.methods import lasso_knots
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

# The drawing: contours around a least-squares solution outside of balls of radius 1.
_CENTRE = np.array([0.6, 1.7])
_ROOT = np.array([[1.0, 0.45], [0.0, 0.9]])
_BOUND = 1.0
_ROWS = 60
_SIZES, _QUICK_SIZES = (2, 4, 8, 16, 32), (2, 8)
_SHARE = 0.5


class Drawing(NamedTuple):
    """The two constrained solutions of the picture, and the same by a search along each border."""

    found: dict[str, Floats]
    searched: dict[str, Floats]


def run_figure_13_3(settings: StudySettings) -> Report:
    """Solve the problem of the picture, and many more in more dimensions."""
    drawing = _solve_drawing()
    count = settings.count(200, quick=20)
    zeros = {
        size: np.array([_zeros(size, stream) for stream in settings.streams(count)])
        for size in (_QUICK_SIZES if settings.quick else _SIZES)
    }
    dense = np.full(2, np.sqrt(0.5))
    return Report(
        "Murphy Figure 13.3: least squares in an l1 ball and in an l2 ball",
        (_tabulate_drawing(drawing), _tabulate_zeros(zeros)),
        (
            "the text: the corners of the l1 ball are more likely to meet the ellipse than its sides, "
            "especially in high dimensions, and the l2 ball has none; ours: so, by the second table",
            f"Eqs. 13.41-13.42: (1, 0) and (1, 1) / sqrt(2) have l2 norms 1 and {_norm(dense, 2):.3f}, "
            f"and l1 norms 1 and {_norm(dense, 1):.3f}: sparse solutions are cheaper by the latter only",
            f"random problems: {count} of each size, {_ROWS} rows, independent columns, all true "
            f"coefficients normal, none 0; the bound is {_SHARE:.0%} of the norm of least squares",
        ),
        {"drawing": drawing, "zeros": zeros},
        lambda: _draw(drawing),
    )


def in_l1_ball(X: Floats, y: Floats, bound: float) -> Floats:
    """Return the least-squares coefficients whose l1 norm is at most a bound (Eq. 13.38).

    The lasso's path is piecewise linear in the norm, so that they lie between two of its knots.
    """
    knots = np.asarray(lasso_knots(X, y).coefficients().toarray())
    norms = np.abs(knots).sum(axis=1)
    if bound >= norms[-1]:
        return np.asarray(knots[-1])
    last = int(np.argmax(norms > bound))
    share = (bound - norms[last - 1]) / (norms[last] - norms[last - 1])
    return np.asarray((1 - share) * knots[last - 1] + share * knots[last])


def in_l2_ball(X: Floats, y: Floats, bound: float) -> Floats:
    """Return the least-squares coefficients whose l2 norm is at most a bound (Eq. 13.40)."""
    u, s, vt = np.linalg.svd(X, full_matrices=False)
    inner = s * (u.T @ y)

    def beyond(ridge: float) -> float:
        return float(np.linalg.norm(inner / (s**2 + ridge))) - bound

    if beyond(0.0) <= 0:
        return np.asarray(vt.T @ (inner / s**2))
    ridge = brentq(beyond, 0.0, float(np.linalg.norm(inner)) / bound, xtol=1e-14, rtol=1e-14)
    return np.asarray(vt.T @ (inner / (s**2 + ridge)))


def _solve_drawing() -> Drawing:
    X, y = _ROOT, _ROOT @ _CENTRE
    found = {"l1": in_l1_ball(X, y, _BOUND), "l2": in_l2_ball(X, y, _BOUND)}
    around = np.linspace(0, 2 * np.pi, 400_001)
    circle = np.array([np.cos(around), np.sin(around)])
    searched = {}
    for name, order in (("l1", 1), ("l2", 2)):
        border = _BOUND * circle / np.linalg.norm(circle, order, axis=0)
        squares = np.sum((y[:, None] - X @ border) ** 2, axis=0)
        searched[name] = border[:, int(np.argmin(squares))]
    return Drawing(found, searched)


def _zeros(size: int, stream: np.random.SeedSequence) -> tuple[float, bool, float]:
    """Return the share of zeros in the l1 ball, whether there is any, and the share in the l2 ball."""
    rng = np.random.default_rng(stream)
    X = rng.standard_normal((_ROWS, size))
    y = X @ rng.standard_normal(size) + rng.standard_normal(_ROWS)
    free = np.linalg.lstsq(X, y, rcond=None)[0]
    corner = in_l1_ball(X, y, _SHARE * float(np.abs(free).sum())) == 0
    round_ = in_l2_ball(X, y, _SHARE * float(np.linalg.norm(free))) == 0
    return float(corner.mean()), bool(corner.any()), float(round_.mean())


def _norm(coef: Floats, order: int) -> float:
    return float(np.linalg.norm(coef, order))


def _tabulate_drawing(drawing: Drawing) -> Table:
    return Table(
        {
            "ball": list(drawing.found),
            "w_1": [f"{coef[0]:.4f}" for coef in drawing.found.values()],
            "w_2": [f"{coef[1]:.4f}" for coef in drawing.found.values()],
            "by a search along its border": [
                f"{coef[0]:.4f} {coef[1]:.4f}" for coef in drawing.searched.values()
            ],
            "RSS": [
                f"{np.sum((_ROOT @ (_CENTRE - coef)) ** 2):.4f}" for coef in drawing.found.values()
            ],
        },
        caption="the picture: where the least contour meets each ball of radius 1",
    )


def _tabulate_zeros(zeros: dict[int, Floats]) -> Table:
    return Table(
        {
            "D": list(zeros),
            "l1 ball: with zeros": [f"{one[:, 1].mean():.0%}" for one in zeros.values()],
            "zeros a problem": [f"{size * one[:, 0].mean():.1f}" for size, one in zeros.items()],
            "l2 ball: with zeros": [f"{(one[:, 2] > 0).mean():.0%}" for one in zeros.values()],
        },
        caption="random problems: how many solutions have coefficients that are exactly 0",
    )


def _draw(drawing: Drawing) -> Any:
    figure, axes = make_axes(1, 2, width=9, height=4.6)
    grid = np.linspace(-1.6, 3.2, 321)
    first, second = np.meshgrid(grid, grid)
    off = np.stack([first.ravel(), second.ravel()]) - _CENTRE[:, None]
    squares = np.sum((_ROOT @ off) ** 2, axis=0).reshape(first.shape)
    around = np.linspace(0, 2 * np.pi, 361)
    circle = np.array([np.cos(around), np.sin(around)])
    for axis, coef, order in zip(axes[0], drawing.found.values(), (1, 2), strict=True):
        ball = _BOUND * circle / np.linalg.norm(circle, order, axis=0)
        axis.fill(*ball, color=LASSO, alpha=0.25)
        touching = float(np.sum((_ROOT @ (coef - _CENTRE)) ** 2))
        levels = np.array([0.1, 0.45, 1.0]) * touching
        axis.contour(first, second, squares, levels=levels, colors=GARROTE, linewidths=1)
        axis.plot(*_CENTRE, "o", color=GARROTE, ms=4)
        axis.annotate("least squares", _CENTRE, xytext=(6, 6), textcoords="offset points")
        axis.plot(*coef, "o", color="black", ms=5)
        axis.axhline(0, color=OTHER, lw=0.6)
        axis.axvline(0, color=OTHER, lw=0.6)
        axis.set(
            aspect="equal", xlabel=r"$w_1$", ylabel=r"$w_2$", xlim=(-1.6, 2.8), ylim=(-1.4, 3.0),
            title=rf"$\ell_{order}$: ({coef[0] + 0.0:.2f}, {coef[1]:.2f})",
        )  # fmt: skip
    return figure
