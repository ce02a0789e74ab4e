"""Choosing a strength from the path alone: gamma by free energy, alpha by information criteria."""

import numpy as np

from garrote.arrays import Floats
from garrote.paths.criteria import bayesian_criterion
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit, PenaltyFit
from garrote.results.path import Path

CRITERIA = ("bic", "ebic")


def evidence_free_energy(path: Path[Fit], problem: Problem, terms: SpikeTerms) -> Floats:
    """Return the free energy as a bound on the evidence, comparable between gammas.

    Eq. 7 leaves out the prior's normaliser, sum_j log(1 + exp(gamma_j)), which depends on gamma, and
    its flat slab puts no price on a weight, so that the densest model would always win. The
    normaliser is added, and half of log N for each expected coefficient: the price under a slab that
    holds as much information as one row. Where groups share switches, problem and path are those in
    their coordinates.
    """
    switches = terms.switches(problem.usable)
    offsets, counts = np.unique(terms.offsets[switches], return_counts=True)
    normaliser = np.logaddexp(0.0, path.strengths[:, None] + offsets) @ counts
    return path.free_energy + normaliser + 0.5 * np.log(problem.n) * path.expected_size


def criterion(
    name: str, path: Path[PenaltyFit], problem: Problem, noise: float | None = None
) -> Floats:
    """Return AIC, BIC or EBIC at each strength, up to a constant.

    What counts is coefficients that are not 0 (Zou et al. 2007), or pieces of equal ones of a fused
    lasso (Tibshirani & Taylor 2011). EBIC (Chen & Chen 2008) adds 2 log D for each, which keeps the
    false ones out where D is large; see `garrote.paths.criteria.bayesian_criterion`. ``noise`` is
    the scale of the noise where that is known.
    """
    loss = np.array([fit.loss for fit in path.fits])
    # What a coefficient costs beyond log N.
    counted = problem.counted
    extra = {"aic": 2.0 - np.log(counted), "ebic": 2.0 * np.log(path.n_features)}.get(name, 0.0)
    scale = problem.likelihood.noise_scale if noise is None else noise
    absolute, size = problem.likelihood.loss_is_scale, path.degrees_of_freedom
    return bayesian_criterion(loss, size, problem.n, scale, extra, counted, absolute)
