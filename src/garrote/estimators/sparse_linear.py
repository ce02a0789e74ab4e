"""What the penalised regressor and classifier share: settings, the path, the choice of alpha."""

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from garrote.arrays import Array, Floats
from garrote.combinations import check_combination
from garrote.estimators.face import SelectorFace
from garrote.estimators.inputs import (
    check_names,
    check_weights,
    column_labels,
    is_number,
    resolve_values,
)
from garrote.estimators.provenance import provenance
from garrote.paths import fit_path
from garrote.penalised_paths import outputs_of, resolve_alphas
from garrote.penalties import PENALTIES, Terms
from garrote.penalty_path import PenaltyPath
from garrote.problem import Problem, as_design
from garrote.selecting.cross_validation import CrossValidation, split_weights
from garrote.selecting.on_path import CONSTANT, Choice
from garrote.selecting.on_penalty_path import select_on_penalty_path
from garrote.selecting.penalty_criteria import CRITERIA, criterion
from garrote.selecting.penalty_validation import PenaltyFold, cross_validate_penalty
from garrote.solvers.annealing import Control


class SparseLinearModel(SelectorFace):
    """Settings and the fit; see `SparseRegressor` and `SparseClassifier`."""

    def __init__(
        self,
        penalty: Any = "lasso",
        alpha: float | str | None = "cv",
        *,
        alphas: Any = 100,
        eps: float | None = None,
        cv: Any = None,
        rule: str = "min",
        penalty_factor: Any = None,
        lower: Any = None,
        upper: Any = None,
        refit: bool | float = False,
        solver: str = "coordinate",
        fit_intercept: bool = True,
        standardize: bool = True,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        n_jobs: int | None = None,
        callback: Any = None,
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.alphas = alphas
        self.eps = eps
        self.cv = cv
        self.rule = rule
        self.penalty_factor = penalty_factor
        self.lower = lower
        self.upper = upper
        self.refit = refit
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.callback = callback

    def _fit(
        self,
        X: Any,
        y: Floats,
        response: str,
        likelihood: Any,
        sample_weight: Any,
        offset: Any,
        groups: Any,
        feature_names: Any,
    ) -> None:
        """Fit the path, choose on it, and store what was found."""
        penalty = self._penalty()
        check_combination(penalty, likelihood, self.solver)
        weights = check_weights(sample_weight, X)
        count = X.shape[1]
        names = check_names(feature_names, getattr(self, "feature_names_in_", None), count)
        labels = column_labels(names, count)
        if hasattr(penalty, "resolved"):
            penalty = penalty.resolved(count, names, X)
        given = self._given_terms(names, count)
        # Columns without a penalty are projected out where that is exact: for a Gaussian response.
        free = np.flatnonzero(given.factor == 0) if likelihood is None else np.zeros(0, np.intp)
        if len(free) and (np.isfinite(given.lower[free]) | np.isfinite(given.upper[free])).any():
            raise ValueError("columns with penalty_factor 0 are always in and cannot have bounds")
        settings: dict[str, Any] = {
            "fit_intercept": self.fit_intercept,
            "standardize": self.standardize,
            "scale_response": False,
            "likelihood": likelihood,
            "offset": check_offset(offset, len(y)),
        }
        if likelihood is None:
            settings["covariates"] = free
        design = as_design(X)
        problem = Problem.from_rows(design, y, weights, **settings)
        if problem.yty == 0:
            warnings.warn(CONSTANT, UserWarning, stacklevel=3)
        terms = scaled_terms(given, problem)
        grid = self._grid(problem, penalty, terms)
        control = Control(self.tol, self.max_iter, self.callback)
        validation = None
        if self.alpha == "cv":
            splits = list(self._splitter(y).split(X, y, groups))
            folds = []
            for inside, outside in split_weights(weights, splits):
                part = Problem.from_rows(design, y, inside, **settings)
                folds.append(PenaltyFold(part, scaled_terms(given, part), outside))
            path, validation = cross_validate_penalty(
                problem, penalty, terms, folds, grid, control,
                solver=self.solver, relax=float(self.refit), n_jobs=self.n_jobs,
            )  # fmt: skip
            chosen = validation.choose(self.rule)
        else:
            path = fit_path(
                problem, penalty, grid, control=control, terms=terms, solver=self.solver,
                relax=float(self.refit),
            )  # fmt: skip
            chosen = self._choose(path, problem)
        self._store(problem, path, chosen, validation)
        self.selection_ = select_on_penalty_path(
            problem,
            path,
            Choice(chosen, self._reason(validation), self.rule, validation),
            self._coefficients,
            y,
            method=f"{penalty.name} ({'least squares' if likelihood is None else likelihood.name})",
            names=labels,
            response=response,
            tol=self.tol,
            provenance=provenance(self, X, y, weights, [labels[j] for j in free]),
        )
        self._warn_if_not_converged()

    def _splitter(self, y: Floats) -> Any:
        return check_cv(self.cv)

    def _penalty(self) -> Any:
        """Return the penalty object, and refuse settings that cannot be meant."""
        penalty = self.penalty
        if isinstance(penalty, str):
            if penalty not in PENALTIES:
                raise ValueError(
                    f"penalty must be one of {tuple(PENALTIES)} or an object of garrote.penalties, "
                    f"got {penalty!r}"
                )
            penalty = PENALTIES[penalty]()
        elif not hasattr(penalty, "largest_strength"):
            raise ValueError(
                f"penalty must be a name or an object of garrote.penalties, got {penalty!r}"
            )
        if isinstance(self.alpha, str):
            if self.alpha != "cv" and self.alpha not in CRITERIA:
                known = ("cv", *CRITERIA)
                raise ValueError(
                    f"alpha must be a number, None or one of {known}, got {self.alpha!r}"
                )
        elif self.alpha is not None and not (is_number(self.alpha) and self.alpha >= 0):
            raise ValueError(f"alpha must be a number >= 0, got {self.alpha!r}")
        if self.rule not in ("min", "1se"):
            raise ValueError(f"rule must be 'min' or '1se', got {self.rule!r}")
        if self.eps is not None and not (is_number(self.eps) and 0 < self.eps < 1):
            raise ValueError(f"eps must be between 0 and 1, got {self.eps}")
        if not (is_number(self.tol) and self.tol > 0):
            raise ValueError(f"tol must be positive, got {self.tol}")
        if not (isinstance(self.max_iter, Integral) and self.max_iter >= 1):
            raise ValueError(f"max_iter must be a positive integer, got {self.max_iter!r}")
        if not (isinstance(self.refit, bool) or is_number(self.refit)) or not 0 <= self.refit <= 1:
            raise ValueError(
                f"refit must be True, False or a share between 0 and 1, got {self.refit!r}"
            )
        return penalty

    def _given_terms(self, names: Array | None, count: int) -> Terms:
        """Return factors and bounds as given, in the user's units."""
        factor = np.ones(count)
        if self.penalty_factor is not None:
            factor = resolve_values(self.penalty_factor, names, count, "penalty_factor", 1.0)
        if (factor < 0).any():
            j = int(np.argmin(factor))
            raise ValueError(f"penalty_factor must be >= 0, got {factor[j]:g} at column {j}")
        if not factor.any():
            raise ValueError(
                "penalty_factor is 0 for every column: nothing is penalised; use penalty='none'"
            )
        lower = resolve_values(self.lower, names, count, "lower", -np.inf)
        upper = resolve_values(self.upper, names, count, "upper", np.inf)
        wrong = np.flatnonzero((lower > 0) | (upper < 0))
        if len(wrong):
            raise ValueError(
                f"bounds must contain 0, but column {wrong[0]} has {lower[wrong[0]]:g} to "
                f"{upper[wrong[0]]:g}"
            )
        return Terms(factor, lower, upper)

    def _grid(self, problem: Problem, penalty: Any, terms: Terms) -> Floats:
        grid = resolve_alphas(problem, penalty, terms, self.alphas, self.eps)
        if self.alpha is None or isinstance(self.alpha, str):
            return grid
        # Warm starts from stronger penalties; weaker ones would be of no use.
        return np.append(grid[grid > self.alpha], float(self.alpha))

    def _choose(self, path: PenaltyPath, problem: Problem) -> int:
        if isinstance(self.alpha, str):
            return int(np.argmin(criterion(self.alpha, path, problem)))
        return len(path) - 1

    def _store(
        self, problem: Problem, path: PenaltyPath, chosen: int, validation: CrossValidation | None
    ) -> None:
        """Set the fitted attributes."""
        self.path_ = path
        fit = path.fits[chosen]
        self.alpha_ = float(fit.strength)
        self.certificate_ = fit.certificate
        self.n_iter_ = max(1, path.n_iter)
        self._coefficients = path.coefficients()[[chosen]].toarray()[0]
        self._constant = path.intercepts[chosen] * float(self.fit_intercept)
        if validation is not None:
            self.cv_results_: dict[str, Any] = validation.results("alpha")
        elif hasattr(self, "cv_results_"):
            del self.cv_results_

    def _reason(self, validation: CrossValidation | None) -> str:
        if validation is not None:
            return f"by {len(validation.errors)}-fold cross-validation, rule {self.rule!r}"
        if isinstance(self.alpha, str):
            return f"by {self.alpha.upper()}"
        return "as the last of the path" if self.alpha is None else "as given"

    def _warn_if_not_converged(self) -> None:
        reached = float(self.path_.certificate.max())
        if not reached <= self.tol:
            worst = self.path_.strengths[int(np.argmax(self.path_.certificate))]
            warnings.warn(
                f"the certificate reached {reached:.2e} at alpha = {worst:.4g}, not {self.tol:.2e}; "
                f"at the chosen alpha it is {self.certificate_.value:.2e}. Raise max_iter "
                f"({self.max_iter}) or tol",
                ConvergenceWarning,
                stacklevel=4,
            )


def scaled_terms(given: Terms, problem: Problem) -> Terms:
    """Return factors and bounds for standardised columns."""
    scale = problem.scale.column_scale / problem.scale.response_scale
    terms = Terms(given.factor, given.lower * scale, given.upper * scale)
    return terms.repeated(outputs_of(problem))


def check_offset(offset: Any, count: int) -> Floats | None:
    """Return a known part of the linear predictor, one number a row."""
    if offset is None:
        return None
    values = np.asarray(offset, dtype=np.float64)
    if values.shape != (count,):
        raise ValueError(f"offset must have {count} entries like X has rows, got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"offset is not finite at row {int(np.argmin(np.isfinite(values)))}")
    return values
