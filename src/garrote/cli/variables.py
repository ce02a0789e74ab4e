"""Columns of one variable, handed to a method in the form that it has for them.

The levels of a word, the bends of a curve and the products of an interaction are in or out together:
by groups in the law of inclusion, by the group lasso, or by the units of a greedy search. A method that
has none of these takes the columns one by one, and says so.
"""

import argparse
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from garrote.cli.errors import UsageError
from garrote.summaries import listing

_SEPARATE = "--levels separate takes each level for a variable of its own"


@dataclass(frozen=True)
class Grouped:
    """Settings by which a method keeps variables whole, and what is to be said of that.

    ``groups`` is None where columns are variables each.
    """

    settings: dict[str, Any]
    groups: Any = None
    notes: tuple[str, ...] = field(default=())


def with_annotations(
    options: argparse.Namespace, settings: Mapping[str, Any], estimator: Any
) -> dict[str, Any]:
    """Return the settings of a method with a law of inclusion by the annotations of a file."""
    if options.annotations is None:
        return dict(settings)
    if getattr(estimator, "_kind", "") not in ("models", "effects"):
        raise UsageError(
            f"--annotations: {options.method} does not learn by how much annotations raise odds: take "
            "--method spike-slab or single-effects",
            "select",
        )
    if settings.get("inclusion") is not None:
        raise UsageError(
            "--annotations and --expected-size, or --set inclusion, are laws of inclusion: give one",
            "select",
        )
    from garrote.priors import AnnotatedInclusion
    from garrote.tables.genetics.annotations import read_annotations

    found = read_annotations(options.annotations)
    return {**settings, "inclusion": AnnotatedInclusion(found.by_variable())}


def keep_whole(
    options: argparse.Namespace, estimator: Any, settings: Mapping[str, Any], table: Any
) -> Grouped:
    """Return the settings of a method that let variables of several columns in or out as a whole."""
    groups = table.variables
    if options.levels == "separate":
        if groups.parents and any(kind == "interaction" for kind in groups.kinds):
            raise UsageError(
                "--levels separate: an interaction needs its variables whole; leave one of the two out",
                "select",
            )
        return Grouped(dict(settings))
    if not (groups.several or groups.parents):
        return Grouped(dict(settings))
    if "column_groups" in getattr(options, "control_parameters", ()):
        return _by_copies(options, settings, groups)
    known = inspect.signature(estimator).parameters
    if "inclusion" in known and ("gamma" in known or _has_groups(estimator)):
        return _by_inclusion(estimator, settings, groups)
    if "penalty" in known:
        return _by_penalty(settings, groups, known)
    if "column_groups" in known:
        return _by_units(settings, groups, known)
    return Grouped(dict(settings), None, _one_by_one(groups, "this method"))


def _has_groups(estimator: Any) -> bool:
    """Tell whether a method by a posterior has a way to that for groups of columns."""
    from garrote.inference.choosing import methods_for
    from garrote.rules import Integration

    kind = getattr(estimator, "_kind", "")
    ways = {name for one in Integration for name in methods_for(one, kind, grouped=True)}
    return bool(ways - {"auto"})


def _by_inclusion(estimator: Any, settings: Mapping[str, Any], groups: Any) -> Grouped:
    """Put groups, and the parents of interactions and curves, into the law of inclusion."""
    from garrote.priors import GroupedInclusion

    labels = [groups.names[g] for g in groups.number]
    heredity = getattr(estimator, "_kind", None) == "models"
    parents = groups.parents if heredity and groups.parents else None
    law = GroupedInclusion(labels, law=settings.get("inclusion"), parents=parents)
    notes = _without_heredity(groups) if groups.parents and not heredity else ()
    return Grouped({**settings, "inclusion": law}, groups, notes)


