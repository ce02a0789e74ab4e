"""Optima followed from the priors where they were found to those around.

An optimum of the mean field exists over a range of priors. Which of several one finds at any of them
depends on the way there; followed from one prior to the next, each keeps its place in all of them.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from garrote.inference.mean_field.hyperparameters import Hyperparameters
from garrote.inference.mean_field.paired_mean_field import Settings, resettle
from garrote.results.fit import Fit
from garrote.solvers.control import same_solution
from garrote.solvers.garrote.starts import DISTINCT

# Optima that are followed at most, the best first: each costs a solution at every prior.
_MOST = 16


class Place(NamedTuple):
    """Where a prior stands in a grid: by its slab variance, by its log odds."""

    variance: int
    odds: int


Solutions = dict[Place, list[Fit]]


def follow(
    settings: Settings,
    priors: dict[Place, Hyperparameters],
    found: Solutions,
    origin: Place,
    optima: Sequence[Fit],
) -> None:
    """Add optima of one prior to what was ``found`` at some ``priors``, where they still exist.

    An optimum goes from the prior of its origin over the log odds, and from each slab variance to the
    next. Where it has become another one it is there already.
    """
    most = max(settings.problem.most_variables, 1.0)
    for optimum in optima[:_MOST]:
        here = {origin: optimum}
        _add(settings, found, origin, optimum)
        for place, before in _outwards(priors, origin):
            if before not in here:
                continue
            after = resettle(settings, here[before], priors[place]).fit
            if after.certificate.value <= settings.control.tol and after.expected_size <= most:
                here[place] = after
                _add(settings, found, place, after)


def _add(settings: Settings, found: Solutions, place: Place, fit: Fit) -> None:
    """Add a solution to those of its prior, unless it is there."""
    known = found.setdefault(place, [])
    if not any(same_solution(fit, one, settings.problem, DISTINCT) for one in known):
        known.append(fit)


def _outwards(priors: dict[Place, Hyperparameters], origin: Place) -> Iterator[tuple[Place, Place]]:
    """Yield places and the one before each: along the odds first, then from variance to variance."""
    nearest = sorted(
        priors,
        key=lambda at: (
            abs(at.variance - origin.variance), at.variance, abs(at.odds - origin.odds), at.odds
        ),
    )  # fmt: skip
    for at in nearest:
        if at == origin:
            continue
        if at.variance == origin.variance:
            towards = 1 if at.odds < origin.odds else -1
            yield at, Place(at.variance, at.odds + towards)
        else:
            towards = 1 if at.variance < origin.variance else -1
            yield at, Place(at.variance + towards, at.odds)
