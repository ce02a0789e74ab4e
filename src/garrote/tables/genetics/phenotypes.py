"""Traits and covariates of people in a table, brought into the order of people in another file."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from garrote.arrays import Array, Floats
from garrote.summaries import listing
from garrote.tables.errors import TableError, count_of, unknown_name
from garrote.tables.formats.base import TableFile
from garrote.tables.formats.opening import with_table
from garrote.tables.formats.whole_columns import plain_name, read_numbers, read_texts
from garrote.tables.kinds import MISSING

_FAMILY, _PERSON = (
    ("fid", "family", "family_id"),
    ("iid", "id", "sample", "sample_id", "individual"),
)
_SPAN = re.compile(r"(\D*)(\d+)-(\D*)(\d+)")
# What PLINK takes for a trait that is not known.
_UNKNOWN = -9.0

Person = tuple[str, str]


@dataclass(frozen=True)
class Phenotypes:
    """A trait and covariates of some people.

    Attributes
    ----------
    rows : array of int
        Which of the people asked about are there, with trait and covariates, in their order.
    trait : array
        Of these people.
    covariates : array (rows x columns)
    names : tuple of str
        Of the covariates.
    notes : tuple of str
        Who was left out, and how columns were read.
    """

    rows: Array
    trait: Floats
    covariates: Floats
    names: tuple[str, ...]
    notes: tuple[str, ...]


def read_phenotypes(
    source: str,
    trait: str,
    covariates: Sequence[str],
    people: Sequence[Person],
    genotypes: str,
) -> Phenotypes:
    """Read a trait and covariates of people who are named by family and person.

    Parameters
    ----------
    source : str
        A table with a column IID, or one of another usual name, or of people in its first column; and
        perhaps FID.
    trait, covariates : str, sequence of str
        Columns. ``PC1-PC10`` stands for ten of them.
    people : sequence of pairs of str
        Family and person, whoever may be kept.
    genotypes : str
        What the file of these people is called.
    """
    return with_table(source, lambda table: _read(table, trait, covariates, people, genotypes))


def read_people(source: str) -> list[str | Person]:
    """Read people, one a line: a name, or those of family and person; FID and IID may stand on top."""
    path = Path(source)
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if rows and plain_name(rows[0][0]) in (*_FAMILY, *_PERSON) and len(rows[0]) <= 2:
        rows = rows[1:]
    if not rows:
        raise TableError(f"{path.name} names nobody")
    wrong = next((k for k, row in enumerate(rows, 1) if len(row) not in (1, 2)), None)
    if wrong is not None:
        raise TableError(
            f"{path.name}: name {wrong} has {len(rows[wrong - 1])} words; a line has the person's name, "
            "or the family's and the person's"
        )
    return [row[0] if len(row) == 1 else (row[0], row[1]) for row in rows]


def spelt_out(wanted: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return names with spans such as PC1-PC10 spelt out; a column that is called so stays."""
    names: list[str] = []
    for name in wanted:
        found = None if name in known else _SPAN.fullmatch(name)
        if found and found[3] in ("", found[1]) and int(found[2]) <= int(found[4]):
            names += [f"{found[1]}{k}" for k in range(int(found[2]), int(found[4]) + 1)]
        else:
            names.append(name)
    return names


