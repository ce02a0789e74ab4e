"""Murphy Figures 13.5 and 13.19: what penalties do to one coefficient of an orthogonal design."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, OTHER, make_axes
from garrote.experiments.report import Report, StudySettings
from garrote.penalties import HAL, L1, BestSubset, thresholding
from garrote.summaries import Table

# Figure 13.5: the threshold and the curvature a_j of Equations 13.49 and 13.54.
_LAMBDA, _CURVATURE = 1.0, 1.0
# Figure 13.19: Laplace with gamma = 1, and pairs (a, b) of the hierarchical prior.
_HIERARCHICAL = ((1.0, 0.01), (1.0, 0.1), (1.0, 1.0))

Curve = Callable[[Floats], Floats]


def run_figure_13_5(settings: StudySettings) -> Report:
    """Draw soft and hard thresholding, and check both against a search."""
    values = np.array([-3.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0])
    soft, hard = soft_threshold(values), hard_threshold(values)
    search = {
        "soft": search_minimum(values, lambda w: _LAMBDA * np.abs(w)),
        "hard": search_minimum(values, lambda w: 0.5 * _LAMBDA**2 * (w != 0)),
    }
    return Report(
        "Murphy Figure 13.5: soft and hard thresholding",
        (
            Table(
                {
                    "c_j": values.tolist(),
                    "soft, Eq. 13.54": [f"{w:.3f}" for w in _equation_13_54(values)],
                    "ours ": [f"{w + 0.0:.3f}" for w in soft],
                    "by search": [f"{w + 0.0:.3f}" for w in search["soft"]],
                    "hard, the text's": [
                        f"{w:.3f}" for w in np.where(np.abs(values) <= _LAMBDA, 0.0, values)
                    ],
                    "ours": [f"{w + 0.0:.3f}" for w in hard],
                    "by search ": [f"{w + 0.0:.3f}" for w in search["hard"]],
                },
                caption=f"w_j as a function of c_j, with a_j = {_CURVATURE:g}, lambda = {_LAMBDA:g}",
            ),
        ),
        (
            "ours is what every sweep of the solvers calls; the search takes the least of the objective "
            "on a fine grid",
            "hard thresholding is the minimum with a price of lambda^2 / 2 for every coefficient that "
            "is not 0; at c_j = +-lambda both answers cost the same, and the search takes either",
        ),
        {"values": values, "soft": soft, "hard": hard, "search": search},
        _draw_13_5,
    )


def soft_threshold(values: Floats) -> Floats:
    """Return the lasso's coefficients for products c_j, by the rule of the solvers."""
    return thresholding(L1(), values / _CURVATURE, _LAMBDA, _CURVATURE)


def hard_threshold(values: Floats) -> Floats:
    """Return the coefficients of subset selection for products c_j."""
    price = 0.5 * _LAMBDA**2 / _CURVATURE
    return thresholding(BestSubset(), values / _CURVATURE, price, _CURVATURE)


def _equation_13_54(values: Floats) -> Floats:
    below, above = values < -_LAMBDA, values > _LAMBDA
    return np.select([below, above], [values + _LAMBDA, values - _LAMBDA], 0.0) / _CURVATURE


def search_minimum(values: Floats, penalty: Curve) -> Floats:
    """Return, for each least-squares value, the least of (value - w)^2 / 2 + penalty on a fine grid."""
    grid = np.linspace(-10, 10, 40_001)
    cost = 0.5 * (values[:, None] - grid) ** 2 + penalty(grid)
    return grid[np.argmin(cost, axis=1)]


def run_figure_13_19(settings: StudySettings) -> Report:
    """Draw the estimates of the Laplace and of the hierarchical adaptive prior (Eq. 13.146)."""
    values = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 9.0])
    columns: dict[str, list[Any]] = {
        "MLE": values.tolist(),
        "Laplace": [f"{w:.3f}" for w in soft_threshold(values)],
    }
    worst = 0.0
    for a, b in _HIERARCHICAL:
        ours = hierarchical_threshold(values, a, b)
        found = search_minimum(values, partial(hierarchical_penalty, a=a, b=b))
        worst = max(worst, float(np.abs(ours - found).max()))
        columns[f"a = {a:g}, b = {b:g}"] = [f"{w:.3f}" for w in ours]
    bias = {b: 9.0 - hierarchical_threshold(np.array([9.0]), a, b)[0] for a, b in _HIERARCHICAL}
    return Report(
        "Murphy Figure 13.19: thresholds of the Laplace and of the hierarchical adaptive prior",
        (Table(columns, caption="estimates for maximum-likelihood estimates (MLE)"),),
        (
            f"largest difference from a search on a grid of step 0.0005: {worst:.1e}",
            "the text prints no number: it says that HAL approximates hard thresholding much more "
            "closely. An MLE of 9 is shrunk by 1 with the Laplace prior and by "
            + ", ".join(f"{shrunk:.2f} (b = {b:g})" for b, shrunk in bias.items()),
        ),
        {"worst": worst, "bias": bias},
        _draw_13_19,
    )


def hierarchical_penalty(w: Floats, a: float, b: float) -> Floats:
    """Return (a + 1) log(1 + |w| / b), the negative log prior up to a constant (Eq. 13.143)."""
    return np.asarray(HAL(a, b).value(np.abs(w)))


def hierarchical_threshold(values: Floats, a: float, b: float) -> Floats:
    """Return the minimum of (z - w)^2 / 2 + (a + 1) log(1 + |w| / b) for each z (Eq. 13.146)."""
    return thresholding(HAL(a, b), values, 1.0)


def _draw_13_5() -> Any:
    return _draw(
        {
            "soft thresholding": soft_threshold,
            "hard thresholding": hard_threshold,
        },
        3.0,
        r"$c_j$",
    )


def _draw_13_19() -> Any:
    a, b = _HIERARCHICAL[0]
    return _draw(
        {
            "Laplace": soft_threshold,
            f"hierarchical adaptive, a = {a:g}, b = {b:g}": partial(
                hierarchical_threshold, a=a, b=b
            ),
        },
        10.0,
        r"$\hat w^{mle}$",
    )


def _draw(curves: dict[str, Curve], reach: float, label: str) -> Any:
    figure, axes = make_axes(1, 2, width=8.5, height=4.2)
    x = np.linspace(-reach, reach, 1201)
    for axis, (title, curve) in zip(axes[0], curves.items(), strict=True):
        y = curve(x)
        jump = np.abs(np.diff(y)) > 10 * (x[1] - x[0])
        shown = y.copy()
        shown[1:][jump] = np.nan  # no line across a jump
        axis.plot(x, x, ":", color=OTHER, lw=1)
        axis.plot(x, shown, color=GARROTE)
        axis.set(xlabel=label, ylabel=r"$\hat w_j$", title=title, aspect="equal")
    return figure
