"""Variational Optimization, Figures 1 and 2: the average of |w| over a normal law, beside |w|.

Staines & Barber (2012), section 2. The average of a lasso of one coefficient, c + b w + A w^2 +
lambda |w|, is smooth, and its least is near that of the lasso; where that is 0, it is beside 0.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.report import Report, StudySettings
from garrote.solvers.smoothing.kinks import KINKS, absolute_slope, absolute_value
from garrote.summaries import Table

_WIDTHS = (0.1, 0.5, 1.0)
_AVERAGE = KINKS["gaussian"]


class Lasso(NamedTuple):
    """The objective of one coefficient of Figure 1 (b) or (c), with c = 0."""

    A: float
    size: float
    b: float

    def value(self, w: Floats) -> Floats:
        """Return the objective."""
        return self.b * w + self.A * w**2 + self.size * np.abs(w)

    def average(self, mu: Floats, sigma: float) -> Floats:
        """Return its mean over w ~ N(mu, sigma^2), Eq. 15."""
        kinked = self.size * absolute_value(_AVERAGE, mu, sigma)
        return self.b * mu + self.A * (mu**2 + sigma**2) + kinked

    def optimum(self) -> float:
        """Return the w of least objective."""
        left = max(abs(self.b) - self.size, 0.0)
        return float(-np.sign(self.b) * left / (2.0 * self.A)) + 0.0

    def smooth_optimum(self, sigma: float) -> float:
        """Return the mu of the least mean, where Eq. 16 is 0."""

        def slope(mu: float) -> float:
            kinked = float(absolute_slope(_AVERAGE, np.array([mu]), sigma)[0])
            return self.b + 2.0 * self.A * mu + self.size * kinked

        reach = (abs(self.b) + self.size) / self.A
        return float(brentq(slope, -reach, reach, xtol=1e-15))


_PANELS = {"(b)": Lasso(2.0, 4.0, -1.0), "(c)": Lasso(2.0, 4.0, -7.0)}


def run_figure_1(settings: StudySettings) -> Report:
    """Draw the average of |w|, and a lasso of one coefficient whose optimum is 0, and one beside 0."""
    optima = {
        name: (lasso.optimum(), [lasso.smooth_optimum(sigma) for sigma in _WIDTHS])
        for name, lasso in _PANELS.items()
    }
    return Report(
        "VO Figure 1: the average of |w| and of a lasso of one coefficient",
        (
            Table(
                {
                    "sigma": list(_WIDTHS),
                    "average of |w| at 0": [
                        f"{absolute_value(_AVERAGE, np.zeros(1), s)[0]:.4f}" for s in _WIDTHS
                    ],
                    "sigma sqrt(2 / pi)": [f"{s * np.sqrt(2 / np.pi):.4f}" for s in _WIDTHS],
                    "least of (b) at": [f"{mu:.5f}" for mu in optima["(b)"][1]],
                    "least of (c) at": [f"{mu:.5f}" for mu in optima["(c)"][1]],
                },
                caption=f"of the lasso itself at {optima['(b)'][0]:g} (b) and {optima['(c)'][0]:g} (c); "
                "A = 2, lambda = 4, b = -1 and -7",
            ),
        ),
        (
            "the text: in (b) the optimum of the bound is slightly larger than zero, in (c) both are "
            "numerically very close. It does not say for which sigma: in (c) both agree to "
            + ", ".join(f"{abs(mu - optima['(c)'][0]):.0e}" for mu in optima["(c)"][1])
            + f" for sigma = {', '.join(f'{s:g}' for s in _WIDTHS)}",
        ),
        {"optima": optima},
        _draw_1,
    )


def run_figure_2(settings: StudySettings) -> Report:
    """Draw what the average adds to |w|, in units of sigma."""
    z = np.array([0.0, 0.5, 1.0, 2.0, 3.0, 5.0])
    ours, printed = _added(z), _equation_17(z)
    return Report(
        "VO Figure 2: what the average adds to |w|",
        (
            Table(
                {
                    "z = mu / sigma": z.tolist(),
                    "Eq. 17": [f"{value:.3e}" for value in printed],
                    "ours": [f"{value:.3e}" for value in ours],
                },
                caption="in units of sigma",
            ),
        ),
        (
            "largest at 0, as the text says, where it is sqrt(2 / pi) = 0.798; this is what its bound "
            "on the error is made of. Written as printed, numbers cancel for large z",
        ),
        {"z": z, "ours": ours, "printed": printed},
        _draw_2,
    )


def _added(z: Floats) -> Floats:
    """Return the average of |w| less |w| for a deviation of 1, without cancellation."""
    return np.asarray(2.0 * _AVERAGE.value(-np.abs(z), 1.0))


def _equation_17(z: Floats) -> Floats:
    """Return the same as the text prints it."""
    return np.asarray(absolute_value(_AVERAGE, z, 1.0) - np.abs(z))


def _draw_1() -> Any:
    figure, axes = make_axes(1, 3, width=11, height=3.6)
    w = np.linspace(-2, 2, 801)
    curves: tuple[Callable[[Floats], Floats], ...] = (np.abs, *(p.value for p in _PANELS.values()))
    titles = ("(a) |w|", *(f"{name} b = {lasso.b:g}" for name, lasso in _PANELS.items()))
    lassos: tuple[Lasso | None, ...] = (None, *_PANELS.values())
    for axis, curve, title, lasso in zip(axes[0], curves, titles, lassos, strict=True):
        axis.plot(w, curve(w), color=GARROTE, label="itself")
        for sigma, style in zip(_WIDTHS, (":", "--", "-."), strict=True):
            smooth = (
                absolute_value(_AVERAGE, w, sigma) if lasso is None else lasso.average(w, sigma)
            )
            told = rf"averaged, $\sigma$ = {sigma:g}"
            axis.plot(w, smooth, style, color=LASSO, lw=1.2, label=told)
            if lasso is not None:
                best = np.array([lasso.smooth_optimum(sigma)])
                axis.plot(best, lasso.average(best, sigma), ".", color=LASSO)
        if lasso is not None:
            best = np.array([lasso.optimum()])
            axis.plot(best, lasso.value(best), ".", color=GARROTE)
            axis.set_ylim(top=float(curve(w[w == 0.0])[0]) + 12)
        axis.set(xlabel=r"$\mu$", title=title)
    axes[0, 0].legend(frameon=False, fontsize="small")
    axes[0, 0].set_ylim(top=2.9)
    return figure


def _draw_2() -> Any:
    figure, axes = make_axes(1, 1, width=5.5, height=3.8)
    z = np.linspace(-4, 4, 401)
    axes[0, 0].plot(z, _added(z), color=GARROTE)
    axes[0, 0].axhline(np.sqrt(2 / np.pi), color=OTHER, lw=1, ls=":")
    axes[0, 0].set(xlabel=r"$z = \mu / \sigma$", ylabel=r"what is added, by $\sigma$")
    return figure
