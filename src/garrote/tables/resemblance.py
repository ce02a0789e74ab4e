"""What a column of text may have been meant to be: numbers or dates.

They may be in a notation that is not read, or have some cells among them that are none. Neither is
guessed, since 1,500 may be 1.5 and 01/02/2020 the first of February; but to code such columns as
words would hide what they are, and one slip of the pen would turn a column of numbers into as many
words as it has values.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from garrote.tables.formats.base import TableFile
from garrote.tables.kinds import MEANINGS, as_number, as_word, is_missing
from garrote.tables.survey import ColumnFacts, Survey

if TYPE_CHECKING:
    import polars as pl

_PATTERNS = {
    "marked number": r"^[+-]?(\d{1,3}([,.' ]\d{3})+([.,]\d+)?|\d*[.,]?\d+[.,]?\d*\s*%)$",
    "other date": (
        r"^(\d{1,2}/\d{1,2}/(\d{4}|\d{2})|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}-\d{1,2}-\d{4}"
        r"|\d{4}/\d{1,2}/\d{1,2}|\d{4}\.\d{1,2}\.\d{1,2})([ T]\d{1,2}:\d{2}.*)?$"
    ),
}
MOSTLY = {"mostly numbers": "number", "mostly dates": "date"}
"""Columns in which more than half of the cells can be read as something, and the others cannot."""


MOST_ODD = 20
"""Different texts that are kept of the cells of a column that are not what most of them are."""


@dataclass
class _Share:
    """How many cells are of some kind, and rows and texts of the first of them, each text once."""

    count: int = 0
    examples: dict[str, int] = field(default_factory=dict)

    def add(self, first: int, texts: "pl.Series", flags: "pl.Series") -> None:
        rows = np.flatnonzero(flags.to_numpy())
        self.count += len(rows)
        for row in rows if len(self.examples) <= MOST_ODD else ():
            if len(self.examples) <= MOST_ODD:
                self.examples.setdefault(texts[int(row)], first + int(row))

    @property
    def cells(self) -> tuple[tuple[int, str], ...]:
        """Rows and texts of the examples."""
        return tuple((row, text) for text, row in self.examples.items())


@dataclass
class _Look:
    """What the cells of one column look like."""

    words: int = 0  # that are no plain numbers
    alike: dict[str, _Share] = field(default_factory=lambda: {k: _Share() for k in _PATTERNS})
    readable: dict[str, _Share] = field(default_factory=lambda: {k: _Share() for k in MOSTLY})
    others: dict[str, _Share] = field(default_factory=lambda: {k: _Share() for k in MOSTLY})


def find_resemblances(
    table: TableFile, positions: Sequence[int], found: Survey, target: int | None = None
) -> None:
    """Note on columns of text what most of their cells look like.

    Where columns have types, text was meant to be text; only the target, whose type an array of
    Python objects may have lost, is asked whether it is mostly numbers.
    """
    looks = {j: _Look() for j in positions if found.columns[j].kind == "word"}
    for piece in table.pieces(sorted(looks)) if looks else ():
        for i, j in enumerate(piece.positions):
            _take_in(looks[j], piece.first, piece.frame.to_series(i), table.decimal_comma)
    for j, look in looks.items():
        _conclude(found.columns[j], look, mixed=not table.typed or j == target)


def _take_in(look: _Look, first: int, column: "pl.Series", decimal_comma: bool) -> None:
    words = as_word(column)
    texts = words.set(as_number(column, decimal_comma).is_not_null(), None)
    look.words += len(texts) - texts.null_count()
    for kind, pattern in _PATTERNS.items():
        look.alike[kind].add(first, texts, texts.str.contains(pattern).fill_null(False))
    for name, kind in MOSTLY.items():
        values = MEANINGS[kind](column, decimal_comma)
        readable = values.is_finite().fill_null(False) if kind == "number" else values.is_not_null()
        look.readable[name].add(first, words, readable)
        look.others[name].add(first, words, ~is_missing(column, kind) & ~readable)


def _conclude(facts: ColumnFacts, look: _Look, mixed: bool) -> None:
    for kind, share in look.alike.items():
        if 2 * share.count > look.words:
            facts.resembles, facts.odd = kind, share.cells[:1]
    for name, others in look.others.items():
        readable = look.readable[name].count
        if mixed and not facts.resembles and 0 < others.count < readable:
            facts.resembles, facts.odd, facts.unreadable = name, others.cells, others.count
            facts.share = readable / (readable + others.count)
