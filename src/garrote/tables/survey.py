"""The first pass over a table: what each column holds, what is missing, what cannot be used."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from garrote.arrays import Array
from garrote.tables.formats.base import Piece, TableFile
from garrote.tables.formats.engine import polars
from garrote.tables.kinds import (
    BLANK,
    MEANINGS,
    as_numbers,
    as_word,
    is_missing,
    kinds_of,
    may_be_numbers,
)

if TYPE_CHECKING:
    import polars as pl

MOST_COUNTED = 10_000  # distinct words of one column; beyond, their exact number is of no interest


@dataclass
class ColumnFacts:
    """What the pieces of one column have shown so far."""

    possible: tuple[str, ...] | None  # kinds not ruled out; () leaves words, None nothing
    words: str = "word"  # what words of the column are: "word", or "label" of a class or group
    readable: Counter[str] = field(default_factory=Counter)  # cells that can be of each kind
    # Rows that are missing if the column is of a kind, piece after piece.
    gaps: dict[str, list[Array]] = field(default_factory=lambda: defaultdict(list))
    odd: tuple[tuple[int, str], ...] = ()  # rows and texts of some cells that are of another kind
    unreadable: int = 0  # how many such cells there are, once they are counted, and
    share: float = 0.0  # which part of all cells with a value the others are
    none: str = ""  # how "None" is written, and
    nones: int = 0  # how often it was taken for a missing number or date
    infinite: int | None = None  # row of the first infinite number
    type_name: str = ""
    forced: bool = False  # what it is was said, and not found out
    resembles: str = ""  # of text: what it looks like, see `resemblance`

    @property
    def kind(self) -> str:
        if self.possible is None:
            return "unusable"
        return self.possible[0] if self.possible else "word"

    @property
    def missing_rows(self) -> Array:
        """The rows without a value."""
        found = self.gaps.get(self.words if self.kind == "word" else self.kind, [])
        return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return len(self.missing_rows)


@dataclass
class Survey:
    """What is known of a table after one pass."""

    columns: dict[int, ColumnFacts] = field(default_factory=dict)
    n_rows: int = 0

    def incomplete(self, positions: Iterable[int]) -> Array:
        """Return which rows have no value in at least one of some columns."""
        found = np.zeros(self.n_rows, dtype=bool)
        for j in positions:
            found[self.columns[j].missing_rows] = True
        return found


def survey(
    table: TableFile,
    positions: Sequence[int],
    kinds: Mapping[int, str] | None = None,
    labels: Collection[int] = (),
) -> Survey:
    """Look at all cells of some columns once.

    Parameters
    ----------
    table : TableFile
    positions : sequence of int
        The columns.
    kinds : mapping from positions to kinds, optional
        What columns must be; that of the others is found out.
    labels : collection of int
        Columns whose words, if they hold such, name classes or groups.
    """
    found = Survey()
    for piece in table.pieces(positions):
        found.n_rows = max(found.n_rows, piece.first + piece.frame.height)
        for j, dtype in zip(piece.positions, piece.frame.dtypes, strict=True):
            if j not in found.columns:
                kind = (kinds or {}).get(j)
                possible = kinds_of(dtype, table.typed)
                if kind is not None and possible is not None:
                    possible = () if kind == "word" else (kind,)
                found.columns[j] = ColumnFacts(
                    possible,
                    "label" if j in labels else "word",
                    type_name=str(dtype),
                    forced=kind is not None,
                )
        _look(found, piece, table.decimal_comma)
    for facts in found.columns.values():
        # Nothing but "None": a word that says something, as no number is beside it.
        if facts.nones and not facts.readable[facts.kind] and not facts.forced:
            facts.possible = ()
    return found


def _look(found: Survey, piece: Piece, decimal_comma: bool) -> None:
    """Take in one piece: the columns of numbers all together, then, one by one, those in doubt."""
    dtypes = piece.frame.dtypes
    numbers = [
        i
        for i, j in enumerate(piece.positions)
        if found.columns[j].kind == "number" and may_be_numbers(dtypes[i])
    ]
    _, whole = as_numbers(piece.frame[:, numbers], decimal_comma)
    clean = {i for i, good in zip(numbers, whole, strict=True) if good}
    for i, j in enumerate(piece.positions):
        if i in clean:
            found.columns[j].readable["number"] += piece.frame.height
        else:
            _look_closely(found, piece, i, decimal_comma)


def _look_closely(found: Survey, piece: Piece, i: int, decimal_comma: bool) -> None:
    """Take in one column of a piece: what is missing, and which kinds are still possible."""
    facts, column = found.columns[piece.positions[i]], piece.frame.to_series(i)
    if facts.possible is None:
        return
    missing = {kind: is_missing(column, kind) for kind in (facts.words, *facts.possible)}
    for kind, cells in missing.items():
        rows = np.flatnonzero(cells.to_numpy())
        facts.gaps[kind] += [piece.first + rows] if len(rows) else []
    hoped = facts.kind
    if hoped in ("number", "date"):
        _count_nones(facts, column)
    for kind in facts.possible:
        values = MEANINGS[kind](column, decimal_comma)
        odd = values.is_null() & ~missing[kind]
        facts.readable[kind] += len(values) - values.null_count()
        if odd.any():
            facts.possible = tuple(k for k in facts.possible if k != kind)
            if not facts.odd and kind == hoped:
                row = _first_true(odd)
                facts.odd = ((piece.first + row, str(column.cast(polars().String)[row]).strip()),)
        elif kind == "number" and facts.infinite is None:
            infinite = values.is_infinite().fill_null(False)
            if infinite.any():
                facts.infinite = piece.first + _first_true(infinite)


def _count_nones(facts: ColumnFacts, column: "pl.Series") -> None:
    texts = column.cast(polars().String).str.strip_chars()
    nones = texts.filter(texts.str.to_lowercase() == "none")
    facts.nones += len(nones)
    facts.none = facts.none or (nones[0] if len(nones) else "")


def _first_true(flags: "pl.Series") -> int:
    return int(flags.to_numpy().argmax())


@dataclass
class WordCount:
    """How often a word occurs in a column, and the row where it does first."""

    count: int
    row: int


def count_words(
    table: TableFile, positions: Sequence[int], keep: Array
) -> dict[int, dict[str, WordCount]]:
    """Count the words of some columns over the rows to keep; give up beyond `MOST_COUNTED`.

    Blank cells count as the word `BLANK`.
    """
    pl = polars()
    found: dict[int, dict[str, WordCount]] = {j: {} for j in positions}
    for piece in table.pieces(positions) if positions else ():
        rows = keep[piece.first : piece.first + piece.frame.height]
        for i, j in enumerate(piece.positions):
            words = as_word(piece.frame.to_series(i)).fill_null(BLANK)
            kept = words.to_frame("word").with_row_index("row").filter(rows)
            counts = kept.group_by("word", maintain_order=True)
            for word, count, row in counts.agg(count=pl.len(), first=pl.col("row").first()).rows():
                if word in found[j]:
                    found[j][word].count += count
                elif len(found[j]) <= MOST_COUNTED:
                    found[j][word] = WordCount(count, piece.first + row)
    return found
