"""VG section 5.5: the garrote on Boston housing at many gammas, from a hundred random starts each."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.report import Report, StudySettings
from garrote.experiments.variational_garrote.boston import (
    coefficients_error,
    exact_means,
    housing_problem,
    random_starts,
    solve_housing,
)
from garrote.solvers.garrote.starts import distinct_optima
from garrote.summaries import Table

_STARTS = 100
# The range of pi over which Figure 7 anneals it.
_PIS, _QUICK_PIS = np.linspace(0.02, 0.98, 25), np.linspace(0.1, 0.9, 5)
_METHODS = ("VG", "PMF")


class Found(NamedTuple):
    """At one pi: how many optima the starts lead to, and how far each lies from the truth there."""

    optima: int
    errors: Floats
    best_share: float


def run_section_5_5(settings: StudySettings) -> Report:
    """Solve from every start at every gamma, and count the optima."""
    pis = _QUICK_PIS if settings.quick else _PIS
    count = settings.count(_STARTS, quick=10)
    problem = housing_problem(settings)
    starts = random_starts(settings, "soft", count)
    found: dict[str, list[Found]] = {method: [] for method in _METHODS}
    for pi in pis:
        truth = exact_means(problem, pi)
        for method in _METHODS:
            fits = solve_housing(problem, method, starts, pi)
            optima = distinct_optima(problem, fits)
            errors = np.array([coefficients_error(fit, truth) for fit in fits.values()])
            share = len(optima.reached[0].split(", ")) / count
            found[method].append(Found(len(optima.fits), errors, share))
    single = {m: sum(one.optima == 1 for one in values) for m, values in found.items()}
    return Report(
        "VG section 5.5: optima on Boston housing as gamma changes",
        (_tabulate(pis, found),),
        (
            "the paper: VG never finds a suboptimal solution and always converges to the same, whatever "
            f"gamma and the start; ours: one optimum at {single['VG']} of {len(pis)} gammas",
            f"PMF, of which the paper has two optima at pi = 0.25: one optimum at {single['PMF']} of "
            f"{len(pis)}; its last with several is "
            f"{_last_with_several(pis, found['PMF'])} (paper: trapped until pi = 0.7 or so)",
            f"{count} starts, uniform between 0 and 1 (paper: {_STARTS}); 456 rows drawn at random, "
            "noise variance 0.1 and slab variance 1 in units of var(y) and sd(y), as for Table 4; "
            "errors are ||dv||_1 from the posterior means over all 2^13 models at that pi",
        ),
        {"pi": pis, "found": found},
        lambda: _draw(pis, found),
    )


def _last_with_several(pis: Floats, found: list[Found]) -> str:
    several = [pi for pi, one in zip(pis, found, strict=True) if one.optima > 1]
    return f"pi = {several[-1]:.2f}" if several else "none"


def _tabulate(pis: Floats, found: dict[str, list[Found]]) -> Table:
    columns: dict[str, list[str]] = {
        "pi": [f"{pi:.2f}" for pi in pis],
        "gamma": [f"{logit(pi):.2f}" for pi in pis],
    }
    for method, values in found.items():
        columns[f"optima of {method}"] = [str(one.optima) for one in values]
        columns[f"{method} error"] = [_range(one.errors) for one in values]
    columns["PMF at its best"] = [f"{one.best_share:.0%}" for one in found["PMF"]]
    return Table(columns)


def _range(errors: Floats) -> str:
    low, high = errors.min(), errors.max()
    return f"{low:.3f}" if high - low < 1e-3 else f"{low:.3f} to {high:.3f}"


def _draw(pis: Floats, found: dict[str, list[Found]]) -> Any:
    figure, axes = make_axes(1, 2, width=9.5, height=4)
    counts, errors = axes[0]
    for method, color, mark in (("VG", GARROTE, "o-"), ("PMF", LASSO, "^--")):
        counts.plot(
            pis, [one.optima for one in found[method]], mark, color=color, ms=4, label=method
        )
        for k, (pi, one) in enumerate(zip(pis, found[method], strict=True)):
            values = np.unique(np.round(one.errors, 3))
            errors.plot(
                np.full(len(values), pi), values, mark[0], color=color, ms=4,
                label=method if k == 0 else None,
            )  # fmt: skip
    counts.axvline(0.25, color=OTHER, lw=0.8, ls=":")
    counts.set(xlabel=r"$\pi$", ylabel="optima that the starts lead to", ylim=(0, None))
    errors.set(xlabel=r"$\pi$", ylabel=r"$\|\delta v\|_1$", ylim=(0, None))
    counts.legend(frameon=False)
    errors.legend(frameon=False)
    return figure
