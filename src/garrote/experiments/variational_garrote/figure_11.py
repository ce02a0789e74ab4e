"""VG Figure 11: quality and time of garrote, paired mean field and lasso as variables come."""

import time
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from garrote.arrays import Floats
from garrote.datasets.simulation import Regression, make_kappen_gomez_2
from garrote.displays.palette import PURPLE
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.methods import Tune, estimate_paired, tune_garrote, tune_lasso
from garrote.experiments.report import Report, StudySettings, spread
from garrote.summaries import Table

_ROWS = 100
_NOISE_VARIANCE = 0.5
_SIZES = (100, 316, 1_000, 3_162, 10_000, 31_623, 100_000)
_QUICK_SIZES = (100, 316, 1_000)
_DUAL_UP_TO = 3_162
_PMF = "PMF"
_DUAL = "VG, dual"
_TUNED: dict[str, Tune] = {
    "VG": partial(tune_garrote, gammas=50),
    _DUAL: partial(tune_garrote, gammas=50, solver="dual"),
    "lasso": tune_lasso,
}
_METHODS = (*_TUNED, _PMF)
_SHOWN = ("VG", _PMF, "lasso")


def run_figure_11(settings: StudySettings) -> Report:
    """Five relevant variables among more and more; nothing else changes."""
    sizes = _QUICK_SIZES if settings.quick else _SIZES
    count = settings.count(10, quick=3)
    # The first call of each method compiles; it must not be timed.
    _run_size(_QUICK_SIZES[0], settings, 1)
    numbers = {size: _run_size(size, settings, count) for size in sizes}
    remarks = [
        f"mean ± standard deviation over {count} instances (the paper does not say how many); {_ROWS} "
        "rows each for training and validation, independent columns, five coefficients of 1, "
        "beta = 2; l0 counts m > 0.5 for VG; seconds of CPU time on one thread, median, for the "
        "whole path (VG: 50 gammas, forward and backward; lasso: 100 lambdas)",
        _slopes(numbers),
        "the paper states no numbers; it finds error and l0 of VG and PMF constant and near optimal "
        "(l0 = 5), both deteriorating for the lasso, time near linear for all, the lasso faster than "
        "VG, and VG faster than PMF. VG by coordinates, over the default grid; the paper's dual solver "
        f"gives the same answers and is run up to {_DUAL_UP_TO} variables. PMF: all rows together, one "
        "fit whose priors are set by EM from random inclusion probabilities",
        _quality(numbers),
        _agreement(numbers),
        _tails(numbers),
        _failures(numbers),
    ]
    return Report(
        "VG Figure 11: scaling with the number of variables n",
        (_tabulate(numbers), _tabulate_times(numbers)),
        tuple(remark for remark in remarks if remark),
        numbers,
        lambda: _draw(numbers),
    )


def _run_size(size: int, settings: StudySettings, count: int) -> dict[str, Floats]:
    """Return instances x (error, l0, seconds, tail) for each method that runs at this size."""
    numbers: dict[str, list[list[float]]] = {
        name: [] for name in _METHODS if name != _DUAL or size <= _DUAL_UP_TO
    }
    for stream in settings.streams(count):
        data = make_kappen_gomez_2(2 * _ROWS, size, _NOISE_VARIANCE, 0.0, random_state=stream)
        train, validation = data.split(_ROWS, _ROWS)
        # All methods read single columns: rows of the matrix that lie together would slow them.
        train = replace(train, X=np.asfortranarray(train.X))
        for name in numbers:
            with threadpool_limits(1):
                start = time.process_time()
                error, nonzero, tail = _fit(name, train, validation)
                seconds = time.process_time() - start
            numbers[name].append([error, nonzero, seconds, tail])
    return {name: np.array(values) for name, values in numbers.items()}


def _fit(name: str, train: Regression, validation: Regression) -> tuple[float, float, float]:
    """Return a method's error, how many variables it has, and its error outside of these."""
    if name != _PMF:
        tuned = _TUNED[name](train, validation)
        return tuned.coef_error, float(tuned.n_nonzero), tuned.tail
    found = estimate_paired(train, validation, "random")
    return float(np.abs(found.coef - train.coef).sum()), float(found.n_nonzero), np.nan


def _tabulate(numbers: dict[int, dict[str, Floats]]) -> Table:
    columns: dict[str, list[str]] = {"n": [f"{size:,}" for size in numbers]}
    for k, what in enumerate(("||dv||_1", "l0")):
        for name in _SHOWN:
            columns[f"{name} {what}"] = [
                spread(one[name][:, k], digits=2 - k) for one in numbers.values()
            ]
    return Table(columns)


def _tabulate_times(numbers: dict[int, dict[str, Floats]]) -> Table:
    columns: dict[str, list[str]] = {"n": [f"{size:,}" for size in numbers]}
    for name in _METHODS:
        columns[name] = [
            f"{np.median(one[name][:, 2]):.2f}" if name in one else "-" for one in numbers.values()
        ]
    return Table(columns, caption="seconds of CPU time")


