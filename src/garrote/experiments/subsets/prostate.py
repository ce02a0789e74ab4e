"""The best subsets of the prostate data's variables, by both exact solvers and by greedy searches.

Murphy's Figure 13.2b draws the lower envelope and prints no number; its nine residual sums of squares
are on record for these data, and all 256 fits give them. Each best subset contains the one before it,
so that growing and shrinking by a variable at a time finds them all.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from garrote import GreedyRegressor
from garrote.arrays import Floats
from garrote.datasets import load_prostate
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, RIDGE, make_axes
from garrote.experiments.murphy.methods import (
    Members,
    all_subsets,
    fit_best_subsets,
    fit_subsets,
    residual_squares,
)
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

KNOWN = (96.2814, 44.5286, 37.0918, 34.9077, 32.8150, 32.0694, 30.5398, 29.4373, 29.4264)
_BRANCH, _LEAPS = "BestSubset", "leaps"
# The columns of the table, and what `GreedyRegressor` calls each search.
_SEARCHES = {
    _LEAPS: "best-subset",
    "forward": "forward",
    "backward": "backward",
    "splicing": "splicing",
    "OMP": "omp",
}
_NEAR = 1e-9


def run_best_subsets(settings: StudySettings) -> Report:
    """Compare the nine residual sums of squares."""
    data = load_prostate()
    X, y = data.standardised_on_training()
    subsets = all_subsets(X.shape[1])
    every = residual_squares(X, y, fit_subsets(X, y, subsets))
    best = [_least(every, subsets, size) for size in range(X.shape[1] + 1)]
    coefs = {_BRANCH: fit_best_subsets(X, y)}
    gaps = []
    for name, search in _SEARCHES.items():
        path = _search(X, y, search)
        coefs[name] = path.coefficients().toarray()
        if name == _LEAPS:
            gaps = [fit.certificate.parts["optimality gap"] for fit in path.fits]
    squares = {name: residual_squares(X, y, coef) for name, coef in coefs.items()}
    enumerated = every[best]
    members = [set(subsets[position]) for position in best]
    return Report(
        "Best subsets of the prostate data: two exact solvers, and searches by single variables",
        (_tabulate(data.names, members, enumerated, squares),),
        (
            _agreement(enumerated, squares),
            "BestSubset is the penalty, by branch and bound; leaps is the search best-subset of "
            f"GreedyRegressor, which certifies a gap of at most {max(gaps):g}: no subset is better",
            _nesting(members),
            "Murphy draws these sums (Figure 13.2b) and prints no number; the known ones are on record "
            "for these data",
        ),
        {"enumerated": enumerated, "squares": squares, "gaps": gaps, "members": members},
        lambda: _draw(enumerated, squares),
    )


def _search(X: Floats, y: Floats, search: str) -> Any:
    """Return one path over all sizes, the columns as they are."""
    model = GreedyRegressor(
        search,
        criterion=None,
        max_features=X.shape[1],
        fit_intercept=False,
    )
    return model.fit(X, y).path_


def _least(squares: Floats, subsets: list[Members], size: int) -> int:
    of_size = np.array([len(members) == size for members in subsets])
    return int(np.argmin(np.where(of_size, squares, np.inf)))


def _tabulate(
    names: tuple[str, ...], members: list[set[int]], enumerated: Floats, squares: dict[str, Floats]
) -> Table:
    newcomers = [
        ", ".join(names[j] for j in sorted(now - before))
        for before, now in pairwise([set(), *members])
    ]
    columns: dict[str, list[Any]] = {
        "size": list(range(len(members))),
        "known": [f"{value:.4f}" for value in KNOWN],
        "all 256": [f"{value:.4f}" for value in enumerated],
    }
    columns |= {name: [f"{value:.4f}" for value in each] for name, each in squares.items()}
    columns["comes in"] = newcomers
    return Table(columns, caption="residual sums of squares on the 67 training rows")


def _agreement(enumerated: Floats, squares: dict[str, Floats]) -> str:
    """Say which methods find all nine, and where the others miss."""
    missed = {
        name: np.flatnonzero(each > enumerated * (1 + _NEAR)) for name, each in squares.items()
    }
    found = [name for name, sizes in missed.items() if not len(sizes)]
    rest = [
        f"{name} misses size {', '.join(map(str, sizes))}"
        for name, sizes in missed.items()
        if len(sizes)
    ]
    largest = max(np.abs(squares[name] - enumerated).max() for name in found)
    return (
        f"all nine sums are found by {', '.join(found)} (largest difference {largest:.0e})"
        + "".join(f"; {each}, as it takes in what resembles the residual most, not what lowers it most"
                  for each in rest)
    )  # fmt: skip


def _nesting(members: list[set[int]]) -> str:
    nested = all(now >= before for before, now in pairwise(members))
    return (
        "each best subset contains the one before it, which is why growing and shrinking by one "
        "variable at a time give the same nine"
        if nested
        else "the best subsets are not nested"
    )


def _draw(enumerated: Floats, squares: dict[str, Floats]) -> Any:
    figure, axes = make_axes(width=6.4, height=4.2)
    axis = axes[0, 0]
    sizes = np.arange(len(enumerated))
    axis.plot(sizes, enumerated, color="black", lw=0.8, label="all 256 fits")
    marks = zip("osv^dx", (GARROTE, LASSO, RIDGE, OTHER, LASSO, GARROTE), strict=True)
    for k, ((name, values), (mark, color)) in enumerate(zip(squares.items(), marks, strict=True)):
        # Side by side, as they cover each other where they agree.
        axis.plot(sizes + 0.09 * (k - 2.5), values, mark, color=color, ms=4, label=name)
    axis.set(xlabel="size of the subset", ylabel="residual sum of squares", ylim=(25, None))
    axis.set_yscale("log")
    axis.set_yticks([30, 40, 50, 60, 80, 100], labels=["30", "40", "50", "60", "80", "100"])
    axis.minorticks_off()
    axis.legend(frameon=False, fontsize=8)
    return figure
