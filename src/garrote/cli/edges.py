"""A file of edges: a line has two columns of a table, by name or position, and perhaps a weight."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from garrote.cli.errors import CommandError, suggestion

_DELIMITERS = "\t;,"
_HEADERS = (["from", "to"], ["source", "target"])


def read_edges(path: str, names: Sequence[str]) -> tuple[list[tuple[int, int]], list[float] | None]:
    """Return pairs of positions, and their weights if the file has a third column."""
    places = {name: j for j, name in enumerate(names)}
    edges, weights = [], []
    width = 0
    for number, cells in _lines(path):
        ends = cells[:2]
        if not width and [end.lower() for end in ends] in _HEADERS and not set(ends) & set(places):
            continue
        width = width or len(cells)
        if len(cells) != width or width not in (2, 3):
            raise CommandError(
                f"line {number} of {path} has {len(cells)} cells: every line needs two columns of the "
                "table, and a weight in all lines or in none"
            )
        one, other = (_place(end, places, path, number) for end in ends)
        edges.append((one, other))
        weights += [_weight(cell, path, number) for cell in cells[2:]]
    return edges, weights or None


def _lines(path: str) -> list[tuple[int, list[str]]]:
    """Return the lines that are not empty, with their numbers, cut into cells."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(
            f"the edges in {path} cannot be read ({error}): give a CSV file"
        ) from None
    first = text.partition("\n")[0]
    reader = csv.reader(
        text.splitlines(), delimiter=next((d for d in _DELIMITERS if d in first), ",")
    )
    cut = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    return [(number, cells) for number, cells in cut if any(cells)]


def _place(end: str, places: dict[str, int], path: str, number: int) -> int:
    if end in places:
        return places[end]
    if end.isdecimal() and int(end) < len(places):
        return int(end)
    hint = suggestion(end, places) or f"; give names, or positions from 0 to {len(places) - 1}"
    raise CommandError(f"line {number} of {path} has {end!r}, which is no variable{hint}")


def _weight(cell: str, path: str, number: int) -> float:
    try:
        weight = float(cell)
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight >= 0):
        raise CommandError(
            f"line {number} of {path} has the weight {cell!r}: it must be a number >= 0"
        )
    return weight
