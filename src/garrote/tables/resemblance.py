"""What a column of text may have been meant to be: numbers or dates in a notation that is not read.

Neither is guessed, since 1,500 may be 1.5 and 01/02/2020 the first of February; but to code such
columns as words would hide what they are.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from garrote.tables.base import TableFile
from garrote.tables.kinds import as_number, as_word
from garrote.tables.survey import Survey

if TYPE_CHECKING:
    import polars as pl

_PATTERNS = {
    "marked number": r"^[+-]?(\d{1,3}([,.' ]\d{3})+([.,]\d+)?|\d*[.,]?\d+[.,]?\d*\s*%)$",
    "other date": (
        r"^(\d{1,2}/\d{1,2}/(\d{4}|\d{2})|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}-\d{1,2}-\d{4}"
        r"|\d{4}/\d{1,2}/\d{1,2}|\d{4}\.\d{1,2}\.\d{1,2})([ T]\d{1,2}:\d{2}.*)?$"
    ),
}


def find_resemblances(table: TableFile, positions: Sequence[int], found: Survey) -> None:
    """Note on columns of text what most of their values, other than plain numbers, look like."""
    doubtful = [j for j in positions if found.columns[j].kind == "word"]
    words: Counter[int] = Counter()
    alike: Counter[tuple[int, str]] = Counter()
    examples: dict[tuple[int, str], tuple[int, str]] = {}
    for piece in table.pieces(doubtful) if doubtful else ():
        for i, j in enumerate(piece.positions):
            texts = _words(piece.frame.to_series(i), table.decimal_comma)
            words[j] += len(texts) - texts.null_count()
            for kind, pattern in _PATTERNS.items():
                matches = texts.str.contains(pattern).fill_null(False)
                alike[j, kind] += int(matches.sum())
                if matches.any() and (j, kind) not in examples:
                    row = int(matches.to_numpy().argmax())
                    examples[j, kind] = (piece.first + row, texts[row])
    for (j, kind), example in examples.items():
        if 2 * alike[j, kind] > words[j]:
            found.columns[j].resembles = kind
            found.columns[j].odd = example


def _words(column: "pl.Series", decimal_comma: bool) -> "pl.Series":
    """Return text, null where a value is missing or a plain number."""
    words = as_word(column)
    return words.set(as_number(column, decimal_comma).is_not_null(), None)
