"""Mean-field posteriors under a proper slab, averaged over what is not known, and audited.

Each (w_j, s_j) has its own factor (Titsias & Lazaro-Gredilla 2011; Carbonetto & Stephens 2012). For
every slab variance of a grid the solution is annealed and reheated over the prior log odds gamma;
solutions are averaged with weights from their bounds on the evidence. What a factorised posterior
misses shows in the audit: all models of the most probable variables are summed exactly, the others
being held at their mean-field values.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, expit, logit

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.paths import fit_path, stored_design
from garrote.posterior import Audit, Posterior
from garrote.priors.garrote import GarrotePrior
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.results import Fit, Path
from garrote.solvers.annealing import Control
from garrote.solvers.enumeration import enumerate_models
from garrote.solvers.lockstep import run_together
from garrote.solvers.starts import distinct_optima

# Log slab variances that are averaged over where it is unknown: first, last, how many.
_LOG_VARIANCES = (-4.0, 4.0, 5)
# Log odds that are averaged over where the inclusion probability is unknown, and those on the way there.
_ODDS = 16
_APPROACH = 10
# Variables whose models are summed for the audit, at most, and the least probability of any of them.
_AUDITED = 14
_AUDIBLE = 0.01
_IN_SUPPORT = 0.01


@dataclass(frozen=True)
class MeanField:
    """A mean-field posterior, the best single solution behind it, and its bound on the evidence."""

    posterior: Posterior
    best: Fit
    converged: bool


class _Average:
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


def mean_field_posterior(
    problem: Problem, beliefs: Beliefs, names: tuple[str, ...], control: Control
) -> MeanField:
    """Solve on a grid of slab variances and log odds, average, audit, and change to the user's units."""
    if not isinstance(beliefs.slab, GaussianSlab):
        raise ValueError(
            "method='mean-field' needs prior='spike-slab': a g-prior does not factorise"
        )
    usable = problem.curvature > 0
    gammas, log_prior = _odds(beliefs, int(usable.sum()))
    average = _Average(problem.n_features)
    best: tuple[float, Fit, Path, GaussianSlab] | None = None
    converged = True
    for log_weight, slab in beliefs.slab.grid(_LOG_VARIANCES):
        prior = slab_prior(problem, beliefs, slab)
        path = fit_path(problem, prior, gammas, control=control)
        converged &= bool(path.certificate.max() <= control.tol)
        offsets = beliefs.inclusion.log_odds
        for fit, wanted in zip(path.fits, log_prior, strict=False):
            if not np.isfinite(wanted):
                continue
            c = problem.curvature[fit.columns]
            spread = fit.noise_variance / (c + prior.ridge)
            bound = -fit.free_energy - float(np.logaddexp(0.0, fit.strength + offsets).sum())
            average.add(log_weight + wanted + bound, fit, spread)
            if best is None or log_weight + wanted + bound > best[0]:
                best = (log_weight + wanted + bound, fit, path, slab)
    if best is None:
        raise ValueError("no solution with the prior odds could be reached: too few rows")
    _, fit, path, slab = best
    position = path.index(fit.strength)
    optima = distinct_optima(problem, [fit, path.forward[position], path.backward[position]])
    checked = audit(problem, beliefs, slab, average.inclusion, average.mean)
    return MeanField(_posterior(problem, beliefs, average, optima, names, checked), fit, converged)


def slab_prior(problem: Problem, beliefs: Beliefs, slab: GaussianSlab) -> GarrotePrior:
    """Return the mean-field prior on all columns, for a slab of known variance."""
    usable = problem.curvature > 0
    offsets = np.zeros(problem.n_features)
    offsets[usable] = beliefs.inclusion.log_odds
    lengths = np.where(usable, problem.curvature, 1.0)
    return GarrotePrior.with_slab(
        float(slab.variance or 1.0), offsets, lengths, slab.noise_variance
    )


def _odds(beliefs: Beliefs, usable: int) -> tuple[Floats, Floats]:
    """Return log odds to anneal over and their log prior weights, -inf for those on the way only."""
    shared = beliefs.inclusion.shared
    if shared is None:  # each variable's odds are its own: gamma is 0
        gammas = np.linspace(-15.0, 0.0, _APPROACH + 1)
        return gammas, np.append(np.full(_APPROACH, -np.inf), 0.0)
    a, b = shared
    low = float(logit(min(0.1 / usable, 0.4)))
    high = float(logit(min(max(beliefs.n / 4, 1.0) / usable, 0.5)))
    grid = np.linspace(low, max(high, low + 1.0), _ODDS)
    p = expit(grid)
    log_prior = a * np.log(p) + b * np.log1p(-p) - betaln(a, b)
    approach = low - 3.0 * np.arange(_APPROACH, 0, -1)
    return np.append(approach, grid), np.append(np.full(_APPROACH, -np.inf), log_prior)


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
    rule = slab.rule(beliefs.n, problem.yty, problem.n_features)
    # Those held outside count by their expected number in the prior on sizes.
    outside = round(float(inclusion.sum() - inclusion[top].sum()))
    by_size = beliefs.inclusion.by_size[outside : outside + len(top) + 1]
    odds = beliefs.inclusion.log_odds[np.searchsorted(usable, top)]
    exact = enumerate_models(
        rule, problem.known_block(top), gradient[0][top], float(squared[0]), by_size, odds, keep=1
    )
    return Audit(top, inclusion[top], exact.inclusion, "exact sums over their models")


def _posterior(
    problem: Problem,
    beliefs: Beliefs,
    average: _Average,
    optima: tuple[Fit, ...],
    names: tuple[str, ...],
    checked: Audit,
) -> Posterior:
    scale, fixed = problem.scale, problem.scale.covariates
    unit = scale.response_scale / scale.column_scale
    support = np.flatnonzero(average.inclusion > _IN_SUPPORT)
    variance = np.maximum(average.square - average.mean**2, 0.0)[support]
    given = average.square[support] / average.inclusion[support]
    given -= (average.mean[support] / average.inclusion[support]) ** 2
    columns: Array = np.flatnonzero(average.mean)
    mean = average.mean * unit
    mean[fixed] = scale.covariate_coefficients(columns, average.mean[columns])
    inclusion = average.inclusion.copy()
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
        optima=optima,
        names=names,
        log_evidence=average.log_total,
        given_inclusion=np.sqrt(np.maximum(given, 0.0)) * unit[support],
        checked=checked,
    )
