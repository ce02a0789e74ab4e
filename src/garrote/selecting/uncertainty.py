"""Standard errors, intervals and predictive variance, given the soft support.

With m held fixed the free energy is quadratic in the coefficients v = m w, with Hessian
beta (X'WX + diag((1 - m) / m x'Wx)). Its inverse is taken as their covariance: least squares where m
is near one, no spread where m is near zero. The noise variance in it has the expected model size taken
off its degrees of freedom. What is left out is the uncertainty of the selection itself.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import pinvh
from scipy.special import expit

from garrote.arrays import Array, Floats
from garrote.designs.rotation import Rotation
from garrote.inference.substitutes import with_substitutes
from garrote.paths.annealed import stored_design
from garrote.priors.column_groups import ColumnGroups
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.laws import SoftSupport, Spread
from garrote.results.optima import Optima
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.solvers.algebra.group_coordinates import GroupCoordinates, equal_within
from garrote.solvers.lockstep import run_together

# Means are taken apart into probability and mean given inclusion above this probability.
_LEAST_PROBABLE = 1e-12


def make_posterior(
    problem: Problem,
    terms: SpikeTerms,
    optima: Optima,
    names: Sequence[str] = (),
    groups: ColumnGroups | None = None,
) -> Posterior:
    """Describe the coefficients at the first of some solutions, in the user's units.

    ``groups`` are those whose columns share switches, where some do.
    """
    fit = optima.fits[0]
    scale, fixed = problem.scale, problem.scale.covariates
    chosen = fit.probability > IN_SUPPORT
    support = np.concatenate([fixed, fit.columns[chosen]])
    m = np.concatenate([np.ones(len(fixed)), fit.probability[chosen]])
    size = _coefficients(problem, terms, fit)
    freedom = problem.n - problem.scale.intercept_count - len(fixed) - size
    noise = fit.noise_variance
    if terms.noise_variance is None:
        noise *= problem.n / max(freedom, 1.0)
    gram = problem.raw_gram(support)
    hessian = gram + _held_back(gram, m, terms, support)
    covariance = noise * pinvh(hessian) if len(support) else np.zeros((0, 0))
    error = np.sqrt(np.diag(covariance))
    apart = np.where(error > 0, error, 1.0)
    mean = np.zeros(problem.n_features)
    mean[fit.columns] = scale.coefficients(fit.columns, fit.coef)
    mean[fixed] = scale.covariate_coefficients(fit.columns, fit.coef)
    spread = Spread(
        support, scale.coefficients(support, error), covariance / np.outer(apart, apart)
    )
    posterior = Posterior(
        inclusion_probability=_all_probabilities(problem, terms, fit),
        mean=mean,
        spread=spread,
        law=SoftSupport(
            columns=support,
            probability=m,
            mean=mean[support] / np.maximum(m, _LEAST_PROBABLE),
            deviation=spread.standard_error,
            correlation=spread.correlation,
            switch=None if terms.groups is None else _switches(terms.groups, support, fixed),
        ),
        noise_variance=float(noise * scale.response_scale**2),
        degrees_of_freedom=float(max(freedom, 1.0)),
        free_energy=fit.free_energy,
        optima=optima,
        names=tuple(names),
        covariates=fixed,
        groups=groups,
    )
    return with_substitutes(problem, posterior)


def _held_back(gram: Floats, m: Floats, terms: SpikeTerms, support: Array) -> Floats:
    """Return what inclusions that are not certain add to the Hessian, group by group."""
    if terms.groups is None:
        return np.diag((1 - m) / m * np.diag(gram))
    group = terms.groups[support]
    apart = (1 - m) / m
    return np.where(group[:, None] == group, np.sqrt(np.outer(apart, apart)) * gram, 0.0)


def _coefficients(problem: Problem, terms: SpikeTerms, fit: Fit) -> float:
    """Return how many coefficients are expected; of groups as many as their columns are independent."""
    if terms.groups is None:
        return fit.expected_size
    size = fit.expected_size
    for block in Rotation(terms.groups, problem.curvature, problem.known_block, problem.n).blocks:
        inside = np.flatnonzero(fit.columns == block.members[0])
        size += (block.rank - 1) * float(fit.probability[inside].sum())
    return size


def _switches(groups: Array, support: Array, fixed: Array) -> Array:
    """Return the number of every column's switch; covariates have their own."""
    numbers = groups[support].copy()
    numbers[: len(fixed)] = groups.max(initial=0) + 1 + np.arange(len(fixed))
    return np.asarray(np.unique(numbers, return_inverse=True)[1])


def _all_probabilities(problem: Problem, terms: SpikeTerms, fit: Fit) -> Floats:
    """Return every column's inclusion probability by Eq. 8, also of those the fit does not list."""
    task = problem.evaluate(fit.columns, fit.coef[:, None])
    ((_, gradient),) = run_together([task], stored_design(problem))
    c = problem.curvature
    coordinates = GroupCoordinates.of(problem, terms.groups)
    lengths = coordinates.problem.curvature
    products = coordinates.products(gradient[0])
    z = np.divide(products, lengths, out=np.zeros_like(c), where=lengths > 0)
    z[z * terms.signs < 0] = 0.0
    evidence = terms.pooled(0.5 * lengths * z**2 / fit.noise_variance)
    odds = fit.strength + terms.offsets + evidence
    probability = np.where(c > 0, expit(odds), 0.0)
    probability[fit.columns] = fit.probability
    if terms.groups is not None:  # a level without rows is in where its variable is
        probability = equal_within(terms.groups, probability)
    probability[problem.scale.covariates] = 1.0
    return probability
