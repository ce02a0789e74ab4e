"""Effects that are curves, from the coefficients of their columns: a line and a band."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.results.selections.curves import Curve
from garrote.results.selections.selection import Selection
from garrote.tables.reading import DataTable
from garrote.tables.terms.expansion import Expansion, Term
from garrote.tables.terms.shapes import Splines

# Places of a curve, draws that its band is made of, and curves that are drawn at most.
_PLACES, _DRAWS, _MOST = 61, 1000, 30


def curves_of(model: Any, selection: Selection, table: DataTable) -> tuple[Curve, ...]:
    """Return the curves of the selected variables, those of the surest first.

    The band has, place by place, the share ``level`` of draws from the posterior, in which a curve
    may be out; a method without a posterior has no band.
    """
    expansion = table.expansion
    if expansion is None or selection.by_class is not None or np.ndim(model.coef_) > 1:
        return ()
    found = selection.by_variable
    sure = dict(zip(found.names, found.probability, strict=True))
    chosen = {n for n, selected in zip(found.names, found.selected, strict=True) if selected}
    curved = dict.fromkeys(t.factors[0].column for t in expansion.terms if t.kind == "curve")
    made = []
    for column in curved:
        terms = [
            t for t in expansion.terms if len(t.factors) == 1 and t.factors[0].column == column
        ]
        names = tuple(t.name for t in terms)
        if chosen & {*names}:
            curve = _curve(model, selection, table, expansion, column, terms)
            made.append((max(sure.get(name, 0.0) for name in names), curve))
    made.sort(key=lambda one: -one[0])
    return tuple(curve for _, curve in made[:_MOST])


def _curve(
    model: Any,
    selection: Selection,
    table: DataTable,
    expansion: Expansion,
    column: str,
    terms: list[Term],
) -> Curve:
    """Return the effect along one column, that of the average row taken off."""
    splines = [f.shape for t in terms for f in t.factors if isinstance(f.shape, Splines)]
    low, high = splines[0].knots[0], splines[0].knots[-1]
    x = np.linspace(low, high, _PLACES)
    basis = np.column_stack([term.values({column: x[:, None]}) for term in terms])
    kept = {(id(term), name): j for j, (term, name) in enumerate(expansion.columns(table.coding))}
    every = [(id(term), name) for term in terms for name in term.labels(table.coding)]
    there = [k for k, key in enumerate(every) if key in kept]
    columns = [kept[every[k]] for k in there]
    basis = basis[:, there] - np.nanmean(table.X[:, columns], axis=0)
    coef = np.ravel(model.coef_)[columns]
    lower = upper = np.full(_PLACES, np.nan)
    draws = _draws(model, columns)
    if draws is not None:
        tail = (1.0 - selection.level) / 2
        lower, upper = np.quantile(draws @ basis.T, [tail, 1.0 - tail], axis=0)
    return Curve(column, tuple(t.name for t in terms), x, basis @ coef, lower, upper)


def _draws(model: Any, columns: list[int]) -> Floats | None:
    """Return draws of some coefficients from the posterior, None where there is none."""
    posterior = getattr(model, "posterior_", None)
    if posterior is None:
        return None
    return np.asarray(posterior.sample(_DRAWS, 0))[:, columns]
