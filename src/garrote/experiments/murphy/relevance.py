"""Murphy Figure 13.20: why the evidence turns a variable off that does not point towards y."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, OTHER, make_axes
from garrote.experiments.report import Report, StudySettings
from garrote.solvers.relevance.evidence import Hyperpriors, log_evidence
from garrote.solvers.relevance.given_variances import ByRows
from garrote.summaries import Table

# Two rows, as in the text's sketch: one column nearly orthogonal to y, one that points towards it.
_Y = np.array([1.0, 1.0])
_COLUMNS = {"nearly orthogonal to y": np.array([1.0, -0.7]), "towards y": np.array([0.8, 1.1])}
_NOISE = 0.5
_VARIANCES = np.concatenate([[0.0], np.geomspace(1e-3, 1e2, 200)])


def run_figure_13_20(settings: StudySettings) -> Report:
    """Compute the evidence of one variance for two columns of two rows."""
    laws = Hyperpriors(0.0, 0.0, 0.0, 0.0, 2.0, _NOISE)
    curves = {name: _curve(column, laws) for name, column in _COLUMNS.items()}
    best = {name: float(_VARIANCES[np.argmax(curve)]) for name, curve in curves.items()}
    closed = {name: _closed_form(column) for name, column in _COLUMNS.items()}
    table = Table(
        {
            "column": list(_COLUMNS),
            "best variance on a grid": [f"{best[name]:.3g}" for name in _COLUMNS],
            "closed form": [f"{closed[name]:.3g}" for name in _COLUMNS],
            "log evidence without it": [f"{curves[name][0]:.4f}" for name in _COLUMNS],
            "at its best": [f"{curves[name].max():.4f}" for name in _COLUMNS],
        },
        caption="two rows, y = (1, 1), noise variance 0.5; the text prints a sketch, and no number",
    )
    return Report(
        "Murphy Figure 13.20: why relevance determination is sparse",
        (table,),
        (
            "a column that points away from y spends probability on directions in which y is not: no "
            "variance is its best one, as the text argues",
        ),
        curves | {"best": np.array(list(best.values()))},
        lambda: _draw(curves),
    )


def _curve(column: Floats, laws: Hyperpriors) -> Floats:
    data = ByRows(column[:, None], _Y)
    found = []
    for value in _VARIANCES:
        variance = np.array([value])
        found.append(log_evidence(data.given(variance, _NOISE), variance, _NOISE, laws))
    return np.array(found)


def _closed_form(column: Floats) -> float:
    s, q = float(column @ column) / _NOISE, float(column @ _Y) / _NOISE
    return max(q**2 - s, 0.0) / s**2


def _draw(curves: dict[str, Floats]) -> Any:
    figure, axes = make_axes(1, 2, width=8.4, height=3.8)
    around = np.linspace(0, 2 * np.pi, 200)
    colours = dict(zip(_COLUMNS, (OTHER, GARROTE), strict=True))
    for name, column in _COLUMNS.items():
        root = np.linalg.cholesky(_NOISE * np.eye(2) + np.outer(column, column))
        ellipse = root @ np.array([np.cos(around), np.sin(around)])
        axes[0, 0].plot(*ellipse, color=colours[name], label=f"column {name}")
        axes[0, 0].plot([0, column[0]], [0, column[1]], color=colours[name], lw=1)
        axes[0, 1].semilogx(_VARIANCES[1:], curves[name][1:], color=colours[name])
        axes[0, 1].axhline(curves[name][0], color=colours[name], lw=0.8, ls=":")
    axes[0, 0].plot(*_Y, "k*", ms=9)
    axes[0, 0].set(aspect="equal", title="covariance of y; the star is y")
    axes[0, 0].legend(frameon=False, fontsize=8)
    axes[0, 1].set(xlabel="variance of the coefficient", ylabel="log evidence")
    return figure
