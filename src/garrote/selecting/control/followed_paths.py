"""Penalised paths of resamples: one path a resample, several of them sharing passes over X."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.paths.annealed import start_penalty_solver, stored_design
from garrote.paths.penalised import alpha_grid, outputs_of
from garrote.penalties.base import Terms
from garrote.problem import Problem
from garrote.results.path import Path
from garrote.selecting.control.frequencies import Frequencies, Trace, Variables, order_of_entry
from garrote.selecting.cross_validation import run_in_threads
from garrote.solvers.control import Control
from garrote.solvers.lockstep import Solver, Waiting, finish

# Paths that share passes over X. It is the same for any number of threads, and so are all digits.
_TOGETHER = 10
# Strengths that a path asks for in one pass, at most.
_AHEAD = 8


@dataclass(frozen=True)
class PathsToFollow:
    """What is followed in each resample: a penalty over strengths, and how far.

    Attributes
    ----------
    make_problem : callable
        From weights of the rows to a problem.
    terms_for : callable
        From a problem to factors of the penalty and bounds.
    penalty : Penalty
    alphas : array of shape (K,)
        Descending.
    extends : bool
        Whether a resample whose first variable comes in before the first alpha begins earlier, with
        alphas as far apart as the first two.
    control : Control
    solver : str
    first : int or None
        How many variables a resample selects: those that come in first. None takes all that are in at
        the last alpha.
    """

    make_problem: Callable[[Floats], Problem]
    terms_for: Callable[[Problem], Terms]
    penalty: Any
    alphas: Floats
    extends: bool
    control: Control
    solver: str = "coordinate"
    first: int | None = None


def follow_paths(
    wanted: PathsToFollow,
    parts: Sequence[Floats],
    variables: Variables,
    whole: Problem,
    n_jobs: int | None = None,
) -> Frequencies:
    """Follow the path of every resample, and count what they select.

    Parameters
    ----------
    wanted : PathsToFollow
    parts : sequence of array of shape (N,)
        The weights of the rows in each resample.
    variables : Variables
    whole : Problem
        That of all rows. Resamples go by cross products where it would, and share no passes over X then.
    n_jobs : int, optional
        Threads. The answer is the same for any number of them.
    """
    together = 1
    if not whole.compressible:
        together = max(1, min(_TOGETHER, whole.columns_together // _AHEAD))
    batches = [parts[k : k + together] for k in range(0, len(parts), together)]
    tasks: list[Solver] = [_batch(wanted, batch, variables) for batch in batches]
    ended = run_in_threads(tasks, stored_design(whole), n_jobs, in_turn=True)
    traces = [trace for batch in ended for trace in batch]
    earliest = max(trace.above for trace in traces)
    strengths = np.append(_before(wanted.alphas, earliest), wanted.alphas)
    found = Frequencies.of(traces, variables.free, strengths)
    return found if wanted.first is None else found.until_complete()


def _batch(
    wanted: PathsToFollow, parts: Sequence[Floats], variables: Variables
) -> Generator[Floats, Floats, list[Trace]]:
    """Follow some resamples in step."""
    return (yield from finish([Waiting(_follow(wanted, part, variables)) for part in parts]))


def _follow(
    wanted: PathsToFollow, part: Floats, variables: Variables
) -> Generator[Floats, Floats, Trace]:
    """Follow one resample's path, as far as it is needed."""
    problem = wanted.make_problem(part)
    terms, alphas = wanted.terms_for(problem), wanted.alphas
    above = 0
    if wanted.extends and len(alphas) > 1:
        (largest,) = alpha_grid(problem, wanted.penalty, terms, 1)
        ratio = np.log(alphas[0] / alphas[1])
        above = max(0, int(np.ceil(np.log(largest / alphas[0]) / ratio - 1e-9)))
        alphas = np.append(_before(alphas, above), alphas)
    path = yield from start_penalty_solver(
        problem.compressed(), wanted.penalty, alphas, None, terms, wanted.control, wanted.solver
    )
    return _trace(path, problem, variables, wanted.first)._replace(above=above)


def _before(alphas: Floats, count: int) -> Floats:
    """Return so many larger alphas, as far apart as the first two."""
    if not count:
        return np.zeros(0)
    return np.asarray(alphas[0] * (alphas[0] / alphas[1]) ** np.arange(count, 0, -1.0))


def _trace(path: Path[Any], problem: Problem, variables: Variables, first: int | None) -> Trace:
    """Return what a path selects, at each strength and in the end."""
    inside, sizes = [], []
    for fit in path.fits:
        found, large = _inside(fit.columns % problem.n_features, np.abs(fit.coef), variables)
        inside.append(found)
        sizes.append(large)
    worst = float(path.certificate.max())
    chosen = np.zeros(variables.total, dtype=bool)
    if first is None:
        chosen[inside[-1]] = True
        return Trace(chosen, inside, certificate=worst)
    order = order_of_entry(inside, sizes, variables.total)[:first]
    chosen[order] = True
    seen = np.zeros(variables.total, dtype=bool)
    along = []
    for found in inside:
        seen[found] = True
        along.append(np.flatnonzero(seen & chosen))
    return Trace(chosen, along, certificate=worst)


def _inside(columns: Array, large: Floats, variables: Variables) -> tuple[Array, Floats]:
    """Return the variables that some columns are of, and the largest of each one's coefficients."""
    size = np.zeros(variables.total)
    np.maximum.at(size, variables.unit[columns], large)
    size[~variables.free] = 0.0
    found = np.flatnonzero(size)
    return found, size[found]


def most_coefficients(problem: Problem, variables: Variables, first: int) -> int:
    """Return how many coefficients may be there before more variables than so many must be in."""
    widths = np.sort(np.bincount(variables.unit))[::-1]
    fixed = int(np.isin(variables.unit, variables.unit[variables.fixed]).sum())
    return int(widths[:first].sum() + fixed) * outputs_of(problem)
