"""VG Figure 2: one coefficient as ridge, lasso, Breiman's garrote and the Variational Garrote see it."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.displays import ShrinkageDisplay
from garrote.experiments.drawing import make_axes
from garrote.experiments.report import Report, StudySettings
from garrote.orthogonal import shrinkage_curves, variational_garrote_curve
from garrote.summaries import Table


def run_figure_2(settings: StudySettings) -> Report:
    """Compute the curves with the parameters of the caption; nothing in them is random."""
    w = np.array([0.1, 0.25, 0.4, 0.45, 0.5, 0.55, 0.6, 0.75, 1.0, 1.5, 2.0])
    values = shrinkage_curves(w)
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
    ShrinkageDisplay.from_theory(ax=axes[0, 0])
    return figure
