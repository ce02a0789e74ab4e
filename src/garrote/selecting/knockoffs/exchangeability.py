"""Whether copies are what they should be: moments of the table of both, computed afresh.

The cross products of originals X and copies X~ must not change when columns change places with their
copies: X~'X~ = X'X, and X'X~ = X'X but for the blocks of groups. Of fixed-X copies this holds to
rounding; of model-X copies for the law, so that in N rows cross products differ by chance, and by as
much as the law that was taken is not that of the rows.
"""

import numpy as np

from garrote.arrays import Array, Floats


def largest_difference(X: Floats, copies: Floats, weights: Floats, groups: Array) -> float:
    """Return the largest difference of two correlations that an exchange would make.

    ``X`` and ``copies`` have no means; correlations are those of the weighted rows, in standard
    deviations of the originals.
    """
    rows, others = X * np.sqrt(weights)[:, None], copies * np.sqrt(weights)[:, None]
    size = np.linalg.norm(rows, axis=0)
    unit = np.where(size > 0, size, 1.0)
    rows, others = rows / unit, others / unit
    among = rows.T @ rows
    copied = np.abs(others.T @ others - among).max(initial=0.0)
    across = rows.T @ others - among
    across[groups[:, None] == groups] = 0.0
    return float(max(copied, np.abs(across).max(initial=0.0)))
