"""VG Figure 1: for which correlations and prior odds a single variable has two solutions."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, OTHER, make_axes
from garrote.experiments.report import Report, Settings
from garrote.orthogonal import (
    best_univariate_solution,
    critical_point,
    transition_lines,
    univariate_solutions,
)
from garrote.summaries import Table

_N = 100
_INSETS = (-10.0, -40.0)


def run_figure_1(settings: Settings) -> Report:
    """Compute the phase diagram; nothing in it is random."""
    rho_star, gamma_star = critical_point(_N)
    rho = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    sparse_end, dense_end = transition_lines(rho, _N)
    facts = Table(
        {
            "": ["rho*", "gamma*", "unique at gamma = -10", "two solutions at gamma = -40"],
            "paper": ["0.28", f"{-np.sqrt(2 * _N):.2f} (Eq. 20)", "for all rho", "for some rho"],
            "ours": [
                f"{rho_star:.3f} (Eq. 18)",
                f"{gamma_star:.2f}",
                "for all rho" if _coexistence(-10.0) is None else "no",
                "for rho in [{:.3f}, {:.3f}]".format(*_coexistence(-40.0) or (np.nan, np.nan)),
            ],
        }
    )
    lines = Table(
        {
            "rho": rho.tolist(),
            "dense branch ends": _cells(dense_end),
            "sparse branch ends": _cells(sparse_end),
            "m = 1/2": _cells(np.where(rho < rho_star, _half_line(rho), np.nan)),
            "exact, -N rho / 2": _cells(-_N * rho / 2),
        },
        caption="gamma at the transitions; between the first two both solutions exist",
    )
    return Report(
        f"VG Figure 1: solutions of one variable by squared correlation rho and gamma, N = {_N}",
        (facts, lines),
        (
            "the printed rho* = 0.28 is the approximation 2 sqrt(2 / N) for large N; its exact value "
            "by Eq. 18 is 0.246. Eq. 20 is an approximation for gamma* in the same sense",
            "gamma = -10 lies above gamma*, so that m rises smoothly with rho (upper inset); "
            "gamma = -40 lies below, and m jumps (lower inset)",
        ),
        {
            "critical_point": (rho_star, gamma_star),
            "approximate_rho": 2 * np.sqrt(2 / _N),
            "lines": (rho, sparse_end, dense_end),
            "coexistence": {gamma: _coexistence(gamma) for gamma in _INSETS},
        },
        _draw,
    )


def _half_line(rho: Floats) -> Floats:
    """Return the gamma at which m = 1/2 solves Eq. 15."""
    return -_N / 2 * rho / (1 - rho / 2)


def _coexistence(gamma: float) -> tuple[float, float] | None:
    """Return the range of rho with two stable solutions, if there is one."""
    rho = np.linspace(0.001, 0.999, 999)
    both = rho[[univariate_solutions(r, gamma, _N).stable.sum() == 2 for r in rho]]
    return (float(both[0]), float(both[-1])) if both.size else None


def _draw() -> Any:
    figure, axes = make_axes(width=7, height=6)
    main = axes[0, 0]
    rho_star, gamma_star = critical_point(_N)
    rho = np.linspace(rho_star, 0.995, 400)
    sparse_end, dense_end = transition_lines(rho, _N)
    smooth = np.linspace(0, rho_star, 100)
    main.plot(smooth, _half_line(smooth), color=GARROTE, label="m = 1/2")
    main.plot(rho, sparse_end, "--", color=GARROTE, label="end of the sparse branch")
    main.plot(rho, dense_end, "-.", color=GARROTE, label="end of the dense branch")
    main.fill_between(rho, dense_end, sparse_end, color=GARROTE, alpha=0.12, lw=0)
    main.plot([0, 1], [0, -_N / 2], ":", color=OTHER, label="exact, s = 0 to s = 1")
    main.plot(rho_star, gamma_star, "o", color=GARROTE)
    label = f"$\\rho^* = {rho_star:.3f}$"
    main.annotate(label, (rho_star, gamma_star), (10, 12), textcoords="offset points")
    main.annotate("two solutions", (0.66, -52), ha="center", color=GARROTE)
    main.set(xlim=(0, 1), ylim=(-80, 0), xlabel=r"$\rho$", ylabel=r"$\gamma$")
    main.legend(loc="lower left", bbox_to_anchor=(0.0, 0.0), frameon=False, fontsize=8)
    for gamma, place in zip(
        _INSETS, ((0.64, 0.72, 0.33, 0.24), (0.1, 0.3, 0.33, 0.24)), strict=True
    ):
        _draw_inset(main.inset_axes(place), gamma)
    return figure


def _draw_inset(axes: Any, gamma: float) -> None:
    """Draw stable solutions dashed and those of lowest free energy solid."""
    rho = np.linspace(0.001, 0.999, 500)
    found = [univariate_solutions(r, gamma, _N) for r in rho]
    branches = np.array([s.probability[s.stable][[0, -1]] for s in found])
    two = np.array([s.stable.sum() == 2 for s in found])
    for m in np.where(two[:, None], branches, np.nan).T:
        axes.plot(rho, m, "--", color=OTHER, lw=1)
    best = np.array([best_univariate_solution(r, gamma, _N) for r in rho])
    axes.plot(rho, best, color=GARROTE)
    axes.set(xlim=(0, 1), ylim=(-0.05, 1.05), xticks=[0, 1], yticks=[0, 1])
    axes.set_title(rf"m by $\rho$, $\gamma = {gamma:.0f}$", fontsize=8)
    axes.tick_params(labelsize=7)


def _cells(values: Floats) -> list[str]:
    return ["-" if np.isnan(value) else f"{value:.1f}" for value in values]
