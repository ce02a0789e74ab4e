"""Fitting to z-scores and an LD matrix in place of rows: what all estimators of numbers share."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from garrote.estimators.given.inputs import column_names
from garrote.estimators.given.provenance import provenance
from garrote.problem import Problem
from garrote.results.selections.evidence import STANDARDISED
from garrote.results.selections.selection import Selection
from garrote.selecting.filling import Origin
from garrote.zscores.consistency import check_consistency
from garrote.zscores.summary_statistics import ZScores, check_zscores

HELD_NOISE = "LD counts as that of other samples: the noise variance is held at that of y"


class ZScoreMixin:
    """Adds `fit_zscores` to an estimator that has ``_fit_zscores(problem, scores, origin)``.

    That one sets all that a fit to rows sets, and returns what a reader should know of how.
    """

    selection_: Selection

    def fit_zscores(
        self,
        z: Any,
        ld: Any,
        n: float | None,
        *,
        names: Sequence[str] | None = None,
        mismatch: float | str = "estimate",
    ) -> Self:
        """Fit to z-scores of the variables one by one, their correlations and the number of samples.

        Effects are in standard deviations. All that is fitted is as after `fit`, but nothing can be
        predicted: means and scales of the columns are not known. ``consistency_`` says which z-scores
        disagree with LD, and a warning names them.

        Parameters
        ----------
        z : array of shape (D,)
            Estimates divided by their standard errors, each from a regression on one variable alone.
        ld : array of shape (D, D)
            Correlations of the variables, in the same samples or in others like them.
        n : float
            The samples behind the z-scores.
        names : sequence of str, optional
            Names of the variables; by default those that ``ld`` or ``z`` brings along.
        mismatch : float between 0 and 1, or "estimate"
            How far ``ld`` is from the correlations behind z: it counts as (1 - s) R + s I. 0 says that
            both are of the same samples.
        """
        scores = check_zscores(z, ld, n, mismatch=mismatch, names=names)
        consistency = check_consistency(scores)
        problem = Problem.from_moments(*scores.moments(consistency.notes))
        self.n_features_in_ = len(scores.names)
        if scores.names != column_names(None, len(scores.names)):
            self.feature_names_in_ = np.array(scores.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        notes = self._fit_zscores(problem, scores, _origin(self, scores))
        self.consistency_ = consistency
        cautions = (*consistency.notes, *scores.cautions)
        self.selection_ = self.selection_.annotated(
            (*cautions, *scores.notes, *notes),
            consistency=consistency,
            effect_scale=STANDARDISED,
        ).doubted((*consistency.doubts, *scores.doubts))
        for text in cautions:
            warnings.warn(text, UserWarning, stacklevel=2)
        return self

    def _fit_zscores(self, problem: Problem, scores: ZScores, origin: Origin) -> tuple[str, ...]:
        raise NotImplementedError


def refuse_covariates(given: Any, argument: str) -> None:
    """Refuse columns that are always in: they would have to be projected out of rows."""
    if given is not None and np.size(given):
        raise ValueError(
            f"{argument} needs rows: adjust y and the variables for them before z and ld are computed, "
            f"and leave {argument} out"
        )


def _origin(estimator: Any, scores: ZScores) -> Origin:
    made = provenance(estimator, scores.ld, scores.z, np.array([scores.n]), ())
    samples = int(scores.n) if scores.n.is_integer() else scores.n
    made |= {"n_rows": samples, "mismatch": scores.mismatch}
    return Origin(np.zeros(0), "y", scores.names, made)
