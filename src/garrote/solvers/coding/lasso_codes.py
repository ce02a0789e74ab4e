"""The lasso of many signals over one dictionary: each followed from nothing down to its strength.

Minimises 1/2 |x - z W|^2 + alpha |z|_1 for every signal x (Murphy 2012, Eq. 13.176). From the strength
at which the first atom comes in, codes are linear in the strength between changes of who is in (Efron et
al. 2004). With the products of all atoms, and those of the signal with them, at hand, a change costs one
row of R^-T G, R being the Cholesky factor of the atoms that are in: as much as a step of orthogonal
matching pursuit. Where rounding or copies of atoms leave anything to do, sweeps over coordinates do it.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.designs.gram import GramColumns
from garrote.elementary import copy_into
from garrote.penalties.elastic_net import ElasticNetRule
from garrote.rules import Residual
from garrote.solvers.algebra.factor_updates import append_row
from garrote.solvers.coding.dealing import packed
from garrote.solvers.descent.sweep import sweep

# An atom of which less than this share is beside the others depends on them.
_DEPENDENT = 1e-10
# A signal is followed for so many changes of each atom that it could take; sweeps go on from there.
_CHANGES = 4
# What correlations may be off their values, as a share of the largest one of a signal.
_ACCURATE = 1e-11
_MOST_SWEEPS = 10_000
# Products of one call of the kernel: some milliseconds of work.
_MOST_WORK = 10_000_000
# Atoms that are looked at together, and the share of the strength by which they may miss it.
_AT_ONCE, _SLACK = 16, 1e-13
_OUT, _IN, _DEPENDS = 0, 1, 2


class Followed(NamedTuple):
    """Codes as lists: atoms, coefficients and how many of each signal; how far off, as a share."""

    columns: Array
    coefs: Floats
    counts: Array
    off: Floats


def lasso_codes(
    gram: Floats, products: Floats, alpha: float, positive: bool, rank: int
) -> scipy.sparse.csr_array:
    """Return the lasso's codes of some signals.

    Parameters
    ----------
    gram : array of shape (n_atoms, n_atoms)
    products : array of shape (n_signals, n_atoms)
        Of signals with atoms.
    alpha : float
    positive : bool
        Whether codes are not negative.
    rank : int
        How many atoms can be independent.
    """
    found = follow_all(gram, products, alpha, positive, rank)
    wrong = np.flatnonzero(~(found.off <= _ACCURATE))
    if not len(wrong):
        return packed(found.columns, found.coefs, found.counts, len(gram))
    begun = packed(found.columns[wrong], found.coefs[wrong], found.counts[wrong], len(gram))
    dense = np.nan_to_num(begun.toarray())
    _finish(gram, products[wrong], alpha, positive, dense)
    found.counts[wrong] = 0
    places = scipy.sparse.coo_array(dense)
    mended = (places.data, (wrong[places.coords[0]], places.coords[1]))
    codes = packed(found.columns, found.coefs, found.counts, len(gram))
    return scipy.sparse.csr_array(codes + scipy.sparse.csr_array(mended, shape=codes.shape))


def follow_all(gram: Floats, products: Floats, alpha: float, positive: bool, rank: int) -> Followed:
    """Follow signals from nothing down to the strength."""
    n, atoms = products.shape
    found = Followed(
        np.zeros((n, rank), np.int64), np.zeros((n, rank)), np.zeros(n, np.int64), np.zeros(n)
    )
    rows, vectors, lists = np.empty((rank, atoms)), np.empty((2, atoms)), np.empty((3, rank))
    first, state = 0, np.zeros(atoms, np.int64)
    while first < n:
        first = _follow(first, gram, products, alpha, positive, rows, vectors, lists, state, *found)
    return found


def _finish(gram: Floats, products: Floats, alpha: float, positive: bool, codes: Floats) -> None:
    """Sweep over the coordinates of signals until their codes are right, in place."""
    count = len(gram)
    curvature = np.ascontiguousarray(np.diag(gram))
    lower = np.full(count, 0.0 if positive else -np.inf)
    rule = ElasticNetRule(np.full(count, alpha), np.zeros(count), lower, np.full(count, np.inf))
    for s in range(len(codes)):
        left = products[s] - codes[s] @ gram
        tolerance = _ACCURATE * np.abs(products[s]).max()
        residual = Residual(left, np.zeros(1), np.zeros(0))
        for _ in range(_MOST_SWEEPS // 100):
            if _sweeps(gram, rule, codes[s], residual, curvature, tolerance, 100):
                break


@kernel
def _sweeps(gram, rule, coef, residual, curvature, tolerance, most):
    """Sweep at most so many times; tell whether steps have become small."""
    columns, target = np.arange(coef.shape[0]), np.zeros(coef.shape[0])
    largest = np.sqrt(curvature.max())
    for _ in range(most):
        step = sweep(GramColumns(gram), rule, columns, coef, target, residual, curvature, 0.0)
        if step * largest <= tolerance:
            return True
    return False


@kernel
def _row(gram, rows, k, j):
    """Write the k-th row of R^-T G for atom ``j``; return R's entry, 0 where the atom depends."""
    source, pivot = gram[j], gram[j, j]
    for a in range(k):
        pivot -= rows[a, j] * rows[a, j]
    if pivot <= _DEPENDENT * source[j]:
        return 0.0
    scale = 1.0 / np.sqrt(pivot)
    new = rows[k]
    append_row(source, rows, rows[:, j], k, 0, new.shape[0])
    for i in range(new.shape[0]):
        new[i] *= scale
    return scale


