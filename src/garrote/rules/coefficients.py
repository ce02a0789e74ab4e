"""What a rule says of one coefficient: compiled, as coordinate loops ask it once a step.

Every rule registers ``shrink``, the new coefficient of one variable given its least-squares value ``z``
and its curvature x'Wx. One that stands for a distribution registers ``moments``, the inclusion
probability, mean and variance behind that coefficient; one that stands for a penalty registers ``cost``
and its first and second derivative.
"""

from typing import Any

from garrote._jit import generic


@generic
def shrink(rule: Any, j: int, z: float, curvature: float) -> float:
    """Return the coefficient of variable ``j`` that minimises its scalar objective."""
    raise TypeError(f"no shrinkage rule is registered for {type(rule).__name__}")


@generic
def moments(rule: Any, j: int, z: float, curvature: float) -> tuple[float, float, float]:
    """Return the inclusion probability, the mean given inclusion and the coefficient's variance."""
    raise TypeError(f"no moments are registered for {type(rule).__name__}")


@generic
def inclusion(rule: Any, j: int, weight: float, curvature: float) -> float:
    """Return the inclusion probability of a variable, given its weight."""
    raise TypeError(f"no inclusion is registered for {type(rule).__name__}")


@generic
def noise_share(
    rule: Any, z: float, probability: float, weight: float, variance: float, curvature: float
) -> float:
    """Return a variable's part of n times the noise variance, in addition to the squared residual.

    Given its least-squares value and its `moments`.
    """
    raise TypeError(f"no noise share is registered for {type(rule).__name__}")


@generic
def noise_pull(rule: Any, z: float, probability: float, curvature: float) -> float:
    """Return by how much a variable's `noise_share` falls with a unit of the noise's deviation."""
    raise TypeError(f"no pull on the noise is registered for {type(rule).__name__}")


@generic
def cost(rule: Any, j: int, coef: float) -> float:
    """Return what the rule's penalty charges for one coefficient."""
    raise TypeError(f"no cost is registered for {type(rule).__name__}")


@generic
def slope(rule: Any, j: int, coef: float) -> float:
    """Return the derivative of the cost at a coefficient that is not 0."""
    raise TypeError(f"no slope is registered for {type(rule).__name__}")


@generic
def second_derivative(rule: Any, j: int, coef: float) -> float:
    """Return the second derivative of the cost at a coefficient that is not 0."""
    raise TypeError(f"no second derivative is registered for {type(rule).__name__}")
