"""Knockoffs: variables at a stated false discovery rate, around any selector."""

from functools import partial
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator

from garrote.arrays import Floats
from garrote.estimators.control.bases import check_base
from garrote.estimators.control.doubled_fits import Doubled, DoubledRows, told_to
from garrote.estimators.control.knockoff_rows import Prepared, notes_on, prepare
from garrote.estimators.control.knockoff_statistics import KnockoffStatistic, as_statistic
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.shared.named_settings import NamedSettings, Objects
from garrote.estimators.shared.posterior_settings import repeatable_seed
from garrote.estimators.shared.saving import SaveMixin
from garrote.estimators.shared.stated import StatesSelection
from garrote.priors import ColumnGroups
from garrote.results.certificates import Certificate
from garrote.results.selections.selection import Selection
from garrote.selecting.knockoffs.copied_rows import CopiedRows
from garrote.selecting.knockoffs.kinds import KINDS, ToCopy, as_kind
from garrote.selecting.knockoffs.selection import Outcome, select_by_knockoffs
from garrote.selecting.knockoffs.separation import AIMS
from garrote.settings import check_count, is_number


class Knockoffs(NamedSettings, SaveMixin, StatesSelection, BaseEstimator):
    """Select variables at a false discovery rate, by a copy of each that competes with it.

    Every column gets a copy, a knockoff, which has the same correlations with all other columns, and is
    made without a look at y. A method is fitted to columns and copies at once. What has no effect beats
    its copy as often as it loses to it, so that the copies that win tell how many of the winning columns
    are false; as many are selected as keep that share at q.

    Parameters
    ----------
    base : estimator, optional
        What is fitted: any linear model of garrote or scikit-learn, for numbers or for labels of two
        classes. By default `SparseRegressor`, the lasso by cross-validation, or `SparseClassifier` if y
        holds words or truth values; for the other statistics the lasso's path, or
        `SpikeSlabRegressor`.
    q : float, default=0.1
        The false discovery rate: the expected share of false ones among the selected variables.
    statistic : {"lasso-difference", "signed-max", "probability"}, default="lasso-difference"
        What is compared: sizes of the coefficients of standardised columns, of any base; the place on
        the path at which they enter; or the log odds of being in, as spike-and-slab estimators and the
        garrote state them.
    knockoffs : {"model-x", "fixed"} or object of `garrote.knockoffs`, default="model-x"
        Copies drawn from a Gaussian law of the columns, estimated or known, for any response and any
        number of rows (`ModelX`); or built from the columns as they are, for numbers with Gaussian
        noise, and more rows than columns (`FixedX`).
    separation : {"mvr", "sdp", "equicorrelated"}, default="mvr"
        How copies are kept apart from their originals: such that no column can be reconstructed from all
        others, with the smallest mean correlation with their originals, or all with the same.
    n_copies : int, default=1
        With several, e-values of all are averaged: chance has less part in the answer, and at least
        2/q variables have to be found for any to be selected.
    plus : bool, default=True
        Whether q bounds the false discovery rate itself (knockoff+), which takes at least 1/q
        variables, or a modified one, E[V / (R + 1/q)], of a single copy.
    column_groups : optional
        Columns that are in or out together: a label for each column, lists of columns, or "factors", as
        in `GroupLasso`. The rate is then one of groups.
    random_state : int, RandomState instance or None
        The seed of all copies; None is 0, so that a fit can be repeated.
    n_jobs : int, optional
        How many copies are fitted at once; the answer does not depend on it.

    Attributes
    ----------
    selection_ : Selection
        With the q-value of each variable: the least q at which it is selected.
    statistics_ : array of shape (n_copies, G)
        Of each copy and group of columns; positive where the original beats the copy.
    thresholds_ : array of shape (n_copies,)
        What statistics have to reach; infinite where nothing is selected.
    q_values_, e_values_ : array of shape (G,)
    separations_ : array of shape (G,)
        S of each group: 0 where its copy equals it, 1 where the two are uncorrelated.
    assumption_ : str
        What the control of the false discovery rate rests on.
    certificate_ : Certificate
        Whether such copies exist, how far the separation is from its optimum, and how far cross products
        are from those that an exchange of columns and copies leaves as they are.
    groups_ : ColumnGroups
    n_features_in_, feature_names_in_

    References
    ----------
    Barber, R. F. & Candes, E. J. (2015). Controlling the false discovery rate via knockoffs. Annals of
    Statistics 43, 2055-2085.
    Candes, E., Fan, Y., Janson, L. & Lv, J. (2018). Panning for gold: model-X knockoffs for high
    dimensional controlled variable selection. JRSS B 80, 551-577.
    Dai, R. & Barber, R. F. (2016). The knockoff filter for FDR control in group-sparse and multitask
    regression. ICML 33, 1851-1859.
    Spector, A. & Janson, L. (2022). Powerful knockoffs via minimizing reconstructability. Annals of
    Statistics 50, 252-276.
    Ren, Z. & Barber, R. F. (2024). Derandomised knockoffs: leveraging e-values for false discovery rate
    control. JRSS B 86, 122-154.

    Examples
    --------
    >>> from garrote import Knockoffs
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(
    ...     n_samples=300, n_features=40, n_informative=12, random_state=0
    ... )
    >>> model = Knockoffs(q=0.2).fit(data.X, data.y)
    >>> bool(set(model.get_support(indices=True)) >= set(data.coef.nonzero()[0]))
    True
    """

    statistics_: Floats
    selection_: Selection
    certificate_: Certificate
    groups_: ColumnGroups

    def __init__(
        self,
        base: Any = None,
        q: float = 0.1,
        statistic: str = "lasso-difference",
        *,
        knockoffs: Any = "model-x",
        separation: str = "mvr",
        n_copies: int = 1,
        plus: bool = True,
        column_groups: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.base = base
        self.q = q
        self.statistic = statistic
        self.knockoffs = knockoffs
        self.separation = separation
        self.n_copies = n_copies
        self.plus = plus
        self.column_groups = column_groups
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        """Make copies, fit the base to columns and copies, and select.

        Parameters
        ----------
        X : array, data frame, sparse matrix or `garrote.designs.Design` of shape (N, D)
            Sparse matrices become dense: copies are.
        y : array of shape (N,)
            Numbers or counts; labels of two classes if the base is a classifier.
        sample_weight : array of shape (N,), optional
            A weight of k counts as k repeats of a row, 0 takes it out; for a base that takes them.
        offset : array of shape (N,), optional
            A known part of the linear predictor, for a base that takes one.
        groups : array of shape (N,), optional
            Rows of a group share a fold of the base's cross-validation; not for fixed-X copies.
        feature_names : sequence of str, optional
        """
        self._check_settings()
        kind, statistic = as_kind(self.knockoffs), as_statistic(self.statistic)
        given = prepare(
            self, kind, Arguments.of(X, y, sample_weight, offset, groups, feature_names)
        )
        base = self.base
        if base is None:
            base = statistic.default_base(given.groups, given.labels)
        # What the base does not take is refused before any work.
        if kind.keeps_rows:
            told_to(base, sample_weight=sample_weight, offset=offset, groups=groups)
        seeds = np.random.SeedSequence(repeatable_seed(self.random_state)).spawn(
            int(self.n_copies) + 1
        )
        table = ToCopy(given.X, given.weights, given.numbers, given.intercept)
        rows = kind.make(table, self.separation, np.random.default_rng(seeds[-1]))
        fits = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(partial(_compare_copy, base, statistic, given, rows))(seed)
            for seed in seeds[:-1]
        )
        self._finish(given, rows, fits)
        return self

    @property
    def _objects(self) -> dict[str, Objects]:
        return {"knockoffs": KINDS}

    def _check_settings(self) -> None:
        """Refuse settings that no data could make right."""
        if not (is_number(self.q) and 0 < self.q < 1):
            raise ValueError(
                f"q, the false discovery rate, must be between 0 and 1, got {self.q!r}"
            )
        if self.separation not in AIMS:
            raise ValueError(f"separation must be one of {tuple(AIMS)}, got {self.separation!r}")
        check_count("n_copies", self.n_copies, 1)
        if self.n_copies > 1 and not self.plus:
            raise ValueError(
                f"n_copies={self.n_copies} takes e-values, which plus=False has none of: leave "
                "plus=True, or take one copy"
            )
        if self.base is not None:
            check_base(self.base)

    def _finish(self, given: Prepared, rows: CopiedRows, fits: list[Doubled]) -> None:
        """Store what was found, and state the selection."""
        self.statistics_ = np.array([one.statistics for one in fits])
        outcome = Outcome.of(self.statistics_, float(self.q), self.plus)
        self.thresholds_: Floats = outcome.thresholds
        self.q_values_: Floats = outcome.q_values
        self.e_values_: Floats = outcome.e_values
        self.separations_: Floats = rows.law.separation.share
        self.assumption_: str = rows.assumption
        self.certificate_ = rows.certificate()
        self.groups_ = given.groups
        self.selection_ = select_by_knockoffs(
            given.problem,
            outcome,
            given.origin,
            given.groups,
            q=float(self.q),
            effect=np.mean([one.effect for one in fits], axis=0),
            noise_variance=float(np.mean([one.noise_variance for one in fits])),
            certificate=self.certificate_,
            assumption=self.assumption_,
            notes=notes_on(given, rows, outcome),
        )

    def inverse_transform(self, X: Any) -> Any:
        """Return selected columns among all columns, with 0 in place of those left out."""
        if self.get_support().any():
            return super().inverse_transform(X)
        return np.zeros((np.shape(X)[0], self.n_features_in_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _compare_copy(
    base: Any, statistic: KnockoffStatistic, given: Prepared, rows: CopiedRows, seed: Any
) -> Doubled:
    """Make one copy of all columns, fit the base to both, and compare them."""
    rng = np.random.default_rng(seed)
    table, copies, y, told = rows.draw(given.y, given.told, rng)
    # Which of two equal columns a base prefers says nothing.
    told_apart = rows.law.separation.share > 0
    both = DoubledRows(table, y, told, given.units, given.numbers, told_apart)
    return both.fit(base, copies, statistic, rng)
