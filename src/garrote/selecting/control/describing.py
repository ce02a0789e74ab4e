"""From frequencies and what they decide to a Selection."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.results.certificates import Certificate
from garrote.results.error_control import ErrorControl
from garrote.results.selections.evidence import FREQUENCY
from garrote.results.selections.selection import Selection
from garrote.results.selections.verdict import Account, Verdict
from garrote.results.selections.views import ClassEffects, PathView
from garrote.selecting.control.frequencies import Frequencies, Variables
from garrote.selecting.filling import Origin, fill_selection

# Variables with a line in pictures of the path.
_LINES = 40
_NO_INTERVALS = (
    "effects are those of {} on all rows, to the selected variables alone; no intervals are stated, as "
    "those of a refit to what the same rows selected would be too narrow"
)
_STRONGEST = "effects are those on the {} that a variable matters most to"
_SLACK = 10.0


@dataclass(frozen=True)
class Decision:
    """What resamples decide.

    Attributes
    ----------
    frequencies : Frequencies
    selected : array of bool of shape (G,)
        Which variables; those always in are not among them.
    control : ErrorControl
    method, rule : str
        How it is called, and how the choice was made.
    tol : float
        What the certificates of the fits in resamples should reach, if they have any.
    warnings : tuple of str
    """

    frequencies: Frequencies
    selected: Array
    control: ErrorControl
    method: str
    rule: str
    tol: float = np.inf
    warnings: tuple[str, ...] = ()


def describe(
    problem: Problem,
    variables: Variables,
    decision: Decision,
    coef: Floats,
    certificate: Certificate,
    origin: Origin,
    refit: str,
) -> Selection:
    """Return the selection; ``coef`` are those of the refit, which ``refit`` describes."""
    found, unit = decision.frequencies, variables.unit
    selected = decision.selected[unit]
    selected[variables.fixed] = True
    share = found.share[unit]
    share[variables.fixed] = 1.0
    by_class = _by_class(problem, coef, origin)
    nothing = np.full(len(unit), np.nan)
    intervals = _NO_INTERVALS.format(refit)
    if by_class is not None:
        intervals = f"{_STRONGEST.format(by_class.kind)}; {intervals}"
    verdict = Verdict(
        selected=selected,
        probability=share,
        effect=np.ravel(coef) if by_class is None else by_class.largest,
        standard_error=nothing,
        lower=nothing,
        upper=nothing,
        evidence=FREQUENCY,
        intervals=intervals,
        rule=decision.rule,
        by_class=by_class,
    )
    shown = _shown(found, decision.selected, variables)
    account = Account(
        method=decision.method,
        response=origin.response,
        provenance=origin.provenance,
        noise_variance=_noise(problem, coef, int(selected.sum()), origin),
        certificate=certificate,
        converged=bool(found.certificate <= _SLACK * decision.tol),
        path=_view(found, shown, variables, coef),
    )
    selection = fill_selection(
        problem, verdict, account, origin.names, _first_columns(shown, variables), decision.warnings
    )
    return selection.annotated(control=decision.control)


def _by_class(problem: Problem, coef: Floats, origin: Origin) -> ClassEffects | None:
    """Return the effects on each of several classes or responses; None where there is one."""
    if not problem.likelihood.several:
        return None
    kind = "response" if problem.likelihood.additive else "class"
    named = tuple(origin.outputs) or tuple(str(k) for k in range(len(coef)))
    return ClassEffects(kind, named, coef)


def _noise(problem: Problem, coef: Floats, count: int, origin: Origin) -> float:
    """Return the residual variance of a least-squares refit, degrees of freedom taken off; else NaN."""
    if not problem.likelihood.least_squares or not problem.has_rows or coef.ndim > 1:
        return float("nan")
    columns = np.flatnonzero(coef)
    scaled = coef[columns] * problem.scale.column_scale[columns] / problem.scale.response_scale
    left = problem.response - problem.table.dot(columns, scaled[:, None])[:, 0]
    freedom = max(problem.n - count - problem.scale.intercept_count, 1.0)
    return float(problem.weights @ left**2 / freedom * problem.scale.response_scale**2)


def _shown(found: Frequencies, selected: Array, variables: Variables) -> Array:
    """Return the variables of the highest frequencies, those selected first."""
    order = np.lexsort((-found.hits, ~selected))
    order = order[(found.hits > 0)[order] & variables.free[order]]
    return np.asarray(order[:_LINES])


def _first_columns(numbers: Array, variables: Variables) -> Array:
    """Return the first column of each of some variables."""
    first = np.unique(variables.unit, return_index=True)[1]
    return np.asarray(first[numbers], dtype=np.intp)


def _view(found: Frequencies, shown: Array, variables: Variables, coef: Floats) -> PathView | None:
    """Return the frequencies along the paths, where there are such."""
    if found.strengths is None or found.along is None:
        return None
    inside = found.along[:, shown].toarray() / found.resamples
    return PathView(
        strength="alpha",
        strengths=found.strengths,
        chosen=len(found.strengths) - 1,
        columns=_first_columns(shown, variables),
        probability=inside,
        effect=np.full(inside.shape, np.nan),
        expected_size=np.asarray(found.along.sum(axis=1)).ravel() / found.resamples,
        energies={},
        hysteresis=None,
        cut=None,
    )