def _quality(numbers: dict[int, dict[str, Floats]]) -> str:
    """Set the mean errors and sizes at both ends beside what the text says of them."""
    ends = [min(numbers), max(numbers)]
    parts = []
    for name in _SHOWN:
        errors, sizes = (
            " to ".join(f"{numbers[size][name][:, k].mean():.2g}" for size in ends)
            for k in range(2)
        )
        parts.append(f"{name} {errors} and {sizes}")
    last = numbers[ends[1]]
    seconds = ", ".join(f"{name} {np.median(last[name][:, 2]):.2g} s" for name in _SHOWN)
    return (
        f"mean ||dv||_1 and l0 from n = {ends[0]:,} to {ends[1]:,}: {'; '.join(parts)}. PMF has the "
        "validation rows too, 200 where the others fit 100 and choose by 100. CPU time of one fit "
        f"of PMF and of a path of the others at n = {ends[1]:,}: {seconds}"
    )


def _slopes(numbers: dict[int, dict[str, Floats]]) -> str:
    """State how log time grows with log n, by least squares over the sizes of 1000 or more."""
    texts = []
    for name in _METHODS:
        sizes, seconds = _times(numbers, name)
        kept = sizes >= 1000 if np.count_nonzero(sizes >= 1000) > 1 else sizes > 0
        if np.count_nonzero(kept) > 1:
            slope = np.polyfit(np.log(sizes[kept]), np.log(seconds[kept]), 1)[0]
            texts.append(f"{name} {slope:.2f} (n from {sizes[kept][0]:,.0f})")
    return f"slope of log time against log n (1 is linear): {', '.join(texts)}"


def _times(numbers: dict[int, dict[str, Floats]], name: str) -> tuple[Floats, Floats]:
    pairs = [(size, np.median(one[name][:, 2])) for size, one in numbers.items() if name in one]
    sizes, seconds = np.array(pairs, dtype=float).T
    return sizes, seconds


def _agreement(numbers: dict[int, dict[str, Floats]]) -> str:
    """Say how often the two solvers of the garrote chose models of the same size and error."""
    pairs = [(one["VG"], one[_DUAL]) for one in numbers.values() if _DUAL in one]
    same = sum(int((np.abs(a[:, :2] - b[:, :2]) < [0.02, 0.5]).all(1).sum()) for a, b in pairs)
    total = sum(len(a) for a, _ in pairs)
    return f"coordinate and dual solver agree (error to 0.02, l0) in {same} of {total} instances"


def _tails(numbers: dict[int, dict[str, Floats]]) -> str:
    """Say how much of the garrote's error lies outside of the models that are complete."""
    texts = []
    for size in (min(numbers), max(numbers)):
        values = numbers[size]["VG"]
        complete = values[values[:, 1] >= 5]
        if len(complete):
            inside, outside = np.mean(complete[:, 0] - complete[:, 3]), np.mean(complete[:, 3])
            texts.append(f"{inside:.2f} + {outside:.2f} at n = {size:,}")
    return (
        "error of the VG on the variables it selects + on all others, which have many tiny "
        f"coefficients m w, where it selects five or more: {', '.join(texts)}"
    )


def _failures(numbers: dict[int, dict[str, Floats]]) -> str:
    """Say where the garrote ended with fewer variables than there are, and why that is so."""
    missed = {size: one["VG"][:, 1] < 5 for size, one in numbers.items()}
    missed = {size: which for size, which in missed.items() if which.any()}
    if not missed:
        return ""
    texts = [f"{which.sum()} of {len(which)} at n = {size:,}" for size, which in missed.items()]
    chance = np.sqrt(2 * np.log(max(missed)) / _ROWS)
    return (
        f"the VG missed relevant variables in {', '.join(texts)}: with {_ROWS} rows the largest chance "
        f"correlation of an irrelevant column with y is about sqrt(2 log n / {_ROWS}) = {chance:.2f}, "
        "more than the 1 / sqrt(5.5) = 0.43 of a relevant one, and annealing may begin with it"
    )


def _draw(numbers: dict[int, dict[str, Floats]]) -> Any:
    figure, axes = make_axes(1, 3, width=12, height=3.8)
    styles = {
        "VG": (GARROTE, "o-"), _DUAL: (OTHER, "s:"), "lasso": (LASSO, "^--"), _PMF: (PURPLE, "d-."),
    }  # fmt: skip
    for name, (color, style) in styles.items():
        sizes, seconds = _times(numbers, name)
        axes[0, 2].loglog(sizes, seconds, style, color=color, label=name, ms=4)
        if name == _DUAL:
            continue
        for k in range(2):
            values = np.array([one[name][:, k] for one in numbers.values()])
            # A standard deviation below 0 would leave a logarithmic axis: bars of a linear one.
            axes[0, k].errorbar(
                sizes, values.mean(1), values.std(1, ddof=1), fmt=style, color=color,
                label=name, capsize=2, ms=4,
            )  # fmt: skip
    sizes, seconds = _times(numbers, "VG")
    axes[0, 2].plot(sizes, seconds[-1] * sizes / sizes[-1], color="black", lw=0.8, label="linear")
    axes[0, 1].axhline(5, color="black", lw=0.8, ls=":", label="true")
    for one, label in zip(axes[0], (r"$\|\delta v\|_1$", r"$\ell_0$", "CPU seconds"), strict=True):
        one.set(xscale="log", xlabel="n", ylabel=label)
        one.legend(frameon=False, fontsize=8)
    for one in axes[0, :2]:
        one.set_ylim(0, None)
    return figure
