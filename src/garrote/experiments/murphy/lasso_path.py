"""Murphy Listing 13.1 and Figure 13.8: the lasso on the prostate data, from knot to knot."""

from itertools import pairwise
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.datasets import load_prostate
from garrote.displays.palette import curve_style
from garrote.experiments.drawing import make_axes
from garrote.experiments.murphy.methods import lasso_knots, unscaled_problem
from garrote.experiments.report import Report, StudySettings
from garrote.paths.annealed import fit_path
from garrote.penalties import L1
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.solvers.control import Control
from garrote.summaries import Table

_PUBLISHED = """
0      0      0       0      0      0       0       0
0.4279 0      0       0      0      0       0       0
0.5015 0.0735 0       0      0      0       0       0
0.5610 0.1878 0       0      0.0930 0       0       0
0.5622 0.1890 0       0.0036 0.0963 0       0       0
0.5797 0.2456 0       0.1435 0.2003 0       0       0.0901
0.5864 0.2572 -0.0321 0.1639 0.2082 0       0       0.1066
0.6994 0.2910 -0.1337 0.2062 0.3003 -0.2565 0       0.2452
0.7164 0.2926 -0.1425 0.2120 0.3096 -0.2890 -0.0209 0.2773
"""


def published_listing() -> Floats:
    """Return the listing's coefficients, knots x variables."""
    return np.array([line.split() for line in _PUBLISHED.strip().splitlines()], dtype=np.float64)


def run_listing_13_1(settings: StudySettings) -> Report:
    """Print the coefficients at every knot beside the text's."""
    path, coef, names = _follow()
    published = published_listing()
    rounded = np.round(coef, 4) + 0.0
    cells = {
        name: [f"{a:7.4f} {b:7.4f}" for a, b in zip(paper, ours, strict=True)]
        for name, paper, ours in zip(names, published.T, rounded.T, strict=True)
    }
    steps = {"step": list(range(len(coef)))}
    halves = [dict(list(cells.items())[part]) for part in (slice(0, 4), slice(4, 8))]
    equal = int(np.sum(rounded == published))
    return Report(
        "Murphy Listing 13.1: the lasso on the prostate data at each knot",
        (
            Table(steps | halves[0], caption="in each column the text's number, then ours"),
            Table(steps | halves[1]),
        ),
        (
            f"{equal} of {published.size} numbers agree in every printed digit",
            "67 training rows, columns in standard deviations (N - 1), response centred; the last line "
            "is least squares",
            f"variables enter in the order {_order(path, names)}; none leaves",
            f"largest duality gap of a knot: {path.certificate.max():.1e} of the null model's loss",
        ),
        {"path": path, "coef": coef, "published": published, "equal": equal},
    )


def run_figure_13_8(settings: StudySettings) -> Report:
    """Draw the coefficients against the bound on their norm, and against the steps."""
    path, coef, names = _follow()
    bounds = np.abs(coef).sum(axis=1)
    published = np.abs(published_listing()).sum(axis=1)
    entering = ["", *(names[move.column] for move in path.moves)]
    return Report(
        "Murphy Figure 13.8: the lasso's path on the prostate data is piecewise linear",
        (
            Table(
                {
                    "step": [str(k) for k in range(len(coef))],
                    "lambda = 2 N alpha": [f"{2 * 67 * alpha:.3f}" for alpha in path.strengths],
                    "paper: B, Listing 13.1": [f"{bound:.3f}" for bound in published],
                    "ours: B = ||w||_1": [f"{bound:.3f}" for bound in bounds],
                    "s(B)": [f"{bound / bounds[-1]:.3f}" for bound in bounds],
                    "entered": entering,
                },
                caption="the critical values of B, where a variable enters",
            ),
        ),
        (
            "between two of them every coefficient is linear in lambda, and as no sign changes also in "
            f"B: largest deviation at 50 points between each two {_off_lines(path, coef, bounds):.1e}",
        ),
        {"path": path, "coef": coef, "bounds": bounds},
        lambda: _draw(coef, bounds, names),
    )


def _follow() -> tuple[Path[PenaltyFit], Floats, tuple[str, ...]]:
    data = load_prostate()
    path = lasso_knots(*data.standardised_on_training())
    return path, np.asarray(path.coefficients().toarray()), data.names


def _order(path: Path[PenaltyFit], names: tuple[str, ...]) -> str:
    return ", ".join(names[move.column] for move in path.moves if move.enters)


def _off_lines(path: Path[PenaltyFit], coef: Floats, bounds: Floats) -> float:
    """Return how far fits of the coordinate solver between knots are from straight lines."""
    problem = unscaled_problem(*load_prostate().standardised_on_training())
    ends = path.strengths
    alphas = np.concatenate([np.linspace(a, b, 52)[1:-1] for a, b in pairwise(ends)])
    between = fit_path(problem, L1(), alphas, control=Control(1e-12)).coefficients().toarray()
    place = np.abs(between).sum(axis=1)
    straight = np.column_stack([np.interp(place, bounds, one) for one in coef.T])
    return float(np.abs(between - straight).max())


def _draw(coef: Floats, bounds: Floats, names: tuple[str, ...]) -> Any:
    from garrote.displays.end_labels import EndLabels

    figure, axes = make_axes(1, 2, width=10, height=4.4)
    for axis, x in zip(axes[0], (bounds, np.arange(len(coef))), strict=True):
        lines = [
            axis.plot(x, one, marker="o", ms=4, **curve_style(k))[0] for k, one in enumerate(coef.T)
        ]
        axis.add_artist(EndLabels(axis, lines, names))
        axis.set(ylabel="coefficient", xlim=(x[0], x[-1]))
    axes[0, 0].set(xlabel=r"bound $B = \|w\|_1$", title="(a) critical values of B")
    axes[0, 1].set(xlabel="step", title="(b) steps of LARS")
    return figure
