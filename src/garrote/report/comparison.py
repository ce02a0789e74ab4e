"""One page that shows several selectors side by side: held-out errors, and who selects whom."""

import math
import os
from typing import Any

import numpy as np

from garrote.files.writing import write_text
from garrote.report.assembly import page_of, part
from garrote.report.rows import Tick, axis_ticks
from garrote.report.wording import amount, brief, counted, enumeration, in_words, isolated, readable
from garrote.results.selections.comparison import Comparison
from garrote.results.selections.held_out import PredictiveDensity

# Variables that have a line, at most.
_MOST = 100
# The largest dot, in pixels.
_RADIUS = 8.0


def write_comparison(
    found: Comparison, path: str | os.PathLike[str], *, title: str | None = None
) -> None:
    """Write the page of a comparison as one HTML file, which asks nothing of any host."""
    write_text(path, render_comparison(found, title=title))


def render_comparison(found: Comparison, *, title: str | None = None) -> str:
    """Return the page as HTML text."""
    response = readable(found.response)
    count = len(found.methods)
    by = f"{in_words(count)} {'method' if count == 1 else 'methods'}"
    default = f"Which variables explain {isolated(response)}, by {by}?"
    return page_of(
        "comparison.html.jinja",
        style=part("report.css"),
        script="",
        tab=readable(title, 80) if title else f"Which variables explain {brief(response)}?",
        heading=readable(title) if title else default,
        source=readable(found.source, 200) if found.source else "",
        answer=comparison_sentences(found),
        warnings=[*_failures(found), *(readable(text) + "." for text in found.warnings)],
        measure=readable(found.measure, 30),
        methods=_methods(found),
        ticks=_ticks(found),
        columns=[readable(name, 60) for name in found.methods],
        rows=_rows(found),
        more=max(0, len(found.by_variable.ranked()) - _MOST),
        folds=found.fold_errors.shape[1],
        labels=found.labels is not None,
    )


def comparison_sentences(found: Comparison) -> list[str]:
    """Say on whom the methods agree, and which of them predicts best, as far as that can be told."""
    found = found.by_variable
    count = len(found.methods)
    agreed = [found.names[j] for j in found.ranked() if found.votes[j] == count]
    fixed = set(found.selections[0].always_in)
    agreed = [readable(name) for name in agreed if name not in fixed]
    lone = int(np.count_nonzero(found.votes == 1))
    if count == 1:
        whom = enumeration(agreed, 12) if agreed else "no variable"
        who = f"{isolated(readable(found.methods[0], 60))} selects {whom}"
    elif agreed:
        who = f"All {in_words(count)} methods select {enumeration(agreed, 12)}"
    else:
        who = f"No variable is selected by all {in_words(count)} methods"
    by_one = f"; {counted(lone, 'variable')} by one method alone" if lone and count > 1 else ""
    return [f"{who}{by_one}.", _best(found)]


def _best(found: Comparison) -> str:
    """Name the method of the densest predictions, and what cannot be told from it.

    That may be the null model, the first of the densities, with which a single method is compared.
    """
    density = found.density
    best = int(np.argmax(density.mean[1:])) + 1
    name = isolated(readable(found.methods[best - 1], 60))
    alone = len(found.methods) == 1
    if density.mean[best] <= density.mean[0]:
        who = f"{name} predicts no better" if alone else "none predicts better"
        return f"On held-out rows {who} than the null model, which knows no variable."
    near = [k for k in range(len(density.models)) if k != best and not _is_denser(density, best, k)]
    if alone:
        clearly = "not clearly" if near else "clearly"
        return (
            f"Held-out rows are predicted {clearly} better by {name} than without any variable, by "
            "their log predictive density."
        )
    start = f"Held-out rows are predicted best by {name}, by their log predictive density"
    if not near:
        return f"{start}, clearly better than by any other and than without any variable."
    are = "is" if len(near) == 1 else "are"
    names = [readable(density.models[k], 60) if k else "the null model" for k in near]
    return f"{start}; within two standard errors of it {are} {enumeration(names)}."


def _is_denser(density: PredictiveDensity, of: int, than: int) -> bool:
    """Tell whether rows are denser under a model than under another by over two standard errors."""
    gain, error = density.advantage(than, of)
    return gain > 2 * error


def _failures(found: Comparison) -> list[str]:
    return [readable(f"{name} could not be fitted: {why}") + "." for name, why in found.failures]


