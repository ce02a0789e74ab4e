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
NUMBERS = ("probability", "effect", "standard_error", "lower", "upper", "found_again")


@dataclass(frozen=True)
class Tick:
    """A mark of the axis: where, its number, and whether a narrow page has room for the number."""

    at: float
    text: str
    always: bool


@dataclass(frozen=True)
class Scale:
    """The axis of the forest plot: common to all rows, or each row to its own largest value.

    It is common where effects are known for one standard deviation of each variable. ``decimals`` are
    those of effects in raw units, ``unit_decimals`` of effects for one standard deviation.
    """

    low: float
    high: float
    common: bool
    decimals: int | None
    per_deviation: bool = False
    unit_decimals: int | None = None

    def percent(self, value: float, reach: float) -> float:
        """Return where a value lies in the cell, in percent of its width."""
        low, high = (self.low, self.high) if self.common else (-reach, reach)
        return round(min(100.0, max(0.0, 100 * (value - low) / (high - low))), 2)

    def ticks(self) -> list[Tick]:
        """Return where the axis has marks, and numbers as far as there is room for them."""
        return axis_ticks(self.low, self.high) if self.common else [Tick(50.0, "0", True)]


def axis_ticks(low: float, high: float) -> list[Tick]:
    """Return marks at round numbers, with these as far as there is room for them."""
    step = round_step(low, high, 4)
    multiples = range(math.ceil(low / step), math.floor(high / step) + 1)
    places = {k: round(100 * (k * step - low) / (high - low), 2) for k in multiples}
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
    per_deviation = bool(variables) and all(known_deviation(v) for v in variables)
    units = {id(v): v["deviation"] if per_deviation else 1.0 for v in variables}
    leading = [v for v in variables if v["selected"]] or list(variables)
    sizes = [size for v in leading if (size := units[id(v)] * _reach(v)) > 0]
    if not sizes:
        return Scale(-1.0, 1.0, True, None, per_deviation)
    common = per_deviation or max(sizes) <= _LARGEST_RATIO * min(sizes)
    ends = [0.0] + [units[id(v)] * e for v in variables for e in _ends(v)]
    margin = 0.04 * (max(ends) - min(ends))
    raw = [(_reach(v), v["standard_error"]) for v in leading]
    unit = [
        (units[id(v)] * reach, e and units[id(v)] * e)
        for v, (reach, e) in zip(leading, raw, strict=True)
    ]
    return Scale(
        min(ends) - margin,
        max(ends) + margin,
        common,
        _decimals(raw),
        per_deviation,
        _decimals(unit),
    )


def known_deviation(variable: Mapping[str, Any]) -> bool:
    """Tell whether the standard deviation of a variable is stated; older documents state none."""
    return variable.get("deviation") is not None


def _decimals(values: Sequence[tuple[float, float | None]]) -> int | None:
    """Return the decimals for numbers of some sizes and errors, None where they share none."""
    sizes = [size for size, _ in values if size > 0]
    errors = [error for _, error in values if error]
    if not errors or max(sizes) > _LARGEST_RATIO * min(sizes) or max(sizes) >= 1e7:
        return None
    wanted = 1 - math.floor(math.log10(median(errors)))
    return max(0, wanted) if wanted <= 6 else None


def table_row(
    variable: Mapping[str, Any], scale: Scale, always_in: frozenset[str], longest: int
) -> dict[str, Any]:
    """Return what one row shows."""
    name = readable(variable["name"] + _place_words(variable.get("place")), longest)
    decimals = scale.decimals
    own = _decimals([(_reach(variable), variable["standard_error"])])
    # Where units differ each row has the digits that its own error leaves.
    if decimals is None or (own is not None and own > decimals + 1):
        decimals = own
    unit = variable["deviation"] if scale.per_deviation else 1.0
    reach = unit * _reach(variable) * 1.08 or 1.0
    values = {key: variable.get(key) for key in NUMBERS}

    def place(key: str) -> float | None:
        value = values[key]
        return None if value is None else scale.percent(unit * value, reach)

    evidence = values["probability"]
    return {
        "name": name,
        "label": brief(name),
        "selected": variable["selected"],
        "covariate": variable["name"] in always_in,
        "class": readable(variable["class"], longest) if variable.get("class") else "",
        "reach": reach,
        "unit": unit,
        "values": values,
        "decimals": decimals,
        "probability": probability(evidence),
        "bar": round(100 * min(1.0, max(0.0, evidence or 0.0)), 2),
        "effect": amount(values["effect"], decimals),
        "per_deviation": amount(_times(values["effect"], unit), scale.unit_decimals),
        "error": amount(values["standard_error"], decimals),
        "lower": amount(values["lower"], decimals),
        "upper": amount(values["upper"], decimals),
        "zero": scale.percent(0.0, reach),
        "at": place("effect"),
        "left": place("lower"),
        "right": place("upper"),
    }


def _place_words(place: Mapping[str, Any] | None) -> str:
    """Return where a variant is, and its alleles: the one that effects are for a copy of comes last."""
    if place is None:
        return ""
    where = f"{place['chromosome']}:{place['position']:,}"
    return f" ({where} {place['other']}>{place['counted']})"


def _times(value: float | None, unit: float) -> float | None:
    return None if value is None else unit * value


def long_numbers(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether some effects take many letters."""
    return any(len(row["effect"]) > _LONG for row in rows)


def _ends(variable: Mapping[str, Any]) -> list[float]:
    return [e for key in ("lower", "effect", "upper") if (e := variable[key]) is not None]


def _reach(variable: Mapping[str, Any]) -> float:
    return max((abs(end) for end in _ends(variable)), default=0.0)
