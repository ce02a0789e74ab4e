"""Ranges of the slab's variance and of the prior log odds, over which bounds are integrated.

A solution is found at one value of each, and stands for a range around it: its factors are held, and its
bound on the evidence is integrated over the range under the prior. Ranges do not overlap, so that a sum
of such integrals never is above the evidence, however coarse the grid.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, log_expit, logit

from garrote.arrays import Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.mean_field.hyperparameters import Learning
from garrote.inference.mean_field.paired_mean_field import dense_side
from garrote.priors.inclusion import Inclusion
from garrote.priors.slab import IndependentSlab

# Log slab variances that are averaged over where it is unknown: first, last, how many. Those far out
# are tried only if the ones before have weight.
LOG_VARIANCES = (-16.0, 24.0, 21)
# Log odds that are averaged over where the inclusion probability is unknown, and those on the way there.
_ODDS = 16
_APPROACH = 10
# The first and the last range of log odds reach so much further.
_BEYOND = 15.0
# Ranges are integrated in pieces of at most this length, each by Gauss's rule with so many points.
_PIECE, _POINTS = 2.0, 6


class Range(NamedTuple):
    """Points of a hyperparameter, with the logarithms of their prior weights."""

    points: Floats
    log_weight: Floats

    @classmethod
    def at(cls, value: float, log_weight: float = 0.0) -> "Range":
        """Return a single point."""
        return cls(np.array([value]), np.array([log_weight]))

    @classmethod
    def between(
        cls,
        low: float,
        high: float,
        log_density: Callable[[Floats], Floats],
        piece: float = _PIECE,
    ) -> "Range":
        """Return the points by which a prior density is integrated over a range, in pieces."""
        edges = np.linspace(low, high, int(np.ceil((high - low) / piece)) + 1)
        nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
        half = 0.5 * np.diff(edges)[:, None]
        points = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * nodes).ravel()
        return cls(points, np.log(half * weights).ravel() + log_density(points))

    def log_integral(self, values: Floats) -> float:
        """Return the logarithm of the integral of what has these logarithms at the points."""
        logs = self.log_weight + values
        top = logs.max()
        return float(top + np.log(np.exp(logs - top).sum()))


class Cell(NamedTuple):
    """Hyperparameters that a solution stands for: log slab variances, and prior log odds.

    The weights of log odds hold the prior probability of the empty model, too, those of log variances
    that of the shape of the ``slab``, whose own variance is that of the solution.
    """

    log_variance: Range
    log_odds: Range
    slab: IndependentSlab


def variance_ranges(
    slab: IndependentSlab, log_weight: float = 0.0
) -> list[tuple[IndependentSlab, Range]]:
    """Return slabs of known variance, and the log variances that each stands for.

    The narrower the humps of a slab are, the nearer to each other are its variances.
    """
    if slab.variance is not None:
        return [(slab, Range.at(float(np.log(slab.variance)), log_weight))]
    first, last, count = LOG_VARIANCES
    count = 1 + int(np.ceil((count - 1) / _width(slab)))
    half = 0.5 * (last - first) / (count - 1)
    slabs = [known for _, known in slab.grid((first, last, count))]
    centers = np.log([float(known.variance or 1.0) for known in slabs])
    return [
        (known, _variances_between(slab, u - half, u + half, log_weight))
        for known, u in zip(slabs, centers, strict=True)
    ]


def whole_variance_range(slab: IndependentSlab, log_weight: float = 0.0) -> Range:
    """Return all log variances that a slab, itself of some weight, may have."""
    if slab.variance is not None:
        return Range.at(float(np.log(slab.variance)), log_weight)
    return _variances_between(slab, LOG_VARIANCES[0], LOG_VARIANCES[1], log_weight)


def _variances_between(slab: IndependentSlab, low: float, high: float, log_weight: float) -> Range:
    found = Range.between(low, high, slab.log_density, _PIECE * _width(slab))
    return found._replace(log_weight=found.log_weight + log_weight)


def _width(slab: IndependentSlab) -> float:
    """Return how wide a hump is, relative to a slab of the same variance that has one."""
    return float(np.sqrt(1.0 - slab.known_separation))


def odds_ranges(beliefs: Beliefs) -> tuple[Floats, list[Range | None]]:
    """Return log odds to anneal over and the range each stands for, None for those on the way only."""
    inclusion = beliefs.inclusion
    if inclusion.shared is None:  # each variable's odds are its own: gamma is 0
        dense = dense_side(0.0, inclusion.log_odds)
        gammas = np.concatenate([np.linspace(-15.0, 0.0, _APPROACH + 1), dense])
        return gammas, [whole_odds_range(beliefs) if gamma == 0.0 else None for gamma in gammas]
    grid = _odds(beliefs)
    edges = 0.5 * (grid[1:] + grid[:-1])
    edges = np.concatenate([[grid[0] - _BEYOND], edges, [grid[-1] + _BEYOND]])
    density = _odds_density(inclusion)
    ranges = [Range.between(*pair, density) for pair in pairwise(edges)]
    approach = grid[0] - 3.0 * np.arange(_APPROACH, 0, -1)
    dense = dense_side(grid[-1], inclusion.log_odds)
    before: list[Range | None] = [None] * len(approach)
    return np.concatenate([approach, grid, dense]), [*before, *ranges, *[None] * len(dense)]


def whole_odds_range(beliefs: Beliefs) -> Range:
    """Return all prior log odds."""
    if beliefs.inclusion.shared is None:
        return Range.at(0.0, float(beliefs.inclusion.by_size[0]))
    grid = _odds(beliefs)
    return Range.between(grid[0] - _BEYOND, grid[-1] + _BEYOND, _odds_density(beliefs.inclusion))


def whole_cell(learning: Learning, beliefs: Beliefs, log_weight: float = 0.0) -> Cell:
    """Return all that the hyperparameters may be, for a shape of the slab that has some weight."""
    variances = whole_variance_range(learning.slab, log_weight)
    return Cell(variances, whole_odds_range(beliefs), learning.slab)


def _odds(beliefs: Beliefs) -> Floats:
    """Return log odds from next to no variable to as many as a quarter of the rows."""
    usable = max(len(beliefs.inclusion.log_odds), 1)
    low = float(logit(min(0.1 / usable, 0.4)))
    high = float(logit(min(max(beliefs.n / 4, 1.0) / usable, 0.5)))
    return np.linspace(low, max(high, low + 1.0), _ODDS)


def _odds_density(inclusion: Inclusion) -> Callable[[Floats], Floats]:
    """Return the log density of shared log odds, times the probability of the empty model.

    Its integral is the prior of the empty model that sums over all models have.
    """
    assert inclusion.shared is not None
    (a, b), count = inclusion.shared, len(inclusion.log_odds)
    constant = float(inclusion.by_size[0]) - betaln(a, b + count)

    def density(points: Floats) -> Floats:
        return np.asarray(a * log_expit(points) + (b + count) * log_expit(-points) + constant)

    return density
