"""From a path and the position chosen on it to a Selection, with all that a report shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.base import inverse_link
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.results.posterior import Posterior
from garrote.results.selections.selection import Selection
from garrote.results.selections.verdict import Account
from garrote.results.selections.views import PathView, Predictions, Validation
from garrote.selecting.averaged import list_models
from garrote.selecting.chosen_solution import ChosenSolution
from garrote.selecting.cross_validation import CrossValidation, rows_to_show
from garrote.selecting.filling import Origin, fill_selection
from garrote.selecting.judging import LEVEL

# Variables with a line in pictures of the path.
_LINES = 40
# Fewer rows than this for each selected variable is a small sample.
_ROWS_PER_VARIABLE = 10
# Solutions whose free energies differ by less than this are nearly as probable as each other.
_CLOSE_CALL = 3.0
# A held-out error that falls by more than this share in the last step has not reached its least.
_STILL_FALLING = 1e-3

CONSTANT = "y is constant (or explained by the covariates): the empty model is returned"


@dataclass(frozen=True)
class Choice:
    """How the strength was chosen: where it is on the path, in words, and by which validation."""

    position: int
    reason: str
    rule: str
    validation: CrossValidation | None


def select_on_path(
    problem: Problem,
    path: Path[Fit],
    choice: Choice,
    found: ChosenSolution,
    origin: Origin,
    *,
    method: str,
    tol: float,
) -> Selection:
    """Select what is more likely in than out, and describe how it was found.

    Pictures of the path show what annealing found but, at the strength chosen, what is believed.
    """
    best, posterior = found.annealed.optima[0], found.posterior
    verdict = found.verdict(best.strength, choice.reason)
    view = _view(path, choice.position, posterior, verdict.selected)
    count = int(np.count_nonzero(verdict.selected & (problem.curvature > 0)))
    sizes = [int(np.sum(fit.probability > 0.5)) for fit in path.fits]
    account = Account(
        method=method,
        response=origin.response,
        provenance=origin.provenance,
        noise_variance=_noise(problem, found),
        certificate=found.certificate,
        converged=bool(max(path.certificate.max(), best.certificate.value) <= tol),
        path=view,
        validation=describe_validation(choice, problem, origin.outputs),
        predictions=shown_predictions(problem, path, choice.validation, origin.y),
        models=None if found.correction is None else list_models(posterior, posterior.covariates),
        credible_sets=posterior.credible_sets(LEVEL),
    )
    warnings = (
        *_warnings(problem, path, found.annealed, count, tol),
        *found.notes(problem, origin.names),
        *choice_notes(choice, sizes),
    )
    return fill_selection(problem, verdict, account, origin.names, view.columns, warnings)


def _noise(problem: Problem, found: ChosenSolution) -> float:
    """Return the noise variance in the user's units; labels have none."""
    if not problem.likelihood.least_squares:
        return float("nan")
    return found.noise_variance(problem)


def _view(path: Path[Fit], position: int, posterior: Posterior, selected: Array) -> PathView:
    """Take the selected variables and those that were most probable somewhere on the path."""
    probability, effect = path.inclusion_probability(), path.coefficients()
    highest = probability.max(axis=0).toarray().ravel()
    highest[path.scale.covariates] = 0.0
    now = posterior.inclusion_probability
    order = np.lexsort((-highest, -now, ~selected | (highest == 0)))[:_LINES]
    columns = order[highest[order] > 0]
    # Another start may have led to a better solution than the path's own, or models were summed.
    probability, effect = probability[:, columns].toarray(), effect[:, columns].toarray()
    probability[position], effect[position] = now[columns], posterior.mean[columns]
    return view_of(path, "gamma", position, columns, probability, effect)


def view_of(
    path: Path[Any],
    strength: str,
    position: int,
    columns: Array,
    probability: Floats,
    effect: Floats,
) -> PathView:
    """Return what pictures of a path show: some columns, and how large and how good its fits are."""
    return PathView(
        strength=strength,
        strengths=path.strengths,
        chosen=position,
        columns=columns,
        probability=probability,
        effect=effect,
        expected_size=path.expected_size,
        energies=path.energies,
        hysteresis=path.hysteresis,
        cut=path.cut,
    )


