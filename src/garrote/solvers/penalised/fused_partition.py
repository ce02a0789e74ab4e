"""Coefficients that are constant over pieces: where pieces have to be split, and their best values.

The gradient of least length at the present coefficients (of all that the penalty's kinks allow) is a
proximal point: it is 0 at the optimum, and says elsewhere which pieces fall apart and in which order of
values their parts move. With that order given the penalty is linear in the values of pieces, and a
quadratic is minimised by one linear system. Neighbours that would pass each other are merged, and pieces
that would pass 0 are set to it, until none does.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from garrote.arrays import Array, Floats
from garrote.proximal.graph import label_pieces
from garrote.rules import RuleOfPieces, WayDown

# What is added to a singular system, as a share of its mean diagonal.
_JITTER = 1e-13


class Pieces(NamedTuple):
    """A partition, each piece with a value and what holds for all members.

    ``label`` has every coefficient's piece. ``one``, ``other``, ``weight`` and ``sign`` describe edges
    between pieces: sign is that of the difference of values. ``side`` is the sign of a piece,
    ``threshold`` its members' sum, ``still`` says that it stays at 0.
    """

    label: Array
    value: Floats
    one: Array
    other: Array
    weight: Floats
    sign: Floats
    side: Floats
    threshold: Floats
    still: Array

    def sums(self, values: Floats) -> Floats:
        """Return the sums over pieces."""
        return np.asarray(np.bincount(self.label, values, len(self.value)), dtype=np.float64)

    @property
    def moving(self) -> int:
        """How many pieces may move."""
        return len(self.still) - int(np.count_nonzero(self.still))


def refine(rule: RuleOfPieces, coef: Floats, way: WayDown, least: float = 0.0) -> Pieces:
    """Return the pieces of some coefficients, split where the way down splits them.

    A direction of size ``least`` counts for nothing.
    """
    one, other = rule.graph.edges.T
    direction = np.where(np.abs(way.direction) > least, way.direction, 0.0)
    whole = way.fused & (direction[one] == direction[other])
    label = label_pieces(len(coef), one[whole], other[whole])
    # Pieces between which edges are fused may have edges that join equal parts in a roundabout way.
    between = label[one] != label[other]
    ahead = np.where(way.fused, direction[one] - direction[other], coef[one] - coef[other])
    count = int(label.max(initial=-1)) + 1
    value, side, still = np.zeros(count), np.zeros(count), np.zeros(count, dtype=bool)
    value[label] = coef
    side[label] = np.where(coef != 0.0, np.sign(coef), np.sign(direction))
    still[label] = (coef == 0.0) & (direction == 0.0)
    threshold = np.asarray(np.bincount(label, rule.threshold, count), dtype=np.float64)
    return Pieces(
        label, value, label[one[between]], label[other[between]], rule.weight[between],
        np.sign(ahead[between]), side, threshold, still,
    )  # fmt: skip


def best_values(
    pieces: Pieces, products: Floats, downhill: Floats, walking: bool = False
) -> Floats | None:
    """Return values of pieces that minimise a quadratic plus the penalty, merging those that would pass.

    ``products`` are the pieces' second derivatives (a vector, if there are no mixed ones) and
    ``downhill`` the gradient of the quadratic at their present values. Every piece is merged with what
    it meets first, then all are solved for again. If ``walking``, pieces stop wherever the first of all
    meets another: that surely goes down, but may take as many systems as there are pieces. Returns None
    where no system can be solved.
    """
    count = len(pieces.value)
    charged = pieces.weight * pieces.sign
    pull = np.bincount(pieces.one, charged, count) - np.bincount(pieces.other, charged, count)
    right = downhill + _times(products, pieces.value) - pull - pieces.threshold * pieces.side
    merged, still, at = np.arange(count), pieces.still, pieces.value
    while True:
        held = np.bincount(merged, still) > 0
        start = np.bincount(merged, at) / np.bincount(merged)
        start[held] = 0.0
        values = _merged_values(merged, held, products, right, start)
        if values is None:
            return None
        new, old = values[merged], start[merged]
        after = pieces.sign * (new[pieces.one] - new[pieces.other])
        passing, beyond = after < 0.0, (pieces.side * new < 0.0) & (pieces.threshold > 0.0)
        if not passing.any() and not beyond.any():
            return np.asarray(new)
        before = pieces.sign * (old[pieces.one] - old[pieces.other])
        meeting = _meeting(before, after, passing)
        vanishing = _meeting(pieces.side * old, pieces.side * new, beyond)
        if walking:
            share = min(meeting.min(initial=np.inf), vanishing.min(initial=np.inf))
            passing, beyond = meeting <= share, vanishing <= share
            at = old + share * (new - old)
        else:
            passing, beyond = _first_met(pieces, merged, meeting, vanishing)
        passing |= merged[pieces.one] == merged[pieces.other]
        merged = label_pieces(count, pieces.one[passing], pieces.other[passing])
        still = still | beyond


def _meeting(before: Floats, after: Floats, passing: Array) -> Floats:
    """Return at which share of a step differences vanish; infinity where they do not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.maximum(before, 0.0) / (np.maximum(before, 0.0) - after)
    return np.where(passing, share, np.inf)


def _first_met(pieces: Pieces, merged: Array, edges: Floats, zeros: Floats) -> tuple[Array, Array]:
    """Return the edges and zeros that one of the merged pieces meets before all others."""
    first = np.full(int(merged.max()) + 1, np.inf)
    one, other = merged[pieces.one], merged[pieces.other]
    np.minimum.at(first, merged, zeros)
    np.minimum.at(first, one, edges)
    np.minimum.at(first, other, edges)
    met = np.isfinite(edges) & ((edges <= first[one]) | (edges <= first[other]))
    return met, np.isfinite(zeros) & (zeros <= first[merged])


def _merged_values(
    merged: Array, held: Array, products: Floats, right: Floats, start: Floats
) -> Floats | None:
    """Return the best values of pieces that were merged; those ``held`` stay at 0."""
    moving = np.flatnonzero(~held)
    system = _merge(products, merged, len(held))
    # Within a merged piece the pulls of its own edges cancel.
    rest = np.bincount(merged, right, len(held)) - _times(system, start)
    step = _solve(
        system[moving] if system.ndim == 1 else system[np.ix_(moving, moving)], rest[moving]
    )
    if step is None:
        return None
    values = start.copy()
    values[moving] += step
    return values


def _merge(products: Floats, merged: Array, count: int) -> Floats:
    if count == len(merged):
        return products
    if products.ndim == 1:
        return np.asarray(np.bincount(merged, products, count), dtype=np.float64)
    order = np.argsort(merged, kind="stable")
    starts = np.searchsorted(merged[order], np.arange(count))
    rows = np.add.reduceat(products[order], starts, axis=0)
    return np.asarray(np.add.reduceat(rows[:, order], starts, axis=1))


def _times(products: Floats, values: Floats) -> Floats:
    return products * values if products.ndim == 1 else np.asarray(products @ values)


def _solve(system: Floats, right: Floats) -> Floats | None:
    if not len(right):
        return right
    if system.ndim == 1:
        return np.asarray(right / (system + _JITTER * system.mean()))
    jitter = _JITTER * float(np.trace(system)) / len(right)
    system = system + jitter * np.eye(len(right))
    try:
        return np.asarray(cho_solve(cho_factor(system, check_finite=False), right))
    except LinAlgError:
        return None
