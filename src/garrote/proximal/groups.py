"""Operators that shrink or drop groups together: the l2, l-infinity and sparse-group norms."""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.proximal.grouping import as_groups
from garrote.proximal.inputs import (
    as_floats,
    as_ratio,
    as_strength,
    as_vector,
    as_weights,
    like,
    namespace,
)
from garrote.proximal.l1_ball import level
from garrote.proximal.thresholds import soft_threshold


def group_l2(x: Any, strength: float, groups: Any, weights: Any = None) -> Any:
    """Shorten each group of coefficients by the strength, and set short ones to 0: the group lasso.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2 + strength sum_g weights_g ||z_g||_2
        prox(x)_g = x_g max(1 - strength weights_g / ||x_g||_2, 0)

    The text's Eq. 13.106 has the squared distance without its half; its solution, Eq. 13.110, is for
    the half, as here.

    Parameters
    ----------
    x : array
        A vector; NumPy, PyTorch or another of the array API.
    strength : float
    groups : array of labels, list of lists of positions, or Groups
        The group of each coefficient, or the coefficients of each group; a :class:`Groups` is not
        checked anew.
    weights : array, optional
        One number >= 0 for each group, in the order of labels or lists, 1 by default; groups of unequal
        sizes often get sqrt(size).

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Murphy (2012), Eqs. 13.107-13.110; Yuan & Lin (2006), J. R. Statist. Soc. B 68.

    Examples
    --------
    >>> from garrote.proximal import group_l2
    >>> group_l2([3.0, 4.0, 0.5], 2.5, groups=[0, 0, 1]).tolist()
    [1.5, 2.0, 0.0]
    """
    x, strength = as_floats(x), as_strength(strength)
    known = as_groups(groups, x)
    reach = strength * as_weights(weights, (len(known),), "group")
    xp, lengths = namespace(x), known.lengths(x)
    reach = reach if xp is np else like(x, reach)
    positive = xp.where(lengths > 0, lengths, xp.ones_like(lengths))
    kept = xp.where(lengths > reach, 1.0 - reach / positive, xp.zeros_like(lengths))
    return x * known.spread(kept, x)


def group_linf(x: Any, strength: float, groups: Any, weights: Any = None) -> Any:
    """Cut the largest coefficients of each group down to one size: the l-infinity group norm.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2 + strength sum_g weights_g max_{j in g} |z_j|
        prox(x)_g = x_g - its projection onto the l1 ball of radius strength weights_g (Moreau)

    In expected time O(d).

    Parameters
    ----------
    x : array
        A NumPy vector.
    strength : float
    groups : array of labels, list of lists of positions, or Groups
        The group of each coefficient, or the coefficients of each group; a :class:`Groups` is not
        checked anew.
    weights : array, optional
        One number >= 0 for each group, in the order of labels or lists, 1 by default.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Murphy (2012), section 13.5.1.2; Duchi & Singer (2009), J. Mach. Learn. Res. 10.

    Examples
    --------
    >>> from garrote.proximal import group_linf
    >>> group_linf([3.0, -4.0, 0.5], 2.0, groups=[0, 0, 0]).tolist()
    [2.5, -2.5, 0.5]
    """
    vector, strength = as_vector(x), as_strength(strength)
    known = as_groups(groups, vector)
    radii = strength * as_weights(weights, (len(known),), "group")
    size = np.abs(vector[known.order]).astype(np.float64)
    tops = _tops(size, known.sizes, radii)
    top = tops[known.labels].astype(vector.dtype)
    return np.clip(vector, -top, top)


def sparse_group(
    x: Any, strength: float, groups: Any, l1_ratio: float = 0.5, weights: Any = None
) -> Any:
    """Drop single coefficients and whole groups: soft thresholding, then the group lasso's shrinkage.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2
                  + strength (l1_ratio ||z||_1 + (1 - l1_ratio) sum_g weights_g ||z_g||_2)

    Parameters
    ----------
    x : array
        A vector; NumPy, PyTorch or another of the array API.
    strength : float
    groups : array of labels, list of lists of positions, or Groups
        The group of each coefficient, or the coefficients of each group; a :class:`Groups` is not
        checked anew.
    l1_ratio : float
        1 is the lasso, 0 the group lasso.
    weights : array, optional
        One number >= 0 for each group, in the order of labels or lists, 1 by default.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Simon, Friedman, Hastie & Tibshirani (2013), J. Comput. Graph. Statist. 22.

    Examples
    --------
    >>> from garrote.proximal import sparse_group
    >>> sparse_group([4.0, 5.0, 0.5], 2.0, groups=[0, 0, 1]).round(3).tolist()
    [2.4, 3.2, 0.0]
    """
    strength, ratio = as_strength(strength), as_ratio(l1_ratio)
    each_shrunk = soft_threshold(x, strength * ratio)
    return group_l2(each_shrunk, strength * (1.0 - ratio), groups, weights)


@kernel
def _tops(size, sizes, radii):
    """Return the size to which each group is cut: its level in the projection onto the l1 ball."""
    tops = np.empty(len(sizes))
    begin = 0
    for g in range(len(sizes)):
        end = begin + sizes[g]
        tops[g] = level(size[begin:end], np.ones(end - begin), radii[g])
        begin = end
    return tops
