"""VG Figures 3 and 4: garrote, lasso and ridge on one data set with one relevant variable of 100."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.datasets.simulation import make_kappen_gomez_1
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, RIDGE, make_axes
from garrote.experiments.methods import Tune, TunedPath, tune_garrote, tune_lasso, tune_ridge
from garrote.experiments.report import Report, StudySettings, quantiles
from garrote.summaries import Table

_TRUE = (0,)


def run_figure_3(settings: StudySettings) -> Report:
    """Show the path of the garrote: free energy, errors, and the relevant coefficient."""
    runs = [_run(tune_garrote, stream) for stream in _streams(settings)]
    values = np.array([_measure_garrote(run) for run in runs])
    first, path = runs[0], runs[0].path
    assert path is not None
    names = ("chosen gamma", "1 / sqrt(beta)", "correct from gamma", "correct to gamma")
    table = Table(
        {
            "": list(names),
            "paper": ["-21", "1.05", "-20", "-5"],
            "ours, this run": [f"{value:.2f}" for value in values[0]],
            f"median (10% to 90%) of {len(runs)} runs": [quantiles(v, 2) for v in values.T],
        }
    )
    low, high = path.hysteresis or (np.nan, np.nan)
    return Report(
        "VG Figure 3: one run of the Variational Garrote on Example 1",
        (table,),
        (
            "correct: only the relevant variable has m > 0.5. The paper shows one data set, which is "
            "not published; ours is another draw, so the last column says what such draws give",
            "the validation error is nearly flat where the solution is correct, so that its minimum, "
            "the chosen gamma, may lie anywhere between the two ends (the paper's at the sparse one)",
            f"in this run forward and backward solutions differ for gamma in [{low:.1f}, {high:.1f}]: "
            "the hysteresis of panel (a), where the lower free energy decides",
            "the paper's curves go on to 0.02 gamma_min; ours end where more variables than half "
            "of what interpolates the data would be in the model, since beyond it the free energy is "
            f"unbounded below: here at gamma = {path.strengths[-1]:.1f}",
        ),
        {name: values[:, k] for k, name in enumerate(names)} | {"first": first},
        lambda: _draw_garrote(first),
    )


def run_figure_4(settings: StudySettings) -> Report:
    """Show the paths of lasso and ridge on the data of Figure 3."""
    streams = _streams(settings)
    lassos = [_run(tune_lasso, stream) for stream in streams]
    ridges = [_run(tune_ridge, stream) for stream in streams]
    values = np.array(
        [[*_measure(a), *_lone_range(a), *_measure(b)] for a, b in zip(lassos, ridges, strict=True)]
    )
    names = (
        "lasso: chosen lambda",
        "lasso: variables selected",
        "lasso: v_1",
        "lasso: largest other |v_i|",
        "lasso: only v_1 from lambda",
        "lasso: only v_1 to lambda",
        "ridge: chosen lambda",
        "ridge: variables selected",
        "ridge: v_1",
        "ridge: largest other |v_i|",
    )
    digits = [0 if "variables" in name else 2 for name in names]
    paper = ["-", "several", "-", "-", "0.45", "0.95", "-", "all", "too small", "large"]
    table = Table(
        {
            "": list(names),
            "paper": paper,
            "ours, this run": [f"{v:.{d}f}" for v, d in zip(values[0], digits, strict=True)],
            f"median (10% to 90%) of {len(streams)} runs": [
                quantiles(v, d) for v, d in zip(values.T, digits, strict=True)
            ],
        }
    )
    return Report(
        "VG Figure 4: lasso and ridge on the data of Figure 3",
        (table,),
        (
            "lambda as in ||y - Xw||^2 / (2N) + lambda ||w||_1 and, for ridge, as in chi + lambda I; "
            "the true v_1 is 1, all others 0",
            "where the lasso has the relevant variable alone, v_1 is its least squares value less "
            "lambda, hence too small, as the text says",
        ),
        {name: values[:, k] for k, name in enumerate(names)},
        lambda: _draw_penalised(lassos[0], ridges[0]),
    )


def _streams(settings: StudySettings) -> list[np.random.SeedSequence]:
    return settings.streams(settings.count(100, quick=5))


def _run(tune: Tune, stream: np.random.SeedSequence) -> TunedPath:
    train, validation, _ = make_kappen_gomez_1(500, random_state=stream).split(50, 50, 400)
    return tune(train, validation)


def _measure_garrote(run: TunedPath) -> tuple[float, ...]:
    assert run.path is not None
    return run.strength, float(np.sqrt(run.path.noise_variance[run.chosen])), *_lone_range(run)


def _measure(run: TunedPath) -> tuple[float, ...]:
    others = float(np.abs(run.coef[1:]).max())
    return run.strength, float(run.n_nonzero), float(run.coef[0]), others


def _lone_range(run: TunedPath) -> tuple[float, float]:
    """Return the range of strengths at which the model has the relevant variable alone."""
    alone = run.strengths[[support == _TRUE for support in run.supports()]]
    return (float(alone.min()), float(alone.max())) if alone.size else (np.nan, np.nan)


def _draw_garrote(run: TunedPath) -> Any:
    path = run.path
    assert path is not None
    figure, axes = make_axes(2, 2, width=9, height=6.5)
    gamma = run.strengths
    energies = axes[0, 0]
    energies.plot(gamma, [fit.free_energy for fit in path.forward], color=GARROTE, label="forward")
    backward = [fit.free_energy for fit in path.backward]
    energies.plot(gamma, backward, "--", color=LASSO, label="backward")
    energies.set(ylabel="free energy", title="(a)")
    energies.legend(frameon=False)
    _draw_errors(axes[0, 1], run, r"$\gamma$", "(b)")
    _draw_largest(axes[1, 0], run, r"$\gamma$", "(c)")
    _draw_solution(axes[1, 1], run, GARROTE, "(d)")
    for one in axes.flat[:3]:
        one.set_xlabel(r"$\gamma$")
    return figure


def _draw_penalised(lasso: TunedPath, ridge: TunedPath) -> Any:
    figure, axes = make_axes(2, 3, width=11, height=6.5)
    for row, (run, color, name) in enumerate(((lasso, LASSO, "lasso"), (ridge, RIDGE, "ridge"))):
        letters = "abc" if row == 0 else "def"
        _draw_errors(axes[row, 0], run, rf"$\lambda$ ({name})", f"({letters[0]})")
        _draw_largest(axes[row, 1], run, rf"$\lambda$ ({name})", f"({letters[1]})")
        _draw_solution(axes[row, 2], run, color, f"({letters[2]})")
        if name == "ridge":
            for one in axes[row, :2]:
                one.set_xscale("log")
    return figure


def _draw_errors(axes: Any, run: TunedPath, label: str, title: str) -> None:
    validation = run.errors(run.validation)
    axes.plot(run.strengths, run.errors(run.train), color=OTHER, label="training error")
    axes.plot(run.strengths, validation, color=GARROTE, label="validation error")
    axes.plot(run.strength, validation[run.chosen], "*", color="black", ms=10, label="chosen")
    axes.set(ylim=(0, None), xlabel=label, ylabel="mean squared error", title=title)
    axes.legend(frameon=False, fontsize=8)


def _draw_largest(axes: Any, run: TunedPath, label: str, title: str) -> None:
    coef: Floats = np.array([run.coef_at(k) for k in range(len(run.strengths))])
    axes.plot(run.strengths, coef[:, 0], color=GARROTE, label=r"$v_1$")
    axes.plot(run.strengths, np.abs(coef[:, 1:]).max(axis=1), "--", color=OTHER, label="max other")
    axes.axvline(run.strength, color="black", lw=0.8, ls=":")
    axes.set(xlabel=label, ylabel="coefficient", title=title)
    axes.legend(frameon=False, fontsize=8)


def _draw_solution(axes: Any, run: TunedPath, color: str, title: str) -> None:
    axes.vlines(np.arange(1, len(run.coef) + 1), 0, run.coef, color=color)
    axes.axhline(0, color="black", lw=0.8)
    axes.plot(1, 1, "o", mfc="none", color="black", label="true")
    axes.set(
        xlabel="i", ylabel=r"chosen $v_i$", title=title, ylim=(min(-0.15, run.coef.min()), 1.25)
    )
    axes.legend(frameon=False, fontsize=8)
