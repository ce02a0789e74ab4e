"""VG Figure 5: paths of lasso and garrote where a third variable copies the two true ones."""

from dataclasses import replace
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.datasets.simulation import make_zhao_yu
from garrote.experiments.drawing import GARROTE, LASSO, RIDGE, make_axes
from garrote.experiments.methods import TunedPath, tune_garrote, tune_lasso
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

_TRUE = (0, 1)
_ROWS = 1000


def run_figure_5(settings: StudySettings) -> Report:
    """Look for strengths at which exactly the two true variables are in the model."""
    count = settings.count(100, quick=10)
    runs = [_run(stream) for stream in settings.streams(count)]
    lasso_hits = np.array([_hits(lasso).mean() for lasso, _ in runs])
    garrote_hits = np.array([_hits(garrote).mean() for _, garrote in runs])
    lasso, garrote = runs[0]
    table = Table(
        {
            "": ["lasso", "VG", "VG, forward pass alone"],
            "paper": ["at no lambda", "over a large range", "-"],
            "ours, this run": [
                f"{_hits(lasso).sum()} of {len(lasso.strengths)} lambdas",
                _range(garrote.strengths[_hits(garrote)]),
                _range(garrote.strengths[_forward_hits(garrote)]),
            ],
            f"of {count} runs": [
                f"at some lambda in {np.count_nonzero(lasso_hits)}",
                f"at some gamma in {np.count_nonzero(garrote_hits)}",
                f"at some gamma in {sum(_forward_hits(one).any() for _, one in runs)}",
            ],
        },
        caption="where exactly v_1 and v_2 are in the model",
    )
    return Report(
        "VG Figure 5: Example a of Zhao & Yu (2006), inconsistent for the lasso",
        (table, _path_table(garrote)),
        (
            f"coefficients (2, 3, 0), {_ROWS} rows; x3 = 2/3 x1 + 2/3 x2 + 1/3 e",
            "the lasso has v_3 > 0 until lambda is near 0. Where least squares has v_3 < 0 by chance, "
            "in half of the runs however many the rows, v_3 then passes 0, at some of the smallest "
            "lambdas; in the other half there is no such lambda, as in the paper's run",
            "going forward, the copy comes in first and leaves again; the backward pass keeps the "
            "correct solution, of lower free energy, to the sparse end (dotted in the figure: forward)",
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


def _forward_hits(run: TunedPath) -> Any:
    m, _ = _branch(run, forward=True)
    return np.array([tuple(np.flatnonzero(row > 0.5).tolist()) == _TRUE for row in m])


def _range(strengths: Floats) -> str:
    return f"gamma {strengths[0]:.0f} to {strengths[-1]:.0f}" if strengths.size else "at no gamma"


def _path_table(run: TunedPath) -> Table:
    shown = np.linspace(0, len(run.strengths) - 1, 8).round().astype(int)
    columns: dict[str, list[Any]] = {"gamma": run.strengths[shown].tolist()}
    for name, forward in (("v", False), ("forward v", True)):
        m, w = _branch(run, forward)
        for j in range(3):
            columns[f"{name}_{j + 1}"] = [f"{value:.2f}" for value in (m * w)[shown, j]]
    return Table(columns, caption="the garrote's path in this run, and its forward pass alone")


def _branch(run: TunedPath, forward: bool) -> tuple[Floats, Floats]:
    """Return m and w, strengths x variables; w also of those that are out (Eq. 9, row by row)."""
    assert run.path is not None
    path = replace(run.path, fits=run.path.forward) if forward else run.path
    m, v = path.inclusion_probability().toarray(), path.coefficients().toarray()
    X = run.train.X - run.train.X.mean(axis=0)
    residual = (run.train.y - run.train.y.mean())[:, None] - X @ v.T
    return m, v + (X.T @ residual / np.sum(X**2, axis=0)[:, None]).T


def _draw(lasso: TunedPath, garrote: TunedPath) -> Any:
    figure, axes = make_axes(2, 2, width=9, height=6.5)
    (m, w), (m_forward, w_forward) = (_branch(garrote, forward) for forward in (False, True))
    gamma = garrote.strengths
    panels = (
        (axes[0, 0], lasso.strengths, lasso.coefficients, None, r"lasso $v$", r"$\lambda$"),
        (axes[0, 1], gamma, m * w, m_forward * w_forward, r"VG $v = m w$", r"$\gamma$"),
        (axes[1, 0], gamma, m, m_forward, r"VG $m$", r"$\gamma$"),
        (axes[1, 1], gamma, w, w_forward, r"VG $w$", r"$\gamma$"),
    )
    styles = ((GARROTE, "-"), (LASSO, "--"), (RIDGE, "-"))
    for one, strengths, values, forward, label, symbol in panels:
        for j, (color, style) in enumerate(styles):
            one.plot(strengths, values[:, j], style, color=color, label=str(j + 1))
            if forward is not None:
                one.plot(strengths, forward[:, j], ":", color=color, lw=1.2)
        one.set(xlabel=symbol, ylabel=label)
    axes[0, 0].legend(frameon=False, fontsize=8, title="variable", title_fontsize=8)
    axes[0, 1].set_title("dotted: forward pass alone", fontsize=9)
    return figure
