"""VG Figure 2: one coefficient as ridge, lasso, Breiman's garrote and the Variational Garrote see it."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, RIDGE, make_axes
from garrote.experiments.report import Report, Settings
from garrote.orthogonal import (
    breiman_garrote_curve,
    lasso_curve,
    ridge_curve,
    variational_garrote_curve,
)
from garrote.summaries import Table

_CURVES = {
    "ridge": (ridge_curve, RIDGE, "--"),
    "lasso": (lasso_curve, LASSO, "--"),
    "garrote": (breiman_garrote_curve, "tab:red", "-."),
    "VG": (variational_garrote_curve, GARROTE, "-"),
}


def run_figure_2(settings: Settings) -> Report:
    """Compute the curves with the parameters of the caption; nothing in them is random."""
    w = np.array([0.1, 0.25, 0.4, 0.45, 0.5, 0.55, 0.6, 0.75, 1.0, 1.5, 2.0])
    values = {name: curve(w) for name, (curve, _, _) in _CURVES.items()}
    table = Table({"least squares": w.tolist(), **{n: v.tolist() for n, v in values.items()}})
    threshold = _half_point()
    return Report(
        "VG Figure 2: shrinkage of one coefficient",
        (table,),
        (
            "ridge with lambda = 0.5, lasso with gamma = 1/2, Breiman's garrote with gamma = 1/4, VG "
            "with gamma = -10, N = 100 and unexplained variance 1; the paper prints no numbers",
            "as the text says, ridge is off by a constant factor, the lasso by a constant, and the VG "
            f"is near 0 below a threshold (m = 1/2 at w = {threshold:.3f}) and least squares above it: "
            f"at w = 1 the VG keeps {100 * variational_garrote_curve(1.0):.2f}% of the coefficient, "
            "ridge and lasso 50%, Breiman's garrote 75%",
        ),
        {"w": w, **values, "threshold": threshold},
        _draw,
    )


def _half_point() -> float:
    """Return the least squares coefficient of which the VG keeps one half."""
    w: Floats = np.linspace(0.01, 2, 4000)
    return float(np.interp(0.5, variational_garrote_curve(w) / w, w))


def _draw() -> Any:
    figure, axes = make_axes(width=5.6, height=5)
    w = np.linspace(0, 2, 401)
    axes[0, 0].plot(w, w, ":", color=OTHER, label="least squares")
    for name, (curve, color, style) in _CURVES.items():
        axes[0, 0].plot(w, curve(w), style, color=color, label=name)
    axes[0, 0].set(xlim=(0, 2), ylim=(0, 2), xlabel="least squares", ylabel="estimate")
    axes[0, 0].set_aspect("equal")
    axes[0, 0].legend(frameon=False)
    return figure
