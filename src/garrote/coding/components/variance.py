"""How much variance components explain together, and the sparsest components that explain a share."""

from collections.abc import Callable

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.coding.sparse_components import Components

# Strengths that are tried, from this share of the largest on, and halvings between the last two.
_STRENGTHS, _WEAKEST, _HALVINGS = 30, 1e-3, 8
# A direction of which less than this share is beside others adds nothing to them.
_DEPENDENT = 1e-10


def variance_explained(root: Floats, loadings: Floats) -> Floats:
    """Return by how much each component raises the variance in the span of those before it.

    Components may be correlated and need not be orthogonal: of what two of them share only the first is
    credited (Shen & Huang 2008). The sum is the variance of the rows' projections onto all of them.

    Parameters
    ----------
    root : array of shape (r, D)
        A, A'A being the covariance.
    loadings : array of shape (m, D)
    """
    explained, basis = np.zeros(len(loadings)), np.zeros((0, loadings.shape[1]))
    for k, loading in enumerate(loadings):
        beside = loading - (basis @ loading) @ basis
        beside -= (basis @ beside) @ basis
        length = np.linalg.norm(beside)
        if length > _DEPENDENT * np.linalg.norm(loading):
            basis = np.vstack([basis, beside / length])
            explained[k] = np.sum((root @ basis[-1]) ** 2)
    return explained


def strongest_that_explains(
    fit: Callable[[float, Components | None], Components],
    explained: Callable[[Components], float],
    largest: float,
    share: float,
) -> tuple[float, Components]:
    """Return the strongest penalty whose components explain enough, and the components.

    Strengths rise from 0 on, each from the components of the one before.

    Parameters
    ----------
    fit : callable
        From a strength, and components to begin with, to components.
    explained : callable
    largest : float
        The strength from which on all components are empty.
    share : float
        What is enough, as a share of what components without a penalty explain.
    """
    low, best = 0.0, fit(0.0, None)
    wanted = share * explained(best)
    for high in largest * np.geomspace(_WEAKEST, 1.0, _STRENGTHS):
        found = fit(float(high), best)
        if explained(found) < wanted:
            break
        low, best = float(high), found
    else:
        return low, best
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + float(high))
        found = fit(middle, best)
        if explained(found) < wanted:
            high = middle
        else:
            low, best = middle, found
    return low, best
