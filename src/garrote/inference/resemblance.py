"""How much columns resemble each other."""

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem


def correlations(problem: Problem, columns: Array) -> Floats:
    """Return the correlations of some columns with all of them, beyond the covariates."""
    if not len(columns):
        return np.zeros((0, problem.n_features))
    products = problem.design.gram_rows(columns)
    size = np.sqrt(np.where(problem.curvature > 0, problem.curvature, np.inf))
    return np.clip(products / size / size[columns, None], -1.0, 1.0)


def correlations_among(problem: Problem, columns: Array) -> Floats:
    """Return the correlations of some columns, all with content, with each other."""
    products = problem.known_block(columns) if len(columns) else np.zeros((0, 0))
    size = np.sqrt(problem.curvature[columns])
    return np.clip(products / np.outer(size, size), -1.0, 1.0)
