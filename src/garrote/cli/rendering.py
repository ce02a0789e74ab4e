"""A selection as text within 80 columns."""

import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from garrote.cli.console import WIDTH, say
from garrote.displays.names import shorten_all
from garrote.results.selections.selection import Selection
from garrote.results.selections.views import Validation
from garrote.results.selections.words import set_in_words

_LONGEST_NAME = 32


def show_selection(selection: Selection, tolerance: float | None, top: int) -> None:
    """Print the table, how it was chosen, how good it is, and what to be careful about."""
    for text in selection.doubts:
        say(f"Careful: {text}.")
    if selection.doubts:
        print()
    if selection.selected.any():
        print(_table(selection, top))
        print()
    say(f"{selection.headline}: {selection.rule}.")
    if selection.stability_in_words:
        say(f"{selection.stability_in_words}.")
    for text in selection.control.sentences if selection.control is not None else ():
        say(f"{text[0].upper()}{text[1:]}.")
    for one in selection.shared_sets:
        said = set_in_words(one, short_names(one.names))
        say(f"{said[0].upper()}{said[1:]}.")
    errors = selection.held_out_error()
    if errors and selection.validation:
        alone = "with the covariates alone" if selection.always_in else "without any variable"
        say(_validation_sentence(*errors, selection.validation.measure, alone))
        for text in _held_out_sentences(selection.validation):
            say(text)
    wanted = f" (wanted: {tolerance:g})" if tolerance is not None else ""
    reached = "reached" if selection.converged else "NOT reached everywhere"
    say(f"Certificate {selection.certificate.value:.1e}{wanted}, {reached}.")
    for text in selection.notes:
        say(f"Note: {text}.")
    for text in filter(None, [selection.effects_in_words]):
        say(f"{text[0].upper()}{text[1:]}.")
    say(f"{selection.intervals[0].upper()}{selection.intervals[1:]}.")


def _validation_sentence(error: float, null: float, measure: str, alone: str) -> str:
    said = f"Cross-validated {measure} {error:.4g}, {alone} {null:.4g}"
    if null > 0 and error < null:
        said += f" ({100 * (1 - error / null):.0f} % less)"
    return said + "."


def _held_out_sentences(validation: Validation) -> list[str]:
    """Say how labels are predicted, and how dense held-out rows are beside other models."""
    said = []
    if (labels := validation.labels) is not None:
        rows = labels.confusion.sum(axis=(1, 2))
        accuracy, auc = np.average(labels.accuracy, weights=rows), np.nanmean(labels.auc)
        said.append(
            f"Held-out accuracy {accuracy:.3f} (always the commonest class: {labels.commonest:.3f}), "
            f"AUC {auc:.3f}."
        )
    if (density := validation.density) is not None:
        gains = [(name, density.advantage(k)) for k, name in enumerate(density.models)][1:]
        listed = ", ".join(
            f"over the {name} {gain:+.3f} +- {error:.3f}" for name, (gain, error) in gains
        )
        said.append(
            f"Held-out log predictive density {density.mean[0]:.3f} a row; advantage {listed}."
        )
    return said


def _table(selection: Selection, top: int) -> str:
    found = selection.by_variable
    order = found.ranked()
    order = order[found.selected[order]]
    shown = order[:top]
    places = found.placed
    words = ["" if places is None else places.words(int(j)) for j in shown]
    names = short_names([found.names[j] + told for j, told in zip(shown, words, strict=True)])
    levels = [_levels(selection, int(j)) for j in shown]
    below = [f"  {name}" for some in levels for name in some.values()]
    wide = max([len("variable"), *map(_cells, names), *map(_cells, below)])
    columns = [j for some in levels for j in some]
    stated = _stated(found, shown).any() or _stated(selection, columns).any()
    again = "" if found.stability is None else "  found again"
    column = f"  {100 * selection.level:g}% interval" if stated else ""
    head = (
        f"{_padded('variable', wide)}  {found.evidence_noun:>11}{again}      effect  sign{column}"
    )
    lines = [head, "-" * min(WIDTH, len(head) + (8 if column else 0))]
    for j, name, some in zip(shown, names, levels, strict=True):
        sure = "always in" if found.names[j] in found.always_in else f"{found.probability[j]:.4f}"
        often = "" if found.stability is None else found.stability.in_words(int(j))
        refits = f"  {often:>{len(again) - 2}}" if again else ""
        start = f"{_padded(name, wide)}  {sure:>11}{refits}"
        lines.append(f"{start}{_effect(found, int(j), column)}" if not some else start.rstrip())
        blank = " " * (13 + len(again))
        lines += [
            f"{_padded(f'  {level}', wide)}{blank}{_effect(selection, k, column)}"
            for k, level in some.items()
        ]
    if len(order) > len(shown):
        lines.append(f"... and {len(order) - len(shown)} more (--top {len(order)} shows all)")
    return "\n".join(lines)


def _levels(selection: Selection, g: int) -> dict[int, str]:
    """Return the columns of a variable that has several, by what they are called below it.

    What bends in a curve has no meaning column by column: the report draws it.
    """
    groups = selection.groups
    if groups is None or selection.by_variable is selection or groups.kinds[g] == "curve":
        return {}
    columns = groups.columns(g)
    labels = short_names([groups.labels[j] for j in columns])
    return dict(zip(columns.tolist(), labels, strict=True)) if len(columns) > 1 else {}


def _stated(selection: Selection, columns: Any) -> Any:
    """Tell which effects have an interval."""
    some = np.asarray(columns, dtype=np.intp)
    return np.isfinite(selection.lower[some] + selection.upper[some])


def _effect(selection: Selection, j: int, column: str) -> str:
    """Return effect, sign and interval of one column; nothing for a variable of several."""
    effect = selection.effect[j]
    if not np.isfinite(effect):
        return f"  {'curve' if column else '':>10}".rstrip()
    sign = {1: "+", -1: "-", 0: "0"}[int(np.sign(effect))]
    line = f"  {effect:>10.4g}  {sign:^4}"
    known = bool(_stated(selection, [j])[0])
    interval = f"{selection.lower[j]:.4g} to {selection.upper[j]:.4g}" if known else "none"
    return f"{line}  {interval}" if column else line.rstrip()


def one_line(name: str) -> str:
    """Return a name on one line, without control characters."""
    return (
        "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name) or "(no name)"
    )


def short_names(names: Sequence[str]) -> list[str]:
    """Return names that fit a terminal and can still be told apart; whole for other programs."""
    clean = [one_line(name) for name in names]
    if not sys.stdout.isatty():
        return clean
    narrow = all(_cells(name) == len(name) for name in clean)
    return shorten_all(clean, _LONGEST_NAME if narrow else _LONGEST_NAME // 2)


def _cells(text: str) -> int:
    """Return how many cells of a terminal a text takes: two for a wide character."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _cells(text))
