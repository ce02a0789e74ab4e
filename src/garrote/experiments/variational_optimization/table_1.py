"""Variational Optimization, Table 1: seven solvers of a lasso, by how far they end above the best.

Staines & Barber (2012), section 2.2. Shooting, iterated ridge, projection and subgradients are garrote's
classical solvers, and so are the two other smoothings; the text's row is made by its own steps, Eq. 20.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.murphy.methods import unscaled_problem
from garrote.experiments.report import Report, StudySettings
from garrote.experiments.variational_optimization.lassos import Lasso, draw_lasso, steps_of_the_text
from garrote.paths.annealed import fit_path
from garrote.solvers.control import Control
from garrote.summaries import Table

_SIZES = (50, 200)
# The variance begins at 0.1 and shrinks by a tenth, so that deviations shrink by its root.
_FIRST, _SHRINK, _TOL = 0.1**0.5, 0.9**0.5, 1e-15


class Row(NamedTuple):
    """A solver: its name, the errors printed for D = 50 and D = 200, and what solves a lasso by it."""

    name: str
    printed: tuple[str, str]
    solve: Callable[[Lasso, bool], Floats]


def run_table_1(settings: StudySettings) -> Report:
    """Solve the text's lassos by all its methods, and by garrote's default and its own smoothing."""
    sizes = (20, 50) if settings.quick else _SIZES
    errors, seconds = {}, {}
    _one(np.random.default_rng(0), 20, True)  # whose time, which compiles, does not count
    for size in sizes:
        streams = settings.streams(settings.count(500, 3))
        runs = [_one(np.random.default_rng(stream), size, settings.quick) for stream in streams]
        values = np.array([[found.value for found in run] for run in runs])
        best = values.min(axis=1, keepdims=True)
        errors[size] = (values - best) / best
        seconds[size] = np.array([[found.seconds for found in run] for run in runs])
    return Report(
        f"VO Table 1: solvers of a lasso, D = {sizes[0]} and {sizes[1]}",
        tuple(
            _table(size, printed, errors[size], seconds[size]) for printed, size in enumerate(sizes)
        ),
        (
            "error: (f - f best) / f best, f best being the least that any of them reached; mean (SD)",
            "the text's steps end by its rule, mean changes below 1e-15; subgradients after "
            f"{_rounds(settings.quick)} rounds; all others at a duality gap of 1e-15, or where they end",
            "the text's other smoothings are of another implementation (its footnote 4), its seconds of "
            "another machine: errors can be compared, times only with each other here",
        ),
        {"errors": errors, "seconds": seconds, "names": [row.name for row in _ROWS]},
    )


class Found(NamedTuple):
    """The objective that a solver reached, and the processor time that it took."""

    value: float
    seconds: float


def _one(rng: np.random.Generator, count: int, quick: bool) -> list[Found]:
    lasso = draw_lasso(rng, count)
    found = []
    for row in _ROWS:
        begin = time.process_time()
        w = row.solve(lasso, quick)
        found.append(Found(lasso.value(w), time.process_time() - begin))
    return found


def _by_the_text(lasso: Lasso, quick: bool) -> Floats:
    return steps_of_the_text(lasso, _FIRST, _SHRINK, _TOL)[0]


def _by_solver(name: str, lasso: Lasso, quick: bool) -> Floats:
    rounds = _rounds(quick) if name == "subgradient" else 20_000
    path = fit_path(
        unscaled_problem(lasso.X, lasso.y), lasso.penalty, np.array([lasso.strength]), solver=name,
        control=Control(1e-15, rounds),
    )  # fmt: skip
    return np.asarray(path.coefficients().toarray()[0])


def _rounds(quick: bool) -> int:
    return 500 if quick else 10_000


_ROWS = (
    Row("variational optimization, as printed", ("3.8e-14", "1.9e-15"), _by_the_text),
    Row("shooting", ("2.5e-16", "2.7e-16"), partial(_by_solver, "shooting")),
    Row("iterated ridge", ("1.9e-10", "4.0e-14"), partial(_by_solver, "iterated_ridge")),
    Row("smoothing, sigmoids", ("4.4e-15", "2.6e-15"), partial(_by_solver, "sigmoid")),
    Row("smoothing, root", ("4.9e-15", "1.5e-15"), partial(_by_solver, "root")),
    Row("projection", ("2.7e-16", "5.3e-16"), partial(_by_solver, "projected_gradient")),
    Row("subgradients", ("9.2e-10", "6.0e-11"), partial(_by_solver, "subgradient")),
    Row('method="smoothing"', ("", ""), partial(_by_solver, "smoothing")),
    Row('method="coordinate"', ("", ""), partial(_by_solver, "coordinate")),
)


def _table(size: int, printed: int, errors: Floats, seconds: Floats) -> Table:
    means, spreads = errors.mean(axis=0), errors.std(axis=0)
    return Table(
        {
            "algorithm": [row.name for row in _ROWS],
            "error, the text's": [row.printed[printed] for row in _ROWS],
            "ours": [f"{m:.1e} ({s:.1e})" for m, s in zip(means, spreads, strict=True)],
            "seconds": [f"{s:.4f}" for s in seconds.mean(axis=0)],
        },
        caption=f"D = {size}, N = {10 * size}, lambda = {30 * size}, {len(errors)} data sets",
    )
