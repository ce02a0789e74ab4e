"""``garrote compare``: several selectors on one table, side by side, on one page."""

import argparse
from dataclasses import replace
from typing import Any

from garrote.cli.checking import show_refusal
from garrote.cli.commands.select import are_labels, as_labels, read, target_notes
from garrote.cli.errors import DONE, FAILED, CommandError
from garrote.cli.outputs import check_library, check_sources, check_targets
from garrote.cli.settings import LABELS, find_method


def run(options: argparse.Namespace) -> int:
    """Check what can be checked, read, fit every method with and without each fold, print, write."""
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

    rows, columns = table.X.shape
    console.say(f"{table.source}: {rows} rows, {columns} variables, response {table.response}")
    with console.warnings_kept(False) as heard:
        found = compare(
            table.X, y, _methods(table, y, labels, options), table.weights, cv=options.cv,
            offset=table.offset, groups=table.groups, feature_names=table.names,
            random_state=options.seed, callback=say,
        )  # fmt: skip
    selections = tuple(
        replace(one, response=table.response + one.response.removeprefix("y"))
        for one in found.selections
    )
    doubts = [finding.text for finding in table.check.findings]
    told = (*target_notes(table, labels), *doubts, *heard, *found.warnings)
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
    order = found.ranked()[: options.top]
    names = short_names([found.names[j] for j in order])
    wide = max([8, *map(len, names)])
    print(f"{'variable':<{wide}}  methods  " + "  ".join(f"{m[:14]:>14}" for m in found.methods))
    for name, j in zip(names, order, strict=True):
        cells = [
            f"{one.effect[j]:>14.4g}" if one.selected[j] else f"{'-':>14}"
            for one in found.selections
        ]
        print(f"{name:<{wide}}  {found.votes[j]:>4}/{len(cells)}   " + "  ".join(cells))
    if len(found.ranked()) > len(order):
        print(f"... and {len(found.ranked()) - len(order)} more (--top {len(found.ranked())})")
    print()
    for sentence in comparison_sentences(found):
        console.say(unmarked(sentence))
    for name, why in found.failures:
        console.warn(f"{name} could not be fitted: {why}")
    for text in found.warnings:
        console.say(f"Note: {text}.")
    console.say(f"The page is in {options.report}.")
