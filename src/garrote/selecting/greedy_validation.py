"""Cross-validation of greedy searches: every fold searches anew, and is measured at each strength."""

from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

from garrote.arrays import Array, Floats
from garrote.paths.greedy import NO_COLUMNS, greedy_solver
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.selecting.cross_validation import CrossValidation, Fold, HeldOut, cross_validate
from garrote.selecting.penalty_validation import measure_path
from garrote.solvers.control import Control
from garrote.solvers.greedy import ColumnUnits, GreedySearch, Limits


def cross_validate_greedy(
    whole: Problem,
    search: GreedySearch,
    units: ColumnUnits,
    limits: Limits,
    folds: Sequence[Fold],
    control: Control,
    always: Array = NO_COLUMNS,
    n_jobs: int | None = None,
) -> tuple[Path[PenaltyFit], CrossValidation]:
    """Search on all rows and on every fold; return the path with the folds' held-out errors."""
    solve = partial(greedy_solver, search=search, units=units, limits=limits, always=always)
    quietly = Control(control.tol, control.max_iter)
    hold_out = partial(_hold_out, solve=partial(solve, control=quietly), limits=limits)
    return cross_validate(hold_out, folds, whole, solve(whole, control=control), n_jobs)


def _hold_out(
    fold: Fold, shown: Array, solve: Any, limits: Limits
) -> Generator[Floats, Floats, HeldOut]:
    """Search one fold, and measure it on the rows that it holds out."""
    path: Path[PenaltyFit] = yield from solve(fold.problem)
    return measure_path(fold, shown, path, max(limits.longest, len(path)))
