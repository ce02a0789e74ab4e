"""What a person should know of how a table was read."""

import numpy as np

from garrote.arrays import Floats
from garrote.summaries import listing, some_of
from garrote.tables.coding import Coding
from garrote.tables.errors import count_of
from garrote.tables.formats.base import TableFile
from garrote.tables.roles import Roles
from garrote.tables.survey import Survey

_FEWEST_ROWS = 20  # with fewer, whole numbers differ by chance


def notes_on(
    table: TableFile, roles: Roles, found: Survey, coding: Coding, X: Floats, missing: str
) -> tuple[str, ...]:
    """Return sentences on missing values, on coded columns and on what looks like an identifier."""
    notes = [*table.notes, *_on_missing(table, found, missing), *on_nones(table, roles, found)]
    notes += _on_coding(table, coding)
    yes_no = [j for j in roles.used if found.columns[j].kind == "boolean"]
    if yes_no and not table.typed:
        names = listing(table.names[j] for j in yes_no)
        notes.append(f"true and yes were read as 1, false and no as 0: {names}")
    identifiers = [name for j, name in enumerate(coding.names) if _is_identifier(X[:, j])]
    if identifiers:
        notes.append(
            f"a whole number different in every row: {listing(identifiers)}; if it only identifies the "
            "row, leave it out with --exclude"
        )
    return tuple(notes)


def _on_missing(table: TableFile, found: Survey, missing: str) -> list[str]:
    rows = int(found.incomplete.sum())
    if not rows:
        return []
    gaps = {j: facts.missing for j, facts in found.columns.items() if facts.missing}
    order = sorted(gaps, key=lambda j: -gaps[j])
    if missing == "drop":
        kept = count_of(found.n_rows - rows, "row")
        were = "was" if rows == 1 else "were"
        columns = some_of(order, lambda j: f"{listing([table.names[j]])} ({gaps[j]:,})")
        return [
            f"{count_of(rows, 'row')} with missing values {were} dropped, {kept} kept; missing were "
            f"values of {columns}"
        ]
    names = listing(table.names[j] for j in order)
    return [
        f"{count_of(sum(gaps.values()), 'missing value')} replaced by the column's mean: {names}"
    ]


def on_nones(table: TableFile, roles: Roles, found: Survey) -> list[str]:
    """Return sentences on columns in which "None" was taken for a missing number or date."""
    columns = {j: found.columns[j] for j in roles.used if j not in (roles.weights, roles.offset)}
    return [
        f"{listing([facts.none])} among the {facts.kind}s of {listing([table.names[j]])} was read as a "
        f"missing value ({facts.nones:,} of {count_of(found.n_rows, 'row')}); give --categories "
        f"{listing([table.names[j]])} if it is a level of its own"
        for j, facts in columns.items()
        if facts.nones and facts.kind in ("number", "date")
    ]


def _on_coding(table: TableFile, coding: Coding) -> list[str]:
    notes = []
    for column in coding.columns:
        if column.kind == "word":
            name, reference = listing([column.name]), listing([column.reference])
            notes.append(
                f"{name} was coded in {count_of(len(column.levels), 'column')}, each compared with "
                f"{reference}"
                if column.levels
                else f"{name} is always {reference} and was left out"
            )
            if none := [w for w in (*column.levels, column.reference or "") if w.lower() == "none"]:
                notes.append(
                    f"{listing(none)} in {name} was read as a word like the others; give "
                    f"--na {none[0]} if it means a missing value"
                )
        elif column.kind == "date":
            notes.append(f"{listing([column.name])} was coded as days, month and day of the week")
    return notes


def _is_identifier(values: Floats) -> bool:
    """Tell whether all values are whole numbers and no two are equal."""
    if len(values) < _FEWEST_ROWS:
        return False
    start = values[:1000]
    if (start != np.rint(start)).any() or len(np.unique(start)) < len(start):
        return False
    return bool((values == np.rint(values)).all()) and len(np.unique(values)) == len(values)
