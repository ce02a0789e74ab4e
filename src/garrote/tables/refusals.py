"""What a first look at a table can refuse, before any work: one sentence each."""

import numpy as np

from garrote.arrays import Array
from garrote.summaries import listing, some_of
from garrote.tables.errors import TableError, count_of
from garrote.tables.formats.base import TableFile
from garrote.tables.notes import on_nones
from garrote.tables.resemblance import MOSTLY
from garrote.tables.roles import Roles
from garrote.tables.survey import ColumnFacts, Survey


def refuse_no_rows(table: TableFile, found: Survey) -> None:
    """Refuse a table that has nothing but a header."""
    if found.n_rows == 0:
        raise TableError(f"{table.label} has a header but no rows: add some")


def refuse_target(table: TableFile, roles: Roles, found: Survey, labels: bool = False) -> None:
    """Refuse a target, weights or offset that are not numbers, and groups that cannot be told apart.

    A target of labels may also be words.
    """
    if roles.groups is not None and found.columns[roles.groups].kind == "unusable":
        raise TableError(
            f"{table.label}: --groups cannot be {_shown(table, found, roles.groups)}: name a column of "
            "numbers or words"
        )
    numbers = {
        "--target": roles.target, "--weights": roles.weights, "--offset": roles.offset
    }  # fmt: skip
    for option, j in numbers.items():
        if j is None or (labels and option == "--target" and is_labels(found, j)):
            continue
        facts = found.columns[j]
        if facts.resembles == "mostly numbers":
            remedy = (
                _reading(table, facts, j)
                if labels and option == "--target"
                else _marking(table, facts)
            )
            raise TableError(
                f"{table.label}: {option} needs a column of numbers, but {_shown(table, found, j)} has "
                f"other text among its numbers: {remedy}"
            )
        if facts.kind not in ("number", "boolean"):
            classes = ", or give --method lasso, which takes labels"
            labelled = option == "--target" and not labels and is_labels(found, j)
            raise TableError(
                f"{table.label}: {option} needs a column of numbers, but {_shown(table, found, j)} "
                f"is {_in_words(facts)}: name another column or recode it as numbers"
                f"{classes if labelled else ''}"
            )


def is_labels(found: Survey, j: int) -> bool:
    """Tell whether a column names classes: words that are no numbers or dates, or true and false."""
    facts = found.columns[j]
    return facts.kind in ("word", "boolean") and not facts.resembles


def refuse_unusable(table: TableFile, roles: Roles, found: Survey, encode: bool) -> None:
    """Refuse variables that are not numbers, all at once.

    Text that looks like numbers or dates is refused also where words are coded.
    """
    kinds = [*_REWRITING, *MOSTLY, *([] if encode else ["word", "date"]), "unusable"]
    looks = {
        j: found.columns[j].resembles or found.columns[j].kind
        for j in roles.variables
        if j not in roles.categories or found.columns[j].kind == "unusable"
    }
    bad = {kind: [j for j, look in looks.items() if look == kind] for kind in kinds}
    parts = [
        f"{count_of(len(some), 'column')} of {_PLURALS[kind]}: "
        + some_of(some, lambda j: _shown(table, found, j))
        for kind, some in bad.items()
        if some
    ]
    if parts:
        rewriting = [f"{advice}, " for kind, advice in _REWRITING.items() if bad[kind]]
        mixed = [j for kind in MOSTLY for j in bad[kind]]
        rewriting += [f"{_reading(table, found.columns[j], j)}, " for j in mixed[:1]]
        codable = not bad["unusable"] and (bad.get("word") or bad.get("date"))
        coding = ["--encode to code words and dates as numbers"] if codable else []
        remedy = " or ".join([*coding, "--exclude to leave columns out"])
        raise TableError(
            f"{table.label} has {', and '.join(parts)}; {''.join(rewriting)}"
            f"{'or ' if rewriting else ''}give {remedy}"
        )


def refuse_infinite(table: TableFile, found: Survey) -> None:
    """Refuse infinite numbers."""
    for j, facts in found.columns.items():
        if facts.kind == "number" and facts.infinite is not None:
            raise TableError(
                f"{table.label}: column {_name(table, j)} is infinite in {table.place(facts.infinite)}: "
                "correct the value, or mark it as missing (NA)"
            )


def refuse_other_kinds(table: TableFile, found: Survey, kinds: dict[int, str]) -> None:
    """Refuse new rows whose columns are not what they were when the model was made."""
    for j, kind in kinds.items():
        facts = found.columns[j]
        if facts.kind != kind:
            what = _shown(table, found, j)
            raise TableError(
                f"{table.label}: column {what} was {_IN_WORDS[kind]} when the model was fitted, and is "
                "not here: correct it"
            )


