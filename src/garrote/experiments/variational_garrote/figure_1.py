"""VG Figure 1: for which correlations and prior odds a single variable has two solutions."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.displays import PhaseDisplay
from garrote.experiments.drawing import make_axes
from garrote.experiments.report import Report, StudySettings
from garrote.orthogonal import (
    critical_point,
    even_odds_line,
    transition_lines,
    univariate_solutions,
)
from garrote.summaries import Table

_N = 100
_INSETS = (-10.0, -40.0)


def run_figure_1(settings: StudySettings) -> Report:
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
            "m = 1/2": _cells(np.where(rho < rho_star, even_odds_line(rho, _N), np.nan)),
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


def _coexistence(gamma: float) -> tuple[float, float] | None:
    """Return the range of rho with two stable solutions, if there is one."""
    rho = np.linspace(0.001, 0.999, 999)
    both = rho[[univariate_solutions(r, gamma, _N).stable.sum() == 2 for r in rho]]
    return (float(both[0]), float(both[-1])) if both.size else None


def _draw() -> Any:
    figure, axes = make_axes(width=7, height=6)
    PhaseDisplay.from_theory(_N, gammas=_INSETS, ax=axes[0, 0])
    return figure


def _cells(values: Floats) -> list[str]:
    return ["-" if np.isnan(value) else f"{value:.1f}" for value in values]
