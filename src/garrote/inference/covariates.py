"""How sure the coefficients of covariates are, where covariates are projected out of everything.

Covariates Z have a flat prior. Given the coefficients w of the others theirs are Gaussian around least
squares of y - Xw, with covariance s (Z'WZ)^-1: that of the covariates alone, and what they take back of
what they explain of the other columns.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import pinvh

from garrote.arrays import Array
from garrote.problem import Problem
from garrote.results.coefficient_laws import CovariatesLaw
from garrote.results.posterior import Posterior


def with_covariates(problem: Problem, posterior: Posterior) -> Posterior:
    """Return a posterior of numbers whose support has the covariates too."""
    scale, fixed = problem.scale, problem.scale.covariates
    if not len(fixed):
        return posterior
    columns = _columns_with_a_law(posterior)
    spread = scale.column_scale[fixed]
    explained = scale.covariate_columns[:, columns] * scale.column_scale[columns] / spread[:, None]
    own = posterior.noise_variance * pinvh(problem.raw_gram(fixed)) / np.outer(spread, spread)
    return _joined(posterior, fixed, CovariatesLaw(columns, explained, own))


def with_covariates_of_labels(posterior: Posterior) -> Posterior:
    """Return a factorised posterior of labels whose support has the covariates too."""
    predictor, fixed = posterior.predictor, posterior.covariates
    if predictor is None or fixed is None or not len(fixed):
        return posterior
    first = len(predictor.fixed_covariance) - len(fixed)  # after the intercept, where there is one
    law = CovariatesLaw(
        predictor.columns, predictor.explained[first:], predictor.fixed_covariance[first:, first:]
    )
    return _joined(posterior, fixed, law)


def _joined(posterior: Posterior, fixed: Array, law: CovariatesLaw) -> Posterior:
    """Put the covariates before a support that has none of them."""
    place = np.searchsorted(law.columns, posterior.support)
    within = replace(law, explained=law.explained[:, place])
    covariance = within.joint_covariance(posterior.covariance)
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    apart = np.where(error > 0, error, 1.0)
    correlation = covariance / np.outer(apart, apart)
    np.fill_diagonal(correlation, 1.0)
    given = posterior.given_inclusion
    return replace(
        posterior,
        support=np.concatenate([fixed, posterior.support]),
        standard_error=error,
        correlation=correlation,
        given_inclusion=None if given is None else np.append(error[: len(fixed)], given),
        beside=law,
    )


def _columns_with_a_law(posterior: Posterior) -> Array:
    """Return the columns that have draws: the support, and those of single effects."""
    if posterior.effects is None:
        return np.sort(posterior.support)
    return np.union1d(posterior.support, posterior.effects.columns)
