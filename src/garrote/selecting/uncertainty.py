"""Standard errors, intervals and predictive variance, given the soft support.

With m held fixed the free energy is quadratic in the coefficients v = m w, with Hessian
beta (X'WX + diag((1 - m) / m x'Wx)). Its inverse is taken as their covariance: least squares where m
is near one, no spread where m is near zero. The noise variance in it has the expected model size taken
off its degrees of freedom. What is left out is the uncertainty of the selection itself.
"""

import numpy as np
from scipy.linalg import pinvh

from garrote.arrays import Array, Floats
from garrote.designs import GramDesign
from garrote.priors.garrote import GarrotePrior
from garrote.problem import Problem
from garrote.results import Fit, Posterior

# Columns below this inclusion probability have coefficients, and spreads, that are nearly zero.
_IN_SUPPORT = 0.01


def make_posterior(
    problem: Problem, prior: GarrotePrior, fit: Fit, optima: tuple[Fit, ...], probability: Floats
) -> Posterior:
    """Describe the coefficients at one solution, in the user's units."""
    scale, fixed = problem.scale, problem.scale.covariates
    chosen = fit.probability > _IN_SUPPORT
    support = np.concatenate([fixed, fit.columns[chosen]])
    m = np.concatenate([np.ones(len(fixed)), fit.probability[chosen]])
    freedom = problem.n - problem.scale.intercept_count - len(fixed) - fit.expected_size
    noise = fit.noise_variance
    if prior.noise_variance is None:
        noise *= problem.n / max(freedom, 1.0)
    gram = problem.raw_gram(support)
    hessian = gram + np.diag((1 - m) / m * np.diag(gram))
    covariance = noise * pinvh(hessian) if len(support) else np.zeros((0, 0))
    error = np.sqrt(np.diag(covariance))
    apart = np.where(error > 0, error, 1.0)
    mean = np.zeros(problem.n_features)
    mean[fit.columns] = scale.coefficients(fit.columns, fit.coef)
    mean[fixed] = scale.covariate_coefficients(fit.columns, fit.coef)
    return Posterior(
        inclusion_probability=probability,
        mean=mean,
        support=support,
        # Apart from each other: their product may leave the range of numbers in the user's units.
        standard_error=scale.coefficients(support, error),
        correlation=covariance / np.outer(apart, apart),
        noise_variance=float(noise * scale.response_scale**2),
        degrees_of_freedom=float(max(freedom, 1.0)),
        free_energy=fit.free_energy,
        optima=optima,
    )


def interchangeable_columns(problem: Problem, columns: Array) -> dict[int, Array]:
    """Return, for each given column, the others that correlate with it beyond 0.999."""
    if not len(columns):
        return {}
    c = problem.curvature
    if isinstance(problem.design, GramDesign):
        products = problem.design.values[columns]
    else:
        products = problem.table.tdot(np.ascontiguousarray(problem.table.block(columns).T))
    size = np.sqrt(np.where(c > 0, c, np.inf))
    correlation = np.abs(products / size / size[columns, None])
    near = correlation > 0.999
    near[np.arange(len(columns)), columns] = False
    return {int(j): np.flatnonzero(row) for j, row in zip(columns, near, strict=True) if row.any()}
