"""What the fused lasso charges at one strength, its proximal point, and the gradients that it holds."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, eye_array, vstack

from garrote.arrays import Array, Floats
from garrote.penalties.fusion.fused_precision import spread_of_precision
from garrote.penalties.held_share import held_share
from garrote.proximal.chain import total_variation
from garrote.proximal.graph import Graph
from garrote.proximal.graph_variation import split_by_cuts
from garrote.rules import (
    AbsoluteParts,
    Evaluated,
    Structure,
    WayDown,
    absolute_parts,
    companions,
    dual_bound,
    expected_spread,
    first_guess,
    proximal_point,
    reach,
    restricted,
    structure,
    total_cost,
    violation,
)

# Coefficients that differ by less than this share of the largest are equal.
_TIE = 1e-12
# Columns up to which a working set has all of them.
_ALL_COLUMNS = 20_000


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

    @property
    def levels(self) -> int:
        """How many levels nothing holds back: those of free components."""
        return len(np.unique(self.graph.components[self.free]))

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

    def way_down(self, gradient: Floats, coef: Floats, stiffer: float = 1.0) -> WayDown:
        """Return the gradient of least length, downhill; kinks may be made ``stiffer`` than they are.

        It is 0 at the optimum, and says elsewhere which pieces fall apart and how their parts move.
        """
        fused, sign = self.equal_ends(coef)
        smooth = gradient - self.graph.outflow(self.weight * sign) - self.threshold * np.sign(coef)
        limits = np.where(fused, stiffer * self.weight, 0.0)
        thresholds = np.where(coef == 0.0, stiffer * self.threshold, 0.0)
        return WayDown(self.proximal_pieces(smooth, limits, thresholds), fused)

    def proximal_pieces(self, z: Floats, limits: Floats, thresholds: Floats) -> Floats:
        """Return argmin_w ||w - z||^2 / 2 + sum limits |w_i - w_j| + sum thresholds |w_j|, exactly.

        The part of w above a level t >= 0 is the same as that of total variation alone with z -
        thresholds for z, and the part below -t as with z + thresholds, as both are the same minimum cut.
        With equal thresholds that is soft thresholding of the pieces.
        """
        if not thresholds.any():
            return _pieces(self, z, limits)
        if thresholds.min() == thresholds.max():
            pieces = _pieces(self, z, limits)
            return np.copysign(np.maximum(np.abs(pieces) - thresholds, 0.0), pieces)
        above, below = _pieces(self, z - thresholds, limits), _pieces(self, z + thresholds, limits)
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

    Levels that are free are left out.
    """
    return held_share(
        rule.without_levels(gradient),
        rule.charge,
        lambda z: rule.proximal_pieces(z, rule.weight, rule.threshold),
        most,
    )


@structure.register
def _(rule: FusedRule) -> Structure:
    return Structure.PIECES


@restricted.register
def _(rule: FusedRule, columns: Array) -> FusedRule:
    """Return the rule of some columns, the others being 0: edges to those are thresholds."""
    count = len(rule.threshold)
    if len(columns) == count and (columns == np.arange(count)).all():
        return rule
    place = np.full(count, -1)
    place[columns] = np.arange(len(columns))
    ends = place[rule.graph.edges]
    inside = (ends >= 0).all(axis=1)
    across = (ends >= 0).any(axis=1) & ~inside
    threshold = rule.threshold[columns]
    np.add.at(threshold, ends[across].max(axis=1), rule.weight[across])
    # Edges are sorted anew: their weights have to follow, which a graph of them does by itself.
    graph = Graph(len(columns), ends[inside], rule.weight[inside])
    order = rule.order
    if len(order):
        rank = np.empty(count, np.intp)
        rank[order] = np.arange(count)
        order = np.argsort(rank[columns])
    return FusedRule(graph, graph.weights, threshold, order)


@companions.register
def _(rule: FusedRule, columns: Array) -> Array:
    """Return all columns if that is affordable, else those given and components whose level is free.

    Pieces that are split and merged at once need far fewer rounds than those that grow by their ends.
    """
    if len(columns) and len(rule.threshold) <= _ALL_COLUMNS:
        return np.arange(len(rule.threshold))
    owner, free = rule.graph.components, rule.free
    inside = np.zeros(len(rule.threshold), dtype=bool)
    inside[columns] = True
    reached = np.zeros(len(rule.threshold), dtype=bool)
    reached[owner[columns]] = True
    return np.flatnonzero(inside | (reached[owner] & free))


@violation.register
def _(rule: FusedRule, gradient: Floats, coef: Floats, curvature: Floats) -> Floats:
    return np.abs(rule.way_down(gradient, coef).direction)


@total_cost.register
def _(rule: FusedRule, columns: Array, coef: Floats) -> float:
    everywhere = np.zeros(len(rule.threshold))
    everywhere[columns] = coef
    return rule.charge(everywhere)


@proximal_point.register
def _(rule: FusedRule, z: Floats, step: float) -> Floats:
    return rule.proximal_pieces(z, step * rule.weight, step * rule.threshold)


@first_guess.register
def _(rule: FusedRule, coef: Floats, size: float) -> Floats:
    # Neighbours must differ, since those that are equal would stay so.
    return coef + size * np.random.default_rng(0).standard_normal(len(coef))


@expected_spread.register
def _(rule: FusedRule, coef: Floats, directions: Floats) -> Floats:
    return spread_of_precision(rule, coef, directions)


@absolute_parts.register
def _(rule: FusedRule) -> AbsoluteParts:
    """Return single coefficients first, then differences along edges."""
    count, edges = len(rule.threshold), rule.graph.edges
    charged = np.flatnonzero(rule.threshold)
    singles = eye_array(count, format="csr")[charged]
    signs = np.tile([1.0, -1.0], len(edges))
    rows = np.repeat(np.arange(len(edges)), 2)
    differences = csr_array((signs, (rows, edges.ravel())), (len(edges), count))
    weight = np.concatenate([rule.threshold[charged], rule.weight])
    return AbsoluteParts(vstack([singles, differences], format="csr"), weight, np.zeros(count))


@dual_bound.register
def _(rule: FusedRule, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated) -> float:
    if rule.weight.any() or rule.threshold.any():
        share = feasible_share(rule, seen.gradient)
        # A level that nothing pulls to 0 would need a gradient of sum 0; it is taken to be in reach.
        levels = share * (seen.gradient - rule.without_levels(seen.gradient))
    else:
        share, levels = 1.0, seen.gradient  # without a penalty every coefficient is a level
    beyond, bound = float(np.abs(levels).sum()), seen.dual(share)
    return bound - reach(coef, curvature > 0, curvature, null) * beyond if beyond else bound
