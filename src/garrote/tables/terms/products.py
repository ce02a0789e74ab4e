"""Interactions and curves on request: pairs of variables, and what bends in the effect of a number.

The product of two numbers is that of their standardised values, so that the effects of each alone are
those at the mean of the other. A pair is in only with both of its variables, a curve only with its
straight line: strong heredity.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from garrote.arrays import Floats
from garrote.summaries import listing
from garrote.tables.coding import CodedColumn, Coding
from garrote.tables.errors import TableError, count_of
from garrote.tables.terms.expansion import Factor, Term, blocks_of
from garrote.tables.terms.shapes import Levels, Scaled, Shape
from garrote.tables.terms.splines import CURVE_COLUMNS, curve

CURVE = " (curve)"
# A number of fewer different values has no curve.
_FEWEST_VALUES = 5


def interaction_terms(coding: Coding, X: Floats, among: Sequence[str]) -> list[Term]:
    """Return a term for every pair of some columns; of all but dates, if none is named."""
    usable = [c for c in coding.columns if c.kind != "date" and c.outputs]
    chosen = _named("--interactions", coding, usable, among, "a number or a word")
    if len(chosen) < 2:
        there = listing(column.name for column in chosen)
        raise TableError(f"--interactions needs two variables at least, and there is {there}")
    blocks = blocks_of(coding, X)
    factors = {c.name: _standardised(c, blocks[c.name]) for c in chosen}
    return [
        Term((factors[one.name], factors[two.name]), "interaction", f"{one.name}:{two.name}",
             (one.name, two.name))
        for one, two in combinations(chosen, 2)
    ]  # fmt: skip


def curve_terms(coding: Coding, X: Floats, among: Sequence[str]) -> list[Term]:
    """Return a curve for some numbers; for all with enough different values, if none is named."""
    blocks = blocks_of(coding, X)
    numbers = [c for c in coding.columns if c.kind == "number"]
    chosen = _named("--curves", coding, numbers, among, "a column of numbers")
    terms = []
    for column in chosen:
        x = blocks[column.name][:, 0]
        x = x[np.isfinite(x)]
        distinct = len(np.unique(x))
        if distinct < _FEWEST_VALUES:
            if among:
                raise TableError(
                    f"--curves: {listing([column.name])} has {count_of(distinct, 'different value')}, "
                    f"and a curve needs {_FEWEST_VALUES}: leave it out, or give --categories to take "
                    "its values for levels"
                )
            continue
        text = column.name + CURVE
        shape = curve(x, min(CURVE_COLUMNS, distinct - 2))
        terms.append(Term((Factor(column.name, text, shape),), "curve", text, (column.name,)))
    return terms


def _standardised(column: CodedColumn, block: Floats) -> Factor:
    shape: Shape = Levels()
    if column.kind != "word":
        spread = float(np.nanstd(block))
        shape = Scaled(float(np.nanmean(block)), spread or 1.0)
    return Factor(column.name, column.name, shape)


def _named(
    option: str,
    coding: Coding,
    usable: Sequence[CodedColumn],
    names: Sequence[str],
    what: str,
) -> list[CodedColumn]:
    """Return the columns that were named, or all that can be used."""
    if not names:
        return list(usable)
    known = {column.name: column for column in usable}
    for name in names:
        if name not in known:
            every = [column.name for column in coding.columns]
            why = f"is not {what}" if name in every else "is no variable of the table"
            raise TableError(f"{option}: {listing([name])} {why}; give some of {listing(known)}")
    return [known[name] for name in dict.fromkeys(names)]