def _by_penalty(settings: Mapping[str, Any], groups: Any, known: Mapping[str, Any]) -> Grouped:
    """Take the group lasso for the lasso; others keep their columns apart."""
    from garrote.penalties import GroupLasso

    penalty = settings.get("penalty", known["penalty"].default)
    notes = _without_heredity(groups) if groups.parents else ()
    if not groups.several:
        return Grouped(dict(settings), groups, notes)
    plain = isinstance(penalty, str) and penalty in ("lasso", "l1", "group-lasso")
    made = GroupLasso(groups.number.tolist())
    if plain or getattr(penalty, "name", "") == "lasso":
        if penalty != "group-lasso":
            notes = (
                *notes,
                f"the lasso is the group lasso here: {_whole(groups)}; {_SEPARATE}",
            )
        refused = [name for name in ("bounds",) if settings.get(name) is not None]
        if refused:
            why = "the lasso, as the group lasso has no bounds,"
            return Grouped(dict(settings), None, _one_by_one(groups, why))
        return Grouped({**settings, "penalty": made}, groups, notes)
    if isinstance(penalty, GroupLasso):
        if penalty.groups is not None:  # groups of one's own
            return Grouped(dict(settings))
        from dataclasses import replace

        return Grouped({**settings, "penalty": replace(penalty, groups=made.groups)}, groups, notes)
    name = penalty if isinstance(penalty, str) else penalty.name
    return Grouped(dict(settings), None, (*notes, *_one_by_one(groups, f"the penalty {name}")))


def _by_copies(options: argparse.Namespace, settings: Mapping[str, Any], groups: Any) -> Grouped:
    """Let knockoffs compare all columns of a variable with their copies at once."""
    labels = [groups.names[g] for g in groups.number]
    options.control_settings.setdefault("column_groups", labels)
    notes = _without_heredity(groups) if groups.parents else ()
    return Grouped(dict(settings), groups, notes)


def _by_units(settings: Mapping[str, Any], groups: Any, known: Mapping[str, Any]) -> Grouped:
    """Let a search take and leave the columns of a variable as one, if it can."""
    from garrote.solvers.greedy import SEARCHES

    if settings.get("column_groups") is not None:  # groups of one's own
        return Grouped(dict(settings))
    search = settings.get("search", known["search"].default)
    found = SEARCHES[search] if isinstance(search, str) else search
    if not found.takes_groups:
        return Grouped(dict(settings), None, _one_by_one(groups, f"the search {found.name}"))
    notes = _without_heredity(groups) if groups.parents else ()
    return Grouped({**settings, "column_groups": groups.number.tolist()}, groups, notes)


def _whole(groups: Any) -> str:
    """Say which variables have several columns."""
    names = [name for g, name in enumerate(groups.names) if len(groups.columns(g)) > 1]
    verb = (
        "is in or out with all its columns" if len(names) == 1 else "are in or out with all columns"
    )
    return f"{listing(names, str, 3)} {verb}"


def _one_by_one(groups: Any, who: str) -> tuple[str, ...]:
    names = [name for g, name in enumerate(groups.names) if len(groups.columns(g)) > 1]
    return (
        f"{who} takes every column of {listing(names, str, 3)} for a variable of its own; --method "
        "spike-slab, garrote, single-effects, greedy or lasso keeps them together",
    )


def heredity_notes(groups: Any, selection: Any) -> tuple[str, ...]:
    """Say which selected variables have to be in for others, whatever effect they have themselves."""
    found = selection.by_variable
    chosen = {name for name, inside in zip(found.names, found.selected, strict=True) if inside}
    held = {
        parent: child
        for child, parents in groups.parents.items()
        for parent in parents
        if child in chosen and parent in chosen
    }
    if not held:
        return ()
    told = [f"{parent} ({child})" for parent, child in held.items()]
    verb = (
        "is in wherever what is made of it is"
        if len(held) == 1
        else "are in wherever what is made of them is"
    )
    return (f"{listing(told, str, 3)} {verb}, whatever effect alone: that is strong heredity",)


def _without_heredity(groups: Any) -> tuple[str, ...]:
    made = "an interaction" if "interaction" in groups.kinds else "a curve"
    return (
        f"this method may take {made} without the variables that it is made of; --method spike-slab "
        "takes it only with them",
    )
