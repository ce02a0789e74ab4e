"""What ``garrote select`` checks before any work and writes in the end, whatever it reads."""

import argparse
import os
from collections.abc import Sequence
from typing import Any

from garrote.cli.errors import UsageError
from garrote.cli.outputs import check_library, check_sources, check_table, check_targets
from garrote.cli.settings import by_folds

_THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def check_results(options: argparse.Namespace, inputs: Sequence[str]) -> None:
    """Refuse options that contradict each other, and results that could not be written."""
    outputs = {f"--{name}": getattr(options, name) for name in ("report", "json", "table", "save")}
    check_sources(inputs)
    check_targets(outputs, inputs)
    check_table(options.table)
    if options.json == "-" and options.quiet:
        raise UsageError(
            "--quiet and --json - both decide what is printed: give one of them", "select"
        )
    if options.expected_size is not None and options.gamma is not None:
        raise UsageError(
            "--expected-size and --gamma say the same thing: give one of them", "select"
        )
    if options.report is not None:
        check_library("jinja2", "--report", "report")
    check_library("polars", "reading a table", "cli")


def limit_threads(options: argparse.Namespace) -> None:
    """Share threads between folds, one product each; must happen before NumPy is loaded."""
    if options.threads is not None:
        for name in _THREAD_SETTINGS:
            os.environ[name] = str(1 if by_folds(options) else options.threads)
        os.environ["POLARS_MAX_THREADS"] = str(options.threads)


def say_heard(heard: Sequence[str], selection: Any) -> None:
    """Say the warnings of a fit that its selection does not tell of."""
    from garrote.cli import console

    for text in heard:
        if text not in selection.warnings:
            console.warn(text)


def write_results(model: Any, options: argparse.Namespace) -> None:
    """Print the selection and write the files that were asked for; the model is saved elsewhere."""
    from garrote.cli import console
    from garrote.cli.rendering import one_line, show_selection
    from garrote.files.writing import write_text

    selection = model.selection_
    if options.report is not None:
        with console.warnings_kept() as heard:
            selection.report(options.report)
        for text in heard:
            console.warn(text)
    if options.table is not None:
        from garrote.tables.writing import write_columns

        write_columns(options.table, selection.table(all_variables=True).columns)
    if options.json == "-":
        print(selection.to_json(indent=2))
        return
    if options.json is not None:
        write_text(options.json, selection.to_json(indent=2) + "\n")
    if options.quiet:
        found = selection.by_variable
        for j in found.ranked()[: int(found.selected.sum())]:
            print(one_line(found.names[j]))
        return
    console.say()
    show_selection(
        selection, getattr(getattr(model, "_path_method", None), "tol", None), options.top
    )
    for file, what in (
        (options.report, "The report is"),
        (options.json, "All results are"),
        (options.table, "The table of all variables is"),
        (options.save, "The model is"),
    ):
        if file is not None:
            console.say(f"{what} in {file}.")
