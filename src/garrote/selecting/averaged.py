"""From a posterior to a Selection: by inclusion probabilities, or by intervals where there are none."""

from collections.abc import Callable, Sequence

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.results.accuracy import DISAGREES
from garrote.results.certificates import Certificate
from garrote.results.posterior import Posterior
from garrote.results.selections.selection import Selection
from garrote.results.selections.verdict import Account
from garrote.results.selections.views import ModelsView, Predictions
from garrote.selecting.cross_validation import rows_to_show
from garrote.selecting.filling import Origin, fill_selection
from garrote.selecting.judging import LEVEL, judge
from garrote.selecting.stand_ins import shared_notes

# Weight of a second optimum that a reader should know of.
_RIVAL = 0.05
# Models that are listed with their effects, and variables of them, at most.
_MODELS, _IN_MODELS = 50, 60

# From rows of X, and known parts of their linear predictors, to mean responses.
Predict = Callable[[Floats, Floats | None], Floats]


def select_averaged(
    problem: Problem,
    posterior: Posterior,
    certificate: Certificate,
    origin: Origin,
    *,
    method: str,
    how: str,
    intercept: float,
    converged: bool,
    notes: Sequence[str] = (),
    predict: Predict | None = None,
) -> Selection:
    """Select what the posterior says is in (see `judge`), and describe how it was found.

    ``predict`` gives the mean response of rows and their offsets, where that is not linear.
    """
    names, fixed = origin.names, problem.scale.covariates
    verdict = judge(posterior, fixed, how)
    shown = np.argsort(-np.where(problem.curvature > 0, verdict.probability, -1.0), kind="stable")

    def linear(rows: Floats, offset: Floats | None) -> Floats:
        return np.asarray(rows @ posterior.mean + intercept + (0.0 if offset is None else offset))

    account = Account(
        method=method,
        response=origin.response,
        provenance=origin.provenance,
        noise_variance=posterior.noise_variance,
        certificate=certificate,
        converged=converged,
        predictions=_predictions(problem, predict or linear, origin.y),
        models=list_models(posterior, fixed),
        credible_sets=posterior.credible_sets(LEVEL),
    )
    warnings = (*notes, *_doubts(posterior), *shared_notes(problem, posterior, names))
    return fill_selection(problem, verdict, account, names, shown, warnings)


def _doubts(posterior: Posterior) -> list[str]:
    """Say where an audit, or other optima, disagree with the posterior."""
    checked = posterior.checked
    # Samplers have errors of their own; their audit takes all but a few variables for independent.
    if checked and posterior.law.models is None and checked.largest_difference > DISAGREES:
        return [str(checked), *_optima_notes(posterior)]
    return _optima_notes(posterior)


def _optima_notes(posterior: Posterior) -> list[str]:
    """Say where other starts or orders of updating would have given another answer."""
    weights, off = posterior.optima.weights, posterior.start_dependence
    if len(weights) < 2 or (weights[1] <= _RIVAL and off <= DISAGREES):
        return []
    return [
        f"{len(weights)} distinct optima were found over starts and orders of updating, the second of "
        f"weight {weights[1]:.2g} in their mixture; between them inclusion probabilities differ by up "
        f"to {off:.2f}: see local_optima() of the posterior"
    ]


def list_models(posterior: Posterior, fixed: Array) -> ModelsView | None:
    """Return the most probable models beside the covariates; None for a method that keeps none."""
    found = posterior.law.models
    if found is None:
        return None
    members = found.members[: min(_MODELS, found.best)]
    inside = np.setdiff1d(np.concatenate([*members, fixed]).astype(np.intp), fixed)
    order = np.argsort(-posterior.inclusion_probability[inside], kind="stable")
    columns = inside[order[:_IN_MODELS]]
    place = {int(j): k for k, j in enumerate(columns)}
    effect = np.full((len(members), len(columns)), np.nan)
    for row, (model, mean) in enumerate(zip(members, found.mean, strict=False)):
        for j, coefficient in zip(model, mean, strict=True):
            if int(j) in place:
                effect[row, place[int(j)]] = coefficient
    sizes = np.array([len(np.setdiff1d(model, fixed)) for model in members])
    return ModelsView(found.probability[: len(members)], sizes, columns, effect)


def _predictions(problem: Problem, predict: Predict, y: Floats) -> Predictions | None:
    if not problem.has_rows or problem.likelihood.of_times:
        return None
    rows = rows_to_show(problem)
    known = None if problem.offset is None else problem.offset[rows]
    predicted = predict(problem.table.stored.some_rows(rows), known)
    return Predictions(False, rows, y[rows], predicted[None, :])
