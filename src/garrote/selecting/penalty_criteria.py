"""Choosing alpha from the path alone: information criteria."""

import numpy as np

from garrote.arrays import Floats
from garrote.penalised_paths import misfit
from garrote.penalty_path import PenaltyPath
from garrote.problem import Problem

CRITERIA = ("bic", "ebic")


def criterion(name: str, path: PenaltyPath, problem: Problem) -> Floats:
    """Return BIC or EBIC at each strength, up to a constant.

    Minus twice the log likelihood, plus log N for each coefficient that is not 0 (Zou et al. 2007), or
    each piece of equal ones of a fused lasso (Tibshirani & Taylor 2011). EBIC (Chen & Chen 2008) adds
    2 log D for each, which keeps the false ones out where D is large. A Gaussian response has its noise
    variance estimated at each strength.
    """
    loss = np.array([fit.loss for fit in path.fits])
    fit = misfit(problem, loss, 1e-12 * path.null_loss or 1e-300)
    price = np.log(problem.n)
    if name == "ebic":
        price += 2.0 * np.log(path.n_features)
    return np.asarray(fit + price * path.degrees_of_freedom)
