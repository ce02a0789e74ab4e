"""What an estimator may be given as gamma, each an object that says which point of a path it is."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Floats
from garrote.paths import OnPath
from garrote.paths.annealed import DenseEnd, resolve_gammas
from garrote.priors import ExpectedSize
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.path import Path
from garrote.selecting.cross_validation import CrossValidation
from garrote.selecting.on_path import Choice
from garrote.settings import is_number

# Odds beyond this are certainty, and their exponentials no longer numbers.
_LARGEST_GAMMA = 1e12


class Gamma:
    """How gamma is chosen among those of a path."""

    # Whether the data choose it, and whether by rows held out.
    chosen = False
    by_folds = False
    # Whether it is the log odds of inclusion that the user believes in.
    believed = False
    reason = "as given"

    def among(self, columns: int) -> "Gamma":
        """Return what is meant where so many columns may be in or out."""
        return self

    def visited(self, grid: Floats) -> Floats:
        """Return the gammas to visit."""
        return grid

    def position(self, path: Path, scores: Callable[[], Floats]) -> int:
        """Return where on the path to be; ``scores`` are least where the evidence is largest."""
        raise NotImplementedError(f"{type(self).__name__} does not say where on the path to be")

    def choice(self, position: int, validation: CrossValidation | None, rule: str) -> Choice:
        """Return a position with how it was chosen."""
        reason = self.reason
        if validation is not None:
            reason = f"by {len(validation.errors)}-fold cross-validation, rule {rule!r}"
        return Choice(position, reason, rule, validation)


@dataclass(frozen=True)
class ChosenGamma(Gamma):
    """Chosen by the data: by a cross-validation, or by free energy as a bound on the evidence."""

    by_folds: bool = False
    chosen = True
    reason = "by free energy"

    def position(self, path: Path, scores: Callable[[], Floats]) -> int:
        """Return where the bound on the evidence is largest."""
        return int(np.argmin(scores()))


@dataclass(frozen=True)
class GivenGamma(Gamma):
    """A number."""

    value: float
    believed: bool = True
    reason: str = "as given"

    def visited(self, grid: Floats) -> Floats:
        """Return the grid and the number: nothing beyond it can lead to it but the backward pass."""
        return np.unique(np.append(grid, self.value))

    def position(self, path: Path, scores: Callable[[], Floats]) -> int:
        """Return where the number is, or the last one, with a warning, where it is out of reach."""
        if self.value > path.strengths[-1]:
            warnings.warn(
                f"gamma = {self.value:.4g} is out of reach: {path.cut}. gamma = "
                f"{path.strengths[-1]:.4g} is used instead; choose one below it, or give more rows",
                ConvergenceWarning,
                stacklevel=4,
            )
            return len(path) - 1
        return path.index(self.value)


@dataclass(frozen=True)
class ExpectedGamma(Gamma):
    """The log odds at which so many variables are expected."""

    law: ExpectedSize
    believed = True

    def among(self, columns: int) -> Gamma:
        """Return these log odds."""
        reason = f"from expected_size = {self.law.size:g}"
        return GivenGamma(-float(np.log(self.law.odds_against(columns))), reason=reason)


def as_gamma(gamma: Any) -> Gamma:
    """Return what an estimator was given as gamma as an object; refuse what cannot be meant."""
    if isinstance(gamma, str) and gamma in ("cv", "free_energy"):
        return ChosenGamma(by_folds=gamma == "cv")
    if isinstance(gamma, ExpectedSize):
        return ExpectedGamma(gamma)
    if isinstance(gamma, OnPath):
        return GivenGamma(float(gamma.gamma), believed=False)
    if not (is_number(gamma) and abs(gamma) <= _LARGEST_GAMMA):
        raise ValueError(
            "gamma must be 'cv', 'free_energy', a finite number or garrote.priors.ExpectedSize(...), "
            f"got {gamma!r}"
        )
    return GivenGamma(float(gamma))


def check_gamma_settings(model: Any) -> None:
    """Refuse settings that cannot be meant, before any work."""
    as_gamma(model.gamma)
    if model.rule not in ("min", "1se"):
        raise ValueError(f"rule must be 'min' or '1se', got {model.rule!r}")
    model._path_method  # noqa: B018 - refuses its settings


def gammas_to_visit(
    model: Any,
    problem: Problem,
    terms: SpikeTerms,
    end: DenseEnd = DenseEnd(),  # noqa: B008 - a tuple
) -> tuple[Floats, Gamma]:
    """Return the gammas to visit, and how one of them is chosen."""
    method = model._path_method
    gamma = as_gamma(model.gamma).among(len(terms.switches(problem.usable)))
    return gamma.visited(resolve_gammas(problem, terms, method.gammas, method.eps, end)), gamma


def warn_if_not_converged(model: Any) -> None:
    """Warn where a point of a fitted model's path did not reach the tolerance."""
    reached, method = float(model.path_.certificate.max()), model._path_method
    if not reached <= method.tol:
        worst = model.path_.strengths[int(np.argmax(model.path_.certificate))]
        warnings.warn(
            f"the certificate reached {reached:.2e} at gamma = {worst:.4g}, not {method.tol:.2e}; "
            f"at the chosen gamma it is {model.certificate_.value:.2e}. Raise max_iter "
            f"({method.max_iter}) or tol of the method",
            ConvergenceWarning,
            stacklevel=4,
        )
