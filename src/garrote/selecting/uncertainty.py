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

from garrote.arrays import Floats
from garrote.inference.substitutes import with_substitutes
from garrote.paths.annealed import stored_design
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.laws import SoftSupport, Spread
from garrote.results.optima import Optima
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.solvers.lockstep import run_together

# Means are taken apart into probability and mean given inclusion above this probability.
_LEAST_PROBABLE = 1e-12


def make_posterior(
    problem: Problem, terms: SpikeTerms, optima: Optima, names: Sequence[str] = ()
) -> Posterior:
    """Describe the coefficients at the first of some solutions, in the user's units."""
    fit = optima.fits[0]
    scale, fixed = problem.scale, problem.scale.covariates
    chosen = fit.probability > IN_SUPPORT
    support = np.concatenate([fixed, fit.columns[chosen]])
    m = np.concatenate([np.ones(len(fixed)), fit.probability[chosen]])
    freedom = problem.n - problem.scale.intercept_count - len(fixed) - fit.expected_size
    noise = fit.noise_variance
    if terms.noise_variance is None:
        noise *= problem.n / max(freedom, 1.0)
    gram = problem.raw_gram(support)
    hessian = gram + np.diag((1 - m) / m * np.diag(gram))
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
        ),
        noise_variance=float(noise * scale.response_scale**2),
        degrees_of_freedom=float(max(freedom, 1.0)),
        free_energy=fit.free_energy,
        optima=optima,
        names=tuple(names),
        covariates=fixed,
    )
    return with_substitutes(problem, posterior)


def _all_probabilities(problem: Problem, terms: SpikeTerms, fit: Fit) -> Floats:
    """Return every column's inclusion probability by Eq. 8, also of those the fit does not list."""
    task = problem.evaluate(fit.columns, fit.coef[:, None])
    ((_, gradient),) = run_together([task], stored_design(problem))
    c = problem.curvature
    z = np.divide(gradient[0], c, out=np.zeros_like(c), where=c > 0)
    z[z * terms.signs < 0] = 0.0
    odds = fit.strength + terms.offsets + 0.5 * c * z**2 / fit.noise_variance
    probability = np.where(c > 0, expit(odds), 0.0)
    probability[fit.columns] = fit.probability
    probability[problem.scale.covariates] = 1.0
    return probability
