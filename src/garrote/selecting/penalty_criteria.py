"""Choosing alpha from the path alone: information criteria."""

import numpy as np

from garrote.arrays import Floats
from garrote.penalised_paths import noise_scale
from garrote.penalty_path import PenaltyPath, bayesian_criterion
from garrote.problem import Problem

CRITERIA = ("bic", "ebic")


def criterion(name: str, path: PenaltyPath, problem: Problem) -> Floats:
    """Return BIC or EBIC at each strength, up to a constant.

    EBIC (Chen & Chen 2008) adds 2 log D for each coefficient that is not 0, which keeps the false ones
    out where D is large; see `garrote.penalty_path.bayesian_criterion`.
    """
    loss = np.array([fit.loss for fit in path.fits])
    extra = 2.0 * np.log(path.n_features) if name == "ebic" else 0.0
    return bayesian_criterion(loss, path.size, problem.n, noise_scale(problem), extra)
