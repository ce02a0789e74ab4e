"""Places in a text and what is there: rows of a map, found by the number of an equation or figure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

NOT_YET = "not yet"
# "Eqs. 13.20-13.22", "Figure 13.16a", "section 13.2.3.2", "appendix B".
_PLACE = re.compile(r"(?P<kind>[A-Za-z]+)s?\.? (?P<first>[\w.]+)(?:-(?P<last>[\w.]+))?")
_NUMBER = re.compile(r"(\d[\d.]*|[A-Z])([a-z]?(?:-[a-z])?)")
# How users may write a kind of place.
_KINDS = {
    "eq": "Eq", "eqs": "Eq", "equation": "Eq", "fig": "Figure", "figure": "Figure", "table": "Table",
    "section": "section", "sec": "section", "algorithm": "Algorithm", "listing": "Listing",
    "exercise": "exercise", "appendix": "appendix",
}  # fmt: skip


class Entry(NamedTuple):
    """One row: a place, what is there, and by which names of garrote and which studies.

    ``by`` are names inside garrote, ``studies`` names of `garrote reproduce`, both with spaces between
    them. A row with neither has not been made yet. ``remark`` says how ours differs, or what is missing.
    """

    place: str
    what: str
    by: str = ""
    studies: str = ""
    remark: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The full names of what does it, as they are imported."""
        return tuple(f"garrote.{name}" for name in self.by.split())

    @property
    def study_names(self) -> tuple[str, ...]:
        """The studies that make it again."""
        return tuple(self.studies.split())

    @property
    def there(self) -> bool:
        """Whether garrote has it."""
        return bool(self.by or self.studies)

    @property
    def kind(self) -> str:
        """What kind of place it is: Eq, section, Figure, Table, ..."""
        return self._parts()[0]

    def _parts(self) -> tuple[str, str, str]:
        match = _PLACE.fullmatch(self.place)
        if match is None:
            raise ValueError(f"{self.place!r} is no place such as 'Eqs. 13.20-13.22'")
        kind, first, last = match["kind"], match["first"], match["last"]
        ends_in_number = last is not None and last[0].isalnum() and not last.isalpha()
        return kind.removesuffix("s"), first, last if ends_in_number else first

    def holds(self, number: str) -> bool:
        """Tell whether a number lies in this place; a section holds those that begin with its number."""
        kind, first, last = self._parts()
        if kind == "section" and first.startswith(f"{number}."):
            return True
        asked, begin, end = _order(number), _order(first), _order(last)
        return len(asked) == len(begin) and begin <= asked <= end


@dataclass(frozen=True)
class Text:
    """A source text: how it is cited, and its rows in the order of its pages."""

    citation: str
    entries: tuple[Entry, ...]

    def find(self, wanted: str) -> list[Entry]:
        """Return the rows of a number, such as "13.31", "Eq. 8" or "figure 3"."""
        words = re.findall(r"[A-Za-z]{2,}|[\d.]*\d[a-z]?|\b[A-Z]\b", wanted)
        kinds = [_KINDS[word.lower()] for word in words if word.lower() in _KINDS]
        numbers = [word for word in words if word.lower() not in _KINDS]
        if len(numbers) != 1 or len(kinds) > 1 or _NUMBER.fullmatch(numbers[0]) is None:
            raise ValueError(
                f"{wanted!r} is no number of an equation, a section, a figure or a table, such as "
                "'13.31' or 'figure 13.5'"
            )
        some = (entry for entry in self.entries if not kinds or entry.kind == kinds[0])
        return [entry for entry in some if entry.holds(numbers[0])]

    @property
    def missing(self) -> list[Entry]:
        """The rows that garrote does not have."""
        return [entry for entry in self.entries if not entry.there]


def resolve(name: str) -> Any:
    """Return what a full name stands for: an object of a module, or an attribute of a class."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[count:]:
            found = getattr(found, attribute)
        return found
    raise ImportError(f"there is no {name}")


def _order(number: str) -> tuple[Any, ...]:
    """Return what a number is compared by; letters of a figure's parts do not count."""
    match = _NUMBER.fullmatch(number)
    if match is None:
        return ("",)
    return tuple(_as_number(part) for part in match[1].strip(".").split("."))


def _as_number(part: str) -> int:
    return int(part) if part.isdigit() else -ord(part)


def in_lines(entry: Entry) -> Iterator[str]:
    """Yield a row as lines of text."""
    yield f"{entry.place}: {entry.what}"
    yield from (f"  {name}" for name in entry.names)
    yield from (f"  garrote reproduce {name}" for name in entry.study_names)
    if not entry.there:
        yield f"  {NOT_YET}"
    if entry.remark:
        yield f"  ({entry.remark})"