def _ends(found: Comparison) -> tuple[float, float]:
    """Return the ends of the axis of the methods' errors; the null model's would crowd them."""
    mean, error = found.fold_errors.mean(axis=1)[1:], found.errors_of_errors[1:]
    low, high = float((mean - error).min()), float((mean + error).max())
    margin = 0.05 * (high - low or abs(high) or 1.0)
    return low - margin, high + margin


def _ticks(found: Comparison) -> list[Tick]:
    return axis_ticks(*_ends(found))


def _methods(found: Comparison) -> list[dict[str, Any]]:
    """Return the rows of the table of methods, each with its error on a shared axis."""
    low, high = _ends(found)
    columns = found.table().columns

    def place(value: float) -> float:
        return round(min(100.0, max(0.0, 100 * (value - low) / (high - low))), 2)

    rows = []
    for k, name in enumerate(columns["method"]):
        mean, error = columns[found.measure][k], columns["std. error"][k]
        gain, spread = found.density.advantage(0, k)
        rows.append(
            {
                "name": readable(name, 60),
                "selected": columns["selected"][k],
                "error": _with_error(mean, error),
                "beyond": not low <= mean <= high,
                "density": amount(columns["log density"][k], 3),
                "gain": _with_error(gain, spread) if k else "–",
                "accuracy": amount(columns["accuracy"][k], 3) if found.labels else "",
                "auc": amount(columns["AUC"][k], 3) if found.labels else "",
                "at": place(mean),
                "left": place(mean - error),
                "right": place(mean + error),
            }
        )
    return rows


def _with_error(value: float, error: float) -> str:
    """Return a number with its standard error, to two digits of the latter."""
    decimals = _decimals(error, 2) if error > 0 else None
    return f"{amount(value, decimals)} ± {amount(error, decimals)}"


def _decimals(value: float, digits: int) -> int | None:
    """Return the decimals for so many digits of a number; None for one that is written with a power."""
    if not value or not np.isfinite(value) or not 1e-5 < abs(value) < 1e7:
        return None
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))


def _rows(found: Comparison) -> list[dict[str, Any]]:
    """Return a row for each variable and, below it, for its levels: a cell for every method."""
    merged = found.by_variable
    order = merged.ranked()[:_MOST]
    groups = found.groups
    below = {
        int(g): [] if groups is None or len(groups.columns(g)) == 1 else groups.columns(g).tolist()
        for g in order
    }
    whole, single = _scaled(merged), _scaled(found)
    shown = [np.abs(whole[:, order][merged.selected[:, order]])]
    shown += [np.abs(single[:, js][found.selected[:, js]]) for js in below.values() if js]
    largest = float(np.nanmax(np.concatenate(shown), initial=0.0))
    rows = []
    for g, columns in below.items():
        rows.append(_row(merged, g, whole, largest, merged.names[g], bool(columns)))
        for j in columns:
            level = _row(found, j, single, largest, groups.labels[j] if groups else "", False)
            rows.append({**level, "level": True})
    return rows


def _scaled(found: Comparison) -> Any:
    """Return the effects of one standard deviation by all methods; raw where that is not known."""
    units = [one.deviation for one in found.selections]
    known = [np.ones(len(found.names)) if unit is None else unit for unit in units]
    return np.array([one.effect for one in found.selections]) * np.array(known)


def _row(
    found: Comparison, j: int, scaled: Any, largest: float, name: str, several: bool
) -> dict[str, Any]:
    """Return a row: a cell for every method, with its effect and folds."""
    folds = found.fold_errors.shape[1]
    return {
        "name": readable(name, 200),
        "label": brief(readable(name)),
        "level": False,
        "votes": int(found.votes[j]),
        "covariate": found.names[j] in set(found.selections[0].always_in),
        "cells": [
            _cell(
                bool(found.selected[m, j]), float(scaled[m, j]), largest,
                round(float(found.found_again[m, j]) * folds), folds, several,
            )
            for m in range(len(found.methods))
        ],
    }  # fmt: skip


def _cell(
    selected: bool, effect: float, largest: float, again: int, folds: int, several: bool
) -> dict[str, Any]:
    """Return the dot of one method's effect, its area by size, and how many folds select it."""
    share = np.sqrt(abs(effect) / largest) if largest and np.isfinite(effect) else 0.0
    if several:
        share = 0.5
    sign = "several" if several else "positive" if effect > 0 else "negative"
    return {
        "selected": selected,
        "radius": round(max(2.0, _RADIUS * share), 1),
        "kind": f"effect-{sign}",
        "effect": amount(effect, _decimals(effect, 3)) if selected and not several else "",
        "folds": f"{again}/{folds}" if again or selected else "",
    }