def rows_to_keep(table: TableFile, roles: Roles, found: Survey, missing: str) -> Array:
    """Return which rows are used, or refuse missing values that cannot be dealt with as wanted."""
    gaps = _gaps(found)
    incomplete = int(found.incomplete.sum())
    in_roles = {j: f for j, f in gaps.items() if j in roles.single}
    if missing == "error":
        drop = f"--missing drop to leave out {incomplete:,} of {count_of(found.n_rows, 'row')}"
        mean = "" if in_roles else ", or --missing mean to put in the column's mean"
        refuse_gaps(table, found, "; ".join([f"give {drop}{mean}", *on_nones(table, roles, found)]))
    if missing == "mean":
        if in_roles:
            raise TableError(
                f"{table.label}: {_counted(table, in_roles, found.n_rows)}: the mean is put in for "
                "variables only; give --missing drop, or take these rows out"
            )
        empty = [j for j, facts in gaps.items() if facts.missing == found.n_rows]
        if empty:
            raise TableError(
                f"{table.label}: {listing(table.names[j] for j in empty)} has no value at all, so no "
                "mean: give --exclude to leave it out"
            )
        return np.ones(found.n_rows, dtype=bool)
    if incomplete == found.n_rows:
        raise TableError(
            f"{table.label}: no row is complete, so --missing drop leaves none: "
            f"{_counted(table, gaps, found.n_rows)}; give --exclude to leave out the emptiest "
            "columns, or --missing mean"
        )
    return ~found.incomplete


def refuse_gaps(table: TableFile, found: Survey, remedy: str) -> None:
    """Refuse any missing value."""
    gaps = _gaps(found)
    if gaps:
        raise TableError(f"{table.label}: {_counted(table, gaps, found.n_rows)}; {remedy}")


def _gaps(found: Survey) -> dict[int, ColumnFacts]:
    return {j: facts for j, facts in sorted(found.columns.items()) if facts.missing}


def _counted(table: TableFile, gaps: dict[int, ColumnFacts], n_rows: int) -> str:
    most_first = sorted(gaps, key=lambda j: -gaps[j].missing)
    counts = some_of(most_first, lambda j: f"{_name(table, j)} ({gaps[j].missing:,})")
    return f"{count_of(len(gaps), 'column')} with missing values in {count_of(n_rows, 'row')}: {counts}"


def _name(table: TableFile, j: int) -> str:
    return listing([table.names[j]])


def _shown(table: TableFile, found: Survey, j: int) -> str:
    """Return the name of a column, with an example of what is wrong with it."""
    facts = found.columns[j]
    if facts.odd is not None:
        row, text = facts.odd
        more = (
            f" and {count_of(facts.unreadable - 1, 'other cell')}" if facts.unreadable > 1 else ""
        )
        return f"{_name(table, j)} ({listing([text])} in {table.place(row)}{more})"
    return f"{_name(table, j)} ({facts.type_name})" if table.typed else _name(table, j)


def _in_words(facts: ColumnFacts) -> str:
    return f"a column of {_PLURALS[facts.resembles]}" if facts.resembles else _IN_WORDS[facts.kind]


def _marking(table: TableFile, facts: ColumnFacts) -> str:
    """Return what to do about cells that cannot be read."""
    if table.typed:
        return "store it as numbers, with null or NaN where a value is missing"
    text = listing([facts.odd[1]]) if facts.odd else "TEXT"
    return f"correct what is wrong, or give --na {text} if that means a missing value"


def _reading(table: TableFile, facts: ColumnFacts, j: int) -> str:
    """Return the same, and how to have the column as words after all."""
    return (
        f"{_marking(table, facts)}, or --categories {_name(table, j)} to read the column as words"
    )


_IN_WORDS = {
    "number": "a column of numbers",
    "boolean": "a column of true and false",
    "date": "a column of dates",
    "word": "a column of text",
    "unusable": "of a type that cannot be used",
}
_PLURALS = {
    "word": "text",
    "date": "dates",
    "unusable": "a type that cannot be used",
    "marked number": "numbers with thousands separators or percent signs",
    "other date": "what look like dates",
    "mostly numbers": "numbers with other text among them",
    "mostly dates": "dates with other text among them",
}
_REWRITING = {
    "marked number": "write numbers without separators and signs (1500 for 1,500)",
    "other date": "write dates as 2020-02-01, which --encode can code",
}
