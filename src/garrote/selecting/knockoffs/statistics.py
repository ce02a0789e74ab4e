"""How much more a group of columns seems to matter than its copy, from a fit to both.

Every statistic is positive where the original looks stronger, negative where the copy does, and changes
its sign when the two change places. Without an effect both signs are equally likely, given its size.
"""

import numpy as np

from garrote.arrays import Array, Floats

# Probabilities are this far from 0 and 1 at least when log odds are taken of them.
_LEAST = 1e-15


def differences(original: Floats, copy: Floats, groups: Array) -> Floats:
    """Return the length of a group's coefficients less that of its copy's.

    Of single columns it is |w| - |w~|, of the lasso the coefficient difference of Candes et al. (2018).
    Coefficients are those of columns in standard deviations; of several outputs they have a row each.
    """
    return _lengths(original, groups) - _lengths(copy, groups)


def signed_maxima(original: Floats, copy: Floats, groups: Array) -> Floats:
    """Return the larger of two strengths at which a group and its copy enter, signed by whose it is.

    Barber & Candes (2015). What enters together has 0.
    """
    first, second = _largest(original, groups), _largest(copy, groups)
    return np.asarray(np.maximum(first, second) * np.sign(first - second))


def log_odds_ratios(original: Floats, copy: Floats, groups: Array) -> Floats:
    """Return the log odds of a group's largest inclusion probability less those of its copy's."""
    return _log_odds(_largest(original, groups)) - _log_odds(_largest(copy, groups))


def _log_odds(probability: Floats) -> Floats:
    inside = np.clip(probability, _LEAST, 1.0 - _LEAST)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def _lengths(values: Floats, groups: Array) -> Floats:
    squares = np.atleast_2d(values**2).sum(axis=0)
    return np.sqrt(np.bincount(groups, weights=squares, minlength=int(groups.max()) + 1))


def _largest(values: Floats, groups: Array) -> Floats:
    found = np.zeros(int(groups.max()) + 1)
    np.maximum.at(found, groups, values)
    return found