def describe_validation(
    choice: Choice, problem: Problem, classes: Sequence[str] = ()
) -> Validation | None:
    """Return what a reader is told of a cross-validation; ``classes`` are the names of labels."""
    found = choice.validation
    if found is None:
        return None
    named = tuple(classes) or ("0", "1")
    return Validation(
        measure="squared error" if problem.likelihood.least_squares else "deviance",
        folds=len(found.errors),
        rule=choice.rule,
        mean=found.mean,
        standard_error=found.standard_error,
        null=float(found.null_errors.mean()),
        labels=None if found.labels is None else found.labels.at(choice.position, named),
    )


def choice_notes(choice: Choice, sizes: Sequence[int]) -> list[str]:
    """Say what a reader should know of how the strength was chosen.

    ``sizes`` are the numbers of variables that are selected along the path.
    """
    return [*_end_notes(choice.validation), *_rule_notes(choice, sizes)]


def _end_notes(validation: CrossValidation | None) -> list[str]:
    """Say so where the error still falls at the last strength of the path."""
    if validation is None or validation.choose("min") < len(validation.strengths) - 1:
        return []
    last = validation.mean[-2:]
    if len(last) < 2 or last[0] - last[1] <= _STILL_FALLING * last[1]:
        return []
    return [
        "the held-out error is least at the last strength of the path, and may fall further where more "
        "variables come in: a grid that goes on from there (of the method) would tell"
    ]


def _rule_notes(choice: Choice, sizes: Sequence[int]) -> list[str]:
    """Say so where one standard error allows no variable although the least error has some."""
    if choice.validation is None or choice.rule != "1se" or sizes[choice.position]:
        return []
    count = sizes[choice.validation.choose("min")]
    if not count:
        return []
    them = "1 variable" if count == 1 else f"{count} variables"
    return [
        f"the least held-out error has {them}, and one standard error allows none: rule='min' takes "
        f"{'it' if count == 1 else 'them'}"
    ]


def shown_predictions(
    problem: Problem, path: Path[Any], validation: CrossValidation | None, y: Floats
) -> Predictions | None:
    """Return held-out predictions where there are any, else those of the path for its own rows."""
    if validation is not None:
        tested = np.isfinite(validation.residuals[0])
        if not tested.any():
            return None
        rows = validation.rows[tested]
        predicted = y[rows] - validation.residuals[:, tested]
        return Predictions(True, rows, y[rows], predicted)
    if not problem.has_rows:
        return None
    if problem.likelihood.several or problem.likelihood.of_times:
        return None  # there is no one mean to predict
    rows = rows_to_show(problem)
    block = problem.table.stored.some_rows(rows)
    predicted = path.coefficients() @ block.T + path.intercepts[:, None]
    if problem.offset is not None:
        predicted = predicted + problem.offset[rows]
    predicted = inverse_link(problem.likelihood, predicted)
    return Predictions(False, rows, y[rows], predicted)


def _warnings(
    problem: Problem, path: Path[Fit], posterior: Posterior, count: int, tol: float
) -> list[str]:
    """Return what a reader should know before trusting the answer."""
    said = [CONSTANT] if problem.yty == 0 else []
    worst = float(path.certificate.max())
    if not worst <= tol:
        at = path.strengths[int(np.argmax(path.certificate))]
        said.append(f"not converged: the certificate reached {worst:.1e} at gamma = {at:.4g}")
    rivals = [
        fit.free_energy - posterior.optima[0].free_energy for fit in posterior.optima.fits[1:]
    ]
    if any(gap < _CLOSE_CALL for gap in rivals):
        said.append(
            f"{len(rivals) + 1} distinct optima at this gamma, with free energies that differ by only "
            f"{min(rivals):.2g}; the best is shown, and another could be as true"
        )
    if path.cut:
        said.append(path.cut)
    if count and problem.n < _ROWS_PER_VARIABLE * count:
        said.append(
            f"small sample: {problem.n:g} rows for {count} selected variables, fewer than "
            f"{_ROWS_PER_VARIABLE} for each"
        )
    return said
