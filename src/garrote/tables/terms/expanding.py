"""From a coded table and what is asked for to the columns of all terms: made once, checked, counted."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from garrote.arrays import Floats
from garrote.limits.budgets import COLUMNS_MADE
from garrote.summaries import listing
from garrote.tables.coding import Coding
from garrote.tables.errors import TableError, count_of
from garrote.tables.formats.opening import refuse_same_names
from garrote.tables.formats.room import refuse_beyond_memory
from garrote.tables.terms.expansion import (
    Expansion,
    Term,
    blocks_of,
    constant_columns,
    own_terms,
)
from garrote.tables.terms.formula import Formula, formula_terms
from garrote.tables.terms.products import curve_terms, interaction_terms


@dataclass(frozen=True)
class Asked:
    """What is asked for beyond the columns themselves.

    ``interactions`` and ``curves`` name columns; () means all, None that none was asked for.
    """

    formula: Formula | None = None
    interactions: tuple[str, ...] | None = None
    curves: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Expanded:
    """The columns of all terms, how to make them again, and what is to be said of them."""

    X: Floats
    expansion: Expansion
    notes: tuple[str, ...]


def expand(
    label: str, coding: Coding, X: Floats, asked: Asked, apart: Collection[str] = ()
) -> Expanded:
    """Return the columns of all terms that are asked for.

    Parameters
    ----------
    label : str
        Name of the table.
    coding : Coding
    X : array
        The table as numbers.
    asked : Asked
    apart : collection of str
        Columns that a formula need not name: covariates.
    """
    own = own_terms(coding)
    if asked.formula is None:
        terms = own
    else:
        terms = formula_terms(asked.formula, coding, X)
        named = {term.name for term in terms}
        terms += [term for term in own if term.name in apart and term.name not in named]
    if asked.curves is not None:
        terms = terms + curve_terms(coding, X, asked.curves)
    if asked.interactions is not None:
        terms = terms + interaction_terms(coding, X, asked.interactions)
    expansion = Expansion(tuple(terms))
    _refuse_many(label, expansion, coding, len(X), asked)
    _refuse_undefined(label, terms, coding, X)
    made = expansion.apply(coding, X)
    first_new = 0 if asked.formula else X.shape[1]
    dropped = [int(j) for j in constant_columns(made) if j >= first_new]
    notes = list(_notes(terms, own, asked))
    if dropped:
        names = [expansion.names(coding)[j] for j in dropped]
        notes.append(
            f"{count_of(len(dropped), 'column')} of terms {'is' if len(dropped) == 1 else 'are'} "
            f"the same "
            f"in every row, and left out: {listing(names, most=3)}"
        )
        expansion = replace(expansion, dropped=frozenset(dropped))
        made = np.asfortranarray(np.delete(made, dropped, axis=1))
    refuse_same_names(expansion.names(coding), f"{label}: rename a column, for with all terms")
    return Expanded(made, expansion, tuple(notes))


def expand_again(label: str, coding: Coding, X: Floats, expansion: Expansion) -> Floats:
    """Return the columns of all terms of new rows."""
    _refuse_undefined(label, expansion.terms, coding, X)
    return expansion.apply(coding, X)


def _refuse_many(label: str, expansion: Expansion, coding: Coding, rows: int, asked: Asked) -> None:
    count = len(expansion.columns(coding))
    remedy = (
        "give --interactions a,b,c for pairs among some variables alone"
        if asked.interactions == ()
        else "ask for fewer terms"
    )
    if count > COLUMNS_MADE:
        raise TableError(
            f"{label}: with all terms there are {count:,} columns, and at most {COLUMNS_MADE:,} "
            f"are made: "
            f"{remedy}"
        )
    refuse_beyond_memory(label, 16.0 * rows * count, f"{rows:,} x {count:,} numbers", remedy)


def _refuse_undefined(label: str, terms: Sequence[Term], coding: Coding, X: Floats) -> None:
    """Refuse a function that has no value somewhere, as the logarithm of 0."""
    blocks = blocks_of(coding, X)
    for factor in (factor for term in terms for factor in term.factors):
        block = blocks[factor.column]
        if factor.shape.name not in ("function", "power"):
            continue
        wrong = np.isfinite(block) & ~np.isfinite(factor.shape.values(block))
        if wrong.any():
            value = float(block[wrong][0])
            raise TableError(
                f"{label}: {factor.text} has no value where {factor.column!r} is {value:g} "
                f"({count_of(int(wrong.sum()), 'row')}): take another function of it, or correct "
                f"the value"
            )


def _notes(terms: Sequence[Term], own: Sequence[Term], asked: Asked) -> list[str]:
    """Say how many terms were made, and what they are."""
    old = {term.name for term in own}
    pairs = sum(term.kind == "interaction" for term in terms)
    curves = [term for term in terms if term.kind == "curve"]
    notes = []
    if asked.formula is not None:
        notes.append(
            f"the formula has {count_of(len(terms), 'term')}: {listing((t.name for t in terms), str, 8)}"
        )
    elif pairs:
        notes.append(
            f"{count_of(pairs, 'interaction')} of two variables; numbers are multiplied in standard "
            "deviations from their mean"
        )
    if curves and asked.formula is None:
        straight = [t.name for t in terms if t.kind == "column" and t.name in old]
        left = [n for n in straight if n not in {c.parents[0] for c in curves}]
        notes.append(
            f"{count_of(len(curves), 'number')} may have a curve beside the straight line"
            + (
                f"; of too few values for one: {listing(left, most=3)}"
                if left and not asked.curves
                else ""
            )
        )
    return notes
