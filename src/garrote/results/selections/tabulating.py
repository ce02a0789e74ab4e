"""The table of a selection: a row for each variable, and below it one for each of its levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from garrote.results.selections.locus import PLACES
from garrote.summaries import Table

if TYPE_CHECKING:
    from garrote.results.selections.selection import Selection


def selection_table(selection: Selection, all_variables: bool) -> Table:
    """Return the selected variables, or all, ranked by evidence and size of effect."""
    found = selection.by_variable
    order = found.ranked()
    if not all_variables:
        order = order[found.selected[order]]
    rows = [row for g in order for row in _rows(selection, found, int(g))]
    columns = {
        "variable": True,
        **dict.fromkeys(PLACES, selection.placed is not None),
        "level": found is not selection,
        "selected": all_variables,
        found.evidence_noun: True,
        "found again": found.stability is not None,
        "set": all_variables or bool(found.shared_sets),
        found.by_class.kind if found.by_class else "class": found.by_class is not None,
        "effect": True,
        "std. error": True,
        **dict.fromkeys(_ends(selection), True),
    }
    return Table({name: [row[name] for row in rows] for name, there in columns.items() if there})


def _ends(selection: Selection) -> tuple[str, str]:
    percent = f"{100 * selection.level:g}%"
    return f"lower {percent}", f"upper {percent}"


def _rows(selection: Selection, found: Selection, g: int) -> list[dict[str, Any]]:
    """Return the row of a variable, and those of its levels."""
    member = {int(j): k for k, one in enumerate(found.credible_sets, 1) for j in one.variables}
    whole = {
        "variable": found.names[g],
        **(selection.placed.columns(g) if selection.placed else {}),
        "level": "",
        "selected": bool(found.selected[g]),
        found.evidence_noun: float(found.probability[g]),
        "found again": found.stability.in_words(g) if found.stability else "",
        "set": member.get(g),
        **_effect(found, g),
    }
    groups = selection.groups
    if found is selection or groups is None:
        return [whole]
    columns = groups.columns(g)
    if len(columns) == 1:
        return [whole]
    blank = {
        "selected": whole["selected"],
        found.evidence_noun: None,
        "found again": "",
        "set": None,
    }
    levels = [
        {
            "variable": found.names[g],
            "level": groups.labels[j],
            **blank,
            **_effect(selection, int(j)),
        }
        for j in columns
    ]
    return [whole | dict.fromkeys(["effect", "std. error", *_ends(selection)]), *levels]


def _effect(selection: Selection, j: int) -> dict[str, Any]:
    """Return the effect of one entry, with its interval, and the class that it is on."""
    numbers = (selection.effect, selection.standard_error, selection.lower, selection.upper)
    found: dict[str, Any] = {
        name: float(values[j])
        for name, values in zip(("effect", "std. error", *_ends(selection)), numbers, strict=True)
    }
    if selection.by_class:
        found[selection.by_class.kind] = selection.by_class.names_of(np.array([j]))[0]
    return found
