"""What the fused lasso charges at one strength, its proximal point, and the gradients that it holds."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.proximal.chain import total_variation
from garrote.proximal.graph import Graph
from garrote.proximal.graph_variation import split_by_cuts

# A share of the gradient is known to be feasible up to this part of itself.
_PRECISION = 1e-13
# Coefficients that differ by less than this share of the largest are equal.
_TIE = 1e-12


class FusedRule(NamedTuple):
    """The sum over edges (i, j) of weight |w_i - w_j|, plus threshold_j |w_j|.

    ``order`` lists the coefficients such that every edge joins two that follow each other: a chain, or
    several. It is empty for other graphs.
    """

    graph: Graph
    weight: Floats
    threshold: Floats
    order: Array

    @property
    def free(self) -> Array:
        """Which coefficients nothing pulls to 0: those of components without any threshold."""
        owner = self.graph.components
        held = np.bincount(owner, self.threshold, owner.max(initial=-1) + 1)
        return np.asarray(held[owner] == 0)

    def charge(self, coef: Floats) -> float:
        """Return the penalty of all coefficients."""
        one, other = self.graph.edges.T
        jumps = float(self.weight @ np.abs(coef[one] - coef[other]))
        return jumps + float(self.threshold @ np.abs(coef))

    def equal_ends(self, coef: Floats) -> tuple[Array, Floats]:
        """Return which edges join equal coefficients, and the signs of the others' differences."""
        one, other = self.graph.edges.T
        jumps = coef[one] - coef[other]
        fused = np.abs(jumps) <= _TIE * np.abs(coef).max(initial=0.0)
        return fused, np.where(fused, 0.0, np.sign(jumps))

    def without_levels(self, gradient: Floats) -> Floats:
        """Return the gradient less its mean over every component that nothing pulls to 0.

        Such a component has a level that is free, and needs a gradient of sum 0.
        """
        owner, free = self.graph.components, self.free
        means = np.bincount(owner, gradient) / np.bincount(owner)
        return np.where(free, gradient - means[owner], gradient)


def proximal_pieces(rule: FusedRule, z: Floats, limits: Floats, thresholds: Floats) -> Floats:
    """Return argmin_w ||w - z||^2 / 2 + sum of limits |w_i - w_j| + sum of thresholds |w_j|, exactly.

    The part of w above a level t >= 0 is the same as that of total variation alone with z - thresholds
    for z, and the part below -t as with z + thresholds, as both are the same minimum cut. With equal
    thresholds that is soft thresholding of the pieces.
    """
    if not thresholds.any():
        return _pieces(rule, z, limits)
    if thresholds.min() == thresholds.max():
        pieces = _pieces(rule, z, limits)
        return np.copysign(np.maximum(np.abs(pieces) - thresholds, 0.0), pieces)
    above, below = _pieces(rule, z - thresholds, limits), _pieces(rule, z + thresholds, limits)
    return np.maximum(above, 0.0) + np.minimum(below, 0.0)


def _pieces(rule: FusedRule, z: Floats, limits: Floats) -> Floats:
    """Return the total variation operator, by the taut string along chains, by minimum cuts else."""
    if not len(z):
        return z
    if not len(rule.order):
        centre = z.mean()
        values, _ = split_by_cuts(z - centre, rule.graph, limits, np.zeros(len(limits)))
        return values + centre
    rank = np.empty(len(z), np.intp)
    rank[rule.order] = np.arange(len(z))
    links = np.zeros(len(z) - 1)
    links[rank[rule.graph.edges].min(axis=1)] = limits
    pieces = np.empty(len(z))
    pieces[rule.order] = total_variation(z[rule.order], 1.0, links)
    return pieces


def feasible_share(rule: FusedRule, gradient: Floats, most: float = 1.0) -> float:
    """Return the largest share of a gradient, up to ``most``, that the penalty holds at 0.

    That is s = min over w of penalty(w) / gradient'w, found by Dinkelbach's method: the proximal point
    of a share that is too large is a better w. Levels that are free are left out.
    """
    gradient = rule.without_levels(gradient)
    length = float(gradient @ gradient)
    if length == 0.0:
        return most
    share = min(most, rule.charge(gradient) / length)
    for _ in range(100):
        point = proximal_pieces(rule, share * gradient, rule.weight, rule.threshold)
        size = float(point @ point)
        charge = rule.charge(point)
        # At the proximal point share * gradient'w = penalty(w) + ||w||^2. One without any charge is a
        # level, and rounding.
        if size <= _PRECISION * charge or charge == 0.0:
            break
        share *= charge / (charge + size)
    return share
