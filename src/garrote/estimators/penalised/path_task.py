"""Checked rows, and what is to be solved for them."""

from collections.abc import Callable
from typing import Any, NamedTuple

from garrote.arrays import Array, Floats
from garrote.estimators.penalised.given_terms import scaled_terms
from garrote.penalties import Terms
from garrote.problem import Problem


class ReadRows(NamedTuple):
    """Checked rows: X, the response as numbers, its name, what it is, and weights."""

    X: Any
    y: Floats
    response: str
    likelihood: Any
    weights: Floats


class PathTask(NamedTuple):
    """What is to be solved for rows of any weights, those of a fold's or a resample's, too.

    ``penalties`` are those to try, mostly one, ``given`` factors of the penalty and bounds in the
    user's units, ``names`` those of the columns where they have any, ``free`` the columns that are
    projected out; ``make_problem`` makes the problem of some weights.
    """

    penalties: list[Any]
    given: Terms
    make_problem: Callable[[Floats], Problem]
    names: Array | None
    free: Array
    offset: Floats | None

    @property
    def penalty(self) -> Any:
        """The penalty; the first of several that differ by a setting alone."""
        return self.penalties[0]

    def terms_for(self, problem: Problem) -> Terms:
        """Return factors and bounds for the standardised columns of a problem."""
        return scaled_terms(self.given, problem)
