"""The bolasso: what the lasso selects in all bootstrap samples, refitted by least squares."""

from typing import Any

import numpy as np
from sklearn.base import clone

from garrote.estimators.control.bases import has_own_path
from garrote.estimators.control.resampled import GivenTable, ResampledSelector
from garrote.estimators.shared.selectors import SelectingEstimator
from garrote.results.error_control import ErrorControl
from garrote.selecting.control.describing import Decision
from garrote.selecting.control.plans import selected
from garrote.settings import check_count, is_number

_NO_BOUND = (
    "no bound on false selections is stated: what is selected in all bootstrap samples is consistent as "
    "rows become many (Bach 2008), which says nothing of these"
)
_NO_PROBABILITY = "a frequency is not the probability that a variable has an effect"


class Bolasso(ResampledSelector):
    """Select what a base selects in all bootstrap samples of the rows, and refit by least squares.

    The lasso with an alpha that predicts well has false variables beside the true ones. The true ones
    are in nearly every bootstrap sample, the false ones differ from sample to sample, so that their
    intersection has the former (Bach 2008).

    Parameters
    ----------
    base : estimator, default=SparseRegressor()
        Anything that selects; see `StabilitySelection`. An estimator of garrote is fitted to all rows
        first, and bootstrap samples keep the strength that was chosen there.
    share : float in (0, 1], default=1.0
        In which share of the samples a variable has to be: 1 is the intersection, 0.9 Bach's softer one.
    n_resamples : int, default=100
    random_state : int, RandomState instance or None
        The seed. None is 0: a fit can be repeated.
    n_jobs : int, optional
        Threads. The answer is the same for any number of them.

    Attributes
    ----------
    frequency_ : array of shape (D,)
        In which share of the samples each variable is selected; not a probability that it matters.
    frequencies_ : Frequencies
    error_control_ : ErrorControl
        Says that no bound is known.
    selection_ : Selection
    estimator_ : SparseRegressor or SparseClassifier
        The refit to all rows and the selected variables, by which rows are predicted.
    coef_, intercept_, classes_, n_features_in_, feature_names_in_

    References
    ----------
    Bach, F. R. (2008). Bolasso: model consistent lasso estimation through the bootstrap. ICML 25, 33-40.

    Examples
    --------
    >>> from garrote import Bolasso, SparseRegressor
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=120, n_features=40, n_informative=3, random_state=0)
    >>> model = Bolasso(SparseRegressor(rule="1se")).fit(data.X, data.y)
    >>> model.get_support(indices=True)
    array([20, 24, 32])
    """

    def __init__(
        self,
        base: Any = None,
        *,
        share: float = 1.0,
        n_resamples: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.base = base
        self.share = share
        self.n_resamples = n_resamples
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_settings(self) -> None:
        if not (is_number(self.share) and 0 < self.share <= 1):
            raise ValueError(f"share must be above 0 and at most 1, got {self.share!r}")
        check_count("n_resamples", self.n_resamples, 2)

    def _decide(self, table: GivenTable) -> Decision:
        follows = has_own_path(table.base)
        table = table._replace(base=self._with_strength(table))
        resamples = self._draw(table, "bootstrap", self.n_resamples)
        if follows:
            found = self._follow(table, resamples, None, table.base.alpha)
        else:
            found = self._fit_each(table, resamples, None)
        control = ErrorControl(
            "Bolasso", _NO_BOUND, (_NO_PROBABILITY,), float(self.share), float("nan"), ""
        )
        chosen = selected(found, self.share) & table.variables.free
        every = "all" if self.share == 1 else f"at least {100 * self.share:.4g} % of"
        return Decision(
            found, chosen, control,
            method=f"Bolasso ({type(table.base).__name__})",
            rule=f"in {every} {self.n_resamples} bootstrap samples of the rows",
            tol=table.base._path_method.tol if follows else np.inf,
        )  # fmt: skip

    def _with_strength(self, table: GivenTable) -> Any:
        """Return the base with the strength that it chooses on all rows, where it chooses one."""
        base, given = table.base, table.given
        if not isinstance(base, SelectingEstimator) or is_number(getattr(base, "alpha", None)):
            return base
        model = (
            clone(base).set_params(stability=None) if hasattr(base, "stability") else clone(base)
        )
        model.fit(
            given.X, given.y, given.sample_weight, offset=given.offset, groups=given.groups,
            feature_names=given.feature_names,
        )  # fmt: skip
        return clone(base).set_params(**model._refit_settings())
