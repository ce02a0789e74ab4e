"""What solvers ask of a penalty, a prior or a design: functions with one body for each class.

A rule is what a penalty or a prior means at one strength: a NamedTuple of arrays and numbers. Solvers
know rules, and what kernels read of a design, by these functions alone; the bodies stand beside the
class that they belong to. Those of `coefficients`, `switches`, `columns` and `proximal_group` are
compiled, the others are called from Python.
"""

from garrote.rules.absolute_parts import AbsoluteParts, absolute_parts
from garrote.rules.coefficients import (
    cost,
    inclusion,
    moments,
    noise_pull,
    noise_share,
    second_derivative,
    shrink,
    slope,
)
from garrote.rules.columns import (
    Residual,
    add_block,
    add_column,
    block_dot,
    column_dot,
    squared_residual,
)
from garrote.rules.integration import Integration
from garrote.rules.optimality import (
    Evaluated,
    bounds,
    dual_bound,
    is_convex,
    reach,
    total_cost,
    violation,
)
from garrote.rules.parabolas import expected_spread, first_guess, ridge_weights, slopes
from garrote.rules.proximal_points import proximal_point
from garrote.rules.structures import (
    RuleOfGroups,
    RuleOfPieces,
    Structure,
    WayDown,
    companions,
    is_elastic_net,
    proximal_group,
    restricted,
    structure,
    violation_of_group,
)
from garrote.rules.switches import inclusion_among, moments_among

__all__ = [
    "AbsoluteParts",
    "Evaluated",
    "Integration",
    "Residual",
    "RuleOfGroups",
    "RuleOfPieces",
    "Structure",
    "WayDown",
    "absolute_parts",
    "add_block",
    "add_column",
    "block_dot",
    "bounds",
    "column_dot",
    "companions",
    "cost",
    "dual_bound",
    "expected_spread",
    "first_guess",
    "inclusion",
    "inclusion_among",
    "is_convex",
    "is_elastic_net",
    "moments",
    "moments_among",
    "noise_pull",
    "noise_share",
    "proximal_group",
    "proximal_point",
    "reach",
    "restricted",
    "ridge_weights",
    "second_derivative",
    "shrink",
    "slope",
    "slopes",
    "squared_residual",
    "structure",
    "total_cost",
    "violation",
    "violation_of_group",
]
