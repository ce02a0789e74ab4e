"""What a person should know of how a table was read."""

import shlex

from garrote.summaries import listing, some_of
from garrote.tables.coding import Coding
from garrote.tables.errors import count_of
from garrote.tables.formats.base import TableFile
from garrote.tables.kinds import MISSING
from garrote.tables.roles import Roles
from garrote.tables.survey import Survey


def notes_on(table: TableFile, roles: Roles, found: Survey, coding: Coding) -> tuple[str, ...]:
    """Return sentences on how cells and columns were understood."""
    notes = [*table.notes, *on_nones(table, roles, found), *_on_words(coding), *_on_coding(coding)]
    yes_no = [j for j in roles.used if found.columns[j].kind == "boolean"]
    if yes_no and not table.typed:
        names = listing((table.names[j] for j in yes_no), most=3)
        notes.append(f"true and yes were read as 1, false and no as 0: {names}")
    return tuple(notes)


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


def _on_words(coding: Coding) -> list[str]:
    """Return a sentence on words that elsewhere mean that nothing is known."""
    words: dict[str, list[str]] = {}
    for column in coding.columns:
        if column.kind == "word":
            for word in (*column.levels, column.reference or ""):
                if word and word.lower() in MISSING["number"]:
                    words.setdefault(word, []).append(column.name)
    return [
        f"{listing([word])} among the words of {listing(names, most=3)} was read as a word like the "
        f"others; give --na {shlex.quote(word)} if it means a missing value"
        for word, names in words.items()
    ]


def _on_coding(coding: Coding) -> list[str]:
    words = [column for column in coding.columns if column.kind == "word"]
    notes = [
        f"{listing([column.name])} was coded in {count_of(len(column.levels), 'column')}, "
        f"{'each ' * (len(column.levels) > 1)}compared with {listing([column.reference])}"
        for column in words
        if column.levels
    ]
    constant = [column for column in words if not column.levels]
    if constant:
        said = some_of(
            constant, lambda column: f"{listing([column.name])} ({listing([column.reference])})", 3
        )
        notes.append(f"always the same word, and left out: {said}")
    return notes + [
        f"{listing([column.name])} was coded as days, month and day of the week"
        for column in coding.columns
        if column.kind == "date"
    ]
