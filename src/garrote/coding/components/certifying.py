"""How far sparse components are from where neither scores nor loadings alone could be better."""

import numpy as np

from garrote.arrays import Floats
from garrote.proximal.thresholds import soft_threshold
from garrote.results.certificates import Certificate, optimality
from garrote.solvers.coding.sparse_components import largest_deviation, polar_factor, without


def components_certificate(
    root: Floats, loadings: Floats, alpha: Floats, together: bool
) -> Certificate:
    """Return the largest distance of a loading from its equation, as a share of the largest deviation.

    From the root of the covariance and the loadings alone: the best scores for these are found afresh,
    and the best loadings for these scores compared with those stated. A component without loadings has
    to be one that no scores could bring to life.

    Parameters
    ----------
    root : array of shape (r, D)
    loadings : array of shape (m, D)
    alpha : array of shape (m,)
    together : bool
        Whether components were found together, each given all others, or one after the other.
    """
    alive = np.abs(loadings).max(axis=1) > 0
    scores = np.zeros((len(root), len(loadings)))
    if together and alive.any():
        scores[:, alive] = polar_factor(root @ loadings[alive].T)
    left, worst = root, 0.0
    if together:
        for column in scores.T[alive]:
            left = without(left, column)
    for k, strength in enumerate(alpha):
        if not alive[k]:
            worst = max(worst, largest_deviation(left) - strength)
            continue
        if not together:
            ahead = left @ loadings[k]
            scores[:, k] = ahead / np.linalg.norm(ahead)
        expected = soft_threshold(scores[:, k] @ (root if together else left), float(strength))
        worst = max(worst, float(np.abs(expected - loadings[k]).max()))
        left = left if together else without(left, scores[:, k])
    largest = largest_deviation(root)
    return optimality(np.nan, worst / largest if largest else 0.0)
