"""How much columns resemble each other."""

from collections.abc import Sequence

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem

# Directions of a group that have less than this share of its largest variance are rounding.
_NOTHING = 1e-10


def correlations(problem: Problem, columns: Array) -> Floats:
    """Return the correlations of some columns with all of them, beyond the covariates."""
    if not len(columns):
        return np.zeros((0, problem.n_features))
    products = problem.gram_rows(columns)
    size = np.sqrt(np.where(problem.curvature > 0, problem.curvature, np.inf))
    return np.clip(products / size / size[columns, None], -1.0, 1.0)


def correlations_among(problem: Problem, columns: Array) -> Floats:
    """Return the correlations of some columns, all with content, with each other."""
    products = problem.known_block(columns) if len(columns) else np.zeros((0, 0))
    size = np.sqrt(problem.curvature[columns])
    return np.clip(products / np.outer(size, size), -1.0, 1.0)


def correlations_of_groups(problem: Problem, groups: Sequence[Array]) -> Floats:
    """Return the largest canonical correlations of groups of columns; of single ones, their own."""
    alike = np.eye(len(groups))
    if not len(groups):
        return alike
    gram = problem.known_block(np.concatenate(groups))
    ends = np.cumsum([0, *map(len, groups)])
    parts = [slice(*ends[k : k + 2]) for k in range(len(groups))]
    bases = []
    for part in parts:
        values, vectors = np.linalg.eigh(gram[part, part])
        size = np.where(values > _NOTHING * values[-1], values, np.inf)
        bases.append(vectors / np.sqrt(size))
    for a, one in enumerate(parts):
        for b in range(a):
            alike[a, b] = alike[b, a] = largest_of(bases[a].T @ gram[one, parts[b]] @ bases[b])
    return np.clip(alike, -1.0, 1.0)


def largest_of(cross: Floats) -> float:
    """Return the largest canonical correlation, by those of orthogonal coordinates; one has a sign."""
    return float(cross[0, 0]) if cross.size == 1 else float(np.linalg.norm(cross, 2))
