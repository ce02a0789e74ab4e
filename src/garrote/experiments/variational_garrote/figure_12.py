"""VG Figure 12: the fixed points of one variable, where f(m) of Eq. 15 crosses the diagonal."""

from typing import Any

import numpy as np
from scipy.special import expit

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.report import Report, StudySettings
from garrote.orthogonal import critical_point, univariate_free_energy, univariate_solutions
from garrote.summaries import Table

_N = 100
_GAMMAS = (-10.0, -30.0)
_RHOS = np.array([0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7])
_FINE = 20_001


def run_figure_12(settings: StudySettings) -> Report:
    """Count the crossings of the curves drawn, by two ways; nothing in them is random."""
    found = {
        (gamma, float(rho)): univariate_solutions(rho, gamma, _N)
        for gamma in _GAMMAS
        for rho in _RHOS
    }
    crossings = {key: _crossings(*key) for key in found}
    agree = sum(len(one.probability) == crossings[key] for key, one in found.items())
    # In log odds, as m rounds to 1.
    rising = {
        gamma: np.array([found[gamma, float(rho)].log_odds[-1] for rho in _RHOS])
        for gamma in _GAMMAS
    }
    maxima = [_is_maximum(*key) for key, one in found.items() if len(one.probability) == 3]
    rho_star, gamma_star = critical_point(_N)
    return Report(
        f"VG Figure 12: fixed points of one variable, N = {_N}",
        (_tabulate(found),),
        (
            f"the text, of gamma = -10: the solution is unique and increases with rho; ours: "
            f"{_counts(found, -10.0)}, increasing: "
            f"{'yes' if (np.diff(rising[-10.0]) > 0).all() else 'no'}",
            "the text, of gamma = -30: one or three solutions, those near 0 and 1 minima of F, that in "
            f"between a maximum; ours: {_counts(found, -30.0)}; in between F has a maximum in "
            f"{sum(maxima)} of {len(maxima)}",
            f"crossings of f(m) and the diagonal on a grid of {_FINE - 1:,} steps agree in number with "
            f"garrote.orthogonal.univariate_solutions in {agree} of {len(found)} cases",
            f"three solutions need gamma below gamma* = {gamma_star:.2f} and rho above rho* = "
            f"{rho_star:.3f} (Figure 1)",
        ),
        {"solutions": found, "crossings": crossings, "maxima": maxima, "rising": rising},
        _draw,
    )


def fixed_point_map(m: Floats, rho: float, gamma: float) -> Floats:
    """Return f(m), the right-hand side of Eq. 15."""
    return np.asarray(expit(gamma + _N / 2 * rho / (1 - rho * m)))


def _crossings(gamma: float, rho: float) -> int:
    """Count the changes of sign of f(m) - m, both in log odds, on a grid of them."""
    log_odds = np.linspace(gamma - 1, gamma + _N / 2 * rho / (1 - rho) + 1, _FINE)
    mapped = gamma + _N / 2 * rho / (1 - rho * expit(log_odds))
    return int(np.count_nonzero(np.diff(np.sign(mapped - log_odds))))


def _is_maximum(gamma: float, rho: float) -> bool:
    """Tell whether the free energy is less on both sides of the middle solution."""
    middle = float(univariate_solutions(rho, gamma, _N).probability[1])
    step = 1e-3 * min(middle, 1 - middle)
    around = middle + np.array([-step, 0.0, step])
    below, at, above = univariate_free_energy(around, rho, gamma, _N)
    return bool(at > below and at > above)


def _counts(found: dict[tuple[float, float], Any], gamma: float) -> str:
    """Say for how many rho there are one or three solutions."""
    counts = [len(one.probability) for (g, _), one in found.items() if g == gamma]
    return f"one solution for {counts.count(1)} of {len(counts)} rho, three for {counts.count(3)}"


def _tabulate(found: dict[tuple[float, float], Any]) -> Table:
    columns: dict[str, list[str]] = {"rho": [f"{rho:g}" for rho in _RHOS]}
    for gamma in _GAMMAS:
        columns[f"m, gamma = {gamma:g}"] = [
            ", ".join(f"{m:.3g}" for m in found[gamma, float(rho)].probability) for rho in _RHOS
        ]
    return Table(
        columns, caption="solutions of m = f(m); of three the middle one is a maximum of F"
    )


def _draw() -> Any:
    figure, axes = make_axes(1, 2, width=9.5, height=4.6)
    m = np.linspace(0, 1, 2001)
    for axis, gamma, letter in zip(axes[0], _GAMMAS, "ab", strict=True):
        axis.plot(m, m, color="black", lw=0.8)
        for rho in _RHOS:
            solutions = univariate_solutions(float(rho), gamma, _N)
            axis.plot(m, fixed_point_map(m, float(rho), gamma), color=OTHER, lw=0.9)
            for value, stable in zip(solutions.probability, solutions.stable, strict=True):
                axis.plot(value, value, "o", color=GARROTE if stable else LASSO, ms=4)
        axis.set(
            title=rf"({letter}) $\gamma = {gamma:g}$, $\rho$ from {_RHOS[0]:g} to {_RHOS[-1]:g}",
            xlabel="m", ylabel="f(m)", aspect="equal",
        )  # fmt: skip
    axes[0, 1].plot([], [], "o", color=GARROTE, ms=4, label="minimum of F")
    axes[0, 1].plot([], [], "o", color=LASSO, ms=4, label="maximum")
    axes[0, 1].legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.08))
    return figure
