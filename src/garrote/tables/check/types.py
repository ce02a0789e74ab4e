"""What columns hold: text that must be coded, numbers with other text among them, names of rows."""

from collections.abc import Callable, Mapping, Sequence

from garrote.results.selections.data_check import Finding
from garrote.summaries import listing
from garrote.tables.check.identifiers import is_called_identifier
from garrote.tables.check.sentences import named, odd_cells
from garrote.tables.errors import count_of
from garrote.tables.formats.base import TableFile
from garrote.tables.kinds import BLANK
from garrote.tables.resemblance import MOST_ODD, MOSTLY
from garrote.tables.roles import Roles
from garrote.tables.survey import MOST_COUNTED, ColumnFacts, Survey, WordCount

MOST_LEVELS = 50
"""Levels of a column that is one-hot coded."""
NUMBER_SHARE = 0.8
"""A column is one of numbers if at least so many of its cells are."""
# A column of words names the rows if so many of its cells differ, in a table of so many rows.
_OWN_WORDS, _FEWEST_ROWS = 0.9, 20

_REFUSED = {
    "marked number": (
        "numbers with thousands separators or percent signs",
        "write numbers without (1500 for 1,500)",
    ),
    "other date": ("what look like dates", "write dates as 2020-02-01"),
    "unusable": ("a type that cannot be used", "store such as numbers or text"),
}


def find_types(
    table: TableFile,
    roles: Roles,
    found: Survey,
    words: Mapping[int, Mapping[str, WordCount]],
    encode: bool,
    unasked: Callable[[int], bool] = lambda column: False,
) -> list[Finding]:
    """Return what must be settled before all variables, and the target, can become numbers.

    ``words`` are those of the variables that are columns of words, with their counts; ``unasked`` tells
    which columns nobody named.
    """
    free = [j for j in roles.variables if j not in roles.categories]
    unlike_numbers = [j for j in free if not found.columns[j].resembles]
    names = [j for j in unlike_numbers if j in words and _names_rows(words[j])]
    countable = [j for j in words if j not in names and not found.columns[j].resembles]
    many = [j for j in countable if len(words[j]) > MOST_LEVELS]
    rest = [] if encode else [j for j in unlike_numbers if j not in names and j not in many]
    return [
        *_mixed(table, roles, found),
        *_refused(table, found, free),
        *_row_names(table, found, names, unasked),
        *_many_levels(table, many, words),
        *_uncoded(table, found, rest),
    ]


def _refused(table: TableFile, found: Survey, columns: Sequence[int]) -> list[Finding]:
    """Return columns in a notation, or of a type, that is not read."""
    findings = []
    for kind, (what, advice) in _REFUSED.items():
        some = [j for j in columns if (found.columns[j].resembles or found.columns[j].kind) == kind]
        if some:
            who = f"{count_of(len(some), 'column')} of {what}: {_shown(table, found, some)}"
            remedy = {"--exclude": _names(table, some)}
            findings.append(Finding("text", f"{who}; {advice}", remedy, blocks=True))
    return findings


def _row_names(
    table: TableFile, found: Survey, columns: Sequence[int], unasked: Callable[[int], bool]
) -> list[Finding]:
    """Return columns of words that differ in nearly every row.

    Those that nobody asked for and that are called identifiers are left out.
    """
    what = "a word of its own in nearly every row, of which nothing can be learnt"
    out = [j for j in columns if unasked(j) and is_called_identifier(table.names[j])]
    rest = [j for j in columns if j not in out]
    findings = []
    if out:
        text = f"{what}, and left out: {_shown(table, found, out)}"
        findings.append(Finding("identifier", text, {}, left_out=_names(table, out)))
    if rest:
        text = f"{what}: {_shown(table, found, rest)}"
        remedy = {"--exclude": _names(table, rest)}
        findings.append(Finding("identifier", text, remedy, blocks=True))
    return findings


def _uncoded(table: TableFile, found: Survey, columns: Sequence[int]) -> list[Finding]:
    """Return columns of words and dates that could be coded."""
    findings = []
    for kind, noun in (("word", "text"), ("date", "dates")):
        some = [j for j in columns if found.columns[j].kind == kind]
        if some:
            text = f"{count_of(len(some), 'column')} of {noun}: {_shown(table, found, some)}"
            findings.append(Finding(noun, text, {"--encode": ()}, blocks=True))
    return findings


def _names_rows(words: Mapping[str, WordCount]) -> bool:
    rows = sum(seen.count for word, seen in words.items() if word != BLANK)
    return rows >= _FEWEST_ROWS and (len(words) > MOST_COUNTED or len(words) > _OWN_WORDS * rows)


def _mixed(table: TableFile, roles: Roles, found: Survey) -> list[Finding]:
    """Say of each column of numbers, or dates, which other cells stand among them."""
    parts = (roles.target, roles.weights, roles.offset, roles.start)
    columns = [j for j in (*parts, *roles.variables) if j is not None and j not in roles.categories]
    findings = []
    for j in columns:
        facts = found.columns[j]
        if facts.resembles not in MOSTLY:
            continue
        cells, noun = odd_cells(table, facts), f"{MOSTLY[facts.resembles]}s"
        name = listing([table.names[j]])
        if facts.share >= NUMBER_SHARE:
            text = f"{name} is a column of {noun} but for {cells}: correct that, or call it missing"
        else:
            share = f"{100 * facts.share:.0f} %"
            text = f"{name} holds {noun} in {share} of its cells only; others are {cells}"
        topic = "target" if j == roles.target else "other text"
        findings.append(Finding(topic, text, _reading(table, facts, j, roles), blocks=True))
    return findings


def _reading(
    table: TableFile, facts: ColumnFacts, j: int, roles: Roles
) -> dict[str, tuple[str, ...]]:
    """Return how a column with other text among its numbers can be read."""
    single = j in roles.single
    if table.typed:  # the text was stored as such: no mark can be told from a word
        return {} if single else {"--exclude": (table.names[j],)}
    texts = tuple(text for _, text in facts.odd)
    if (facts.share >= NUMBER_SHARE or single) and len(texts) <= MOST_ODD:
        return {"--na": texts}
    if facts.share < NUMBER_SHARE:
        return {"--categories": (table.names[j],)}
    return {} if single else {"--exclude": (table.names[j],)}


def _many_levels(
    table: TableFile, some: Sequence[int], words: Mapping[int, Mapping[str, WordCount]]
) -> list[Finding]:
    if not some:
        return []

    def said(j: int) -> str:
        count = len(words[j])
        number = f"more than {MOST_COUNTED:,}" if count > MOST_COUNTED else f"{count:,}"
        return f"{listing([table.names[j]])} ({number})"

    text = (
        f"{count_of(len(some), 'column')} of more different words than the {MOST_LEVELS} that can be "
        f"coded: {named(some, said)}; group the words, or leave it out"
    )
    return [Finding("text", text, {"--exclude": _names(table, some)}, blocks=True)]


def _shown(table: TableFile, found: Survey, columns: Sequence[int]) -> str:
    """Return names of columns, each with an example."""

    def said(j: int) -> str:
        facts = found.columns[j]
        name = listing([table.names[j]])
        if facts.odd:
            return f"{name} ({odd_cells(table, facts, 1)})"
        return f"{name} ({facts.type_name})" if table.typed else name

    return named(columns, said)


def _names(table: TableFile, columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(table.names[j] for j in columns)
