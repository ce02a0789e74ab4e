"""Threshold, size and expected number of false selections: any two of them give the third."""

from dataclasses import dataclass, replace

import numpy as np

from garrote.arrays import Array
from garrote.results.error_control import ErrorControl
from garrote.selecting.control.bounds import BOUNDS, hits_needed, largest_size, least_threshold
from garrote.selecting.control.bounds import thresholds as possible_thresholds
from garrote.selecting.control.frequencies import Frequencies

# Where nothing is said: select what is in three quarters of the resamples, and expect one false one.
THRESHOLD, EXPECTED = 0.75, 1.0
# Rows of the table for each variable that a half may select, at least.
_ROWS_FOR_EACH = 4
_DEFAULT_BOUND = {"pairs": "r-concave", "half": "meinshausen-buehlmann", "bootstrap": None}
SOURCES = {
    "r-concave": "Shah & Samworth 2013, Eq. 8",
    "unimodal": "Shah & Samworth 2013, Theorem 2",
    "worst-case": "Shah & Samworth 2013, Theorem 1",
    "meinshausen-buehlmann": "Meinshausen & Buehlmann 2010, Theorem 1",
}
_NO_PROBABILITY = "a frequency is not the probability that a variable has an effect"
_BY_CHANCE = (
    "variables without effect are such where base treats all of them alike and does no worse than "
    "chance"
)


