"""Murphy Figure 13.11: a gradient step that leaves the feasible set, and its projection back."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.report import Report, StudySettings
from garrote.proximal import project_box, project_l1_ball, project_l2_ball
from garrote.summaries import Table

# L(theta) = (theta - c)'A(theta - c) / 2; A has no eigenvalue above 1: steps of length 1 descend.
_CENTRE = np.array([1.6, 0.6])
_MATRIX = np.array([[0.7, 0.25], [0.25, 0.5]])
_START = np.array([0.2, -0.7])
_STEPS = 500

Project = Callable[[Floats], Floats]
_SETS: dict[str, tuple[Project, Project]] = {
    # The projection, and how far points (2 x K) lie outside.
    "box, Eq. 13.73": (
        partial(project_box, lower=-0.8, upper=0.8),
        lambda points: np.abs(points).max(axis=0) - 0.8,
    ),
    "l2 ball, Eq. 13.74": (project_l2_ball, lambda points: np.linalg.norm(points, 2, axis=0) - 1),
    "l1 ball, Eq. 13.75": (
        project_l1_ball,
        lambda points: np.linalg.norm(points, 1, axis=0) - 1,
    ),
}


class Steps(NamedTuple):
    """The first step, the point nearest to it, all iterates, and the best point; two by a search."""

    left: Floats
    projected: Floats
    nearest: Floats
    path: Floats
    best: Floats

    @property
    def direction(self) -> Floats:
        """d_k = theta_{k+1} - theta_k."""
        return np.asarray(self.projected - _START)


def run_figure_13_11(settings: StudySettings) -> Report:
    """Make one step and many, for the three sets whose projections the text gives."""
    fine = 401 if settings.quick else 2001
    steps = {name: _step(project, outside, fine) for name, (project, outside) in _SETS.items()}
    slope = _gradient(_START)
    columns: dict[str, list[str]] = {
        "feasible set": list(steps),
        "theta - g": [_point(one.left) for one in steps.values()],
        "projected": [_point(one.projected) for one in steps.values()],
        "nearest": [_point(one.nearest) for one in steps.values()],
        "g'd": [f"{slope @ one.direction:.3f}" for one in steps.values()],
        "steps end at": [_point(one.path[-1]) for one in steps.values()],
        "best": [_point(one.best) for one in steps.values()],
    }
    return Report(
        "Murphy Figure 13.11: projected gradient descent",
        (Table(columns, caption=f"from theta = {_point(_START)}, step length 1"),),
        (
            "the text: the step along the negative gradient leaves the feasible set, and the point of "
            "the set closest to it is the next iterate; ours: so for each of the three projections of "
            f"section 13.4.3.1; nearest and best are by a search on a grid of step {4 / (fine - 1):g}",
            "the implicit direction d leads downhill (g'd < 0), and the iterates end in the constrained "
            "minimum, which for the l1 ball may be a corner",
        ),
        {"steps": steps, "gradient": slope},
        lambda: _draw(steps),
    )


def _gradient(theta: Floats) -> Floats:
    return _MATRIX @ (theta - _CENTRE)


def _loss(points: Floats) -> Floats:
    off = points - _CENTRE[:, None]
    return 0.5 * np.sum(off * (_MATRIX @ off), axis=0)


def _step(project: Project, outside: Project, fine: int) -> Steps:
    path = [_START]
    for _ in range(_STEPS):
        path.append(project(path[-1] - _gradient(path[-1])))
    left = _START - _gradient(_START)
    side = np.linspace(-2, 2, fine)
    grid = np.stack(np.meshgrid(side, side)).reshape(2, -1)
    feasible = grid[:, outside(grid) <= 1e-12]
    nearest = feasible[:, int(np.argmin(np.sum((feasible - left[:, None]) ** 2, axis=0)))]
    best = feasible[:, int(np.argmin(_loss(feasible)))]
    return Steps(left, path[1], nearest, np.array(path), best)


def _point(values: Floats) -> str:
    return f"({values[0] + 0.0:.2f}, {values[1] + 0.0:.2f})"


def _draw(steps: dict[str, Steps]) -> Any:
    figure, axes = make_axes(1, 3, width=12.5, height=4.4)
    side = np.linspace(-1.3, 1.9, 241)
    first, second = np.meshgrid(side, side)
    points = np.stack([first, second]).reshape(2, -1)
    for axis, (name, one) in zip(axes[0], steps.items(), strict=True):
        outside = _SETS[name][1](points).reshape(first.shape)
        axis.contourf(first, second, outside, levels=[-10, 0], colors=[LASSO], alpha=0.25)
        axis.contour(
            first, second, _loss(points).reshape(first.shape), levels=8, colors=OTHER,
            linewidths=0.6,
        )  # fmt: skip
        axis.annotate("", one.left, _START, arrowprops={"arrowstyle": "->", "color": GARROTE})
        axis.plot(*np.array([one.left, one.projected]).T, ":", color=GARROTE)
        axis.annotate("", one.projected, _START, arrowprops={"arrowstyle": "->"})
        axis.plot(*one.path[1:].T, ".-", color=LASSO, lw=0.8, ms=4)
        for text, place, offset in (
            (r"$\theta_k$", _START, (-4, -14)),
            (r"$\theta_k - g_k$", one.left, (-14, 8)),
            (r"$\theta_{k+1}$", one.projected, (8, -6)),
        ):
            axis.plot(*place, "ko", ms=3)
            axis.annotate(text, place, xytext=offset, textcoords="offset points")
        axis.set(
            aspect="equal", title=name, xlabel=r"$\theta_1$", ylabel=r"$\theta_2$",
            xlim=(-1.3, 1.9), ylim=(-1.3, 1.9),
        )  # fmt: skip
    return figure
