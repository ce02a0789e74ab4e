"""What a rule says of one variable among others: compiled, for rules in which several share a switch.

A rule of single variables registers what it says of each; one whose variables are in or out together
looks at all that share the switch.
"""

from typing import Any

from garrote._jit import generic
from garrote.arrays import Floats


@generic
def moments_among(
    rule: Any, j: int, target: Floats, curvature: Floats
) -> tuple[float, float, float]:
    """Return what `moments` does of variable ``j``, given the least-squares values of all."""
    raise TypeError(f"no moments are registered for {type(rule).__name__}")


@generic
def inclusion_among(rule: Any, j: int, weight: Floats, curvature: Floats) -> float:
    """Return the inclusion probability of variable ``j``, given the weights of all."""
    raise TypeError(f"no inclusion is registered for {type(rule).__name__}")