@dataclass(frozen=True)
class Plan:
    """What stability selection is to do.

    Parameters
    ----------
    scheme : str
    resamples : int
    bound : str or None
        A name of `BOUNDS`.
    threshold, expected_false, false_share : float or None
    first : int or None
        How many variables each resample selects; None where base selects as many as it likes.
    """

    scheme: str
    resamples: int
    bound: str | None
    threshold: float | None = None
    expected_false: float | None = None
    false_share: float | None = None
    first: int | None = None

    @property
    def pairs(self) -> int:
        """How many pairs of halves there are, or would be."""
        return max(1, self.resamples // 2)


def bound_for(scheme: str, bound: str | None) -> str | None:
    """Return the bound that goes with a scheme of resampling; refuse one that does not."""
    if bound is None:
        return _DEFAULT_BOUND[scheme]
    if bound not in BOUNDS:
        raise ValueError(f"bound must be one of {tuple(BOUNDS)} or None, got {bound!r}")
    if scheme not in BOUNDS[bound].schemes:
        fitting = [name for name, one in BOUNDS.items() if scheme in one.schemes]
        remedy = f"take bound={fitting[0]!r}" if fitting else "no bound is known for it"
        raise ValueError(
            f"bound={bound!r} is for scheme={' or '.join(map(repr, BOUNDS[bound].schemes))}, not for "
            f"{scheme!r}: {remedy}, or take scheme='pairs'"
        )
    return bound


def with_size(plan: Plan, variables: int, rows: int) -> Plan:
    """Return the plan with the number of variables that each resample may select, of so many.

    It is the most for which the bound is kept, but no more than a variable for every two rows of a half:
    beyond, paths fit noise.
    """
    if plan.first is not None:
        if plan.first > variables:
            raise ValueError(
                f"n_features = {plan.first} asks for more than there are: X has {variables} feature(s) "
                "that may be selected"
            )
        return plan
    if plan.bound is None:
        raise ValueError(
            f"scheme={plan.scheme!r} has no bound, from which it would follow how many variables each "
            "resample may select: give n_features, or a base with an alpha of its own"
        )
    threshold = THRESHOLD if plan.threshold is None else plan.threshold
    allowed = EXPECTED if plan.expected_false is None else plan.expected_false
    size = largest_size(plan.bound, variables, threshold, plan.pairs, allowed)
    if not size and plan.expected_false is None:
        size = 1  # of few variables; what is promised says how little that is
    if not size:
        least = BOUNDS[plan.bound].formula(1, variables, threshold, plan.pairs)
        raise ValueError(
            f"expected_false={allowed:g} cannot be kept with a threshold of {threshold:g} and "
            f"{variables} variables: one variable in each half has a bound of {least:.3g}; raise either "
            "of the two"
        )
    size = min(size, max(1, rows // _ROWS_FOR_EACH))
    if plan.false_share is None:
        return replace(plan, first=size, threshold=threshold)
    return replace(plan, first=size)


def with_threshold(plan: Plan, found: Frequencies, variables: int) -> tuple[Plan, bool]:
    """Return the plan with its threshold, and whether anything may be selected at all."""
    if plan.threshold is not None:
        return plan, True
    size = size_of(plan, found)
    if plan.bound is None:
        return replace(plan, threshold=THRESHOLD), True
    if plan.false_share is not None:
        return _by_share(plan, found, size, variables)
    allowed = EXPECTED if plan.expected_false is None else plan.expected_false
    threshold = least_threshold(plan.bound, size, variables, plan.pairs, allowed)
    return replace(plan, threshold=1.0 if threshold is None else threshold), threshold is not None


def _by_share(plan: Plan, found: Frequencies, size: float, variables: int) -> tuple[Plan, bool]:
    """Take the least threshold whose bound is at most a share of those that it selects."""
    assert plan.bound is not None
    assert plan.false_share is not None
    formula = BOUNDS[plan.bound].formula
    for threshold in possible_thresholds(plan.pairs):
        count = int(np.count_nonzero(selected(found, float(threshold))))
        # A bound that even all of them would not keep need not be looked up.
        if count and formula(size, variables, float(threshold), plan.pairs) <= (
            plan.false_share * count
        ):
            return replace(plan, threshold=float(threshold)), True
    return replace(plan, threshold=1.0), False


def size_of(plan: Plan, found: Frequencies) -> float:
    """Return how many variables a resample selects: as it was told to, or on average."""
    return float(found.sizes.mean()) if plan.first is None else float(plan.first)


def selected(found: Frequencies, threshold: float) -> Array:
    """Return which variables are in enough of the resamples."""
    return np.asarray(found.hits >= hits_needed(threshold, found.resamples))


def promise_of(plan: Plan, found: Frequencies, variables: int) -> ErrorControl:
    """Return what is bounded, by which theorem, and what that rests on."""
    assert plan.threshold is not None
    if plan.bound is None:
        return ErrorControl(
            "stability selection",
            "no bound on false selections is stated: none is known for resamples with replacement",
            (_NO_PROBABILITY,), plan.threshold, float("nan"), "",
        )  # fmt: skip
    bound, size = BOUNDS[plan.bound], size_of(plan, found)
    value = bound.formula(size, variables, plan.threshold, plan.pairs)
    asks = []
    if bound.asks:
        asks.append(f"the bound holds if {bound.asks} ({SOURCES[plan.bound]})")
    if plan.bound in ("r-concave", "unimodal"):
        worst = BOUNDS["worst-case"].formula(size, variables, plan.threshold, plan.pairs)
        asks.append(f"without that the bound is {_number(worst)} ({SOURCES['worst-case']})")
    if plan.bound != "meinshausen-buehlmann":
        asks.append(_BY_CHANCE)
    if plan.first is None:
        asks.append(f"q = {size:.4g} is the mean of these resamples, an estimate")
    if plan.false_share is not None:
        asks.append(
            f"the threshold {plan.threshold:g} was set after frequencies were seen, as the least one "
            f"whose bound is at most {100 * plan.false_share:g} % of the variables selected; the "
            "theorem is of one that is set before, and of numbers, not of shares"
        )
    promise = (
        f"at most {_number(value)} of the variables selected are expected to be {bound.counts} "
        f"(q = {size:.4g}, D = {variables})"
    )
    return ErrorControl(
        "stability selection",
        promise,
        (*asks, _NO_PROBABILITY),
        plan.threshold,
        value,
        bound.counts,
    )


def _number(value: float) -> str:
    """Return a bound in three digits, rounded up."""
    if value <= 0:
        return "0"
    step = 10.0 ** (np.floor(np.log10(value)) - 2)
    return f"{np.ceil(value / step - 1e-9) * step:.3g}"