@kernel
def _enter(gram, rows, members, lists, ahead, state, k, j, sign):
    """Take an atom in as the k-th; tell whether it does not depend on those that are."""
    ends, signs = lists[0], lists[1]
    scale = _row(gram, rows, k, j)
    if scale == 0.0:
        state[j] = _DEPENDS
        return False
    end = sign
    for a in range(k):
        end -= rows[a, j] * ends[a]
    end *= scale
    new = rows[k]
    for i in range(new.shape[0]):
        ahead[i] += end * new[i]
    members[k], ends[k], signs[k], state[j] = j, end, sign, _IN
    return True


@kernel
def _leave(gram, rows, members, coef, lists, ahead, state, k, place):
    """Put the atom at a place out, and take those that came after it in anew; return how many are in."""
    state[members[place]] = _OUT
    signs = lists[1]
    for a in range(place, k - 1):
        members[a], coef[a], signs[a] = members[a + 1], coef[a + 1], signs[a + 1]
    for i in range(ahead.shape[0]):
        total = 0.0
        for a in range(place):
            total += lists[0, a] * rows[a, i]
        ahead[i] = total
        if state[i] == _DEPENDS:
            state[i] = _OUT
    for a in range(place, k - 1):
        _enter(gram, rows, members, lists, ahead, state, a, members[a], signs[a])
    return k - 1


@kernel(inline=True)
def _slopes(rows, members, lists, k):
    """Write by how much each code grows with a unit of the strength: R^-1 of what the ends are."""
    ends, slopes = lists[0], lists[2]
    for a in range(k - 1, -1, -1):
        total = ends[a]
        for b in range(a + 1, k):
            total -= rows[a, members[b]] * slopes[b]
        slopes[a] = total / rows[a, members[a]]


