"""The rows that a Bayesian estimator is fitted to, checked, and what its settings say of columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from garrote.arrays import Array, Floats
from garrote.designs.base import Design
from garrote.estimators.families.survival import RESPONSE
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.inputs import (
    check_labelled_rows,
    check_names,
    check_offset,
    check_response_rows,
    check_weights,
    column_names,
    resolve_columns,
    resolve_values,
    response_name,
)
from garrote.estimators.given.provenance import provenance
from garrote.estimators.given.switches import Switches
from garrote.estimators.shared.labelled import two_classes
from garrote.likelihoods import Binomial, as_likelihood
from garrote.problem import Problem, as_design
from garrote.selecting.filling import Origin


@dataclass(frozen=True)
class GivenRows:
    """Checked rows and response; ``names`` are the columns' where these have any.

    ``covariates`` are columns that are always in, ``log_odds`` the prior's offsets, a number for each
    column. ``response`` is what y is called; of labels it names the second class, and y is 0 or 1.
    ``likelihood`` says what y is, ``classes`` are the two that labels name, and none of numbers.
    """

    likelihood: Any
    X: Any
    y: Floats
    weights: Floats
    names: Array | None
    covariates: Array
    log_odds: Floats
    response: str
    offset: Floats | None
    classes: Array

    @classmethod
    def of(cls, model: Any, rows: Arguments) -> "GivenRows":
        """Check what a fit is given; errors name the row or column and the remedy.

        A classifier takes labels of two classes. A regressor takes numbers: those that the likelihood of
        its ``family`` knows, where it has one.
        """
        labels, response, classes = is_classifier(model), response_name(rows.y), np.zeros(0)
        likelihood = Binomial() if labels else as_likelihood(getattr(model, "family", "gaussian"))
        if labels:
            X, y = check_labelled_rows(model, rows.X, rows.y)
        else:
            X, y, likelihood = check_response_rows(model, rows, likelihood)
            response = RESPONSE if likelihood.of_times else response
        weights = check_weights(rows.sample_weight, X)
        if labels:
            classes, y = two_classes(y, weights)
            response = f"{response} = {classes[1]}"
        known = check_offset(rows.offset, len(y), likelihood)
        columns = _of_columns(model, X, rows.feature_names)
        return cls(likelihood, X, y, weights, *columns, response, known, classes)

    @property
    def count(self) -> int:
        """How many columns there are."""
        return int(self.X.shape[1])

    @property
    def column_names(self) -> tuple[str, ...]:
        """A name for every column."""
        return column_names(self.names, self.count)

    def problem(self, model: Any) -> Problem:
        """Return the problem of all rows."""
        return self._of_weights(model, as_design(self.X), self.weights)

    def part(self, model: Any, whole: Problem, weights: Floats) -> Problem:
        """Return the problem of other weights: of rows to train on, those held out at 0."""
        return self._of_weights(model, whole.table.stored, weights)

    def _of_weights(self, model: Any, design: Design, weights: Floats) -> Problem:
        return Problem.from_rows(
            design, self.y, weights, likelihood=self.likelihood, offset=self.offset,
            covariates=self.covariates, fit_intercept=model.fit_intercept,
            standardize=model.standardize,
        )  # fmt: skip

    def switches(self, model: Any) -> Switches:
        """Return which columns are in together."""
        return Switches.of(model.inclusion, self.count, self.names, self.X, self.covariates)

    def origin(self, model: Any, problem: Problem, reference: str | None = None) -> Origin:
        """Describe the fit for a reader who wants to repeat it."""
        always = [self.column_names[j] for j in problem.scale.covariates]
        made = provenance(model, self.X, self.y, self.weights, always, reference)
        made["offset"] = self.offset is not None
        classes = tuple(str(label) for label in self.classes)
        return Origin(self.y, self.response, self.column_names, made, classes)


def _of_columns(model: Any, X: Any, feature_names: Any) -> tuple[Array | None, Array, Floats]:
    """Return the names of columns, the covariates among them, and prior log odds."""
    count = X.shape[1]
    names = check_names(feature_names, getattr(model, "feature_names_in_", None), count)
    covariates = resolve_columns(model.covariates, names, count, "covariates")
    log_odds = getattr(model, "prior_log_odds", None)  # priors that leave none out have no odds
    return names, covariates, resolve_values(log_odds, names, count, "prior_log_odds")
