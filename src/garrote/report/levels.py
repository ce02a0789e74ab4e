"""Variables of several columns on the page: a row, levels below it, and effects that are curves.

The effect of a level is that against its reference, for which one standard deviation would mean nothing:
on the shared axis it stands as it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from garrote.report.checks import MAYBE, NUMBER, Kinds, check_entries, check_kinds, check_numbers
from garrote.report.rows import Scale, table_row
from garrote.report.wording import counted, readable

# Curves that are drawn at most; the document has all.
_MOST_CURVES = 12
_CURVE: Kinds = {
    "name": str, "variables": list, "x": list, "effect": list, "lower": list, "upper": list
}  # fmt: skip
_LEVEL: Kinds = {
    "name": str, "column": str, "position": int, "effect": MAYBE, "standard_error": MAYBE,
    "lower": MAYBE, "upper": MAYBE,
}  # fmt: skip
_LATER: dict[str, Any] = {
    "kind": "column",
    "reference": None,
    "levels": [],
    "deviation": None,
    "class": None,
}
_LATER_KINDS: Kinds = {
    "kind": str,
    "reference": (str, type(None)),
    "levels": list,
    "deviation": MAYBE,
    "class": (str, type(None)),
}


def check_levels(variable: Mapping[str, Any], where: str) -> None:
    """Refuse what older documents lack, and newer ones have in another form."""
    check_kinds({**_LATER, **variable}, _LATER_KINDS, where)
    for level in variable.get("levels") or []:
        check_kinds(level, _LEVEL, f"'levels' of {where}")


def check_curves(found: Any) -> None:
    """Refuse curves whose numbers do not go together."""
    check_entries(found, (dict,), "'curves'")
    for k, one in enumerate(found):
        where = f"entry {k} of 'curves'"
        check_kinds(one, _CURVE, where)
        check_numbers(one["x"], len(one["x"]), f"'x' of {where}", NUMBER)
        for key in ("effect", "lower", "upper"):
            check_numbers(one[key], len(one["x"]), f"'{key}' of {where}")


def shown_levels(variable: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the columns that have rows of their own; those of a curve mean nothing one by one."""
    if variable.get("kind") == "curve":
        return []
    return [
        {**_as_it_is(level, variable), "probability": None, "found_again": None}
        for level in variable.get("levels") or []
    ]


def drawn_effects(variables: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return all that has a dot on the axis: levels in place of their variable."""
    found: list[Mapping[str, Any]] = []
    for variable in variables:
        levels = shown_levels(variable)
        found += levels if levels or is_whole(variable) else [as_drawn(variable)]
    return found


def is_whole(variable: Mapping[str, Any]) -> bool:
    """Tell whether a variable has several columns."""
    return len(variable.get("levels") or []) > 1


def as_drawn(variable: Mapping[str, Any]) -> dict[str, Any]:
    """Return a variable of one column; the indicator of a level counts as it is."""
    return _as_it_is(variable, variable)


def _as_it_is(column: Mapping[str, Any], variable: Mapping[str, Any]) -> dict[str, Any]:
    counted_whole = variable.get("kind") == "levels" and column.get("deviation") is not None
    return {**column, **({"deviation": 1.0} if counted_whole else {})}


def variable_row(
    variable: Mapping[str, Any], scale: Scale, always_in: frozenset[str], longest: int
) -> dict[str, Any]:
    """Return what the row of a variable shows, and those of its levels."""
    whole = is_whole(variable)
    shown = {**variable, "deviation": 1.0} if whole else as_drawn(variable)
    row = table_row(shown, scale, always_in, longest)
    levels = [table_row(one, scale, frozenset(), longest) for one in shown_levels(variable)]
    row["several"] = whole
    row["levels"] = levels
    row["parts"] = _parts(variable) if whole else ""
    reference = variable.get("reference") if whole else None
    row["reference"] = readable(reference, 60) if reference else ""
    return row


def _parts(variable: Mapping[str, Any]) -> str:
    """Say what a variable of several columns is made of."""
    count = len(variable["levels"])
    if variable.get("kind") == "curve":
        return "curve"
    return counted(count, "level" if variable.get("kind") == "levels" else "column")


def levels_words(document: Mapping[str, Any]) -> str:
    """Say how to read the levels of a word, where there are any."""
    if not any(v.get("kind") == "levels" for v in document["variables"]):
        return ""
    return (
        " A word is one variable, and its levels are in or out together: the effect of a level is that "
        "against the reference, and it is drawn as it is."
    )


def curves(document: Mapping[str, Any], limits: Any) -> list[dict[str, Any]] | None:
    """Return what the script draws of effects that are curves; None where there are none."""
    found = document.get("curves") or []
    return [
        {
            "name": readable(one["name"], limits.letters),
            **{key: _short(one[key]) for key in ("x", "effect", "lower", "upper")},
        }
        for one in found[:_MOST_CURVES]
    ] or None


def _short(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None else float(f"{value:.5g}") for value in values]
