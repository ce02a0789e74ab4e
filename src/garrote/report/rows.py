"""The rows of the table of variables, with a bar for the evidence and a forest plot of effects.

Lengths are percentages of a cell's width, so that the same marks are right on paper, on a phone and
without any script.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from garrote.report.wording import amount, brief, probability, readable

# Effects whose sizes differ by more than this factor cannot share one axis.
_LARGEST_RATIO = 40.0
# Pixels: of the axis on a page or paper and on a phone, of a letter, between two numbers, and what a
# number may reach over the left end of the axis, where the cell has its padding.
_ROOM, _NARROW_ROOM = 110.0, 62.0
_LETTER, _APART, _OVERHANG = 6.3, 5.0, 6.0
# Numbers of more letters need a wider column on a phone.
_LONG = 6
NUMBERS = ("probability", "effect", "standard_error", "lower", "upper")


@dataclass(frozen=True)
class Tick:
    """A mark of the axis: where, its number, and whether a narrow page has room for the number."""

    at: float
    text: str
    always: bool


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

    def ticks(self) -> list[Tick]:
        """Return where the axis has marks, and numbers as far as there is room for them."""
        if not self.common:
            return [Tick(50.0, "0", True)]
        step = round_step(self.low, self.high, 4)
        multiples = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        places = {k: self.percent(k * step, 0.0) for k in multiples}
        texts = {k: _tick_text(k * step, step) for k in multiples}
        wide, narrow = (_labelled(places, texts, room) for room in (_ROOM, _NARROW_ROOM))
        return [Tick(places[k], texts[k] if k in wide else "", k in narrow) for k in multiples]


def _tick_text(value: float, step: float) -> str:
    """Return a round number in few letters."""
    if value == 0:
        return "0"
    digits = max(0, -math.floor(math.log10(step)))
    if digits <= 3 and abs(value) < 1e5:
        return amount(value, digits)
    mantissa, power = f"{value:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')}e{int(power)}".replace("-", "\u2212")


def _labelled(places: Mapping[int, float], texts: Mapping[int, str], room: float) -> set[int]:
    """Return the multiples of the step whose numbers neither touch each other nor leave the cell."""
    half = {k: _LETTER * len(text) / 2 for k, text in texts.items()}
    inside = {
        k for k, at in places.items() if half[k] - _OVERHANG <= room * at / 100 <= room - half[k]
    }
    gap = room * min((b - a for a, b in pairwise(sorted(places.values()))), default=100.0) / 100
    found: list[int] = []
    for k in sorted(inside, key=abs):
        free = (abs(k - o) * gap - half[k] - half[o] >= _APART for o in found)
        if all(free):
            found.append(k)
    return set(found)


def round_step(low: float, high: float, count: int) -> float:
    """Return 1, 2 or 5 times a power of ten, for about so many marks between two ends, at least two."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    finer, coarser = next(
        (before * power, step * power)
        for before, step in pairwise((0.5, 1, 2, 5, 10))
        if step * power >= rough * (1 - 1e-9)
    )
    # Two of them always fit if the step is below half of the distance.
    return coarser if math.floor(high / coarser) > math.ceil(low / coarser) else finer


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


def long_numbers(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether some effects take many letters."""
    return any(len(row["effect"]) > _LONG for row in rows)


def _ends(variable: Mapping[str, Any]) -> list[float]:
    return [e for key in ("lower", "effect", "upper") if (e := variable[key]) is not None]


def _reach(variable: Mapping[str, Any]) -> float:
    return max((abs(end) for end in _ends(variable)), default=0.0)
