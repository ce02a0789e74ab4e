"""A selection as plain values, from which JSON and the report are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from garrote.arrays import Array
from garrote.files.json_values import number
from garrote.results.selections.evidence import Q_VALUE, is_certainty, strength
from garrote.results.selections.locus import Locus

if TYPE_CHECKING:
    from garrote.results.selections.selection import Selection

SCHEMA = "garrote.selection/1"
# Beside the selected variables, so many others are written out at most ...
_MOST_LISTED = 200
# ... if their evidence is at least this, or a picture shows them.
_LEAST_EVIDENCE = 0.01


def as_document(selection: Selection) -> dict[str, Any]:
    """Return all of a selection as plain Python values; the documentation describes the schema."""
    found, names = selection.by_variable, selection.names
    listed = _listed(selection)
    stability = (found.names, found.selected, found.shared_sets)
    return {
        "schema": SCHEMA,
        "method": selection.method,
        "response": selection.response,
        "n_variables": len(found.names),
        "n_selected": selection.n_selected,
        "pieces": selection.pieces,
        "evidence": selection.evidence,
        "rule": selection.rule,
        "variables": [_variable(selection, j) for j in listed],
        "unlisted": _unlisted(found, listed),
        "effect_scale": selection.effect_scale,
        "classes": _classes(found),
        "interval_level": selection.level,
        "intervals": selection.intervals,
        "always_in": list(found.always_in),
        "interchangeable": {k: list(v) for k, v in selection.interchangeable.items()},
        "constant": list(selection.constant),
        "noise_variance": number(selection.noise_variance),
        "certificate": {
            "kind": selection.certificate.kind,
            "value": number(selection.certificate.value),
            "parts": {name: number(v) for name, v in selection.certificate.parts.items()},
        },
        "converged": selection.converged,
        "warnings": list(selection.warnings),
        "doubts": list(selection.doubts),
        "path": _values(selection.path, names),
        "validation": _values(selection.validation),
        "predictions": _values(selection.predictions),
        "stand_ins": _values(selection.stand_ins, names),
        "models": _models(selection),
        "credible_sets": [_credible_set(selection, one) for one in found.credible_sets],
        "consistency": _values(selection.consistency),
        "stability": _stability(selection, stability),
        "control": _values(selection.control),
        "check": _values(selection.check),
        "curves": [one.to_dict() for one in selection.curves],
        "locus": _values(_shown_locus(selection), names),
        "provenance": selection.provenance,
    }


def _listed(selection: Selection) -> Array:
    """Return the variables that are written out, the selected and most certain first."""
    found = selection.by_variable
    ranked = found.ranked()
    wanted = found.selected | (strength(found.evidence, found.probability) >= _LEAST_EVIDENCE)
    if selection.path is not None:
        wanted[_variables_of(selection, selection.path.columns)] = True
    order = ranked[wanted[ranked]]
    return order[: max(_MOST_LISTED, int(found.selected.sum()))]


def _variables_of(selection: Selection, columns: Array) -> Array:
    """Return the variables that some columns belong to."""
    together = selection.by_variable is not selection and selection.groups is not None
    return selection.groups.number[columns] if together else columns  # type: ignore[union-attr]


def _position(selection: Selection, g: int) -> int:
    """Return the column of a variable: the first, where it has several."""
    if selection.by_variable is selection or selection.groups is None:
        return int(g)
    return int(selection.groups.first[g])


def _variable(selection: Selection, g: int) -> dict[str, Any]:
    """Return a variable and, where it has several columns, each of these."""
    found, groups = selection.by_variable, selection.groups
    entry = {**_entry(found, g), "position": _position(selection, g)}
    entry["place"] = selection.placed.to_dict(g) if selection.placed else None
    if groups is None:
        return {**entry, "kind": "column", "reference": None, "parents": [], "levels": []}
    columns = groups.columns(g)
    levels = [
        {**_entry(selection, int(j)), "name": groups.labels[j], "column": selection.names[j]}
        for j in (columns if len(columns) > 1 else ())
    ]
    return {**entry, **groups.to_dict(g), "levels": levels}


def _entry(selection: Selection, j: int) -> dict[str, Any]:
    again, deviation, effect = selection.stability, selection.deviation, selection.effect[j]
    return {
        "name": selection.names[j],
        "position": int(j),
        "selected": bool(selection.selected[j]),
        "probability": number(selection.probability[j]),
        "effect": number(effect),
        "standard_error": number(selection.standard_error[j]),
        "lower": number(selection.lower[j]),
        "upper": number(selection.upper[j]),
        "sign": int(np.sign(effect)) if np.isfinite(effect) else 0,
        "found_again": None if again is None else int(again.found[j]),
        "deviation": None if deviation is None else number(deviation[j]),
        "class": selection.by_class.names_of([j])[0] if selection.by_class else None,
    }


def _models(selection: Selection) -> dict[str, Any] | None:
    """Return the models, with variables by their first columns as everywhere."""
    found = selection.by_variable
    written = _values(found.models, found.names)
    return written and written | _places(selection, written)


def _credible_set(selection: Selection, one: Any) -> dict[str, Any]:
    written = one.to_dict()
    return {**written, **_places(selection, written)}


def _stability(selection: Selection, told: Any) -> dict[str, Any] | None:
    written = _values(selection.by_variable.stability, *told)
    for one in (written or {}).get("rare", ()):
        one["position"] = _position(selection, one["position"])
    return written


def _places(selection: Selection, written: dict[str, Any]) -> dict[str, Any]:
    return {"positions": [_position(selection, g) for g in written["positions"]]}


def _unlisted(selection: Selection, listed: Array) -> dict[str, Any]:
    others = np.delete(selection.probability, listed)
    # Of q-values the largest is the weakest, and next to 1.
    most = None if selection.evidence == Q_VALUE else number(others.max(initial=0.0))
    return {"count": len(others), "largest_probability": most}


def _classes(selection: Selection) -> dict[str, Any] | None:
    """Return how many of the selected variables matter for each of several classes."""
    found = selection.by_class
    if found is None:
        return None
    free = selection.selected & ~np.isin(selection.names, selection.always_in)
    return {"kind": found.kind, "names": list(found.names), "counts": found.counts(free)}


def _shown_locus(selection: Selection) -> Locus | None:
    """Return what the report draws; None of a table whose columns have no order that matters."""
    # Single effects state how strong each is: whoever asks for them asks for a place.
    effects = any(np.isfinite(one.log_bayes_factor) for one in selection.shared_sets)
    ordered = selection.positions is not None or selection.consistency is not None or effects
    return selection.locus.thinned() if ordered and is_certainty(selection.evidence) else None


def _values(part: Any, *told: Any) -> dict[str, Any] | None:
    """Return a part of a selection as plain values; None where there is none."""
    return None if part is None else part.to_dict(*told)
