"""Terms of a model, and the columns that a table expands to.

A term is a product of factors, each a column of the table in some shape. `Expansion` makes the
columns of all terms, of the rows fitted to and again of new rows, and knows which columns belong
together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.selections.groups import VariableGroups
from garrote.tables.coding import Coding
from garrote.tables.errors import TableError
from garrote.tables.terms.shapes import Levels, Parts, Shape, shape_from_dict


@dataclass(frozen=True)
class Factor:
    """One column of a table in some shape.

    ``column`` is its name in the table, ``text`` how the factor is written.
    """

    column: str
    text: str
    shape: Shape

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"column": self.column, "text": self.text, "shape": self.shape.to_dict()}


@dataclass(frozen=True)
class Term:
    """A product of factors, whose columns are in or out together.

    Parameters
    ----------
    factors : tuple of Factor
    kind : str
        "column", "levels", "curve", "interaction" or "term"; "parts" of a date are variables each.
    name : str
        How the variable is called.
    parents : tuple of str
        Names of the terms that must be in for this one to be.
    """

    factors: tuple[Factor, ...]
    kind: str
    name: str
    parents: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "parents": list(self.parents),
            "factors": [factor.to_dict() for factor in self.factors],
        }

    def labels(self, coding: Coding) -> list[str]:
        """Return names of its columns, the last factor varying fastest."""
        outputs = {column.name: column.outputs for column in coding.columns}
        parts = [f.shape.labels(f.text, outputs[f.column]) for f in self.factors]
        names, *others = parts
        for some in others:
            names = tuple(f"{before}:{name}" for before in names for name in some)
        return list(names)

    def values(self, blocks: Mapping[str, Floats]) -> Floats:
        """Return its columns, given those of each column of the table."""
        made = np.ones((len(next(iter(blocks.values()))), 1))
        for factor in self.factors:
            new = factor.shape.values(blocks[factor.column])
            made = (made[:, :, None] * new[:, None, :]).reshape(len(made), -1)
        return made


@dataclass(frozen=True)
class Expansion:
    """The columns that a table expands to: all that is needed to make them again.

    Parameters
    ----------
    terms : tuple of Term
    dropped : frozenset of int
        Columns, counted over all terms, that were the same in every row fitted to, and are left out.
    """

    terms: tuple[Term, ...]
    dropped: frozenset[int] = field(default_factory=frozenset)

    def columns(self, coding: Coding) -> list[tuple[Term, str]]:
        """Return the term and the name of every column that is kept."""
        every = [(term, name) for term in self.terms for name in term.labels(coding)]
        return [one for j, one in enumerate(every) if j not in self.dropped]

    def names(self, coding: Coding) -> tuple[str, ...]:
        """Return names of all columns."""
        return tuple(name for _, name in self.columns(coding))

    def apply(self, coding: Coding, X: Floats) -> Floats:
        """Return the columns of all terms, given those of the table."""
        made = np.empty((len(X), len(self.columns(coding))), order="F")
        blocks, first, at = blocks_of(coding, X), 0, 0
        for term in self.terms:
            values = term.values(blocks)
            kept = [k for k in range(values.shape[1]) if first + k not in self.dropped]
            made[:, at : at + len(kept)] = values[:, kept]
            first, at = first + values.shape[1], at + len(kept)
        return made

    def groups(self, coding: Coding) -> VariableGroups:
        """Return which columns are one variable."""
        columns = self.columns(coding)
        known = {column.name: column for column in coding.columns}
        keys = [name if term.kind == "parts" else term.name for term, name in columns]
        order = list(dict.fromkeys(keys))
        terms = dict(zip(keys, (term for term, _ in columns), strict=True))
        place = {key: k for k, key in enumerate(order)}
        number = np.array([place[key] for key in keys], dtype=np.int64)
        alone = np.bincount(number, minlength=len(order)) == 1
        shown = {
            key: name if alone[place[key]] else key
            for key, (_, name) in zip(keys, columns, strict=True)
        }
        return VariableGroups(
            names=tuple(shown[key] for key in order),
            number=number,
            kinds=tuple(_kind(terms[key]) for key in order),
            references=tuple(_reference(terms[key], known) for key in order),
            labels=tuple(
                name.removeprefix(f"{term.name}=") if term.kind == "levels" else name
                for term, name in columns
            ),
            parents={
                shown[key]: tuple(shown[p] for p in terms[key].parents if p in shown)
                for key in order
                if any(p in shown for p in terms[key].parents)
            },
        )

    def owners(self, coding: Coding) -> list[frozenset[str]]:
        """Return the columns of the table that each column is made of."""
        return [frozenset(f.column for f in term.factors) for term, _ in self.columns(coding)]

    def to_dict(self) -> dict[str, Any]:
        """Return it as lists, texts and numbers, for JSON."""
        return {"terms": [term.to_dict() for term in self.terms], "dropped": sorted(self.dropped)}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> "Expansion":
        """Make it from what `to_dict` returned."""
        try:
            terms = tuple(_term_from_dict(term) for term in written["terms"])
            return cls(terms, frozenset(map(int, written["dropped"])))
        except (KeyError, TypeError, ValueError) as error:
            raise TableError(
                f"the terms of the model are damaged ({error!r}): save the model anew"
            ) from error


def blocks_of(coding: Coding, X: Floats) -> dict[str, Floats]:
    """Return the columns of numbers of each column of the table."""
    blocks, first = {}, 0
    for column in coding.columns:
        width = len(column.outputs)
        blocks[column.name] = X[:, first : first + width]
        first += width
    return blocks


def constant_columns(X: Floats) -> Array:
    """Return the columns that are the same in every row, but for rounding and missing values."""
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    size = np.maximum(np.abs(low), np.abs(high))
    return np.flatnonzero(~(high - low > 1e-12 * size))


def own_terms(coding: Coding) -> list[Term]:
    """Return a term for every column of a table, as it was coded."""
    from garrote.tables.terms.shapes import Scaled

    kinds = {"word": ("levels", Levels()), "date": ("parts", Parts())}
    terms = []
    for column in coding.columns:
        kind, shape = kinds.get(column.kind, ("column", Scaled()))
        if column.outputs:
            terms.append(Term((Factor(column.name, column.name, shape),), kind, column.name))
    return terms


def coded_groups(coding: Coding) -> VariableGroups:
    """Return which columns of a coded table are one variable: the levels of a column of words."""
    return Expansion(tuple(own_terms(coding))).groups(coding)


def _kind(term: Term) -> str:
    return "column" if term.kind == "parts" else term.kind


def _reference(term: Term, known: Mapping[str, Any]) -> str | None:
    """Return what the levels of a column of words are compared with."""
    if term.kind != "levels" or term.factors[0].shape != Levels():
        return None
    reference: str | None = known[term.factors[0].column].reference
    return reference


def _term_from_dict(written: Mapping[str, Any]) -> Term:
    factors: Sequence[Mapping[str, Any]] = written["factors"]
    return Term(
        tuple(
            Factor(str(f["column"]), str(f["text"]), shape_from_dict(f["shape"])) for f in factors
        ),
        str(written["kind"]),
        str(written["name"]),
        tuple(map(str, written["parents"])),
    )
