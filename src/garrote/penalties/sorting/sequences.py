"""Sequences of thresholds for sorted coefficients: what each rank is charged.

In units of the standard error of a coefficient: with orthogonal columns of mean square 1 and noise of
deviation sigma, a strength of sigma / sqrt(N) makes the sequence "bh" control the false discovery rate.
"""

import numpy as np
from scipy.special import ndtri

from garrote.arrays import Floats


def bh_sequence(count: int, q: float) -> Floats:
    """Return the critical values of Benjamini & Hochberg: the normal quantiles at 1 - q k / (2 D).

    With orthogonal columns the expected share of false discoveries is at most q times the share of
    columns without an effect (Bogdan et al. 2015, Theorem 1.1).

    Examples
    --------
    >>> from garrote.penalties.sorting.sequences import bh_sequence
    >>> bh_sequence(4, 0.1).round(3).tolist()
    [2.241, 1.96, 1.78, 1.645]
    """
    return np.asarray(-ndtri(q * np.arange(1, count + 1) / (2 * count)), dtype=np.float64)


def gaussian_sequence(count: int, q: float, n_samples: float) -> Floats:
    """Return the critical values with what the effects found so far add to the noise of the next.

    Columns of independent normal entries are correlated by chance: lambda_k is that of `bh_sequence`
    times sqrt(1 + sum_{j < k} lambda_j^2 / (N - k)), and does not change any more from where it would
    rise (Bogdan et al. 2015, section 3.2.2, with N - (k - 1) - 1 for w(k - 1)).

    Examples
    --------
    >>> from garrote.penalties.sorting.sequences import gaussian_sequence
    >>> gaussian_sequence(4, 0.1, 50).round(3).tolist()
    [2.241, 2.06, 1.948, 1.864]
    """
    plain = bh_sequence(count, q)
    sequence, squares = plain.copy(), 0.0
    for k in range(1, count):
        squares += sequence[k - 1] ** 2
        spare = n_samples - k - 1
        value = plain[k] * np.sqrt(1.0 + squares / spare) if spare > 0 else np.inf
        if value >= sequence[k - 1]:
            sequence[k:] = sequence[k - 1]
            break
        sequence[k] = value
    return sequence
