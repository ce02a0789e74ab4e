"""One signal or image, made constant over pieces: the fused lasso with X = I, with gaps and weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.limits.magnitudes import WEIGHTS, refuse_large
from garrote.penalties.fusion.fused_rule import FusedRule
from garrote.penalties.fusion.neighbours import chain_order, resolve_graph
from garrote.proximal.inputs import as_strength
from garrote.rules import Evaluated
from garrote.solvers.descent.optimality import certify
from garrote.solvers.penalised.fused_quadratic import solve_fused
from garrote.solvers.penalised.fused_signal import FusedDiagonal
from garrote.summaries import Shown

# The gradient of least length is shorter than this share of the largest weighted number.
_TOLERANCE = 1e-12
_MAX_ROUNDS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class FusedSignal(Shown):
    """A signal that is constant over pieces, and how far it is from the optimum.

    Attributes
    ----------
    values : array
        Of the shape of the signal, without gaps.
    pieces : array of int
        The number of each place's piece.
    gap : float
        The duality gap, divided by the objective of 0.
    """

    values: Floats
    pieces: Array
    gap: float

    @property
    def n_pieces(self) -> int:
        """How many pieces there are."""
        return int(self.pieces.max(initial=-1)) + 1


def fuse_signal(
    y: Any,
    fusion: float,
    sparsity: float = 0.0,
    graph: Any = None,
    weights: Any = None,
    sample_weight: Any = None,
) -> FusedSignal:
    """Make a signal constant over pieces, where it may have gaps and weights.

    ::

        argmin_z sum_i sample_weight_i (y_i - z_i)^2 / 2
                 + fusion sum_(i, j) weights_ij |z_i - z_j| + sparsity ||z||_1

    Where y is NaN nothing is known: the place has no weight, and takes what its neighbours suggest.

    Parameters
    ----------
    y : array of shape (N,) or (rows, columns)
        A signal, or an image, whose neighbours are those of the lattice.
    fusion : float
        Strength of the differences.
    sparsity : float, default=0
        Strength of the l1 norm.
    graph : optional
        Who is whose neighbour, as in `garrote.penalties.FusedLasso`; a chain by default.
    weights : array, optional
        One number >= 0 for each pair of neighbours.
    sample_weight : array of the shape of y, optional

    Returns
    -------
    FusedSignal

    References
    ----------
    Murphy (2012), Eqs. 13.115-13.116, whose lambda are twice these strengths.

    Examples
    --------
    >>> from garrote.paths.signals import fuse_signal
    >>> fused = fuse_signal([1.0, 1.5, float("nan"), 0.5, 6.0, 5.0], 1.0)
    >>> fused.values.round(3).tolist()
    [1.333, 1.333, 1.333, 1.333, 5.0, 5.0]
    >>> fused.n_pieces
    2
    """
    values = np.asarray(y, dtype=np.float64)
    if values.ndim not in (1, 2) or not values.size:
        raise ValueError(f"y must be a signal or an image, got an array of shape {values.shape}")
    if graph is None and values.ndim == 2:
        graph = ("lattice", values.shape)
    mass = masses(values, sample_weight)
    neighbours = resolve_graph(graph, len(mass), None, weights)
    rule = FusedRule(
        neighbours, as_strength(fusion, "fusion") * neighbours.weights,
        np.full(len(mass), as_strength(sparsity, "sparsity")), chain_order(neighbours),
    )  # fmt: skip
    return _fused(rule, mass, values, may_shift=not sparsity)


def _fused(rule: FusedRule, mass: Floats, values: Floats, *, may_shift: bool) -> FusedSignal:
    """Describe the signal of the lowest objective."""
    known = np.where(mass > 0, values.ravel(), 0.0)
    # Without an l1 norm all may be shifted: numbers far from 0 lose no digits.
    centre = float(mass @ known / mass.sum()) if may_shift else 0.0
    known = np.where(mass > 0, known - centre, 0.0)
    coef = _lowest(rule, mass, known)
    return FusedSignal(
        (coef + centre).reshape(values.shape),
        rule.graph.joined(rule.equal_ends(coef)[0]).reshape(values.shape),
        _gap(rule, mass, known, coef),
    )


def _lowest(rule: FusedRule, mass: Floats, known: Floats) -> Floats:
    """Return the coefficients of the lowest objective."""
    coef = np.zeros(len(mass))
    state = FusedDiagonal(rule, mass, mass * known, coef)
    state.begin()
    solve_fused(state, _TOLERANCE * float(np.abs(mass * known).max(initial=0.0)), _MAX_ROUNDS)
    return coef


def masses(values: Floats, sample_weight: Any) -> Floats:
    """Return the weights, 0 where there are no data."""
    flat, shape = values.ravel(), values.shape
    if np.isinf(flat).any():
        raise ValueError(f"y is infinite at {int(np.argmax(np.isinf(flat)))}: NaN marks a gap")
    given = np.ones(shape) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if given.shape != shape or not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError(f"sample_weight must have a number >= 0 for each of y's {shape} places")
    mass = np.where(np.isnan(flat), 0.0, given.ravel())
    refuse_large(np.where(np.isnan(flat), 0.0, flat), "y", of="place")
    refuse_large(mass, "sample_weight", limit=WEIGHTS, of="place")
    if not mass.any():
        raise ValueError("y has no numbers: all places are NaN or have no weight")
    return mass


def _gap(rule: FusedRule, mass: Floats, known: Floats, coef: Floats) -> float:
    everything = np.arange(len(coef))

    def seen(at: Floats) -> Evaluated:
        gradient = mass * (known - at)
        loss, along = 0.5 * float(mass @ (known - at) ** 2), float(gradient @ known)
        return Evaluated(loss, gradient, lambda share: share * (along - share * loss))

    return certify(rule, everything, coef, seen(coef), mass, seen(np.zeros(len(coef))))[
        "duality gap"
    ]
