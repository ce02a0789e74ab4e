"""Murphy Figure 13.24 and exercise 13.6: three estimators of an orthonormal design by c_k."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.drawing import LASSO, OTHER, RIDGE, make_axes
from garrote.experiments.murphy.methods import fit_lasso, fit_least_squares, fit_ridge
from garrote.experiments.report import Report, StudySettings
from garrote.orthogonal import lasso_curve, ridge_curve
from garrote.summaries import Table

_LAMBDA_1 = _LAMBDA_2 = 1.0
_ROWS, _COLUMNS = 64, 41
_REACH = 4.0
_NAMES = ("least squares", "ridge", "lasso")


def run_figure_13_24(settings: StudySettings) -> Report:
    """Fit all three to one table whose c_k are spread evenly, and read both lambdas off the lines."""
    rng = np.random.default_rng(settings.seed)
    X = np.linalg.qr(rng.standard_normal((_ROWS, _COLUMNS)))[0]
    products = np.linspace(-_REACH, _REACH, _COLUMNS)
    rest = rng.standard_normal(_ROWS)
    y = X @ products / 2 + rest - X @ (X.T @ rest)  # so that c = 2 X'y
    estimates = {
        "least squares": fit_least_squares(X, y),
        "ridge": fit_ridge(X, y, np.array([_LAMBDA_2]))[0],
        "lasso": fit_lasso(X, y, np.array([_LAMBDA_1]))[0],
    }
    closed = _closed_forms(products)
    apart = {name: float(np.abs(estimates[name] - closed[name]).max()) for name in _NAMES}
    read = _read_off(products, estimates)
    shown = np.linspace(0, _COLUMNS - 1, 9).astype(int)
    return Report(
        "Murphy Figure 13.24: three estimators of an orthonormal design",
        (
            Table(
                {
                    "c": [f"{products[k] + 0.0:.1f}" for k in shown],
                    **{
                        name: [f"{estimates[name][k] + 0.0:.3f}" for k in shown] for name in _NAMES
                    },
                },
                caption=f"fits to {_ROWS} rows, lambda_1 = {_LAMBDA_1:g}, lambda_2 = {_LAMBDA_2:g}",
            ),
            Table(
                {
                    "exercise 13.6": [
                        "a. through 0 with slope 1/2",
                        "a. through 0, flatter",
                        "a. 0 around c = 0, and then of slope 1/2",
                        "b. lambda_1: where |c| leaves 0",
                        "c. lambda_2: ratio of the slopes, less 1",
                    ],
                    "answer": [
                        *_NAMES, f"{read['lambda_1']:.3f}", f"{read['lambda_2']:.3f}",
                    ],
                },
            ),
        ),
        (
            "largest differences of the fits from the closed forms of Eqs. 13.61-13.63: "
            + ", ".join(f"{name} {apart[name]:.0e}" for name in _NAMES),
            "the chapter prints no number: the values of lambda in its picture are for the reader to "
            "find, and ours are of our choice; the formulas c / 2, c / (2 (1 + lambda_2)) and "
            "sign(c) (|c| - lambda_1)_+ / 2 are its own",
        ),
        {"products": products, "estimates": estimates, "apart": apart, "read": read},
        lambda: _draw(products, estimates),
    )  # fmt: skip


def _closed_forms(products: Floats) -> dict[str, Floats]:
    """Return Eqs. 13.61 to 13.63, by the curves of `garrote.orthogonal`."""
    free = products / 2
    return {
        "least squares": free,
        "ridge": ridge_curve(free, 1 / (1 + _LAMBDA_2)),
        "lasso": lasso_curve(free, _LAMBDA_1 / 2),
    }


def _read_off(products: Floats, estimates: dict[str, Floats]) -> dict[str, float]:
    """Find both lambdas as a reader of the picture does."""
    slopes = {
        name: np.polyfit(products, estimates[name], 1)[0] for name in ("least squares", "ridge")
    }
    # The lasso's line beyond the flat part, prolonged down to 0.
    beyond = estimates["lasso"] > 1e-6
    slope, level = np.polyfit(products[beyond], estimates["lasso"][beyond], 1)
    return {
        "lambda_1": float(-level / slope),
        "lambda_2": float(slopes["least squares"] / slopes["ridge"] - 1),
    }


def _draw(products: Floats, estimates: dict[str, Floats]) -> Any:
    figure, axes = make_axes(width=5.6, height=4.4)
    axis = axes[0, 0]
    fine = np.linspace(-_REACH, _REACH, 801)
    closed = _closed_forms(fine)
    styles = {"least squares": ("-", OTHER), "ridge": (":", RIDGE), "lasso": ("--", LASSO)}
    for name, (style, color) in styles.items():
        axis.plot(fine, closed[name], style, color=color, label=name)
        axis.plot(products, estimates[name], ".", color=color, ms=4)
    axis.set(xlabel=r"$c_k = 2 y^T x_k$", ylabel=r"$\hat w_k$")
    axis.legend(frameon=False)
    return figure
