"""The three files of PLINK 1: genotypes (.bed), variants (.bim) and people (.fam)."""

from pathlib import Path

import numpy as np

from garrote.arrays import Array
from garrote.designs.genotypes.variants import People, Variants

_MAGIC, _BY_VARIANT = b"\x6c\x1b", b"\x01"


def read_people(path: Path) -> People:
    """Read a .fam file: family, individual, father, mother, sex, phenotype."""
    rows = _fields(path, {6, 5, 2}, "family and individual first, six columns in all")
    family, individual = (np.array([row[k] for row in rows], dtype=object) for k in (0, 1))
    return People(family, individual)


def read_variants(path: Path) -> Variants:
    """Read a .bim file: chromosome, name, position in centimorgans (perhaps), in bases, two alleles."""
    rows = _fields(path, {6, 5}, "chromosome, name, centimorgans, position and two alleles")
    columns = [[row[k] for row in rows] for k in (0, 1, -3, -2, -1)]
    position = np.array(
        [_position(text, k, path) for k, text in enumerate(columns[2], 1)], np.int64
    )
    chromosome, name, _, counted, other = (np.array(column, dtype=object) for column in columns)
    return Variants(chromosome, name, position, counted, other)


def _position(text: str, line: int, path: Path) -> int:
    """Return a position in bases, which R may have written as 1e+05."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        value = 0.5
    if not value.is_integer():
        raise ValueError(
            f"{path.name}: line {line} has {text!r} where the position in bases is expected"
        )
    return int(value)


def map_genotypes(path: Path, people: int, variants: int) -> Array:
    """Return the genotypes of a .bed file as they lie there: a row of bytes for each variant."""
    with opened(path).open("rb") as file:
        head = file.read(3)
    if head[:2] != _MAGIC:
        raise ValueError(
            f"{path.name} is no .bed file of PLINK: it begins with {head[:2].hex() or 'nothing'}, not "
            f"with {_MAGIC.hex()}"
        )
    if head[2:] != _BY_VARIANT:
        raise ValueError(
            f"{path.name} is stored person by person, or in no known order (third byte "
            f"{head[2:].hex() or 'missing'}): write it anew by the make-bed of plink"
        )
    width = (people + 3) // 4
    expected, found = 3 + width * variants, path.stat().st_size
    if expected != found:
        raise ValueError(
            f"{path.name} has {found:,} bytes, where {people:,} people and {variants:,} variants need "
            f"{expected:,}: it is cut off, or the .bim and .fam beside it belong to another file"
        )
    mapped = np.memmap(path, dtype=np.uint8, mode="r", offset=3, shape=(variants, width))
    return np.asarray(mapped)


def beside(path: Path, suffix: str) -> Path:
    """Return the file of the same name with another suffix, which has to be there."""
    other = path.with_suffix(suffix)
    if not other.is_file():
        raise FileNotFoundError(
            f"{other.name} is missing beside {path.name}: PLINK writes all three"
        )
    return other


def opened(path: Path) -> Path:
    """Return a path of a file that is there."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return path


def read_table(
    path: Path, most: int | None = None, named: bool = False
) -> tuple[list[str] | None, list[list[str]]]:
    """Return the names of columns, if a line beginning with # (or the first, if ``named``) tells them.

    Of each row below the words follow, as many as the first ``most`` columns at least.
    """
    lines = [line for line in _text(path).splitlines() if line.strip() and line[:2] != "##"]
    if not lines or not (named or lines[0].startswith("#")):
        return None, []
    header = lines[0].lstrip("#").split()
    wanted = len(header) if most is None else min(most, len(header))
    rows = [line.split(None, wanted) for line in lines[1:]]
    bad = next((k for k, row in enumerate(rows) if len(row) < wanted), None)
    if bad is not None:
        raise ValueError(
            f"{path.name}: row {bad + 1} below the header has {len(rows[bad])} columns; expected are "
            f"{', '.join(header[:wanted])}"
        )
    return header, rows


def _fields(path: Path, counts: set[int], what: str) -> list[list[str]]:
    """Return the words of every line, as many as one of ``counts`` in all of them."""
    rows = [line.split() for line in _text(path).splitlines()]
    while rows and not rows[-1]:
        rows.pop()
    if not rows:
        raise ValueError(f"{path.name} is empty")
    width = len(rows[0])
    bad = next((k for k, row in enumerate(rows) if len(row) != width), None)
    if bad is None and width not in counts:
        bad = 0
    if bad is not None:
        raise ValueError(
            f"{path.name}: line {bad + 1} has {len(rows[bad])} columns; expected are {what}"
        )
    return rows


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is no text") from None
