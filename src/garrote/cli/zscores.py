"""``garrote select --zscores``: choose variables from z-scores, an LD matrix and n, without any rows."""

import argparse
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

from garrote.cli.errors import DONE, NOT_CONVERGED, CommandError, UsageError
from garrote.cli.results import check_results, limit_threads, say_heard, write_results
from garrote.cli.settings import check_settings, find_method, make_settings, method_name

# What speaks of the rows or columns of a table.
_OF_TABLES = ("file", "include", "exclude", "covariates", "weights", "groups", "offset", "encode",
              "cv", "save")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Check everything that can be checked, read, fit, print, write."""
    _check(options)
    limit_threads(options)
    options.method = method_name(options)
    method = find_method(options.method)
    check_settings(options, method)
    estimator = method.load()
    if not hasattr(estimator, "fit_zscores"):
        raise UsageError(f"--zscores: {options.method} needs rows; add --method bayes", "select")
    settings = make_settings(options, estimator, labels=False)
    settings.pop("cv", None)
    z, ld, names, notes = _read(options)
    model = _fit(estimator(**settings), z, ld, names, notes, options)
    write_results(model, options)
    return DONE if model.selection_.converged else NOT_CONVERGED


def _check(options: argparse.Namespace) -> None:
    for name in ("zscores", "ld", "n"):
        if getattr(options, name) is None:
            raise UsageError(
                f"--{name} is missing: z-scores need --zscores FILE, --ld FILE and --n", "select"
            )
    for name in _OF_TABLES:
        if getattr(options, name):
            given = f"--{name}" if name != "file" else f"the table {options.file}"
            raise UsageError(f"{given} does not go with --zscores, which has no rows", "select")
    check_results(options, [options.zscores, options.ld])


def _read(options: argparse.Namespace) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """Read both files; where both have names, these decide what belongs together."""
    from garrote.cli import console
    from garrote.summary_statistics import match_names
    from garrote.tables.zscores import read_ld, read_zscores

    with console.waiting(f"reading {options.zscores} and {options.ld}"):
        z, ld = read_zscores(options.zscores), read_ld(options.ld)
    if z.names is None or ld.names is None:
        return z.values, ld.values, z.names or ld.names, ()
    if ld.values.ndim != 2 or ld.values.shape[0] != ld.values.shape[1]:
        raise CommandError(f"{options.ld} is no square matrix: it has shape {ld.values.shape}")
    return match_names(z.values, z.names, ld.values, ld.names)


def _fit(
    model: Any, z: Any, ld: Any, names: Any, notes: tuple[str, ...], options: argparse.Namespace
) -> Any:
    """Return the fitted model; its selection tells also of the files and of the command."""
    from garrote.cli import console

    if not options.quiet and options.json != "-":
        files = f"{Path(options.zscores).name} and {Path(options.ld).name}"
        console.say(f"{files}: z-scores of {len(z)} variables, n = {options.n:g}")
    with console.warnings_kept() as heard, console.progress() as callback:
        if "callback" in inspect.signature(type(model)).parameters:
            model.set_params(callback=None if options.quiet else callback)
        model.fit_zscores(z, ld, options.n, names=names, mismatch=options.mismatch)
    found = model.selection_
    model.selection_ = replace(
        found,
        response=options.target or found.response,
        warnings=(*notes, *found.warnings),
        provenance={
            **found.provenance,
            "source": f"{Path(options.zscores).name}, {Path(options.ld).name}",
            "command": options.words,
        },
    )
    say_heard(heard, model.selection_)
    return model
