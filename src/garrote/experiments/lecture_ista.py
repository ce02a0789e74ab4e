"""The Lecture's iterative soft thresholding, for the lasso and the elastic net: as printed, as derived.

Odone & Rosasco, Variable Selection & Sparsity, section 6.3. Its objectives are, with n rows,

    ||y - Xw||^2 / n + lambda ||w||_1                                          (6.4)
    ||y - Xw||^2 / n + lambda (alpha ||w||_1 + (1 - alpha) ||w||^2)            (6.5)

The printed iterations add the gradient instead of subtracting it; that of the elastic net also has half
of its ridge, in the step and, without a factor n, in the step size.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.datasets import make_sparse_regression
from garrote.experiments.drawing import GARROTE, LASSO, make_axes
from garrote.experiments.murphy.methods import unscaled_problem
from garrote.experiments.report import Report, StudySettings
from garrote.paths.annealed import fit_path
from garrote.penalties import ElasticNet
from garrote.solvers.control import Control
from garrote.summaries import Table

_ALPHA = 0.5
# Iterates beyond this many times the start's objective have gone for good.
_FAR = 1e6


class Iteration(NamedTuple):
    """A step w -> soft(shrink w - sign slope, threshold) of some length, in the Lecture's letters."""

    name: str
    alpha: float
    sign: float
    shrink: Callable[[float, float, float], float]
    length: Callable[[float, float, float, int], float]


def run_lecture_ista(settings: StudySettings) -> Report:
    """Run each printed iteration, and each as derived, beside the certified optimum."""
    rows, columns = (60, 100) if settings.quick else (200, 500)
    steps = 2000 if settings.quick else 10_000
    data = make_sparse_regression(rows, columns, 10, correlation=0.5, random_state=settings.seed)
    X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
    lam = 0.1 * 2 * float(np.abs(X.T @ y).max()) / rows
    runs = {one.name: _iterate(one, X, y, lam, steps) for one in _ITERATIONS}
    best = {alpha: _optimum(X, y, lam, alpha) for alpha in (1.0, _ALPHA)}
    above = {one.name: runs[one.name] - best[one.alpha].objective for one in _ITERATIONS}
    start = {alpha: _objective(X, y, np.zeros(columns), lam, alpha) for alpha in best}
    return Report(
        f"The Lecture's ISTA: {rows} rows, {columns} columns, {steps} iterations",
        (
            Table(
                {
                    "iteration": list(above),
                    "monotone": [
                        bool((np.diff(values) <= 1e-12).all()) for values in above.values()
                    ],
                    "objective above the least, of the one at 0": [
                        _share(above[one.name][-1] / start[one.alpha]) for one in _ITERATIONS
                    ],
                },
                caption=f"lambda = {lam:.3g}, alpha = {_ALPHA} for the elastic net",
            ),
            Table(
                {
                    "problem": ["lasso", "elastic net"],
                    "least objective": [f"{best[a].objective:.6f}" for a in best],
                    "duality gap": [f"{best[a].gap:.0e}" for a in best],
                    "rounds of solver='ista'": [best[a].rounds for a in best],
                },
                caption="certified",
            ),
        ),
        (
            "the gradient of the loss is -2 X'(y - Xw) / n, so that the printed step climbs; of the "
            "ridge lambda (1 - alpha) |w|^2 it is 2 lambda (1 - alpha) w, twice what is printed, and "
            "the safe step n / (2 (|X'X| + n lambda (1 - alpha)))",
        ),
        {"above": above, "optima": best, "start": start},
        lambda: _draw(above, start),
    )


_ITERATIONS = (
    Iteration(
        "lasso, as printed", 1.0, -1.0, lambda lam, a, step: 1.0, lambda norm, lam, a, n: n / (2 * norm)
    ),
    Iteration(
        "lasso", 1.0, 1.0, lambda lam, a, step: 1.0, lambda norm, lam, a, n: n / (2 * norm)
    ),
    Iteration(
        "elastic net, as printed but for the sign",
        _ALPHA,
        1.0,
        lambda lam, a, step: 1.0 - lam * step * (1 - a),
        lambda norm, lam, a, n: n / (2 * (norm + lam * (1 - a))),
    ),
    Iteration(
        "elastic net",
        _ALPHA,
        1.0,
        lambda lam, a, step: 1.0 - 2 * lam * step * (1 - a),
        lambda norm, lam, a, n: n / (2 * (norm + n * lam * (1 - a))),
    ),
)  # fmt: skip


def _iterate(one: Iteration, X: Floats, y: Floats, lam: float, steps: int) -> Floats:
    """Return the objective at every iterate; the last is repeated where iterates leave for good."""
    n, alpha = len(y), one.alpha
    step = one.length(float(np.linalg.norm(X, 2)) ** 2, lam, alpha, n)
    coef = np.zeros(X.shape[1])
    values = [_objective(X, y, coef, lam, alpha)]
    for _ in range(steps):
        downhill = 2.0 / n * X.T @ (y - X @ coef)
        moved = one.shrink(lam, alpha, step) * coef + one.sign * step * downhill
        coef = np.sign(moved) * np.maximum(np.abs(moved) - lam * alpha * step, 0.0)
        values.append(_objective(X, y, coef, lam, alpha))
        if values[-1] > _FAR * values[0]:
            break
    return np.append(values, np.full(steps + 1 - len(values), values[-1]))


def _objective(X: Floats, y: Floats, coef: Floats, lam: float, alpha: float) -> float:
    misfit = float(np.mean((y - X @ coef) ** 2))
    return misfit + lam * float(alpha * np.abs(coef).sum() + (1 - alpha) * coef @ coef)


class Optimum(NamedTuple):
    """The certified optimum of a problem of the Lecture."""

    objective: float
    gap: float
    rounds: int


def _optimum(X: Floats, y: Floats, lam: float, alpha: float) -> Optimum:
    # Half the Lecture's objective is ours: |w|_1 has lambda alpha / 2, |w|^2 / 2 has lambda (1 - alpha).
    size, ridge = 0.5 * lam * alpha, lam * (1 - alpha)
    penalty, strength = ElasticNet(size / (size + ridge)), size + ridge
    path = fit_path(
        unscaled_problem(X, y), penalty, np.array([strength]), solver="ista",
        control=Control(1e-12, 100_000),
    )  # fmt: skip
    coef, fit = path.coefficients().toarray()[0], path.fits[0]
    return Optimum(_objective(X, y, coef, lam, alpha), fit.certificate["duality gap"], path.n_iter)


def _share(value: float) -> str:
    return f"{value:.0e}" if abs(value) < _FAR else "left for good"


def _draw(above: dict[str, Floats], start: dict[float, float]) -> Any:
    figure, axes = make_axes(1, 1, width=7, height=4.5)
    axis = axes[0, 0]
    for one, style in zip(_ITERATIONS, (":", "-", ":", "-"), strict=True):
        values = np.maximum(above[one.name] / start[one.alpha], 1e-16)
        axis.loglog(
            1 + np.arange(len(values)), values, style,
            color=LASSO if one.alpha == 1 else GARROTE, label=one.name,
        )  # fmt: skip
    axis.set(
        xlabel="iteration", ylabel="objective above the least, of that at 0", ylim=(1e-14, 100)
    )
    axis.legend(frameon=False)
    return figure
