"""``garrote compare``: several selectors on one table, side by side, on one page."""

import argparse
from dataclasses import replace
from typing import Any

from garrote.cli.checking import show_refusal
from garrote.cli.commands.select import (
    are_labels,
    as_labels,
    read,
    take_target,
    target_notes,
    variables_in_words,
)
from garrote.cli.errors import DONE, FAILED, CommandError, UsageError
from garrote.cli.outputs import check_library, check_sources, check_targets
from garrote.cli.settings import LABELS, find_method
from garrote.cli.variables import keep_whole

# Settings by which methods keep variables of several columns whole.
_WHOLE = ("inclusion", "penalty", "column_groups")


def run(options: argparse.Namespace) -> int:
    """Check what can be checked, read, fit every method with and without each fold, print, write."""
    take_target(options)
    if options.target is None:
        raise UsageError("required: --target, or a --formula that names the response", "compare")
    check_sources([options.file])
    check_targets({"--report": options.report}, [options.file])
    check_library("jinja2", "--report", "report")
    check_library("polars", "reading a table", "cli")
    for name in options.methods:
        find_method(name)
    from garrote.tables import RefusedTable

    try:
        table = read(options, find_method("lasso"))
    except RefusedTable as refusal:
        show_refusal(refusal.label, refusal.check)
        return FAILED
    if table.has_gaps:
        raise CommandError("methods are compared on rows without gaps: give --missing drop or mean")
    from garrote.estimators.comparing import METHODS

    options.methods = options.methods or list(METHODS)
    labels = are_labels(table, options, [find_method(name) for name in options.methods])
    y = as_labels(table.y) if labels else table.y
    found = _compared(table, y, labels, options)
    found.report(options.report)
    _show(found, options)
    return DONE


def _compared(table: Any, y: Any, labels: bool, options: argparse.Namespace) -> Any:
    """Return the comparison, with the table's own name and doubts."""
    from garrote.cli import console
    from garrote.estimators.comparing import compare

    def say(method: str) -> None:
        console.say(f"  {method} ...")

    together = options.levels != "separate"
    said = variables_in_words(table, together)
    console.say(f"{table.source}: {len(table.X)} rows, {said}, response {table.response}")
    methods = _methods(table, y, labels, options)
    notes = _keep_whole(methods, table, options)
    with console.warnings_kept(False) as heard:
        found = compare(
            table.X, y, methods, table.weights, cv=options.cv,
            offset=table.offset, groups=table.groups, feature_names=table.names,
            random_state=options.seed, callback=say,
        )  # fmt: skip
    selections = tuple(
        replace(
            one,
            response=table.response + one.response.removeprefix("y"),
            groups=table.variables if together else None,
        )
        for one in found.selections
    )
    doubts = [finding.text for finding in table.check.findings]
    told = (*target_notes(table, labels), *notes, *doubts, *heard, *found.warnings)
    return replace(found, selections=selections, warnings=told, source=table.source)


def _methods(table: Any, y: Any, labels: bool, options: argparse.Namespace) -> dict[str, Any]:
    """Return the methods that can take the response, in the order asked for."""
    from garrote.estimators.comparing import default_methods

    names = options.methods
    settings: dict[str, Any] = {}
    numbers = options.family == "gaussian" and not labels  # which every method takes
    if labels and len(set(y.tolist())) > 2:
        left = [name for name in names if name == "lasso"]
        if not left:
            raise CommandError(
                "the target has more than two classes, which --methods lasso alone can take"
            )
        names = left
    elif options.family not in (None, LABELS) and not numbers:
        settings["family"] = options.family
        names = [name for name in names if "family" in find_method(name).load()().get_params()]
        if not names:
            raise CommandError(f"--family {options.family}: --methods lasso and spike-slab have it")
    made = default_methods(labels, options.seed, names, **settings)
    for model in made.values():
        _keep_covariates(model, table.covariates)
    return made


def _keep_whole(methods: dict[str, Any], table: Any, options: argparse.Namespace) -> list[str]:
    """Let methods take variables of several columns as a whole, as far as they can, and say so."""
    notes = []
    for name, model in methods.items():
        given = {k: v for k, v in model.get_params(deep=False).items() if v is not None}
        whole = keep_whole(options, type(model), given, table)
        settings = whole.settings
        model.set_params(**{k: settings[k] for k in _WHOLE if k in settings})
        notes += [f"{name}: {note}" for note in whole.notes]
    return notes


def _keep_covariates(model: Any, covariates: Any) -> None:
    """Keep columns in the model, by whichever setting it has for that."""
    if not covariates:
        return
    if "covariates" in model.get_params():
        model.set_params(covariates=list(covariates))
    else:
        model.set_params(penalty_factor=dict.fromkeys(covariates, 0.0))


def _show(found: Any, options: argparse.Namespace) -> None:
    from garrote.cli import console
    from garrote.cli.rendering import short_names
    from garrote.report.comparison import comparison_sentences
    from garrote.report.wording import unmarked

    print(f"\n{found.table()}\n")
    merged = found.by_variable
    order = merged.ranked()[: options.top]
    rows = [(merged, int(g), merged.names[g]) for g in order]
    if found.groups is not None:
        rows = [row for g in order for row in _with_levels(found, int(g))]
    names = short_names([name for _, _, name in rows])
    wide = max([8, *map(len, names)])
    print(f"{'variable':<{wide}}  methods  " + "  ".join(f"{m[:14]:>14}" for m in found.methods))
    for name, (of, j, _) in zip(names, rows, strict=True):
        votes = f"{of.votes[j]:>4}/{len(found.methods)}" if of is merged else " " * 6
        print(f"{name:<{wide}}  {votes}   " + "  ".join(_cells(of, j)))
    if len(merged.ranked()) > len(order):
        print(f"... and {len(merged.ranked()) - len(order)} more (--top {len(merged.ranked())})")
    print()
    for sentence in comparison_sentences(found):
        console.say(unmarked(sentence))
    for name, why in found.failures:
        console.warn(f"{name} could not be fitted: {why}")
    for text in found.warnings:
        console.say(f"Note: {text}.")
    console.say(f"The page is in {options.report}.")


def _with_levels(found: Any, g: int) -> list[tuple[Any, int, str]]:
    """Return the row of a variable and those of its levels: of whom, which entry, and its name."""
    merged, columns = found.by_variable, found.groups.columns(g)
    rows = [(merged, g, merged.names[g])]
    if len(columns) == 1:
        return rows
    return [*rows, *((found, int(j), f"  {found.groups.labels[j]}") for j in columns)]


def _cells(found: Any, j: int) -> list[str]:
    """Return the effects of one entry by every method."""
    cells = []
    for one in found.selections:
        known = one.selected[j] and one.effect[j] == one.effect[j]
        text = f"{one.effect[j]:.4g}" if known else "in" if one.selected[j] else "-"
        cells.append(f"{text:>14}")
    return cells
