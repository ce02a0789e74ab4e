"""What estimators with a path over gamma share: their settings, the gammas to visit, and the choice."""

import warnings
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
from garrote.settings import is_number

# Odds beyond this are certainty, and their exponentials no longer numbers.
_LARGEST_GAMMA = 1e12


def check_gamma_settings(model: Any) -> None:
    """Refuse settings that cannot be meant, before any work."""
    gamma = model.gamma
    named = isinstance(gamma, str) and gamma in ("cv", "free_energy")
    number = is_number(gamma) and abs(gamma) <= _LARGEST_GAMMA
    if not (named or number or isinstance(gamma, ExpectedSize | OnPath)):
        raise ValueError(
            "gamma must be 'cv', 'free_energy', a finite number or garrote.priors.ExpectedSize(...), "
            f"got {gamma!r}"
        )
    if model.rule not in ("min", "1se"):
        raise ValueError(f"rule must be 'min' or '1se', got {model.rule!r}")
    model._path_method  # noqa: B018 - refuses its settings


def gammas_to_visit(
    model: Any,
    problem: Problem,
    terms: SpikeTerms,
    end: DenseEnd = DenseEnd(),  # noqa: B008 - a tuple
) -> tuple[Floats, str | float]:
    """Return the gammas to visit, and which one is wanted: a number, "cv" or "free_energy"."""
    method, wanted = model._path_method, model.gamma
    grid = resolve_gammas(problem, terms, method.gammas, method.eps, end)
    if isinstance(wanted, str):
        return grid, wanted
    if isinstance(wanted, OnPath):
        wanted = wanted.gamma
    if isinstance(wanted, ExpectedSize):
        wanted = -np.log(wanted.odds_against(len(terms.switches(problem.usable))))
    # Nothing beyond the wanted gamma can lead to it but the backward pass: keep the grid.
    return np.unique(np.append(grid, float(wanted))), float(wanted)


def position_of(wanted: float, path: Path) -> int:
    """Return where on the path a gamma is, or the last one, with a warning, where it is out of reach."""
    if wanted > path.strengths[-1]:
        warnings.warn(
            f"gamma = {wanted:.4g} is out of reach: {path.cut}. gamma = "
            f"{path.strengths[-1]:.4g} is used instead; choose one below it, or give more rows",
            ConvergenceWarning,
            stacklevel=5,
        )
        return len(path) - 1
    return path.index(wanted)


def choice_in_words(model: Any, wanted: Any, validation: CrossValidation | None) -> str:
    """Say how gamma was chosen; ``wanted`` is that of `gammas_to_visit`, or what was done instead."""
    if isinstance(model.gamma, ExpectedSize):
        return f"from expected_size = {model.gamma.size:g}"
    if validation is not None:
        return f"by {len(validation.errors)}-fold cross-validation, rule {model.rule!r}"
    return "by free energy" if wanted == "free_energy" else "as given"


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
