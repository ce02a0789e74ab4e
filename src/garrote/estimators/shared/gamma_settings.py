"""What estimators with a path over gamma share: their settings, the gammas to visit, and the choice."""

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Floats
from garrote.estimators.given.inputs import is_number
from garrote.paths.annealed import DenseEnd, resolve_gammas
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.path import Path
from garrote.selecting.cross_validation import CrossValidation

# Odds beyond this are certainty, and their exponentials no longer numbers.
_LARGEST_GAMMA = 1e12


def check_gamma_settings(model: Any) -> None:
    """Refuse settings that cannot be meant, before any work."""
    if isinstance(model.gamma, str):
        if model.gamma not in ("cv", "free_energy"):
            raise ValueError(f"gamma must be 'cv', 'free_energy' or a number, got {model.gamma!r}")
    elif not is_number(model.gamma) or abs(model.gamma) > _LARGEST_GAMMA:
        raise ValueError(
            f"gamma must be 'cv', 'free_energy' or a finite number, got {model.gamma!r}"
        )
    elif model.expected_size is not None:
        raise ValueError(
            f"expected_size = {model.expected_size} and gamma = {model.gamma} say the same thing: "
            "give one of them"
        )
    if model.expected_size is not None and not (
        is_number(model.expected_size) and model.expected_size > 0
    ):
        raise ValueError(f"expected_size must be positive, got {model.expected_size}")
    if model.rule not in ("min", "1se"):
        raise ValueError(f"rule must be 'min' or '1se', got {model.rule!r}")
    if not (is_number(model.eps) and 0 < model.eps < 0.5):
        raise ValueError(f"eps must be between 0 and 0.5, got {model.eps}")
    if not (is_number(model.tol) and model.tol > 0):
        raise ValueError(f"tol must be positive, got {model.tol}")
    if not isinstance(model.max_iter, Integral) or not int(model.max_iter) >= 1:
        raise ValueError(f"max_iter must be a positive integer, got {model.max_iter!r}")


def gammas_to_visit(
    model: Any,
    problem: Problem,
    terms: SpikeTerms,
    end: DenseEnd = DenseEnd(),  # noqa: B008 - a tuple
) -> tuple[Floats, str | float]:
    """Return the gammas to visit, and which one is wanted: a number, "cv" or "free_energy"."""
    grid = resolve_gammas(problem, terms, model.gammas, model.eps, end)
    wanted: str | float = model.gamma
    if model.expected_size is not None:
        candidates = len(problem.usable)
        if model.expected_size >= candidates:
            raise ValueError(
                f"expected_size = {model.expected_size} must be below the number of columns that may be "
                f"in or out, {candidates}"
            )
        wanted = float(logit(model.expected_size / candidates))
    if not isinstance(wanted, str):
        wanted = float(wanted)
        # Nothing beyond the wanted gamma can lead to it but the backward pass: keep the grid.
        grid = np.unique(np.append(grid, wanted))
    return grid, wanted


def position_of(wanted: float, path: Path) -> int:
    """Return where on the path a gamma is, or the last one, with a warning, where it is out of reach."""
    if wanted > path.strengths[-1]:
        warnings.warn(
            f"gamma = {wanted:.4g} is out of reach: {path.cut}. gamma = "
            f"{path.strengths[-1]:.4g} is used instead; choose one below it, or give more rows",
            ConvergenceWarning,
            stacklevel=4,
        )
        return len(path) - 1
    return path.index(wanted)


def choice_in_words(model: Any, wanted: Any, validation: CrossValidation | None) -> str:
    """Say how gamma was chosen; ``wanted`` is that of `gammas_to_visit`, or what was done instead."""
    if model.expected_size is not None:
        return f"from expected_size = {model.expected_size:g}"
    if validation is not None:
        return f"by {len(validation.errors)}-fold cross-validation, rule {model.rule!r}"
    return "by free energy" if wanted == "free_energy" else "as given"


def warn_if_not_converged(model: Any) -> None:
    """Warn where a point of a fitted model's path did not reach the tolerance."""
    reached = float(model.path_.certificate.max())
    if not reached <= model.tol:
        worst = model.path_.strengths[int(np.argmax(model.path_.certificate))]
        warnings.warn(
            f"the certificate reached {reached:.2e} at gamma = {worst:.4g}, not {model.tol:.2e}; "
            f"at the chosen gamma it is {model.certificate_.value:.2e}. Raise max_iter "
            f"({model.max_iter}) or tol",
            ConvergenceWarning,
            stacklevel=3,
        )
