"""Small tables and summaries that print as text, show as HTML and convert to data frames.

What a notebook shows of a result is short, whatever the size of the data; ``print`` holds nothing back.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import singledispatch
from html import escape
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")
# Joiners belong to letters of some scripts and to emoji; all other format characters are escaped.
_HARMLESS_FORMAT = "\u200c\u200d"
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# So many characters a repr has at most, its table, and what it says of one part.
_MOST_SHOWN, _MOST_OF_TABLE, _MOST_OF_PART = 1900, 1200, 80
# Arrays and sequences up to so many entries are shown whole; of a table in HTML, so many rows.
_FEW, _MANY_ROWS = 6, 100


@dataclass(frozen=True)
class Table:
    """A small table that prints as text, shows as HTML and converts to a data frame."""

    columns: dict[str, list[Any]]
    caption: str = ""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def without_empty(self) -> "Table":
        """Return the table without columns in which no number is known."""
        kept = {
            name: values
            for name, values in self.columns.items()
            if not values or any(value == value for value in values)
        }
        return Table(kept, self.caption)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a pandas (or, with ``backend="polars"``, polars) data frame."""
        module = backend or "pandas"
        try:
            library = __import__(module)
        except ImportError as error:
            raise ImportError(
                f"to_frame needs {module}: run `pip install {module}`, or read `.columns`"
            ) from error
        return library.DataFrame(self.columns)

    def __str__(self) -> str:
        texts = {name: [_cell(v) for v in values] for name, values in self.columns.items()}
        widths = {n: max([len(n), *map(len, cells)]) for n, cells in texts.items()}
        numeric = {
            n: all(not isinstance(v, str) for v in values) for n, values in self.columns.items()
        }

        def line(cells: dict[str, str]) -> str:
            aligned = [
                cell.rjust(widths[n]) if numeric[n] else cell.ljust(widths[n])
                for n, cell in cells.items()
            ]
            return "  ".join(aligned).rstrip()

        rows = [line({n: cells[k] for n, cells in texts.items()}) for k in range(len(self))]
        head = [line({n: n for n in texts})] if texts else []
        return "\n".join([*([self.caption] if self.caption else []), *head, *rows])

    def __repr__(self) -> str:
        return shortened(str(self), _MOST_OF_TABLE, "rows")

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = "".join(
            "<tr>"
            + "".join(f"<td>{escape(_cell(v[k]))}</td>" for v in self.columns.values())
            + "</tr>"
            for k in range(min(len(self), _MANY_ROWS))
        )
        if len(self) > _MANY_ROWS:
            more = f"... and {len(self) - _MANY_ROWS:,} more rows: to_frame() has them all"
            rows += f'<tr><td colspan="{len(self.columns)}">{more}</td></tr>'
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        shown = "".join(c if c.isprintable() else " " for c in value)
        return shown if len(shown) <= 60 else shown[:57] + "..."
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if value is None:
        return ""
    return f"{value:.4g}"


@dataclass(frozen=True)
class Summary:
    """Facts about a fit and a table of what it found: as text, as HTML, as a data frame."""

    facts: tuple[str, ...]
    table: Table

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the table as a data frame."""
        return self.table.to_frame(backend)

    def __str__(self) -> str:
        return self._with(str(self.table))

    def __repr__(self) -> str:
        return shortened(self._with(repr(self.table)))

    def _with(self, table: str) -> str:
        rows = [table] if len(self.table) else []
        first, *others = (visible(fact, kept="\n") for fact in self.facts)
        return "\n".join([first, *rows, *others])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(fact)}</li>" for fact in self.facts[1:])
        return f"<p>{escape(self.facts[0])}</p>{self.table._repr_html_()}<ul>{items}</ul>"


class Shown:
    """The base of results: a repr that is short whatever the size of the data, and the same as HTML.

    A dataclass that derives from it is made with ``repr=False``. Parts that are None are left out.
    """

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={text}" for name, text in self._parts().items())
        return f"{type(self).__name__}({parts})"

    def _repr_html_(self) -> str:
        parts = self._parts()
        table = Table({"part": [*parts], "value": [*parts.values()]}, type(self).__name__)
        return table._repr_html_()

    def _parts(self) -> dict[str, str]:
        """Return what is shown of each part."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]
        return {name: brief(value) for name, value in values.items() if value is not None}


@singledispatch
def brief(value: Any) -> str:
    """Return a value in a few words: large ones by their size."""
    text = repr(value)
    return text if len(text) <= _MOST_OF_PART else f"<{type(value).__name__}>"


@brief.register(float)
@brief.register(np.floating)
def _(value: Any) -> str:
    return f"{value:.6g}"


@brief.register(np.ndarray)
def _(value: np.ndarray) -> str:
    if value.ndim == 1 and value.size <= _FEW:
        return f"[{', '.join(map(brief, value.tolist()))}]"
    return f"<{value.dtype} array of shape {value.shape}>"


@brief.register(str)
def _(value: str) -> str:
    return repr(value if len(value) < _MOST_OF_PART else f"{value[: _MOST_OF_PART - 5]}...")


@brief.register(tuple)
@brief.register(list)
@brief.register(dict)
def _(value: Any) -> str:
    text = repr(value) if len(value) <= _FEW else ""
    return text if 0 < len(text) <= _MOST_OF_PART else f"<{type(value).__name__} of {len(value):,}>"


def shortened(text: str, most: int = _MOST_SHOWN, noun: str = "lines") -> str:
    """Return as many of the first lines as fit into so many characters, and how many are left out."""
    if len(text) <= most:
        return text
    lines, kept, size = text.split("\n"), 0, 0
    while size + len(lines[kept]) < most:
        size += len(lines[kept]) + 1
        kept += 1
    more = f"... and {len(lines) - kept:,} more {noun}: print() shows them all"
    return "\n".join([*(lines[:kept] or [lines[0][:most]]), more])


def visible(text: str, kept: str = "") -> str:
    """Return a text that cannot steer a page or a terminal.

    Control and direction characters, but for those kept, become visible escapes.
    """
    if text.isprintable():
        return text
    return "".join(_escaped(c) if _is_hidden(c) and c not in kept else c for c in text)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN and character not in _HARMLESS_FORMAT


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def listing(names: Iterable[Any], quote: Callable[[str], str] = repr, most: int = 30) -> str:
    """Return some names for a message, and how many more there are."""
    return some_of(list(names), lambda name: quote(str(name))[:60], most)


def some_of(items: Sequence[Item], show: Callable[[Item], str], most: int = 30) -> str:
    """Return what is shown of the first items, and how many more there are, if more than one."""
    shown = len(items) if len(items) <= most + 1 else most
    more = f" and {len(items) - shown:,} more" if shown < len(items) else ""
    return ", ".join(map(show, items[:shown])) + more
