"""Small tables and summaries that print as text, show as HTML and convert to data frames."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")
# Joiners belong to letters of some scripts and to emoji; all other format characters are escaped.
_HARMLESS_FORMAT = "\u200c\u200d"
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


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

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = "".join(
            "<tr>"
            + "".join(f"<td>{escape(_cell(v[k]))}</td>" for v in self.columns.values())
            + "</tr>"
            for k in range(len(self))
        )
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
        rows = [str(self.table)] if len(self.table) else []
        first, *others = (visible(fact, kept="\n") for fact in self.facts)
        return "\n".join([first, *rows, *others])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(fact)}</li>" for fact in self.facts[1:])
        return f"<p>{escape(self.facts[0])}</p>{self.table._repr_html_()}<ul>{items}</ul>"


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
