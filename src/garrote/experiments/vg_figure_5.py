"""VG Figure 5: paths of lasso and garrote where a third variable copies the two true ones."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.datasets.simulation import make_zhao_yu
from garrote.experiments.drawing import GARROTE, LASSO, RIDGE, make_axes
from garrote.experiments.methods import TunedPath, tune_garrote, tune_lasso
from garrote.experiments.report import Report, Settings, quantiles
from garrote.results import Table

_TRUE = (0, 1)
_ROWS = 1000


def run_figure_5(settings: Settings) -> Report:
    """Look for strengths at which exactly the two true variables are in the model."""
    count = settings.count(100, quick=10)
    runs = [_run(stream) for stream in settings.streams(count)]
    lasso_hits = np.array([_hits(lasso).mean() for lasso, _ in runs])
    garrote_hits = np.array([_hits(garrote).mean() for _, garrote in runs])
    lasso, garrote = runs[0]
    found = garrote.strengths[_hits(garrote)]
    ends = np.array([[one.strengths[_hits(one)][[0, -1]]] for _, one in runs if _hits(one).any()])
    table = Table(
        {
            "": ["lasso", "VG"],
            "paper": ["at no lambda", "over a large range of gamma"],
            "ours, this run": [
                f"{_hits(lasso).sum()} of {len(lasso.strengths)} lambdas",
                f"gamma from {found[0]:.0f} to {found[-1]:.0f}",
            ],
            f"of {count} runs": [
                f"at some lambda in {np.count_nonzero(lasso_hits)}",
                f"at some gamma in {np.count_nonzero(garrote_hits)}",
            ],
        },
        caption="where exactly v_1 and v_2 are in the model",
    )
    return Report(
        "VG Figure 5: Example a of Zhao & Yu (2006), inconsistent for the lasso",
        (table, _path_table(garrote)),
        (
            f"coefficients (2, 3, 0), {_ROWS} rows; x3 = 2/3 x1 + 2/3 x2 + 1/3 e",
            f"over the runs the garrote's range begins at gamma = {quantiles(ends[:, 0, 0], 0)} and "
            f"ends at {quantiles(ends[:, 0, 1], 0)}: median (10% to 90%)",
        ),
        {"lasso_hits": lasso_hits, "garrote_hits": garrote_hits, "garrote": garrote},
        lambda: _draw(lasso, garrote),
    )


def _run(stream: np.random.SeedSequence) -> tuple[TunedPath, TunedPath]:
    train, validation = make_zhao_yu(2 * _ROWS, random_state=stream).split(_ROWS, _ROWS)
    return tune_lasso(train, validation, count=400), tune_garrote(train, validation)


def _hits(run: TunedPath) -> Any:
    """Tell at which strengths the support is right."""
    return np.array([support == _TRUE for support in run.supports()])


def _path_table(run: TunedPath) -> Table:
    shown = np.linspace(0, len(run.strengths) - 1, 6).round().astype(int)
    m, w = _parts(run)
    columns: dict[str, list[Any]] = {"gamma": run.strengths[shown].tolist()}
    for j in range(3):
        columns[f"m_{j + 1}"] = [f"{value:.3f}" for value in m[shown, j]]
    for j in range(3):
        columns[f"v_{j + 1}"] = [f"{value:.3f}" for value in (m * w)[shown, j]]
    return Table(columns, caption="the garrote's path in this run")


def _parts(run: TunedPath) -> tuple[Floats, Floats]:
    """Return m and w, strengths x variables; w also of those that are out (Eq. 9, row by row)."""
    assert run.path is not None
    m = run.path.inclusion_probability().toarray()
    v = run.coefficients.toarray()
    X = run.train.X - run.train.X.mean(axis=0)
    residual = (run.train.y - run.train.y.mean())[:, None] - X @ v.T
    return m, v + (X.T @ residual / np.sum(X**2, axis=0)[:, None]).T


def _draw(lasso: TunedPath, garrote: TunedPath) -> Any:
    figure, axes = make_axes(2, 2, width=9, height=6.5)
    m, w = _parts(garrote)
    gamma = garrote.strengths
    panels = (
        (axes[0, 0], lasso.strengths, lasso.coefficients, r"lasso $v$", r"$\lambda$"),
        (axes[0, 1], gamma, m * w, r"VG $v = m w$", r"$\gamma$"),
        (axes[1, 0], gamma, m, r"VG $m$", r"$\gamma$"),
        (axes[1, 1], gamma, w, r"VG $w$", r"$\gamma$"),
    )
    styles = ((GARROTE, "-"), (LASSO, "--"), (RIDGE, "-"))
    for one, strengths, values, label, symbol in panels:
        for j, (color, style) in enumerate(styles):
            one.plot(strengths, values[:, j], style, color=color, label=str(j + 1))
        one.set(xlabel=symbol, ylabel=label)
        one.legend(frameon=False, fontsize=8, title="variable", title_fontsize=8)
    return figure
