"""Which loop minimises a quadratic plus a penalty: by how the penalty ties coefficients together."""

from collections.abc import Callable
from typing import Any, NamedTuple

from garrote.arrays import Floats
from garrote.rules import Structure, structure
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.descent.quadratic import Quadratic
from garrote.solvers.descent.working_block import WorkingBlock
from garrote.solvers.penalised.fused_quadratic import FusedQuadratic, FusedRows, solve_fused
from garrote.solvers.penalised.fused_quadratic import suit_rows as pieces_suit_rows
from garrote.solvers.penalised.group_quadratic import GroupQuadratic, GroupRows, solve_groups
from garrote.solvers.penalised.group_quadratic import suit_rows as groups_suit_rows
from garrote.solvers.penalised.tied import (
    proximal_quadratic,
    sorted_quadratic,
    trend_quadratic,
)
from garrote.solvers.penalised.tied.proximal_quadratic import ProximalQuadratic, solve_by_steps
from garrote.solvers.penalised.tied.sorted_quadratic import SortedQuadratic, solve_sorted
from garrote.solvers.penalised.tied.trend_quadratic import TrendQuadratic, solve_trends


class Loop(NamedTuple):
    """One structure's solver: what it works on, and how exactly that is worth doing.

    ``suit_rows(shape)`` tells whether rows are cheaper to work on than cross products, for a block of
    columns of some shape. ``sharpness`` is the share of the tolerance to which working sets are solved.
    """

    solve: Callable[[Any, float, int], int]
    of_products: Callable[[Any, Floats, Floats, Floats], Any]
    of_rows: Callable[[Any, WorkingBlock, Floats, Floats], Any]
    suit_rows: Callable[[tuple[int, int]], bool]
    sharpness: float


_LOOPS = {
    Structure.GROUPS: Loop(solve_groups, GroupQuadratic, GroupRows, groups_suit_rows, 1.0),
    Structure.PIECES: Loop(solve_fused, FusedQuadratic, FusedRows, pieces_suit_rows, 1e-3),
    Structure.SORTED: Loop(
        solve_sorted, SortedQuadratic, sorted_quadratic.no_rows, sorted_quadratic.suit_rows, 1e-3
    ),
    Structure.OVERLAPS: Loop(
        solve_by_steps,
        ProximalQuadratic,
        proximal_quadratic.no_rows,
        proximal_quadratic.suit_rows,
        1e-3,
    ),
    Structure.TRENDS: Loop(
        solve_trends, TrendQuadratic, trend_quadratic.no_rows, trend_quadratic.suit_rows, 1e-3
    ),
}
# Newton's method on single coefficients reaches nearly all digits at no price.
_SHARP = 1e-3


def minimise(
    rule: Any,
    gram: Floats,
    gradient: Floats,
    coef: Floats,
    factor: ActiveFactor,
    tolerance: float,
    max_rounds: int = 1000,
) -> int:
    """Minimise a quadratic plus what a rule charges, in place; return the rounds it took.

    ``gram`` are the cross products and ``gradient`` is that of the quadratic at ``coef``, downhill.
    ``factor`` is kept by loops that solve linear systems, from one call to the next.
    """
    loop = _LOOPS.get(structure(rule))
    if loop is None:
        return Quadratic(gram, gradient, coef, factor).solve(rule, tolerance, max_rounds)
    return loop.solve(loop.of_products(rule, gram, gradient, coef), tolerance, max_rounds)


def suits_rows(rule: Any, shape: tuple[int, int]) -> bool:
    """Tell whether working on rows is cheaper than on cross products, for a block of this shape."""
    loop = _LOOPS.get(structure(rule))
    return loop is not None and loop.suit_rows(shape)


def minimise_by_rows(
    rule: Any,
    block: WorkingBlock,
    residual: Floats,
    coef: Floats,
    ahead: tuple[Floats, Floats],
    tolerance: float,
    max_rounds: int,
) -> int:
    """Do as `minimise`, given the columns and the residual of the rows instead of products.

    ``ahead`` is a guess at the solution, to be tried first, with the change of fitted values that it
    makes. For rules that `suits_rows` says so of.
    """
    loop = _LOOPS[structure(rule)]
    state = loop.of_rows(rule, block, residual, coef)
    state.guess(*ahead)
    return loop.solve(state, tolerance, max_rounds)


def sharpness(rule: Any) -> float:
    """Return the share of the tolerance to which working sets are solved."""
    loop = _LOOPS.get(structure(rule))
    return _SHARP if loop is None else loop.sharpness
