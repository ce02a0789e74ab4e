"""Murphy Figure 13.4: subderivatives of the lasso's objective at 0, and when 0 is its minimum.

The objective of one coefficient is f(w) = a w^2 / 2 - c w + lambda |w| up to a constant (Eqs. 13.48 to
13.52), whose subdifferential at 0 is [-c - lambda, -c + lambda].
"""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.datasets import load_prostate
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.murphy.methods import lasso_knots
from garrote.experiments.report import Report, StudySettings
from garrote.penalties import L1, thresholding
from garrote.summaries import Table

_CURVATURE, _LAMBDA = 1.0, 1.0
_PRODUCTS = (-2.0, -1.0, -0.4, 0.0, 0.4, 1.0, 2.0)
_DRAWN = 0.4
_STEP, _OUTSIDE = 1e-7, 0.05
# Of lines through 0, these shares of the way from the left derivative to the right one are drawn.
_SHARES = (0.0, 0.35, 0.7, 1.0)


class Kink(NamedTuple):
    """One objective: its one-sided limits by Eq. 13.46, those of Eq. 13.52, and the lasso's answer.

    ``below`` is the least of f(w) - f(0) - g w over a grid for all g between both limits, ``crosses``
    whether it is negative for a g a little outside of either.
    """

    product: float
    limits: Floats
    printed: Floats
    answer: float
    below: float
    crosses: bool


def run_figure_13_4(settings: StudySettings) -> Report:
    """Compute the limits from both sides, and hold 0 in between against the lasso's answer."""
    kinks = [_look(product) for product in _PRODUCTS]
    largest, stated = _where_paths_begin()
    return Report(
        "Murphy Figure 13.4: subderivatives of the lasso's objective at 0",
        (
            Table(
                {
                    "c": [f"{kink.product:g}" for kink in kinks],
                    "Eq. 13.52": [_interval(kink.printed) for kink in kinks],
                    "limits, Eq. 13.46": [_interval(kink.limits) for kink in kinks],
                    "0 inside": [
                        "yes" if kink.printed[0] <= 0 <= kink.printed[1] else "no" for kink in kinks
                    ],
                    "the lasso's w": [f"{kink.answer + 0.0:.2f}" for kink in kinks],
                },
                caption=f"f(w) = a w^2 / 2 - c w + lambda |w|, a = {_CURVATURE:g}, "
                f"lambda = {_LAMBDA:g}",
            ),
        ),
        (
            "the text: a point is a minimum iff 0 is in its subdifferential; ours: the lasso's answer "
            "is 0 exactly where 0 lies in the interval",
            "lines through f(0) with slopes inside the interval stay below f (it comes no nearer than "
            f"{min(kink.below for kink in kinks):.0e}); lines with slopes {_OUTSIDE} outside cross it: "
            f"{sum(kink.crosses for kink in kinks)} of {len(kinks)}",
            "Eqs. 13.53 and 13.57 lack a factor 2: for RSS + lambda |w| 0 is the answer from lambda = "
            "2 max |x_j'y| on. On the prostate data the path begins at "
            f"{largest:.3f}; max |x_j'y| is {stated:.3f}",
        ),
        {"kinks": kinks, "begins": largest, "printed": stated},
        _draw,
    )


def _objective(w: Floats, product: float) -> Floats:
    return 0.5 * _CURVATURE * w**2 - product * w + _LAMBDA * np.abs(w)


def _look(product: float) -> Kink:
    sides = np.array([-_STEP, _STEP])
    limits = _objective(sides, product) / sides
    printed = np.array([-product - _LAMBDA, -product + _LAMBDA])
    answer = float(thresholding(L1(), [product / _CURVATURE], _LAMBDA, _CURVATURE)[0])
    grid = np.linspace(-4, 4, 4001)
    inside = printed[0] + np.linspace(0, 1, 21) * (printed[1] - printed[0])
    outside = printed + np.array([-_OUTSIDE, _OUTSIDE])
    below, beyond = (
        (_objective(grid, product) - slopes[:, None] * grid).min(axis=1)
        for slopes in (inside, outside)
    )
    return Kink(product, limits, printed, answer, float(below.min()), bool((beyond < 0).all()))


def _where_paths_begin() -> tuple[float, float]:
    """Return the lambda at which the prostate data's path begins, and what Eq. 13.57 says."""
    X, y = load_prostate().standardised_on_training()
    # The text's lambda is 2 N times ours.
    return 2 * len(y) * float(lasso_knots(X, y).strengths[0]), float(np.abs(X.T @ y).max())


def _interval(ends: Floats) -> str:
    low, high = np.round(ends, 2) + 0.0
    return f"[{low:.2f}, {high:.2f}]"


def _draw() -> Any:
    figure, axes = make_axes(1, 2, width=9.5, height=4)
    grid = np.linspace(-1.6, 1.6, 641)
    for axis, product, title in (
        (axes[0, 0], _DRAWN, "0 is a subderivative: w = 0"),
        (axes[0, 1], 2.0, "it is none: w = 1"),
    ):
        axis.plot(grid, _objective(grid, product), color=GARROTE, lw=1.8, label=r"$f(w)$")
        low, high = -product - _LAMBDA, -product + _LAMBDA
        for share in _SHARES:
            ends = share in (0.0, 1.0)
            axis.plot(
                grid, (low + share * (high - low)) * grid, "-" if ends else "--",
                color=LASSO if ends else OTHER, lw=1,
                label={0.0: "one-sided limits", 0.35: "subderivatives between"}.get(share),
            )  # fmt: skip
        axis.plot(0, 0, "ko", ms=4)
        axis.set(xlabel="w", title=f"c = {product:g}: {title}", ylim=(-2.2, 3.2))
    axes[0, 0].legend(frameon=False, fontsize=8)
    return figure
