"""Posteriors whose variables are independent of each other, and averages of them."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.beside_covariates import with_covariates
from garrote.posterior import IN_SUPPORT, Audit, Posterior
from garrote.problem import Problem
from garrote.results import Fit, Path
from garrote.solvers.starts import Optima


@dataclass(frozen=True)
class Factorised:
    """A factorised posterior, the best single solution behind it, and how it was found.

    ``path`` has both branches where pi was annealed.
    """

    posterior: Posterior
    best: Fit
    converged: bool
    how: str
    path: Path | None = None


class Average:
    """Sums over solutions, each with a weight whose logarithm is given."""

    def __init__(self, count: int):
        self.log_total = -np.inf
        self.inclusion, self.mean, self.square = np.zeros((3, count))
        self.noise = 0.0

    def add(self, log_weight: float, fit: Fit, spread: Floats) -> None:
        """Add a solution; ``spread`` is the variance of its weights given inclusion."""
        total = np.logaddexp(self.log_total, log_weight)
        kept, weight = np.exp(self.log_total - total), np.exp(log_weight - total)
        for sums in (self.inclusion, self.mean, self.square):
            sums *= kept
        self.noise = kept * self.noise + weight * fit.noise_variance
        m, w = fit.probability, fit.weight
        self.inclusion[fit.columns] += weight * m
        self.mean[fit.columns] += weight * m * w
        self.square[fit.columns] += weight * m * (w**2 + spread)
        self.log_total = float(total)

    @property
    def variance(self) -> Floats:
        """Variances of the coefficients."""
        return np.maximum(self.square - self.mean**2, 0.0)


def factorised_posterior(
    problem: Problem,
    beliefs: Beliefs,
    average: Average,
    optima: Optima,
    names: tuple[str, ...],
    checked: Audit,
) -> Posterior:
    """Describe an average of solutions in the user's units."""
    scale, fixed = problem.scale, problem.scale.covariates
    unit = scale.response_scale / scale.column_scale
    support = np.flatnonzero(average.inclusion > IN_SUPPORT)
    variance = average.variance[support]
    given = average.square[support] / average.inclusion[support]
    given -= (average.mean[support] / average.inclusion[support]) ** 2
    columns: Array = np.flatnonzero(average.mean)
    mean = average.mean * unit
    mean[fixed] = scale.covariate_coefficients(columns, average.mean[columns])
    inclusion = np.minimum(average.inclusion, 1.0)  # weights may sum to a little more
    inclusion[fixed] = 1.0
    posterior = Posterior(
        inclusion_probability=inclusion,
        mean=mean,
        support=support,
        standard_error=np.sqrt(variance) * unit[support],
        correlation=np.eye(len(support)),
        noise_variance=float(average.noise * scale.response_scale**2),
        degrees_of_freedom=max(beliefs.n, 1.0),
        free_energy=-average.log_total,
        optima=optima.fits,
        reached=optima.reached,
        names=names,
        log_evidence=average.log_total,
        given_inclusion=np.sqrt(np.maximum(given, 0.0)) * unit[support],
        checked=checked,
        covariates=fixed,
    )
    return with_covariates(problem, posterior)
