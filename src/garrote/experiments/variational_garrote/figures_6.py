"""VG Figure 6: errors of the coefficients from almost no noise to more noise than signal."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.datasets.simulation import Regression
from garrote.displays.palette import GREEN, GREY, PURPLE
from garrote.experiments.columns import autoregressive
from garrote.experiments.drawing import GARROTE, LASSO, make_axes
from garrote.experiments.methods import paired_coefficients, tune_garrote, tune_lasso
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

_COLUMNS, _ACTIVE = 100, 10
_NOISES = tuple(10.0**k for k in range(-8, 2))
_QUICK_NOISES = (1e-6, 1e-2, 10.0)
_INSTANCES = 20
# An instance with a larger error than this share of ||w||_1 is not found; where there is so little
# noise, it is stuck in a local optimum.
_FOUND = 0.1
_LITTLE_NOISE = 1e-4


@dataclass(frozen=True)
class Panel:
    """One panel: how columns resemble each other, how many rows, and what the text says of it.

    ``stuck`` are the methods that end in local optima in some instances, ``free`` those that do not, and
    ``best`` the one with the least mean error, where the text names one.
    """

    letter: str
    correlation: float
    rows: tuple[int, int]
    mixed: bool
    stated: tuple[str, ...]
    stuck: tuple[str, ...] = ()
    free: tuple[str, ...] = ("VG",)
    best: str | None = None


PANELS = {
    "a": Panel(
        "a", 0.5, (100, 20), False,
        (
            "errors of O(1) for all methods where there is much noise",
            "for noise between 0.01 and 1 VG and PMF are significantly better than the lasso",
            "as noise vanishes, errors of VG and PMF keep decreasing, the lasso's saturates",
        ),
        free=("VG", "PMF"),
    ),
    "b": Panel(
        "b", 0.95, (100, 20), False,
        (
            "VG scales as before; PMF is stuck in local minima in some instances, with a worse mean",
            "PMF-ANNEAL avoids them and is comparable to VG",
        ),
        stuck=("PMF",),
        free=("VG", "PMF-ANNEAL"),
    ),
    "c": Panel(
        "c", 0.95, (60, 5), True,
        (
            "VG scales as before; PMF-ANNEAL is stuck in some instances; VG is best on average. (The "
            "text does not say which columns are reversed, nor whether signs of effects go with them: "
            "here they are independent, half of the columns)",
        ),
        stuck=("PMF-ANNEAL",),
        best="VG",
    ),
}  # fmt: skip

Estimate = Callable[[Regression, Regression], Floats]
_METHODS: dict[str, Estimate] = {
    "VG": lambda train, validation: tune_garrote(train, validation, reheat="dense").coef,
    "lasso": lambda train, validation: tune_lasso(train, validation).coef,
    "PMF": partial(paired_coefficients, way="random"),
    "PMF-ANNEAL": partial(paired_coefficients, way="PMF-ANNEAL to 0.5"),
    "PMF, ours": partial(paired_coefficients, way="annealed"),
    "PMF-A .95": partial(paired_coefficients, way="PMF-ANNEAL"),
    "VG, cut": lambda train, validation: tune_garrote(train, validation).coef,
}
_STYLES = {
    "VG": (GARROTE, "o-"),
    "VG, cut": (GARROTE, "o:"),
    "lasso": (LASSO, "^--"),
    "PMF": (GREY, "s--"),
    "PMF-ANNEAL": (PURPLE, "v-."),
    "PMF-A .95": (PURPLE, "v:"),
    "PMF, ours": (GREEN, "d:"),
}
# Stuck or not, they spread over all decades, and would hide the others.
_WITHOUT_BAND = ("VG, cut", "PMF", "PMF-ANNEAL")
# Other ranges of pi than those of the paper's order.
_OTHER_RANGES = ("PMF-A .95", "VG, cut")


def run_figure_6a(settings: StudySettings) -> Report:
    """Weakly correlated columns."""
    return _run(PANELS["a"], settings)


def run_figure_6b(settings: StudySettings) -> Report:
    """Strongly correlated columns."""
    return _run(PANELS["b"], settings)


def run_figure_6c(settings: StudySettings) -> Report:
    """Effects and correlations of both signs, and few rows."""
    return _run(PANELS["c"], settings)


def draw_noisy(panel: Panel, noise: float, stream: np.random.SeedSequence) -> Regression:
    """Draw one data set; the columns and effects of a stream are the same whatever the noise."""
    rng = np.random.default_rng(stream)
    rows = sum(panel.rows)
    X = autoregressive(rng, rows, _COLUMNS, panel.correlation)
    coef = np.zeros(_COLUMNS)
    coef[rng.permutation(_COLUMNS)[:_ACTIVE]] = 1.0
    if panel.mixed:
        coef *= rng.choice([-1.0, 1.0], _COLUMNS)
        some = rng.random(_COLUMNS) < 0.5
        X[:, some] = np.apply_along_axis(turned_around, 0, X[:, some])
    y = X @ coef + np.sqrt(noise) * rng.standard_normal(rows)
    return Regression(X, y, coef, noise)


def turned_around(values: Floats) -> Floats:
    """Give the largest value to the row that had the smallest, and so on (section 5.4)."""
    order = np.argsort(values)
    turned = np.empty_like(values)
    turned[order] = values[order][::-1]
    return turned


def _run(panel: Panel, settings: StudySettings) -> Report:
    noises = _QUICK_NOISES if settings.quick else _NOISES
    count = settings.count(_INSTANCES, quick=2)
    numbers = {noise: _run_noise(panel, noise, settings, count) for noise in noises}
    p, validation = panel.rows
    signs = "effects and correlations of both signs, " if panel.mixed else ""
    return Report(
        f"VG Figure 6{panel.letter}: error as a function of the noise, correlation "
        f"{panel.correlation}^|i-j|",
        (_tabulate(numbers),),
        (
            compare_with_text(panel, numbers),
            f"instances: {count} (the paper does not say how many); mean of ||dv||_1 and, in brackets, "
            f"how many have more than {_FOUND:.0%} of ||w||_1 = {_ACTIVE}; {signs}n = {_COLUMNS}, "
            f"{_ACTIVE} variables of effect 1, p = {p} and {validation} rows for validation, which PMF "
            "takes together",
            "VG: pi from that of the empty model to 0.5 or as far as solutions do not interpolate, and "
            "back; cut: reheated from where half as many variables are in as interpolate",
            "PMF: priors by EM from random inclusion probabilities, as in the paper; PMF-ANNEAL: pi "
            "annealed to 0.5, as VG's, or (PMF-A .95) to 0.95, and reheated in place of its M step; "
            "PMF, ours: EM from the solution that annealing at the first priors leads to",
            *(f"paper: {sentence}" for sentence in panel.stated),
            _scaling(numbers),
        ),
        numbers,
        lambda: _draw(panel, numbers),
    )


def _run_noise(
    panel: Panel, noise: float, settings: StudySettings, count: int
) -> dict[str, Floats]:
    """Return the error of every method in every instance."""
    errors: dict[str, list[float]] = {method: [] for method in _METHODS}
    for stream in settings.streams(count):
        data = draw_noisy(panel, noise, stream)
        train, validation = data.split(*panel.rows)
        for method, estimate in _METHODS.items():
            errors[method].append(float(np.abs(estimate(train, validation) - data.coef).sum()))
    return {method: np.array(values) for method, values in errors.items()}


def _tabulate(numbers: dict[float, dict[str, Floats]]) -> Table:
    columns: dict[str, list[str]] = {"noise variance": [f"{noise:.0e}" for noise in numbers]}
    for method in _METHODS:
        columns[method] = [
            f"{one[method].mean():.2g} ({np.count_nonzero(one[method] > _FOUND * _ACTIVE)})"
            for one in numbers.values()
        ]
    return Table(columns)


def compare_with_text(panel: Panel, numbers: dict[float, dict[str, Floats]]) -> str:
    """State which methods are stuck and which one is best, and where that is not what the text says."""
    stuck, mean = {}, {}
    for method in _METHODS:
        errors = [one[method] for noise, one in numbers.items() if noise <= _LITTLE_NOISE]
        stuck[method] = int(np.count_nonzero(np.max(errors, axis=0) > _FOUND * _ACTIVE))
        mean[method] = float(np.mean(errors))
    count = len(errors[0])
    best = min((m for m in mean if m not in _OTHER_RANGES), key=lambda method: mean[method])
    unlike = [
        *(f"{m} is stuck in {stuck[m]}, not in none" for m in panel.free if stuck[m]),
        *(f"{m} is stuck in none, not in some" for m in panel.stuck if not stuck[m]),
    ]
    if panel.best and best != panel.best:
        unlike.insert(0, f"{best} is best on average, not {panel.best}")
    reverse = bool(panel.best) and best in panel.stuck
    verdict = "the reverse of the paper" if reverse else "unlike the paper"
    parts = (f"{m} in {k or 'none'} (mean error {mean[m]:.2g})" for m, k in stuck.items())
    return (
        f"{verdict + ': ' + '; '.join(unlike) if unlike else 'as in the paper'}. Of {count} instances "
        f"with a noise variance of at most {_LITTLE_NOISE:.0e}, more than {_FOUND:.0%} of ||w||_1 is "
        f"wrong at one or more of them by {', '.join(parts)}"
    )


def _scaling(numbers: dict[float, dict[str, Floats]]) -> str:
    """State how errors shrink with the noise where there is little of it."""
    low, high = min(numbers), max(noise for noise in numbers if noise <= 1e-2)
    parts = []
    for method in _METHODS:
        middle = [np.median(numbers[noise][method]) for noise in (low, high)]
        slope = np.log(middle[1] / middle[0]) / np.log(np.sqrt(high / low))
        parts.append(f"{method} {slope:.2f}")
    return (
        f"slope of the log of the median error against that of the noise's standard deviation, from "
        f"variance {low:.0e} to {high:.0e} (1: in proportion; 0: saturated): {', '.join(parts)}"
    )


def _draw(panel: Panel, numbers: dict[float, dict[str, Floats]]) -> Any:
    figure, axes = make_axes(width=6, height=4.5)
    noises = np.array(list(numbers))
    for method, (color, style) in _STYLES.items():
        values = np.array([one[method] for one in numbers.values()])
        axes[0, 0].loglog(noises, values.mean(axis=1), style, color=color, label=method, ms=4)
        if method not in _WITHOUT_BAND:
            axes[0, 0].fill_between(
                noises, *np.quantile(values, [0.1, 0.9], axis=1), color=color, alpha=0.15, lw=0
            )
    axes[0, 0].set(
        xlabel=r"noise variance $\sigma^2$",
        ylabel=r"$\|\delta v\|_1$",
        title=f"({panel.letter}) means; bands: 10% to 90% of instances",
    )
    axes[0, 0].legend(frameon=False, fontsize=8)
    return figure
