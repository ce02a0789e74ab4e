"""Posteriors whose variables are independent of each other: averages of them, and their audit."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.paths import stored_design
from garrote.posterior import Audit, Posterior
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.results import Fit, Path
from garrote.solvers.enumeration import enumerate_models
from garrote.solvers.lockstep import run_together
from garrote.solvers.starts import Optima

# Variables whose models are summed for the audit, at most, and the least probability of any of them.
_AUDITED = 14
_AUDIBLE = 0.01
_IN_SUPPORT = 0.01


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


def audit(
    problem: Problem, beliefs: Beliefs, slab: GaussianSlab, inclusion: Floats, mean: Floats
) -> Audit:
    """Sum over all models of the most probable variables, the others held at their values."""
    usable = np.flatnonzero(problem.curvature > 0)
    order = usable[np.argsort(-inclusion[usable], kind="stable")]
    top = np.sort(order[:_AUDITED][inclusion[order[:_AUDITED]] > _AUDIBLE])
    rest = np.setdiff1d(np.flatnonzero(mean), top)
    task = problem.evaluate(rest, mean[rest][:, None])
    ((squared, gradient),) = run_together([task], stored_design(problem))
    # Of a constant response nothing is left: any scale will do, and 0 has no logarithm.
    rule = slab.rule(beliefs.n, problem.yty or 1.0, problem.n_features)
    # Those held outside count by their expected number in the prior on sizes.
    outside = round(float(inclusion.sum() - inclusion[top].sum()))
    by_size = beliefs.inclusion.by_size[outside : outside + len(top) + 1]
    odds = beliefs.inclusion.log_odds[np.searchsorted(usable, top)]
    exact = enumerate_models(
        rule, problem.known_block(top), gradient[0][top], float(squared[0]), by_size, odds, keep=1
    )
    return Audit(top, inclusion[top], exact.inclusion, "exact sums over their models")


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
    support = np.flatnonzero(average.inclusion > _IN_SUPPORT)
    variance = np.maximum(average.square - average.mean**2, 0.0)[support]
    given = average.square[support] / average.inclusion[support]
    given -= (average.mean[support] / average.inclusion[support]) ** 2
    columns: Array = np.flatnonzero(average.mean)
    mean = average.mean * unit
    mean[fixed] = scale.covariate_coefficients(columns, average.mean[columns])
    inclusion = np.minimum(average.inclusion, 1.0)  # weights may sum to a little more
    inclusion[fixed] = 1.0
    return Posterior(
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
    )
