"""Greedy selection for labels of two classes, as a scikit-learn classifier and selector."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.inputs import check_labelled_rows, check_weights, response_name
from garrote.estimators.searching.greedy_model import GreedyModel
from garrote.estimators.shared.labelled import SelectingClassifier, two_classes
from garrote.likelihoods import Binomial, inverse_link


class GreedyClassifier(GreedyModel, SelectingClassifier):
    """Logistic regression on a few columns that a search takes in or exchanges one by one.

    Each model of the path is the most likely one for its columns: nothing is shrunk. The path ends
    before classes are separated, where no coefficients are the most likely.

    Parameters
    ----------
    search : {"omp", "forward", "splicing"} or object of `garrote.greedy`, default="omp"
        Which subsets are looked at: by the gradient of the log likelihood, by fits to the columns whose
        score tests are largest, or by exchanges.
    n_features, criterion, tol, max_features, cv, rule, covariates, column_groups, fit_intercept, \
n_jobs, stability, callback
        As in `GreedyRegressor`.

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, D)
    intercept_ : array of shape (1,)
    n_features_, path_, selection_, certificate_, cv_results_, n_iter_
        As in `GreedyRegressor`.
    n_features_in_, feature_names_in_

    References
    ----------
    Lozano, A., Swirszcz, G. and Abe, N. (2011). Group orthogonal matching pursuit for logistic
    regression. AISTATS 15, 452-460.
    Zhu, J., Wen, C., Zhu, J., Zhang, H. and Wang, X. (2020). A polynomial algorithm for best-subset
    selection problem. PNAS 117, 33117-33123.

    Examples
    --------
    >>> from garrote import GreedyClassifier
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=200, n_features=20, n_informative=2, random_state=0)
    >>> labels = ["high" if value > 0 else "low" for value in data.y]
    >>> model = GreedyClassifier("splicing", n_features=2).fit(data.X, labels)
    >>> model.get_support(indices=True)
    array([12, 16])
    """

    def __init__(
        self,
        search: Any = "omp",
        n_features: int | None = None,
        criterion: str | None = "ebic",
        *,
        tol: float | None = None,
        max_features: int | None = None,
        cv: Any = 5,
        rule: str = "min",
        covariates: Any = None,
        column_groups: Any = None,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        stability: int | str | None = None,
        callback: Any = None,
    ):
        self.search = search
        self.n_features = n_features
        self.criterion = criterion
        self.tol = tol
        self.max_features = max_features
        self.cv = cv
        self.rule = rule
        self.covariates = covariates
        self.column_groups = column_groups
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.stability = stability
        self.callback = callback

    def _fit_rows(self, rows: Arguments) -> None:
        self._search(Binomial())  # refuses settings before any work
        response = response_name(rows.y)
        X, y = check_labelled_rows(self, rows.X, rows.y)
        weights = check_weights(rows.sample_weight, X)
        self.classes_, codes = two_classes(y, weights)
        response = f"{response} = {self.classes_[1]}"
        self._fit(X, codes, response, Binomial(), weights, rows)
        self.coef_ = self._coefficients[None, :]
        self.intercept_ = np.array([float(self._constant)])

    def _check_fold(self, number: int, trained: Floats, y: Floats) -> None:
        """Refuse training rows that lack a class."""
        missing = np.setdiff1d(y, trained)
        if len(missing):
            label, count = self.classes_[int(missing[0])], np.count_nonzero(y == missing[0])
            raise ValueError(
                f"fold {number} of cv trains without class {str(label)!r} ({count} of {len(y)} rows): "
                "take criterion='bic', or fewer folds"
            )

    def _probability(self, X: Any, offset: Floats | None = None) -> Floats:
        """Return the probability of the second class for checked rows."""
        eta = np.asarray(X @ self.coef_[0] + self.intercept_[0])
        return np.asarray(inverse_link(Binomial(), eta if offset is None else eta + offset))
