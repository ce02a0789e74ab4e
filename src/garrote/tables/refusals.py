"""What a first look at a table can refuse, before any work: one sentence each."""

from garrote.summaries import listing
from garrote.tables.check.sentences import odd_cells
from garrote.tables.errors import TableError
from garrote.tables.formats.base import TableFile
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
        "--time" if roles.event is not None else "--target": roles.target,
        "--weights": roles.weights, "--offset": roles.offset, "--start": roles.start,
    }  # fmt: skip
    for option, j in numbers.items():
        if j is None or (labels and option == "--target" and is_labels(found, j)):
            continue
        facts = found.columns[j]
        if facts.resembles == "mostly numbers":
            continue  # which is a finding among others
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


def _name(table: TableFile, j: int) -> str:
    return listing([table.names[j]])


def _shown(table: TableFile, found: Survey, j: int) -> str:
    """Return the name of a column, with an example of what is wrong with it."""
    facts = found.columns[j]
    if facts.odd:
        return f"{_name(table, j)} ({odd_cells(table, facts, 1)})"
    return f"{_name(table, j)} ({facts.type_name})" if table.typed else _name(table, j)


def _in_words(facts: ColumnFacts) -> str:
    return _LOOKS.get(facts.resembles, "") or _IN_WORDS[facts.kind]


_IN_WORDS = {
    "number": "a column of numbers",
    "boolean": "a column of true and false",
    "date": "a column of dates",
    "word": "a column of text",
    "unusable": "of a type that cannot be used",
}
_LOOKS = {
    "marked number": "a column of numbers with thousands separators or percent signs",
    "other date": "a column of what look like dates",
    "mostly dates": "a column of dates with other text among them",
}
