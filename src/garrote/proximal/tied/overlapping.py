"""The operator of sums of lengths whose groups overlap: exact in one pass where they are a tree."""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array
from garrote.proximal.inputs import as_strength, as_vector, as_weights

# The dual is at its maximum where a pass changes the point by less than this share of it.
_SETTLED = 1e-14
_MOST_PASSES = 5_000


def overlapping_groups(x: Any, strength: float, groups: Any, weights: Any = None) -> Array:
    """Shorten groups of coefficients that may share members.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2 + strength sum_g weights_g ||z_g||_2

    The dual has a force for each group, no longer than strength * weights_g; the forces are the best
    ones in turn, small groups first. Where groups are a tree (any two are nested or apart) one pass is
    exact; otherwise passes go on until nothing changes.

    Parameters
    ----------
    x : array
        A NumPy vector.
    strength : float
    groups : list of lists of positions
        A coefficient in no group is not charged.
    weights : array, optional
        One number >= 0 for each group, 1 by default.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Jenatton, R., Mairal, J., Obozinski, G. & Bach, F. (2011). Proximal methods for hierarchical sparse
    coding. Journal of Machine Learning Research 12, 2297-2334.

    Examples
    --------
    >>> from garrote.proximal import overlapping_groups
    >>> overlapping_groups([3.0, 4.0, 0.5], 1.0, [[2], [0, 1, 2]]).round(3).tolist()
    [2.4, 3.2, 0.0]
    """
    vector, strength = as_vector(x), as_strength(strength)
    lists = [np.unique(np.asarray(group, dtype=np.intp)) for group in groups]
    for number, group in enumerate(lists):
        wrong = group[(group < 0) | (group >= len(vector))]
        if len(wrong):
            raise ValueError(
                f"group {number} has position {wrong[0]}, but x has {len(vector)} coefficients"
            )
    limits = strength * as_weights(weights, (len(lists),), "group")
    members, starts, order = laid_out(lists)
    point = vector.astype(np.float64)
    shorten(point, members, starts, limits[order], is_tree(lists))
    return point.astype(vector.dtype)


def laid_out(lists: list[Array]) -> tuple[Array, Array, Array]:
    """Return members group by group, small groups first; where each begins; and the groups' order."""
    sizes = np.array([len(group) for group in lists], dtype=np.intp)
    order = np.argsort(sizes, kind="stable")
    starts = np.append(0, np.cumsum(sizes[order]))
    nothing = [np.zeros(0, np.intp)]
    return np.concatenate([*nothing, *(lists[g] for g in order)]), starts, order


def is_tree(lists: list[Array]) -> bool:
    """Tell whether any two groups are nested or apart."""
    owner: dict[int, int] = {}
    order = sorted(range(len(lists)), key=lambda g: -len(lists[g]))
    for g in order:  # large ones first: members of a nested one have one innermost group
        inner = {owner.get(int(j), -1) for j in lists[g]}
        if len(inner) > 1:
            return False
        owner |= {int(j): g for j in lists[g]}
    return True


@kernel
def shorten(z, members, starts, limits, tree):
    """Replace z by its proximal point."""
    force = np.zeros(members.shape[0])
    largest = np.abs(z).max() if z.shape[0] else 0.0
    for _ in range(_MOST_PASSES):
        change = 0.0
        for g in range(starts.shape[0] - 1):
            length = 0.0
            for a in range(starts[g], starts[g + 1]):
                length += (z[members[a]] + force[a]) ** 2
            length = np.sqrt(length)
            share = min(1.0, limits[g] / length) if length > 0.0 else 0.0
            for a in range(starts[g], starts[g + 1]):
                whole = z[members[a]] + force[a]
                new = share * whole
                change = max(change, abs(new - force[a]))
                force[a] = new
                z[members[a]] = whole - new if share < 1.0 else 0.0
        if tree or change <= _SETTLED * largest:
            return


@kernel
def charge_of(z, members, starts, limits):
    """Return the sum of groups' lengths."""
    total = 0.0
    for g in range(starts.shape[0] - 1):
        length = 0.0
        for a in range(starts[g], starts[g + 1]):
            length += z[members[a]] ** 2
        total += limits[g] * np.sqrt(length)
    return total
