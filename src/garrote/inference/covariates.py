"""How sure the coefficients of covariates are, where covariates are projected out of everything.

Covariates Z have a flat prior. Given the coefficients w of the others theirs are Gaussian around least
squares of y - Xw, with covariance s (Z'WZ)^-1: that of the covariates alone, and what they take back of
what they explain of the other columns.
"""

from dataclasses import replace
from typing import TypeVar

import numpy as np
from scipy.linalg import pinvh

from garrote.problem import Problem
from garrote.results.laws import CovariatesLaw, EffectsLaw, Mixture, SoftSupport, Spread
from garrote.results.posterior import Posterior

# Laws of variables that are in or out independently, beside which covariates have a law of their own.
Factorised = TypeVar("Factorised", bound=SoftSupport | Mixture | EffectsLaw)


def with_covariates(problem: Problem, posterior: Posterior[Factorised]) -> Posterior[Factorised]:
    """Return a posterior of numbers whose support has the covariates too."""
    scale, fixed = problem.scale, problem.scale.covariates
    if not len(fixed):
        return posterior
    # Those that have draws.
    columns = np.union1d(posterior.support, posterior.law.columns)
    spread = scale.column_scale[fixed]
    explained = scale.covariate_columns[:, columns] * scale.column_scale[columns] / spread[:, None]
    alone = posterior.noise_variance * pinvh(problem.raw_gram(fixed)) / np.outer(spread, spread)
    return _joined(posterior, CovariatesLaw(fixed, columns, explained, alone))


def with_covariates_of_labels(posterior: Posterior[Factorised]) -> Posterior[Factorised]:
    """Return a factorised posterior of labels whose support has the covariates too."""
    fixed, predictor = posterior.covariates, posterior.law.predictor
    if predictor is None or not len(fixed):
        return posterior
    first = len(predictor.fixed_covariance) - len(fixed)  # after the intercept, where there is one
    beside = CovariatesLaw(
        fixed,
        predictor.columns,
        predictor.explained[first:],
        predictor.fixed_covariance[first:, first:],
    )
    return _joined(posterior, beside)


def _joined(posterior: Posterior[Factorised], beside: CovariatesLaw) -> Posterior[Factorised]:
    """Put the covariates before a support that has none of them."""
    place = np.searchsorted(beside.columns, posterior.support)
    within = replace(beside, explained=beside.explained[:, place])
    columns = np.concatenate([beside.covariates, posterior.support])
    spread = Spread.of(columns, within.joint_covariance(posterior.covariance))
    return replace(posterior, spread=spread, law=replace(posterior.law, beside=beside))
