"""Murphy Figures 13.13 and 13.14: whole groups found by norms of groups, and not by single sizes."""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.experiments.drawing import GARROTE, LASSO, make_axes
from garrote.experiments.murphy.methods import unscaled_problem
from garrote.experiments.report import Report, StudySettings, quantiles
from garrote.paths.annealed import fit_path
from garrote.penalties import L1, GroupLasso, Penalty
from garrote.solvers.control import Control
from garrote.summaries import Table

_ROWS, _GROUPS, _SIZE, _TRUE = 1024, 64, 64, 8
_NOISE = 0.01
# lambda of ||y - Xw||^2 / 2 + lambda P(w), one for all methods: the text says by hand, and not how much.
_LAMBDA = 0.385
_GROUP = np.repeat(np.arange(_GROUPS), _SIZE)
_METHODS = ("lasso", "group lasso, length", "group lasso, largest size")


class Estimate(NamedTuple):
    """A penalised fit, least squares on its support, and how it went."""

    coef: Floats
    debiased: Floats
    groups: int
    error: float
    gap: float


def run_figure_13_13(settings: StudySettings) -> Report:
    """Let true groups have normal coefficients."""
    return _run(settings, "13.13", "piecewise Gaussian", lambda rng: rng.standard_normal(_SIZE))


def run_figure_13_14(settings: StudySettings) -> Report:
    """Let true groups have coefficients of 1."""
    return _run(settings, "13.14", "piecewise constant", lambda rng: np.ones(_SIZE))


def _run(settings: StudySettings, figure: str, law: str, values: Any) -> Report:
    count = settings.count(5, quick=1)
    draws = [
        _draw_data(np.random.default_rng(stream), values) for stream in settings.streams(count)
    ]
    estimates = [{name: _estimate(*draw, name) for name in _METHODS} for draw in draws]
    rows = {
        name: [(one[name].groups, one[name].error, one[name].gap) for one in estimates]
        for name in _METHODS
    }
    return Report(
        f"Murphy Figure {figure}: {_GROUPS} groups of {_SIZE}, {_TRUE} of them true, {law}",
        (
            Table(
                {
                    "": list(rows),
                    "groups in": [_spread([r[0] for r in one], 0) for one in rows.values()],
                    "squared error, refitted": [
                        _spread([r[1] for r in one], 5) for one in rows.values()
                    ],
                    "largest gap": [f"{max(r[2] for r in one):.0e}" for one in rows.values()],
                },
                caption=f"{count} draws; {_TRUE} groups are true",
            ),
        ),
        (
            "the text: group lasso does much better than the lasso, and the largest size suits "
            "coefficients of equal size only",
            f"N = {_ROWS}, noise of variance {_NOISE**2:g}, rows of X orthonormal, lambda = {_LAMBDA} "
            "for all, groups not weighted; the chapter prints no numbers, neither X's law nor lambda",
        ),
        {"estimates": estimates, "truth": [draw[2] for draw in draws]},
        lambda: _draw(draws[0][2], estimates[0]),
    )  # fmt: skip


def _penalty(name: str) -> Penalty:
    if name == "lasso":
        return L1()
    return GroupLasso(_GROUP, 2 if name.endswith("length") else "inf", weights="equal")


def _spread(values: list[Any], digits: int) -> str:
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return quantiles(np.array(values, dtype=np.float64), digits)


def _draw_data(rng: np.random.Generator, values: Any) -> tuple[Floats, Floats, Floats]:
    truth = np.zeros((_GROUPS, _SIZE))
    for group in rng.choice(_GROUPS, _TRUE, replace=False):
        truth[group] = values(rng)
    X = np.linalg.qr(rng.standard_normal((_GROUPS * _SIZE, _ROWS)))[0].T
    y = X @ truth.ravel() + _NOISE * rng.standard_normal(_ROWS)
    return np.asfortranarray(X), y, truth.ravel()


def _estimate(X: Floats, y: Floats, truth: Floats, name: str) -> Estimate:
    alphas = np.array([2.0, 1.0]) * _LAMBDA / _ROWS
    path = fit_path(unscaled_problem(X, y), _penalty(name), alphas, control=Control(1e-4))
    coef = path.coefficients().toarray()[-1]
    support: Array = np.flatnonzero(coef)
    debiased = np.zeros_like(coef)
    debiased[support] = np.linalg.lstsq(X[:, support], y, rcond=None)[0]
    groups = len(np.unique(_GROUP[support]))
    error = float(np.mean((debiased - truth) ** 2))
    return Estimate(coef, debiased, groups, error, float(path.fits[-1].certificate["duality gap"]))


def _draw(truth: Floats, estimates: dict[str, Estimate]) -> Any:
    figure, axes = make_axes(2, 2, width=10, height=5.5)
    axes[0, 0].plot(truth, lw=0.5, color="black")
    axes[0, 0].set(title=f"truth, {_TRUE} groups of {_GROUPS}")
    places = (axes[1, 0], axes[0, 1], axes[1, 1])
    for axis, (name, one) in zip(places, estimates.items(), strict=True):
        axis.plot(one.debiased, lw=0.5, color=LASSO if name == "lasso" else GARROTE)
        axis.set(title=f"{name}: {one.groups} groups, error {one.error:.1g}")
    for axis in axes.ravel():
        axis.set(xlabel="coefficient", ylim=(truth.min() - 1.5, truth.max() + 1.5))
    return figure
