"""Factors of a penalty and bounds on coefficients, as users give them."""

from functools import partial
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.estimators.given.inputs import resolve_values
from garrote.paths.penalised import outputs_of
from garrote.penalties import Terms
from garrote.problem import Problem
from garrote.solvers.penalised.homotopy import check_signs


def given_terms(
    penalty_factor: Any, bounds: Any, names: Array | None, count: int, *, signs_alone: bool
) -> Terms:
    """Return factors and bounds of so many columns, in the user's units.

    With ``signs_alone`` bounds are refused that fix more than the sign of a coefficient.
    """
    factor = _given_factor(penalty_factor, names, count)
    least, most = _pair(bounds)
    lower = resolve_values(least, names, count, "lower bounds", -np.inf)
    upper = resolve_values(most, names, count, "upper bounds", np.inf)
    wrong = np.flatnonzero((lower > 0) | (upper < 0))
    if len(wrong):
        raise ValueError(
            f"bounds must contain 0, but column {_named(names, wrong[0])} has "
            f"{lower[wrong[0]]:g} to {upper[wrong[0]]:g}"
        )
    if signs_alone:
        check_signs(lower, upper, factor, partial(_named, names))
    return Terms(factor, lower, upper)


def _given_factor(penalty_factor: Any, names: Array | None, count: int) -> Floats:
    factor = np.ones(count)
    if penalty_factor is not None:
        factor = resolve_values(penalty_factor, names, count, "penalty_factor", 1.0)
    if (factor < 0).any():
        j = int(np.argmin(factor))
        raise ValueError(
            f"penalty_factor must be >= 0, got {factor[j]:g} at column {_named(names, j)}"
        )
    if not factor.any():
        raise ValueError(
            "penalty_factor is 0 for every column: nothing is penalised; use penalty='none'"
        )
    return factor


def _pair(bounds: Any) -> tuple[Any, Any]:
    """Return the lower and the upper bounds as given; None where there are none."""
    if bounds is None:
        return None, None
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ValueError(
            "bounds must be a pair (lower, upper), each a number, an array, a mapping from columns "
            f"to numbers or None, got {bounds!r}"
        )
    return bounds[0], bounds[1]


def _named(names: Array | None, j: int) -> str:
    """Return how a column is called in an error: by its name, or else by its position."""
    return str(j) if names is None else repr(str(names[j]))


def projected_columns(given: Terms, likelihood: Any) -> Array:
    """Return the columns without a penalty that are projected out: for a Gaussian response, exactly.

    Those with bounds are not: the solver keeps them between these, free of any penalty.
    """
    bounded = np.isfinite(given.lower) | np.isfinite(given.upper)
    return np.flatnonzero((given.factor == 0) & ~bounded & likelihood.least_squares)


def scaled_terms(given: Terms, problem: Problem) -> Terms:
    """Return factors and bounds for standardised columns."""
    scale = problem.scale.column_scale / problem.scale.response_scale
    terms = Terms(given.factor, given.lower * scale, given.upper * scale)
    return terms.repeated(outputs_of(problem))
