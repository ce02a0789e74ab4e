"""What walks ask of the factor of a model, whether its members have signs or not.

Bodies for a factor without signs are here, those for one with signs in `garrote.solvers.models.signed`.
Of the inverse of the root only the row of the member in question is read.
"""

from typing import Any

import numpy as np

from garrote._jit import generic
from garrote.arrays import Array, Floats
from garrote.priors.evidence import log_evidence, log_evidence_ratio
from garrote.solvers.algebra.model_factor import (
    ModelFactor,
    add_variable,
    beside_newcomer,
    dependent_share,
    fill,
    log_determinant,
    member_coefficient,
    remove_variable,
)


@generic
def refill(
    factor: Any, gram: Floats, slot: Array, lengths: Floats, xty: Floats, yty: float, ridge: float,
    members: Array, signs: Floats,
) -> None:  # fmt: skip
    """Make a factor that of a model, from rows of the Gram matrix."""


@generic
def append(factor: Any, gram_row: Floats, j: int, sign: float) -> None:
    """Take variable j in, with a sign where it has one."""


@generic
def enter(factor: Any, rule: Any, gram_row: Floats, j: int, coin: float) -> None:
    """Take variable j in, with a sign by a coin where it has one."""


@generic
def leave(factor: Any, j: int) -> None:
    """Leave variable j out."""


@generic
def turn(factor: Any, j: int, inverse: Floats) -> None:
    """Give member j the other sign."""


@generic
def log_state_evidence(factor: Any, rule: Any) -> float:
    """Return the log evidence of a model, with its signs where it has some."""
    raise TypeError(f"no evidence is registered for {type(factor).__name__}")


@generic
def member_log_odds(factor: Any, rule: Any, data: Any, inverse: Floats, a: int, k: int) -> float:
    """Return the log odds of the a-th member being in; prior odds of the size are not included."""
    raise TypeError(f"no odds are registered for {type(factor).__name__}")


@generic
def newcomer_log_odds(
    factor: Any, rule: Any, data: Any, inverse: Floats, a: int, j: int, k: int
) -> float:
    """Return the log odds of variable j beside the model, or beside all of it but the a-th member.

    ``k`` others stay, and ``a`` is -1 where all do. Prior odds of the size are not included.
    """
    raise TypeError(f"no odds are registered for {type(factor).__name__}")


@generic
def pair_log_odds(
    factor: Any, rule: Any, data: Any, inverse: Floats, between: float, i: int, j: int, k: int,
    coin: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return log odds of i alone, of j alone and of both beside a model, and the sign of i if both.

    They are odds to neither; ``between`` is the cross product of the two columns. The sign is drawn by
    the ``coin``, those of j being summed over. Prior odds of the size are not included.
    """
    raise TypeError(f"no odds are registered for {type(factor).__name__}")


@generic
def sign_of(factor: Any, j: int) -> float:
    """Return the sign of a variable, or 0."""
    raise TypeError(f"no signs are registered for {type(factor).__name__}")


@generic
def turning_chance(factor: Any, rule: Any, inverse: Floats, a: int, k: int) -> float:
    """Return the probability that the a-th of k members has the other sign, given all others."""
    raise TypeError(f"no signs are registered for {type(factor).__name__}")


@refill.register
def _(factor: ModelFactor, gram, slot, lengths, xty, yty, ridge, members, signs):
    fill(gram, slot, lengths, xty, yty, ridge, members, factor)


@append.register
def _(factor: ModelFactor, gram_row, j, sign):
    add_variable(gram_row, j, factor)


@enter.register
def _(factor: ModelFactor, rule, gram_row, j, coin):
    add_variable(gram_row, j, factor)


@leave.register
def _(factor: ModelFactor, j):
    remove_variable(j, factor)


@turn.register
def _(factor: ModelFactor, j, inverse):
    pass


@log_state_evidence.register
def _(factor: ModelFactor, rule):
    return log_evidence(rule, factor.size[0], log_determinant(factor), factor.left[0])


@member_log_odds.register
def _(factor: ModelFactor, rule, data, inverse, a, k):
    weight, spread = member_coefficient(factor, inverse, a, k)
    drop = weight * weight / spread
    ratio = log_evidence_ratio(rule, k - 1, factor.left[0] + drop, 1.0 / spread, drop)
    return ratio + data.log_odds[factor.members[a]]


@newcomer_log_odds.register
def _(factor: ModelFactor, rule, data, inverse, a, j, k):
    left, pivot, product = factor.left[0], factor.pivot[j], factor.product[j]
    if a >= 0:
        weight, spread = member_coefficient(factor, inverse, a, k + 1)
        along = 0.0
        for b in range(a, k + 1):
            along += inverse[a, b] * factor.rows[b, j]
        left += weight * weight / spread
        pivot += along * along / spread
        product += along * weight / spread
    if pivot <= dependent_share(rule) * data.length[j]:
        return -np.inf
    ratio = log_evidence_ratio(rule, k, left, pivot, product * product / pivot)
    return ratio + data.log_odds[j]


@turning_chance.register
def _(factor: ModelFactor, rule, inverse, a, k):
    return 0.0


@sign_of.register
def _(factor: ModelFactor, j):
    return 0.0


@pair_log_odds.register
def _(factor: ModelFactor, rule, data, inverse, between, i, j, k, coin):
    one = newcomer_log_odds(factor, rule, data, inverse, -1, i, k)
    other = newcomer_log_odds(factor, rule, data, inverse, -1, j, k)
    if one == -np.inf:
        return one, other, one, 0.0
    product, pivot = beside_newcomer(factor, between, i, j, k)
    if pivot <= dependent_share(rule) * data.length[j]:
        return one, other, -np.inf, 0.0
    left = max(factor.left[0] - factor.product[i] * factor.product[i] / factor.pivot[i], 0.0)
    ratio = log_evidence_ratio(rule, k + 1, left, pivot, product * product / pivot)
    return one, other, one + ratio + data.log_odds[j], 0.0
