"""Groups and graphs as they are typed: patterns, names or labels; a chain, a lattice, a file of edges.

They speak of the columns of a table, so that they are understood once it is read.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from garrote.cli.edges import read_edges
from garrote.cli.errors import UsageError

_LATTICE = re.compile(r"lattice:([1-9]\d*)x([1-9]\d*)", re.IGNORECASE)


def with_structure(settings: Mapping[str, Any], table: Any) -> dict[str, Any]:
    """Return the settings of a penalty, with groups and a graph in place of their texts.

    Before there is a table (None) they are left out.
    """
    made = {name: value for name, value in settings.items() if name not in ("groups", "graph")}
    if table is None:
        return made
    if "groups" in settings:
        made["groups"] = _groups(settings["groups"], table)
    if "graph" in settings:
        made["graph"], weights = _graph(settings["graph"], table.names)
        if weights is not None and made.setdefault("weights", weights) is not weights:
            raise UsageError(
                f"--set weights and the third column of {settings['graph']} say the same thing: give "
                "one of them",
                "select",
            )
    return made


def check_covariates(penalty: Any, table: Any) -> None:
    """Refuse covariates that a penalty compares with other columns, and so would not leave alone."""
    from garrote.penalties import PENALTIES

    made: Any = PENALTIES[penalty]() if isinstance(penalty, str) else penalty
    if not made.compares:
        return
    resolved = made.resolved(len(table.names))
    whole = not hasattr(resolved, "graph")
    joined = set(range(len(table.names)) if whole else resolved.graph.edges.ravel().tolist())
    held = [table.names[j] for j in table.covariates if j in joined]
    if held and whole:
        raise UsageError(
            f"--covariates: {made.name} compares {held[0]!r} with its neighbours: leave it out, and "
            "give what it explains by --offset",
            "select",
        )
    if held:
        raise UsageError(
            f"--covariates: the fused lasso compares {held[0]!r} with its neighbours; give --set "
            "graph=FILE with edges that leave it out, or leave it out of --covariates",
            "select",
        )


def _groups(given: Any, table: Any) -> Any:
    """Return labels or lists of columns, given a text, or numbers that were understood already."""
    if given == "factors":
        return _factors(table)
    if isinstance(given, str):
        given = _groups_of_text(given, table.names)
    if isinstance(given, Mapping):
        by_label: dict[Any, list[str]] = {}
        for name, label in given.items():
            by_label.setdefault(label, []).append(name)
        given = [by_label[label] for label in sorted(by_label)]
    if isinstance(given, list) and given and isinstance(given[0], list):
        # Covariates leave their group, so that nobody has to name one for them.
        named = [entry for group in given for entry in group]
        free = [table.names[j] for j in table.covariates]
        given = [*given, *([name] for name in free if not any(_stands_for(e, name) for e in named))]
    return given


def _groups_of_text(text: str, names: Sequence[str]) -> Any:
    """Return what a list of words means: names with labels, names or patterns, or labels."""
    words = [word.strip() for word in next(csv.reader([text]), [])]
    are_columns = [any(_stands_for(word, name) for name in names) for word in words]
    pairs = [word.rpartition(":") for word in words]
    if not all(are_columns) and all(name and label for name, _, label in pairs):
        keys = [name for name, _, _ in pairs]
        if len(set(keys)) < len(keys):
            twice = next(name for name in keys if keys.count(name) > 1)
            raise UsageError(f"--set groups has two labels for {twice!r}: give one", "select")
        return {name: label for name, _, label in pairs}
    # A word that comes twice can be a label only.
    patterns = any(set(word) & set("*?[") for word in words)
    if (any(are_columns) or patterns) and len(set(words)) == len(words):
        return [[word] for word in words]
    if len(words) == 1:
        raise UsageError(
            f"--set groups={text}: no column is called so; give factors, names or patterns such as "
            "'gene1_*,gene2_*', a label for each column, or names with labels such as a:1,b:1,c:2",
            "select",
        )
    return words


def _factors(table: Any) -> Any:
    """Return the groups of columns that were words; and of those that were indicators before."""
    from garrote.penalties.groups.factors import factor_groups

    known, first = [], 0
    for column in table.coding.columns:
        width = len(column.outputs)
        if column.kind == "word" and width:
            known.append(range(first, first + width))
        first += width
    return factor_groups(_array(table.names), table.X, len(table.names), known)


def _graph(given: Any, names: Sequence[str]) -> tuple[Any, list[float] | None]:
    """Return what a penalty takes as its graph, and the weights of edges where there are such."""
    text = str(given)
    if given is None or text == "chain":
        return given, None
    lattice = _LATTICE.fullmatch(text)
    if lattice:
        return ("lattice", (int(lattice[1]), int(lattice[2]))), None
    if isinstance(given, str) and Path(given).is_file():
        return read_edges(given, names)
    raise UsageError(
        f"--set graph={text}: give chain, lattice:ROWSxCOLUMNS such as lattice:8x8, or the name of a "
        "file with two columns, the ends of each edge; there is no such file",
        "select",
    )


def _stands_for(word: str, name: str) -> bool:
    return word == name or fnmatchcase(name, word)


def _array(names: Sequence[str]) -> Any:
    import numpy as np

    return np.array(names, dtype=object)
