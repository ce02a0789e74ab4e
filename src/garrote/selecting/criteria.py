"""Choosing gamma from the path alone."""

import numpy as np

from garrote.arrays import Floats
from garrote.priors.garrote import GarrotePrior
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.path import Path


def evidence_free_energy(path: Path[Fit], problem: Problem, prior: GarrotePrior) -> Floats:
    """Return the free energy as a bound on the evidence, comparable between gammas.

    Eq. 7 leaves out the prior's normaliser, sum_j log(1 + exp(gamma_j)), which depends on gamma, and
    its flat slab puts no price on a weight, so that the densest model would always win. The
    normaliser is added, and half of log N for each expected variable: the price under a slab that
    holds as much information as one row.
    """
    offsets, counts = np.unique(prior.offsets[problem.curvature > 0], return_counts=True)
    normaliser = np.logaddexp(0.0, path.strengths[:, None] + offsets) @ counts
    return path.free_energy + normaliser + 0.5 * np.log(problem.n) * path.expected_size
