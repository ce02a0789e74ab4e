"""What an estimator may be given as alpha, each an object that says how a strength comes of it.

A number is a strength, None the end of the path, a name has the data choose, and a `Strength` of
`garrote.paths` says in other words which strength is meant.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.paths import SquareRoot, Strength
from garrote.penalties import Terms
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.selecting.criteria import CRITERIA, criterion
from garrote.settings import is_number

# How the data may choose alpha.
CHOSEN = ("cv", *CRITERIA)
# What stands for a level by which the noise need not be known.
SQUARE_ROOT = "square-root"


class Alpha:
    """The last fit of the path, for which None stands; other kinds change what they mean otherwise."""

    # Whether the data choose, which may then also choose one of several penalties.
    chosen = False
    # Whether the data choose by rows held out.
    by_folds = False
    # Whether the dense end of a grid that we place may be left out: no point of it was asked for.
    may_end_early = True
    reason = "as the last of the path"

    def check(self, refit: float) -> None:
        """Refuse an alpha that would not hold for coefficients that are refitted."""

    def on(self, grid: Floats, problem: Problem, penalty: Any, terms: Terms, solver: str) -> Floats:
        """Return the strengths to fit, the last of them the one that is meant."""
        return grid

    def certified(
        self, problem: Problem, penalty: Any, terms: Terms, path: Path[PenaltyFit]
    ) -> Path[PenaltyFit]:
        """Return a path whose last fit tells how well it is what was meant."""
        return path

    def scores(
        self, path: Path[PenaltyFit], problem: Problem, noise: float | None = None
    ) -> Floats:
        """Return what is least at the fit to choose, for each fit of a path."""
        return np.where(np.arange(len(path)) == len(path) - 1, 0.0, np.inf)

    def implied(self, alpha: float, n: float) -> dict[str, float]:
        """Return what else is stated of the strength, by the estimator's attribute."""
        return {}


@dataclass(frozen=True)
class ChosenAlpha(Alpha):
    """Chosen by the data: by a cross-validation, or by an information criterion."""

    name: str
    chosen = True

    @property
    def by_folds(self) -> bool:  # type: ignore[override]
        """Whether the data choose by rows held out."""
        return self.name == "cv"

    @property
    def reason(self) -> str:  # type: ignore[override]
        """How it was chosen, in words."""
        return f"by {self.name.upper()}"

    def scores(
        self, path: Path[PenaltyFit], problem: Problem, noise: float | None = None
    ) -> Floats:
        """Return the criterion."""
        return criterion(self.name, path, problem, noise)


@dataclass(frozen=True)
class GivenAlpha(Alpha):
    """A number."""

    strength: float
    may_end_early = False
    reason = "as given"

    def on(self, grid: Floats, problem: Problem, penalty: Any, terms: Terms, solver: str) -> Floats:
        """Return stronger ones for warm starts, and it; weaker ones would be of no use."""
        return _down_to(self.strength, grid)


@dataclass(frozen=True)
class MeantAlpha(Alpha):
    """What a `Strength` finds in the data."""

    meant: Strength
    may_end_early = False

    @property
    def reason(self) -> str:  # type: ignore[override]
        """How it was found, in words."""
        return self.meant.reason

    def check(self, refit: float) -> None:
        """Refuse to refit: what is meant is a property of the penalised fit."""
        if refit:
            raise ValueError(
                f"refit changes coefficients after the fit, so that alpha={self.meant!r} would not "
                "hold: leave refit at False"
            )

    def on(self, grid: Floats, problem: Problem, penalty: Any, terms: Terms, solver: str) -> Floats:
        """Return stronger ones for warm starts, and the one that is found."""
        return _down_to(self.meant.find(problem, penalty, terms, solver), grid)

    def certified(
        self, problem: Problem, penalty: Any, terms: Terms, path: Path[PenaltyFit]
    ) -> Path[PenaltyFit]:
        """Return the path with the certificate of what was meant."""
        return self.meant.certified(problem, penalty, terms, path)

    def implied(self, alpha: float, n: float) -> dict[str, float]:
        """Return what the strength says beside."""
        return self.meant.implied(alpha, n)


def as_alpha(alpha: Any) -> Alpha:
    """Return what an estimator was given as alpha as an object; refuse what cannot be meant."""
    if alpha is None:
        return Alpha()
    if isinstance(alpha, str):
        if alpha == SQUARE_ROOT:
            return MeantAlpha(SquareRoot())
        if alpha not in CHOSEN:
            known = (*CHOSEN, SQUARE_ROOT)
            raise ValueError(f"alpha must be a number, None or one of {known}, got {alpha!r}")
        return ChosenAlpha(alpha)
    if isinstance(alpha, Strength):
        return MeantAlpha(alpha)
    if not (is_number(alpha) and alpha >= 0):
        raise ValueError(f"alpha must be a number >= 0, or garrote.paths.Bound(...), got {alpha!r}")
    return GivenAlpha(float(alpha))


def _down_to(alpha: float, grid: Floats) -> Floats:
    return np.append(grid[grid > alpha], float(alpha))