@kernel
def _follow(
    first, gram, products, alpha, positive, rows, vectors, lists, state, columns, coefs, counts, off
):
    """Follow signals from the first one on for some milliseconds; return where to go on.

    ``lists`` are, of the atoms that are in, R^-T of their signs, the signs, and the slopes of the codes;
    ``vectors`` are the correlations that are left and by how much they fall with a unit of the strength.
    """
    rank, atoms = rows.shape
    left, ahead = vectors[0], vectors[1]
    work = 0
    for s in range(first, products.shape[0]):
        if work > _MOST_WORK:
            return s
        members, coef = columns[s], coefs[s]
        k, entering, resting, strength = 0, -1, -1, 0.0
        for i in range(atoms):
            left[i], ahead[i], state[i] = products[s, i], 0.0, _OUT
            size = left[i] if positive else abs(left[i])
            if size > strength:
                entering, strength = i, size
        scale = strength
        for _ in range(_CHANGES * rank + 1):
            if strength <= alpha:
                break
            if entering >= 0:
                if k == rank:
                    state[entering] = _DEPENDS
                else:
                    sign = 1.0 if left[entering] > 0.0 else -1.0
                    if _enter(gram, rows, members, lists, ahead, state, k, entering, sign):
                        coef[k] = 0.0
                        k += 1
            work += (k + 4) * atoms
            _slopes(rows, members, lists, k)
            step, entering = _next(left, ahead, state, resting, strength, alpha, positive)
            leaving = -1
            for a in range(k):
                slope = lists[2, a]
                if coef[a] * slope < 0.0 and abs(coef[a]) < step * abs(slope):
                    step, leaving = abs(coef[a] / slope), a
            strength -= step
            for i in range(atoms):
                left[i] -= step * ahead[i]
            for a in range(k):
                coef[a] += step * lists[2, a]
            resting = -1
            if leaving >= 0:
                resting = members[leaving]
                k = _leave(gram, rows, members, coef, lists, ahead, state, k, leaving)
                entering = -1
            elif entering < 0:
                break
        counts[s] = k
        if k > 0:
            worst = _check(gram, products[s], members, coef, left, k, alpha, positive)
            off[s] = worst / scale
    return products.shape[0]


@kernel(inline=True)
def _next(left, ahead, state, resting, strength, alpha, positive):
    """Return the step to the next change, and the atom that comes in then (-1: at the end).

    Most atoms are far from it: several are looked at together, and one by one only if one is near. An
    atom that has just left is ``resting``: it is where it would come in.
    """
    step, entering, sign = strength - alpha, -1, 0.0 if positive else 1.0
    slack = _SLACK * strength  # those that are in are there but for rounding
    whole = left.shape[0] - left.shape[0] % _AT_ONCE
    for first in range(0, whole, _AT_ONCE):
        near = 0.0
        for i in range(_AT_ONCE):
            fall = step * ahead[first + i] - left[first + i]
            room = step - strength - slack
            near += max(room - fall, 0.0) + sign * max(room + fall, 0.0)
        if near > 0.0:
            step, entering = _nearest(
                left, ahead, state, resting, strength, sign, first, first + _AT_ONCE, step, entering
            )
    return _nearest(
        left, ahead, state, resting, strength, sign, whole, left.shape[0], step, entering
    )


@kernel(inline=True)
def _nearest(left, ahead, state, resting, strength, sign, first, end, step, entering):
    """Look at some atoms one by one; return the step to the next change, and who comes in then."""
    for i in range(first, end):
        if state[i] == _OUT and i != resting:
            # Neither is 0 but for copies, which never come in beside each other.
            up, down = 1.0 - ahead[i], sign * (1.0 + ahead[i])
            above, below = strength - left[i], strength + left[i]
            if above < step * up and up > 0.0:
                step, entering = max(above, 0.0) / up, i
            if below < step * down and down > 0.0:
                step, entering = max(below, 0.0) / down, i
    return step, entering


@kernel
def _check(gram, product, members, coef, left, k, alpha, positive):
    """Return by how much correlations, computed anew, are off where they should be."""
    copy_into(left, product)
    for a in range(k):
        row = gram[members[a]]
        for i in range(left.shape[0]):
            left[i] -= coef[a] * row[i]
    worst = 0.0
    for i in range(left.shape[0]):
        size = left[i] if positive else abs(left[i])
        worst = max(worst, size - alpha)
    for a in range(k):
        worst = max(worst, abs(left[members[a]] - np.copysign(alpha, coef[a])))
    return worst
