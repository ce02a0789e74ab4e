"""Choosing alpha from the path alone: information criteria."""

import numpy as np

from garrote.arrays import Floats
from garrote.problem import Problem
from garrote.results.penalty_path import PenaltyPath, bayesian_criterion

CRITERIA = ("bic", "ebic")


def criterion(name: str, path: PenaltyPath, problem: Problem, noise: float | None = None) -> Floats:
    """Return BIC or EBIC at each strength, up to a constant.

    What counts is coefficients that are not 0 (Zou et al. 2007), or pieces of equal ones of a fused
    lasso (Tibshirani & Taylor 2011). EBIC (Chen & Chen 2008) adds 2 log D for each, which keeps the
    false ones out where D is large; see `garrote.results.penalty_path.bayesian_criterion`. ``noise`` is
    the scale of the noise where that is known.
    """
    loss = np.array([fit.loss for fit in path.fits])
    extra = 2.0 * np.log(path.n_features) if name == "ebic" else 0.0
    scale = problem.likelihood.noise_scale if noise is None else noise
    return bayesian_criterion(loss, path.degrees_of_freedom, problem.n, scale, extra)