def _read(
    table: TableFile, trait: str, wanted: Sequence[str], people: Sequence[Person], genotypes: str
) -> Phenotypes:
    columns = {name: j for j, name in enumerate(table.names)}
    asked = spelt_out(wanted, table.names)
    for name, role in ((trait, "the trait"), *((name, "a covariate") for name in asked)):
        if name not in columns:
            raise unknown_name(table, role, name)
    if trait in asked:
        raise TableError(f"{trait!r} is the trait, and cannot be a covariate, too")
    order, notes = _matched(table, people, genotypes)
    y = read_numbers(table, columns[trait])
    unknown = y == _UNKNOWN
    if unknown.any():
        y[unknown] = np.nan
        notes.append(f"{trait} is -9 of {unknown.sum():,} people, which PLINK takes for not known")
    parts, names = [np.zeros((len(y), 0))], []
    for name in asked:
        values, labels = _covariate(table, columns[name])
        parts.append(values)
        names += [name + label for label in labels]
    beside = np.hstack(parts)
    found = np.flatnonzero(order >= 0)
    complete = np.isfinite(y[order[found]]) & np.isfinite(beside[order[found]]).all(axis=1)
    if not complete.all():
        notes.append(
            f"{(~complete).sum():,} of {len(found):,} people have no {trait}, or lack a covariate, "
            "and were left out"
        )
    rows = found[complete]
    if len(rows) < 2:
        raise TableError(f"{table.label}: {count_of(len(rows), 'person')} in {genotypes} has all of "
                         f"{listing([trait, *asked], str)}, and two are needed")  # fmt: skip
    return Phenotypes(rows, y[order[rows]], beside[order[rows]], tuple(names), tuple(notes))


def _matched(table: TableFile, people: Sequence[Person], genotypes: str) -> tuple[Array, list[str]]:
    """Return the row of the table of each person, -1 where there is none, and who is not there."""
    place = {plain_name(name): j for j, name in reversed(list(enumerate(table.names)))}
    family = next((place[name] for name in _FAMILY if name in place), None)
    person = next((place[name] for name in _PERSON if name in place), None)
    alone = read_texts(table, 0 if person is None else person)
    names: Sequence[str | Person] = alone
    asked: Sequence[str | Person] = [person for _, person in people]
    if family is not None and person is not None:
        both = list(zip(read_texts(table, family), alone, strict=True))
        if set(both) & set(people):  # families may be 0 in one file, and named in the other
            names, asked = both, people
    _refuse_repeated(names, table.label)
    _refuse_repeated(asked, genotypes)
    row = {name: k for k, name in enumerate(names)}
    order = np.array([row.get(name, -1) for name in asked], dtype=np.int64)
    if not (order >= 0).any():
        raise TableError(
            f"{genotypes} and {table.label} have nobody in common: one has {_said(asked[0])}, the other "
            f"{_said(names[0])} in its column {table.names[0 if person is None else person]!r}; give "
            "both the same names, in a column IID, and perhaps FID"
        )
    absent, more = int((order < 0).sum()), len(names) - int((order >= 0).sum())
    notes = []
    if absent:
        notes.append(
            f"{absent:,} of {len(people):,} people in {genotypes} are not in {table.label}"
        )
    if more:
        notes.append(f"{more:,} of {len(names):,} people in {table.label} are not in {genotypes}")
    return order, notes


def _refuse_repeated(names: Sequence[str | Person], label: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(
            f"{label} has {_said(twice[0])} more than once ({len(twice):,} people in all): give each a "
            "row, or name families in a column FID of both files"
        )


def _said(name: str | Person) -> str:
    return repr(name if isinstance(name, str) else " ".join(name))


def _covariate(table: TableFile, column: int) -> tuple[Floats, Sequence[str]]:
    """Return a covariate as columns of numbers: itself, or whether it is each level but the first."""
    try:
        return read_numbers(table, column)[:, None], ("",)
    except TableError:
        texts = read_texts(table, column)
    known = [text.strip() for text in texts]
    levels = sorted({text for text in known if text not in MISSING["label"]})
    if len(levels) > len(known) // 2 or len(levels) < 2:
        raise TableError(
            f"{table.label}: {table.names[column]!r} has {count_of(len(levels), 'level')} in "
            f"{count_of(len(known), 'row')}, which is no covariate"
        )
    number: Mapping[str, int] = {level: k for k, level in enumerate(levels)}
    values = np.full((len(known), len(levels) - 1), np.nan)
    for row, text in enumerate(known):
        if text in number:
            values[row] = np.arange(1, len(levels)) == number[text]
    return values, [f"={level}" for level in levels[1:]]
