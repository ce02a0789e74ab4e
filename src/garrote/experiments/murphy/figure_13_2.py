"""Murphy Figure 13.2b: residual sum of squares of all 256 subsets of the prostate data's variables."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.datasets import load_prostate
from garrote.experiments.drawing import GARROTE, OTHER, make_axes
from garrote.experiments.murphy.methods import (
    all_subsets,
    fit_best_subsets,
    fit_subsets,
    residual_squares,
)
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table


def run_figure_13_2b(settings: StudySettings) -> Report:
    """Fit every subset to the training rows."""
    data = load_prostate()
    X, y = data.standardised_on_training()
    subsets = all_subsets(X.shape[1])
    squares = residual_squares(X, y, fit_subsets(X, y, subsets))
    sizes = np.array([len(members) for members in subsets])
    searched = residual_squares(X, y, fit_best_subsets(X, y))
    best = [_best_of_size(squares, sizes, size) for size in range(X.shape[1] + 1)]
    members = [{data.names[j] for j in subsets[position]} for position in best]
    nested = [k for k in range(1, len(best)) if not members[k - 1] <= members[k]]
    return Report(
        "Murphy Figure 13.2b: all subsets of the prostate data's variables",
        (
            Table(
                {
                    "size": list(range(len(best))),
                    "subsets": [int(np.sum(sizes == size)) for size in range(len(best))],
                    "best RSS": [f"{squares[position]:.4f}" for position in best],
                    "worst RSS": [
                        f"{squares[sizes == size].max():.4f}" for size in range(len(best))
                    ],
                    "best subset": [", ".join(data.names[j] for j in subsets[p]) for p in best],
                },
                caption="residual sums of squares on the 67 training rows; the text prints no number",
            ),
        ),
        (
            "the lower envelope falls with the size, as the text says it must; the penalty BestSubset "
            "finds it without fitting all subsets: largest difference "
            f"{np.abs(searched - squares[best]).max():.1e}",
            "the best subset of a size contains the best of the size before"
            + (f", but for size {', '.join(map(str, nested))}" if nested else ""),
        ),
        {"sizes": sizes, "squares": squares, "best": squares[best], "searched": searched},
        lambda: _draw(sizes, squares, squares[best]),
    )


def _best_of_size(squares: Floats, sizes: Array, size: int) -> int:
    return int(np.argmin(np.where(sizes == size, squares, np.inf)))


def _draw(sizes: Array, squares: Floats, best: Floats) -> Any:
    figure, axes = make_axes(width=5.6, height=4.4)
    axis = axes[0, 0]
    axis.plot(sizes, squares, "o", ms=3.5, color=OTHER, alpha=0.5)
    axis.plot(np.arange(len(best)), best, "o-", color=GARROTE, label="best of each size")
    axis.set(xlabel="subset size", ylabel="residual sum of squares", ylim=(0, 100))
    axis.legend(frameon=False)
    return figure
