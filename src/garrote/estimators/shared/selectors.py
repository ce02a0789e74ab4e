"""What selecting estimators share: summary, support, tags; regressors also their predictive spread."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from garrote.arrays import Floats
from garrote.estimators.families.survival import SurvivalMixin, as_records, is_of_times
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.condensing import condense_rows
from garrote.estimators.given.inputs import check_offset
from garrote.estimators.shared.densities import MeasuredRows, measure_numbers
from garrote.estimators.shared.named_settings import NamedSettings
from garrote.estimators.shared.saving import SaveMixin
from garrote.estimators.shared.stability import check_stability, measure_stability
from garrote.estimators.shared.stated import StatesSelection
from garrote.likelihoods import Gaussian
from garrote.limits.budgets import ENTRIES_REFITTED
from garrote.priors import ColumnGroups
from garrote.problem import Problem
from garrote.results.joint import JointPosterior
from garrote.results.laws import Anchor
from garrote.results.posterior import Posterior
from garrote.results.selections.groups import VariableGroups
from garrote.results.selections.selection import Selection
from garrote.selecting.cross_validation import CrossValidation


class SelectingEstimator(NamedSettings, SaveMixin, StatesSelection):
    """An estimator that selects: fitted, it has ``coef_`` and ``selection_``."""

    selection_: Selection
    stability: int | str | None = None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        groups: Any = None,
        feature_names: Any = None,
    ) -> Self:
        """Fit the rows, and state the selection.

        Parameters
        ----------
        X : array, data frame, sparse matrix or `garrote.designs.Design` of shape (N, D)
        y : array of shape (N,)
            Numbers or counts; of a classifier, labels. `SparseRegressor` takes K columns of numbers as
            well: all are fitted at once, with one alpha and coefficients of shape (K, D), and
            `GroupLasso` puts a variable in or out for all of them (multi-task regression). Of
            ``family="cox"`` times and events: see `garrote.likelihoods.survival_times`.
            `GroupLasso` puts a variable in or out for all of them (multi-task regression). With
            `SpikeSlabRegressor`, `SingleEffectsRegressor` and `VariationalGarrote` they share which
            variables are in.
        sample_weight : array of shape (N,), optional
            A weight of k counts as k repeats of a row, 0 takes it out.
        offset : array of shape (N,), optional
            A known part of the linear predictor: of y itself, of log rates (such as the logarithm of an
            exposure), or of the log odds of the second class. Of K responses, or K > 2 classes, it has
            the shape (N, K).
        groups : array of shape (N,), optional
            Rows of a group share a fold, and are left out together by refits (``stability``); passed to
            the splitter given as ``cv``.
        feature_names : sequence of str, optional
            Names of the columns, for an array or a sparse matrix; a data frame brings its own.
        """
        check_stability(self.stability)
        if is_of_times(self):
            y = as_records(y)
        given = Arguments.of(X, y, sample_weight, offset, groups, feature_names)
        small = condense_rows(self, given)
        self._fit_rows(given if small is None else small.given)
        if isinstance(self, SurvivalMixin):
            self._keep_baseline(given)
        if small is not None:
            small.describe(self)
        self._tell_groups()
        self.selection_ = self.selection_.doubted(self._doubts(given))
        if self.stability is not None:
            found_again = measure_stability(self, given)
            self.selection_ = self.selection_.annotated(stability=found_again)
        return self

    def _tell_groups(self) -> None:
        """Let the selection count columns that are in or out together as one variable."""
        groups: ColumnGroups | None = getattr(self, "groups_", None)
        if groups is not None and not groups.are_single:
            owner = [groups.labels[number] for number in groups.numbers]
            found = VariableGroups.of_labels(owner, self.selection_.names)
            self.selection_ = self.selection_.annotated(groups=found)

    @property
    def _entries_refitted(self) -> int:
        """The size of X up to which refits are made where nobody said how many."""
        return ENTRIES_REFITTED

    def _doubts(self, rows: Arguments) -> tuple[str, ...]:
        """Return what puts the whole answer in doubt, given the rows that were fitted."""
        return ()

    def _refit_settings(self) -> dict[str, Any]:
        """Return what a refit to a part of the rows is told of this fit, and need not find again."""
        return {}

    def _fit_rows(self, rows: Arguments) -> None:
        """Check what `fit` was given, fit it, and store what was found."""
        raise NotImplementedError

    @property
    def _holds_out(self) -> bool:
        """Whether something is chosen by rows held out, those of ``cv``."""
        return False

    def _store_validation(self, validation: CrossValidation | None, strength: str) -> None:
        """Keep the curve of a cross-validation over a strength; forget that of a fit before."""
        if validation is not None:
            self.cv_results_: dict[str, Any] = validation.results(strength)
        elif hasattr(self, "cv_results_"):
            del self.cv_results_

    def validate(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        cv: Any = 5,
        offset: Any = None,
        groups: Any = None,
        random_state: int = 0,
    ) -> Self:
        """Measure the method on rows held out; the selection, and its report, tell of it.

        Everything is fitted again without each fold, with the same settings, and so are the null model
        and the lasso. ``selection_.validation`` has held-out errors, log predictive densities of all
        three and, of labels, accuracy, AUC, confusion and calibration, fold by fold.

        Parameters
        ----------
        X, y, sample_weight, offset
            Those of the fit.
        cv : int, splitter or list of splits, default=5
            So many folds, shuffled, in which labels are spread evenly and rows of a group stay together.
        groups : array of shape (N,), optional
        random_state : int, default=0
            The seed of the shuffling.
        """
        from garrote.estimators.validation import Rows, validate, with_validation

        check_is_fitted(self, "coef_")
        if isinstance(getattr(self, "posterior_", None), JointPosterior):
            raise ValueError(
                "validate measures one response: fit and validate each by itself, or take "
                "sklearn.model_selection.cross_val_score for R^2 of all together"
            )
        names = None if hasattr(X, "columns") else self.selection_.names
        rows = Rows.of(X, y, sample_weight, offset, groups, names)
        found = validate(self, rows, cv, random_state)
        self.selection_ = with_validation(self.selection_, found)
        return self

    def _measure(self, X: Any, y: Any, offset: Any) -> MeasuredRows:
        """Return how dense rows are that the model has not seen, and how far off it is."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class SelectingRegressor(SelectingEstimator, RegressorMixin, BaseEstimator):
    """A regressor that selects and has a ``posterior_``."""

    posterior_: Posterior | JointPosterior
    coef_: Floats
    intercept_: float | Floats
    _anchor: Anchor

    def _keep_anchor(self, problem: Problem) -> None:
        """Keep the means of the columns: predictive deviations grow with the distance from there."""
        spent = 1.0 / problem.n if self.fit_intercept else 0.0
        self._anchor = Anchor(problem.scale.column_mean, spent)

    def _measure(self, X: Any, y: Any, offset: Any) -> MeasuredRows:
        likelihood: Any = getattr(self, "_likelihood", Gaussian())
        if not likelihood.least_squares:
            return measure_numbers(likelihood, y, self.predict(X, offset=offset), None)
        mean, deviation = self.predict(X, return_std=True, offset=offset)
        return measure_numbers(likelihood, y, mean, deviation)

    def _linear(self, X: Any, offset: Floats | None) -> Floats:
        """Return the linear predictor of checked rows."""
        mean = np.asarray(X @ self.coef_ + self.intercept_)
        return mean if offset is None else mean + offset

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return R^2 of the predictions, of what an offset leaves of y."""
        mean = self.predict(X, offset=offset)
        known = check_offset(offset, len(mean), Gaussian())
        taken = 0.0 if known is None else known
        y = column_or_1d(y).astype(np.float64)
        return float(r2_score(y - taken, mean - taken, sample_weight=sample_weight))
