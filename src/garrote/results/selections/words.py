"""A selection in words: its headline, what its effects are on, its credible sets, all of it as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from garrote.results.credible_sets import CredibleSet
from garrote.results.selections.evidence import STANDARDISED
from garrote.summaries import Summary, Table, listing

if TYPE_CHECKING:
    from garrote.results.selections.selection import Selection

# Variables of a credible set that are named in one line.
_MOST_NAMED = 12


def headline(selection: Selection) -> str:
    """Return how many variables were selected, of how many, in how many pieces, and sets beside them."""
    found = selection.by_variable
    fixed = len(found.always_in)
    beside = f" beside {fixed} always in" if fixed else ""
    free = len(found.names) - fixed
    of_all = f"{selection.n_selected} of {free} variables selected{beside}{_not_again(selection)}"
    undecided = selection.undecided_sets
    if undecided:
        several = f"each of {len(undecided)} sets"
        which = several if len(undecided) > 1 else f"a set of {len(undecided[0])}"
        return f"{of_all}, and one of {which}"
    if selection.pieces is None or not selection.n_selected:
        return of_all
    return f"{of_all}, in {selection.pieces} piece{'s' * (selection.pieces != 1)} of equal effects"


def _not_again(selection: Selection) -> str:
    """Return how many of the selected variables most refits do not find, in brackets; "" of none."""
    found = selection.by_variable
    if found.stability is None:
        return ""
    rare = len(found.stability.rare(found.selected, found.shared_sets))
    if not rare:
        return ""
    which = "which" if rare == selection.n_selected else f"{rare} of which"
    return f" ({which} most refits do not find again)"


def affected(selection: Selection) -> str:
    """Return what effects are on: the response, or the log odds of it."""
    scale, response = selection.effect_scale, selection.response
    if scale == STANDARDISED:
        return f"{response} in {STANDARDISED}"
    return f"{scale} of {response}" if scale else response


def effects_in_words(selection: Selection) -> str:
    """Return what effects are on, in a sentence; "" where they are in the units of the data."""
    if selection.effect_scale == STANDARDISED:
        response = selection.response
        return f"effects are in standard deviations: of {response}, for one of the variable"
    return f"effects are on the {affected(selection)}" if selection.effect_scale else ""


def stability_in_words(selection: Selection) -> str:
    """Return what refits say of the selected variables, in a sentence; "" where there were none."""
    found = selection.by_variable
    if found.stability is None or not found.n_selected:
        return ""
    return found.stability.sentence(found.names, found.selected, found.shared_sets)


def set_in_words(one: CredibleSet, names: Sequence[str] | None = None) -> str:
    """Return a credible set of several variables in words; ``names`` may be shorter than its own."""
    listed = listing(names or one.names, str, _MOST_NAMED)
    how_alike = f"correlations of at least {one.purity:.2f}"
    return f"one of these {len(one)}: {listed} (probability {one.coverage:.2f}, {how_alike})"


def summary(selection: Selection) -> Summary:
    """Return what was found: facts in sentences, and the table of the selected variables."""
    noise = selection.noise_variance
    stated = f"noise variance {noise:.4g}, " if np.isfinite(noise) else ""
    facts = [
        f"{selection.method}: {headline(selection)}",
        selection.rule,
        f"{stated}certificate {selection.certificate}",
    ]
    errors = selection.held_out_error()
    if errors and selection.validation:
        measure = selection.validation.measure
        facts.append(f"held-out {measure} {errors[0]:.4g}, null model {errors[1]:.4g}")
    if selection.path is not None and selection.path.hysteresis:
        low, high = selection.path.hysteresis
        facts.append(f"forward and backward solutions differ for gamma in [{low:.4g}, {high:.4g}]")
    facts += [*_beside_the_table(selection), *filter(None, [effects_in_words(selection)])]
    told = (*facts, *selection.notes, selection.intervals)
    return Summary((*selection.doubts, *told), selection.table().without_empty())


def as_text(selection: Selection, show: Callable[[Table], str]) -> str:
    """Return all that a prompt shows, the table of the selected variables in a form of one's own."""
    lines = [*selection.doubts, f"{headline(selection)} ({selection.rule})"]
    if selection.selected.any():
        lines.append(show(selection.table().without_empty()))
    lines += _beside_the_table(selection)
    certificate = f"certificate {selection.certificate}"
    return "\n".join([*lines, *selection.notes, selection.intervals, certificate])


def _beside_the_table(selection: Selection) -> list[str]:
    """Return sentences about credible sets, what is promised of false selections, and refits."""
    sets = [set_in_words(one) for one in selection.shared_sets]
    promised = selection.control.sentences if selection.control is not None else ()
    return [*sets, *promised, *filter(None, [stability_in_words(selection)])]
