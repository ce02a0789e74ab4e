"""How good a point is, from the function and the point alone: fresh draws, and bounds if there are."""

import numpy as np

from garrote.arrays import Floats
from garrote.results.certificates import SMOOTHED, Certificate
from garrote.smoothing.agreement import check_average
from garrote.smoothing.averages import Average
from garrote.smoothing.bernoulli import BernoulliBound, flips
from garrote.smoothing.gaussian import GaussianBound
from garrote.smoothing.objective import Objective

# Draws that no optimiser has seen, so many times as many as it takes for a step.
_FRESH, _TIMES = 0, 4


def certify_mean(
    bound: GaussianBound, objective: Objective, x: Floats, sigma: Floats, lower: float | None
) -> tuple[Average, Certificate]:
    """Return the average around a point, and how far the point is from the least.

    A gap is known from a lower bound of f, or where f is strongly convex and it is known what averaging
    adds: then f(x) - min f <= added + |dU/dmu|^2 / (2 convexity), with the least convexity.
    """
    average = bound.at(objective, x, sigma, _FRESH, _TIMES)
    value = objective.value(x)
    check_average(bound, objective, x, value, sigma)
    slope = float(np.linalg.norm(sigma * average.gradient))
    parts = {
        "slope of the average": slope,
        "gradient of the average": float(np.linalg.norm(average.gradient)),
        "error of the slope": float(np.linalg.norm(sigma * average.gradient_error)),
    }
    gaps = [] if lower is None else [_above(value, lower)]
    adds = bound.adds(sigma)
    if not np.isnan(adds):
        parts["averaging adds"] = adds
        if bound.convexity > 0 and not bound.sampled:
            steep = float(average.gradient @ average.gradient)
            gaps.append(adds + steep / (2.0 * bound.convexity))
    return average, _stated(parts, gaps, slope, "slope of the average over one deviation")


def certify_switches(
    bound: BernoulliBound, objective: Objective, state: Floats, theta: Floats, lower: float | None
) -> tuple[Average, Certificate]:
    """Return the average over probabilities, and what one flip of a state would still gain."""
    average = bound.at(objective, theta, _FRESH, _TIMES)
    value = objective.value(state)
    others = objective.values(objective.place(flips(state)))
    gain = max(value - float(others.min(initial=np.inf)), 0.0)
    gaps = [] if lower is None else [_above(value, lower)]
    return average, _stated({"one flip": gain}, gaps, gain, "what one flip would gain")


def _above(value: float, lower: float) -> float:
    """Return how far a value is above what f is said not to fall below."""
    if value < lower:
        raise ValueError(
            f"lower={lower:g} is no lower bound of f, which is {value:g} at the point found"
        )
    return value - lower


def _stated(parts: dict[str, float], gaps: list[float], else_: float, said: str) -> Certificate:
    """Return a gap where one is known, and the other measure where not; both are in units of f."""
    if not gaps:
        return Certificate(SMOOTHED, else_, parts, said)
    parts = {"gap": min(gaps)} | parts
    return Certificate(SMOOTHED, min(gaps), parts, "f is no farther than that above its least")
