"""From a penalised path and the alpha chosen on it to a Selection."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.results.selections.evidence import ENTRY
from garrote.results.selections.selection import Selection
from garrote.results.selections.verdict import Account, Verdict
from garrote.results.selections.views import ClassEffects, PathView
from garrote.selecting.filling import Origin, fill_selection
from garrote.selecting.on_path import (
    Choice,
    choice_notes,
    describe_validation,
    shown_predictions,
    view_of,
)

# Variables with a line in pictures of the path.
_LINES = 40
_NO_INTERVALS = "a penalised fit states no intervals: spike-and-slab estimators and the garrote do"
_STRONGEST = "effects are those on the {} that a variable matters most to"


class PathWords(NamedTuple):
    """How a kind of path is told of: strength, evidence, why no intervals, when variables enter."""

    strength: str
    evidence: str
    intervals: str
    entry: Callable[[Path[PenaltyFit]], Floats]


def entry_strengths(path: Path[PenaltyFit]) -> Floats:
    """Return the largest alpha at which each variable is in, as a share of the first alpha."""
    entry = np.zeros(path.n_features)
    for fit in path.fits[::-1]:
        entry[fit.columns] = fit.strength
    largest = float(path.strengths[0])
    return entry / largest if largest > 0 else (entry > 0).astype(float)


def entry_order(path: Path[PenaltyFit]) -> Floats:
    """Return 1 for what the first model of a path has, less for later ones, 0 for what never comes."""
    entry = np.zeros(path.n_features)
    models = [fit for fit in path.fits if len(fit.columns)]
    for place, fit in reversed(list(enumerate(models))):
        entry[fit.columns] = 1.0 - place / len(models)
    return entry


PENALTY_WORDS = PathWords("alpha", ENTRY, _NO_INTERVALS, entry_strengths)


def select_on_penalty_path(
    problem: Problem,
    path: Path[PenaltyFit],
    choice: Choice,
    coef: Floats,
    origin: Origin,
    *,
    method: str,
    tol: float,
    words: PathWords = PENALTY_WORDS,
) -> Selection:
    """Select what is not 0, and describe how it was found, in the ``words`` for a kind of path."""
    fit = path.fits[choice.position]
    by_class = _by_class(problem, coef, origin.outputs)
    found = _found(problem, path, fit, coef if by_class is None else by_class.largest, words)
    view = _view(path, choice.position, found, words.strength)
    nothing = np.full(problem.n_features, np.nan)
    verdict = Verdict(
        selected=found.selected,
        probability=found.entry,
        effect=found.coef,
        standard_error=nothing,
        lower=nothing,
        upper=nothing,
        evidence=words.evidence,
        intervals=_intervals(problem, path, words.intervals),
        rule=f"not 0 at {words.strength} = {fit.strength:.4g}, chosen {choice.reason}",
        by_class=by_class,
    )
    account = Account(
        method=method,
        response=origin.response,
        provenance=origin.provenance,
        noise_variance=_noise(problem, path, choice.position),
        certificate=fit.certificate,
        converged=bool(path.certificate.max() <= tol),
        path=view,
        validation=describe_validation(choice, problem, origin.outputs),
        predictions=shown_predictions(problem, path, choice.validation, origin.y),
        pieces=fit.pieces,
    )
    warnings = choice_notes(choice, [len(one.columns) for one in path.fits])
    return fill_selection(
        problem, verdict, account, origin.names, view.columns, warnings, found.chosen[:_LINES]
    )


class _Found(NamedTuple):
    """What each variable's part is: whether it is in, since which share of the first alpha, its effect.

    ``chosen`` are the columns that are in, from the first that came; those always in are not among them.
    """

    selected: Array
    entry: Floats
    coef: Floats
    chosen: Array


def _found(
    problem: Problem, path: Path[PenaltyFit], fit: PenaltyFit, coef: Floats, words: PathWords
) -> _Found:
    """Gather what is not 0; of several classes a variable counts by the one it matters most to."""
    D, fixed = problem.n_features, problem.scale.covariates
    inside = np.unique(fit.columns % D)
    selected = np.zeros(D, dtype=bool)
    selected[inside] = True
    selected[fixed] = True
    entry = words.entry(path).reshape(-1, D).max(axis=0)
    entry[fixed] = 1.0
    chosen = inside[np.argsort(-entry[inside], kind="stable")]
    return _Found(selected, entry, coef, chosen)


def _by_class(problem: Problem, coef: Floats, names: Sequence[str]) -> ClassEffects | None:
    """Return the effects on each of several classes or responses; None where there is one."""
    if not problem.likelihood.several:
        return None
    each = coef.reshape(-1, problem.n_features)
    named = tuple(names) or tuple(str(k) for k in range(len(each)))
    return ClassEffects(_output(problem), named, each)


def _output(problem: Problem) -> str:
    """Return what a variable has several effects on."""
    return "response" if problem.likelihood.additive else "class"


def _intervals(problem: Problem, path: Path[PenaltyFit], none: str) -> str:
    """Say why there are no intervals, and what effects are where a variable has several."""
    if path.n_features == problem.n_features:
        return none
    return f"{_STRONGEST.format(_output(problem))}; {none}"


def _noise(problem: Problem, path: Path[PenaltyFit], position: int) -> float:
    """Return the residual variance of a Gaussian fit, degrees of freedom taken off; else NaN."""
    if not problem.likelihood.least_squares:
        return float("nan")
    fit = path.fits[position]
    adapted = int(path.degrees_of_freedom[position])
    spent = adapted + len(problem.scale.covariates) + problem.scale.intercept_count
    left = max(problem.n - spent, 1.0)
    return float(2.0 * fit.loss * problem.n / left * path.scale.response_scale**2)


def _strongest(coef: Floats) -> Floats:
    """Return, for every variable, the coefficient of largest size among the classes."""
    return np.take_along_axis(coef, np.abs(coef).argmax(axis=0)[None, :], axis=0)[0]


def _view(path: Path[PenaltyFit], position: int, found: _Found, strength: str) -> PathView:
    """Take the variables that enter first."""
    entry, highest = found.entry, found.entry.copy()
    highest[path.scale.covariates] = 0.0
    order = np.lexsort((-highest, ~found.selected | (highest == 0)))[:_LINES]
    columns = order[highest[order] > 0]
    outputs = path.n_features // len(entry)
    every = columns + len(entry) * np.arange(outputs)[:, None]
    values = path.coefficients()[:, every.ravel()].toarray().reshape(len(path), outputs, -1)
    effect = np.array([_strongest(part) for part in values]).reshape(len(path), -1)
    effect[position] = found.coef[columns]
    inside = (effect != 0).astype(np.float64)
    return view_of(path, strength, position, columns, inside, effect)
