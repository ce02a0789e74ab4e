"""The rows of the table of variables, with a bar for the evidence and a forest plot of effects.

Lengths are percentages of a cell's width, so that the same marks are right on paper, on a phone and
without any script.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from garrote.report.wording import amount, brief, probability, readable

# Effects whose sizes differ by more than this factor cannot share one axis.
_LARGEST_RATIO = 40.0
NUMBERS = ("probability", "effect", "standard_error", "lower", "upper")


@dataclass(frozen=True)
class Scale:
    """The axis of the forest plot: common to all rows, or each row to its own largest value."""

    low: float
    high: float
    common: bool
    decimals: int | None

    def percent(self, value: float, reach: float) -> float:
        """Return where a value lies in the cell, in percent of its width."""
        low, high = (self.low, self.high) if self.common else (-reach, reach)
        return round(min(100.0, max(0.0, 100 * (value - low) / (high - low))), 2)

    def ticks(self) -> list[tuple[float, str]]:
        """Return where the axis has numbers, and which."""
        if not self.common:
            return [(50.0, "0")]
        step = nice_step((self.high - self.low) / 4)
        first = math.ceil(self.low / step)
        values = [k * step for k in range(first, math.floor(self.high / step) + 1)]
        digits = max(0, -math.floor(math.log10(step)))
        return [(self.percent(v, 0.0), amount(v, digits)) for v in values]


def nice_step(rough: float) -> float:
    """Return the least of 1, 2, 5 times a power of ten that is not below a number."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= rough * (1 - 1e-9))


def forest_scale(variables: Sequence[Mapping[str, Any]]) -> Scale:
    """Choose the axis and the decimals for the effects of these variables."""
    leading = [v for v in variables if v["selected"]] or list(variables)
    sizes = [size for v in leading if (size := _reach(v)) > 0]
    errors = [e for v in leading if (e := v["standard_error"])]
    if not sizes:
        return Scale(-1.0, 1.0, True, None)
    common = max(sizes) <= _LARGEST_RATIO * min(sizes)
    ends = [0.0] + [e for v in variables for e in _ends(v)]
    margin = 0.04 * (max(ends) - min(ends))
    decimals = None
    if common and errors:
        wanted = 1 - math.floor(math.log10(median(errors)))
        decimals = max(0, wanted) if wanted <= 6 and max(sizes) < 1e7 else None
    return Scale(min(ends) - margin, max(ends) + margin, common, decimals)


def table_row(
    variable: Mapping[str, Any], scale: Scale, always_in: frozenset[str], longest: int
) -> dict[str, Any]:
    """Return what one row shows."""
    name = readable(variable["name"], longest)
    reach = _reach(variable) * 1.08 or 1.0
    values = {key: variable[key] for key in NUMBERS}

    def place(key: str) -> float | None:
        value = values[key]
        return None if value is None else scale.percent(value, reach)

    evidence = values["probability"]
    return {
        "name": name,
        "label": brief(name),
        "selected": variable["selected"],
        "covariate": variable["name"] in always_in,
        "reach": reach,
        "values": values,
        "probability": probability(evidence),
        "bar": round(100 * min(1.0, max(0.0, evidence or 0.0)), 2),
        "effect": amount(values["effect"], scale.decimals),
        "error": amount(values["standard_error"], scale.decimals),
        "lower": amount(values["lower"], scale.decimals),
        "upper": amount(values["upper"], scale.decimals),
        "zero": scale.percent(0.0, reach),
        "at": place("effect"),
        "left": place("lower"),
        "right": place("upper"),
    }


def _ends(variable: Mapping[str, Any]) -> list[float]:
    return [e for key in ("lower", "effect", "upper") if (e := variable[key]) is not None]


def _reach(variable: Mapping[str, Any]) -> float:
    return max((abs(end) for end in _ends(variable)), default=0.0)
