"""Whether what users say of a function agrees with its values: derivatives, averages and constants.

A derivative adds up, along a line, to what the function changes by between its ends; that of a function
with jumps does not. Averages are compared with draws at the last width, where tails are short. An
average over switches is the function itself where all are certain. Nothing else can tell a slope of 0
that is an optimum from one that is a mistake.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.smoothing.averages import Average
from garrote.smoothing.bernoulli import BernoulliBound, flipped
from garrote.smoothing.gaussian import GaussianBound
from garrote.smoothing.objective import Objective, shown

# Lines along which slopes are added up, and the stream that these are drawn from.
_LINES, _STREAM = 6, 2**31
# Places on a line: few, and many where these do not agree, as slopes may change often.
_PLACES = (96, 2048)
# Sums of slopes may be off by this share of their range, and so many standard errors of their mean.
_COARSE, _ROUGH = 0.02, 6.0
# Values in float32 have so many digits, down to this size; draws tell so many standard errors apart.
_ROUNDING, _TINY, _ERRORS = 1e-6, 1e-30, 10.0


def check_said(bound: GaussianBound, objective: Objective, mu: Floats, sigma: Floats) -> None:
    """Refuse, before all work, derivatives and a convexity that the function's values contradict."""
    normal = np.random.default_rng([bound.random_state, _STREAM]).standard_normal((_LINES, len(mu)))
    for away in sigma * normal:
        if objective.has_slopes:
            _check_line(
                "derivative", "f", mu, away, objective.value,
                lambda points: objective.slopes(objective.place(points)),
            )  # fmt: skip
        if not bound.sampled:
            _check_line(
                "gradient", "average", mu, away,
                lambda at: bound.known(at, sigma).value,
                lambda points: np.array([bound.known(at, sigma).gradient for at in points]),
            )  # fmt: skip
        if bound.convexity > 0:
            _check_convexity(bound.convexity, objective, mu, away)


def check_average(
    bound: GaussianBound, objective: Objective, x: Floats, value: float, sigma: Floats
) -> None:
    """Refuse an average, and a bound on what averaging adds, that draws around a point contradict."""
    adds = bound.adds(sigma)
    if bound.sampled and np.isnan(adds):
        return
    drawn = bound.drawn(objective, x, sigma, _STREAM)
    slack = _ERRORS * drawn.value_error + _slack(value)
    told = f"{drawn.value:.6g} over draws, with a standard error of {drawn.value_error:.2g}"
    if not bound.sampled:
        stated = bound.known(x, sigma).value
        if abs(stated - drawn.value) > slack:
            raise ValueError(
                f"average says {stated:.6g} at x = {shown(x)} and sigma = {sigma.max():.3g}, where f "
                f"has a mean of {told}: it has to be that of f over x ~ N(mu, sigma^2)"
            )
    if drawn.value - value > adds + slack:
        raise ValueError(
            f"added={bound.added} says that averaging adds {adds:.3g} at most at sigma = "
            f"{sigma.max():.3g}, but at x = {shown(x)} f is {value:.6g} and has a mean of {told}"
        )


def check_switches(bound: BernoulliBound, objective: Objective, state: Floats) -> None:
    """Refuse an average over switches that is not the function where all of them are certain."""
    if bound.average is None:
        return
    stated: Average = bound.known(state)
    values, slopes = flipped(objective, state[None, :])
    slack = _slack([*values, *slopes[0]])
    if abs(stated.value - values[0]) > slack:
        raise ValueError(
            f"average says {stated.value:.6g} at theta = {shown(state)}, where f is {values[0]:.6g}: "
            "with all switches certain both are the same"
        )
    wrong = int(np.argmax(np.abs(stated.gradient - slopes[0])))
    if abs(stated.gradient[wrong] - slopes[0, wrong]) > slack:
        raise ValueError(
            f"gradient says {stated.gradient[wrong]:.6g} for switch {wrong} at theta = {shown(state)}, "
            f"where switching it on changes f by {slopes[0, wrong] + 0.0:.6g}"
        )


def _check_line(
    said: str,
    of: str,
    mu: Floats,
    away: Floats,
    value: Callable[[Floats], float],
    slopes: Callable[[Floats], Any],
) -> None:
    """Compare what a function changes by along a line with the sum of what are said to be its slopes."""
    ends = value(mu), value(mu + away)
    found = ends[1] - ends[0]
    for count in _PLACES:
        places = (np.arange(count) + 0.5) / count
        along = np.asarray(slopes(mu + places[:, None] * away)) @ away
        expected = float(along.mean())
        allowed = _COARSE * float(np.ptp(along)) + _ROUGH * float(along.std()) / np.sqrt(count)
        if abs(found - expected) <= allowed + _slack(ends):
            return
    raise ValueError(
        f"{said} is not that of {of}: from x = {shown(mu)} to {shown(mu + away)} {of} changes "
        f"by {found:.4g}, and by the {said} it should by {expected:.4g}. Correct it, or leave it "
        "out: values of f are enough, and all there is where f has jumps"
    )


def _check_convexity(convexity: float, objective: Objective, mu: Floats, away: Floats) -> None:
    """Compare the mean of two ends of a line with the value between them."""
    low, high, middle = objective.value(mu - away), objective.value(mu + away), objective.value(mu)
    above, least = 0.5 * (low + high) - middle, 0.5 * convexity * float(away @ away)
    if above < least - _slack((low, high, middle)):
        raise ValueError(
            f"convexity={convexity:g} is more than f has: between x = {shown(mu - away)} and "
            f"{shown(mu + away)} f rises by {above:.4g}, where {least:.4g} is the least"
        )


def _slack(values: Any) -> float:
    """Return what values of such sizes may be off by."""
    return _ROUNDING * float(np.abs(values).max()) + _TINY
