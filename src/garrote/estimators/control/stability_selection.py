"""Stability selection: what a base selects in most halves of the rows, with a bound on false ones."""

from typing import Any

import numpy as np

from garrote.estimators.control.bases import has_own_path, states_evidence
from garrote.estimators.control.resampled import GivenTable, ResampledSelector
from garrote.penalties import as_penalty
from garrote.selecting.control.describing import Decision
from garrote.selecting.control.frequencies import Frequencies
from garrote.selecting.control.plans import (
    Plan,
    bound_for,
    promise_of,
    selected,
    with_size,
    with_threshold,
)
from garrote.selecting.control.resampling import SCHEMES
from garrote.settings import check_count, is_number

_IN_WORDS = {
    "pairs": "halves of the rows ({} complementary pairs)",
    "half": "random halves of the rows",
    "bootstrap": "resamples with replacement",
}
_OWN = "own"


class StabilitySelection(ResampledSelector):
    """Select what a base selects in many random halves of the rows.

    Each half selects, by default, the q variables that come in first along the base's path, and the
    selection is what at least a ``threshold`` of the halves selects. A theorem bounds how many variables
    of it are such as halves select no more often than by chance; threshold, q and bound follow from each
    other.

    Parameters
    ----------
    base : estimator, default=SparseRegressor()
        Anything that selects: of garrote, or of scikit-learn with ``coef_`` or ``get_support()``. Of
        `SparseRegressor` and `SparseClassifier` each half has its path followed once, and several halves
        share passes over X; an ``alpha`` that is a number ends the path there, and what is in then is
        selected. Any other base is fitted anew to each half.
    scheme : {"pairs", "half", "bootstrap"}, default="pairs"
        Complementary pairs of halves (Shah & Samworth 2013), halves by themselves (Meinshausen &
        Buehlmann 2010), or resamples with replacement, for which no bound is known.
    n_resamples : int, default=100
        How many halves: 100 are 50 pairs.
    threshold : float in (0.5, 1], optional
        The selection frequency from which on a variable is selected. By default 0.75, or what keeps the
        bound where ``n_features`` is given.
    expected_false : float, optional
        What the bound has to be at most; 1 by default. Give at most two of ``threshold``,
        ``expected_false`` and ``n_features``.
    false_share : float in (0, 1), optional
        In place of ``expected_false``: the threshold is the least one at which the bound is at most this
        share of the number of variables selected. The share is estimated so; no theorem bounds it.
    n_features : int or "own", optional
        How many variables each half selects, q: those that come in first along a path or, of another
        estimator of garrote, those of the largest evidence. "own" takes what the base itself selects,
        however many; their mean is q then. By default the most for which the bound is kept (and one for
        every four rows at most), and "own" of a base that has no path, or an ``alpha`` that is a number.
    bound : {"r-concave", "unimodal", "worst-case", "meinshausen-buehlmann"}, optional
        By default the first for pairs, and the last for halves; `garrote.selecting.control.bounds` says
        what each asks for.
    random_state : int, RandomState instance or None
        The seed. None is 0: a fit can be repeated.
    n_jobs : int, optional
        Threads. The answer is the same for any number of them.

    Attributes
    ----------
    frequency_ : array of shape (D,)
        In which share of the halves each variable is selected; not a probability that it matters.
    frequencies_ : Frequencies
        Counts, also along the path, and how many variables each half selects.
    threshold_ : float
    n_features_per_half_ : float
        q: how many variables each half selects, or their mean.
    expected_false_ : float
        The bound; NaN with ``scheme="bootstrap"``.
    error_control_ : ErrorControl
        The bound in words.
    selection_ : Selection
    estimator_ : SparseRegressor or SparseClassifier
        The refit to all rows and the selected variables, by which rows are predicted.
    coef_, intercept_, classes_, n_features_in_, feature_names_in_

    References
    ----------
    Meinshausen, N. and Buehlmann, P. (2010). Stability selection. JRSS B 72, 417-473.
    Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control: another look at
    stability selection. JRSS B 75, 55-80.

    Examples
    --------
    >>> from garrote import StabilitySelection
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=120, n_features=40, n_informative=3, random_state=0)
    >>> model = StabilitySelection(threshold=0.9, expected_false=0.1).fit(data.X, data.y)
    >>> model.get_support(indices=True)
    array([20, 24, 32])
    >>> bool(model.expected_false_ <= 0.1)
    True
    """

    def __init__(
        self,
        base: Any = None,
        *,
        scheme: str = "pairs",
        n_resamples: int = 100,
        threshold: float | None = None,
        expected_false: float | None = None,
        false_share: float | None = None,
        n_features: int | str | None = None,
        bound: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.base = base
        self.scheme = scheme
        self.n_resamples = n_resamples
        self.threshold = threshold
        self.expected_false = expected_false
        self.false_share = false_share
        self.n_features = n_features
        self.bound = bound
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_settings(self) -> None:
        if self.scheme not in SCHEMES:
            raise ValueError(f"scheme must be one of {tuple(SCHEMES)}, got {self.scheme!r}")
        check_count("n_resamples", self.n_resamples, 2)
        if self.scheme == "pairs" and self.n_resamples % 2:
            raise ValueError(
                f"n_resamples must be even for scheme='pairs', got {self.n_resamples}: take "
                f"{self.n_resamples + 1}"
            )
        threshold, allowed, share = self.threshold, self.expected_false, self.false_share
        if threshold is not None and not (is_number(threshold) and 0.5 < threshold <= 1):
            raise ValueError(f"threshold must be above 0.5 and at most 1, got {threshold!r}")
        if allowed is not None and not (is_number(allowed) and allowed > 0):
            raise ValueError(f"expected_false must be a positive number, got {allowed!r}")
        if share is not None and not (is_number(share) and 0 < share < 1):
            raise ValueError(f"false_share must be between 0 and 1, got {share!r}")
        if self.n_features is not None and self.n_features != _OWN:
            check_count("n_features", self.n_features, 1)
        self._check_together()

    def _check_together(self) -> None:
        """Refuse settings of which one follows from the others."""
        bound = bound_for(self.scheme, self.bound)
        if None not in (self.threshold, self.expected_false, self.n_features):
            raise ValueError(
                "threshold, expected_false and n_features follow from each other: give two of them"
            )
        if self.false_share is not None and not (self.threshold is self.expected_false is None):
            raise ValueError(
                "false_share sets the threshold: leave threshold and expected_false out beside it"
            )
        if bound is None and not (self.false_share is self.expected_false is None):
            raise ValueError(
                f"scheme={self.scheme!r} has no bound on false selections: leave expected_false and "
                "false_share out, or take scheme='pairs'"
            )

    def _decide(self, table: GivenTable) -> Decision:
        variables = int(table.variables.free.sum())
        if not variables:
            raise ValueError("every column is always in: there is nothing to select")
        plan, follows = self._plan(table, variables), has_own_path(table.base)
        resamples = self._draw(table, self.scheme, self.n_resamples)
        alpha = table.base.alpha if follows and plan.first is None else None
        if follows and (plan.first is not None or is_number(alpha)):
            found = self._follow(table, resamples, plan.first, alpha)
        else:
            found = self._fit_each(table, resamples, plan.first)
        plan, possible = with_threshold(plan, found, variables)
        control = promise_of(plan, found, variables)
        assert plan.threshold is not None
        chosen = selected(found, plan.threshold) & table.variables.free & possible
        self.threshold_ = plan.threshold
        self.n_features_per_half_ = float(found.sizes.mean()) if plan.first is None else plan.first
        self.expected_false_ = control.bound
        return Decision(
            found, chosen, control,
            method=f"Stability selection ({_named(table.base)})",
            rule=self._rule(plan, possible),
            tol=table.base._path_method.tol if follows else np.inf,
            warnings=_warnings(plan, found, variables, possible),
        )  # fmt: skip

    def _plan(self, table: GivenTable, variables: int) -> Plan:
        """Return what is to be done, as far as it is known before anything is fitted."""
        base, follows = table.base, has_own_path(table.base)
        plan = Plan(
            self.scheme, self.n_resamples, bound_for(self.scheme, self.bound), self.threshold,
            self.expected_false, self.false_share,
        )  # fmt: skip
        by_itself = not follows or is_number(base.alpha)
        if self.n_features == _OWN or (self.n_features is None and by_itself):
            if None not in (self.threshold, self.expected_false):
                raise ValueError(
                    "base selects as many variables as it likes, so that threshold and expected_false "
                    "follow from each other: give one of them, or n_features"
                )
            return plan
        if self.n_features is not None:
            if not (follows or states_evidence(base)):
                raise ValueError(
                    f"n_features={self.n_features} needs a base with a path or with evidence for every "
                    f"variable, and {type(base).__name__} has neither: leave n_features out"
                )
            plan = Plan(**vars(plan) | {"first": int(self.n_features)})
        return with_size(plan, variables, int(np.count_nonzero(table.read.weights)))

    def _rule(self, plan: Plan, possible: bool) -> str:
        """Return how the choice was made."""
        resamples = _IN_WORDS[self.scheme].format(self.n_resamples // 2)
        each = "each selecting what base selects"
        if plan.first is not None:
            each = f"each selecting the {plan.first} that come first"
        if not possible:
            return f"nothing: no threshold keeps the bound, with {self.n_resamples} {resamples}, {each}"
        return f"frequency >= {plan.threshold:.4g} in {self.n_resamples} {resamples}, {each}"


def _named(base: Any) -> str:
    """Return what a base is called."""
    if has_own_path(base):
        return str(as_penalty(base.penalty).name)
    return type(base).__name__


def _warnings(plan: Plan, found: Frequencies, variables: int, possible: bool) -> tuple[str, ...]:
    """Say what a reader should know first."""
    said = []
    if not possible:
        said.append(
            "no threshold keeps the number or share of false selections that was asked for: nothing is "
            "selected; allow more, or let each half select fewer variables (n_features)"
        )
    if plan.first is None and found.sizes.min(initial=variables) >= variables:
        said.append(
            "base selects every variable in every resample: frequencies say nothing; take a base that "
            "sets coefficients to 0"
        )
    return tuple(said)
