"""``garrote select``: read a table, choose its variables, say which and how sure."""

import argparse
import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from garrote.cli.errors import DONE, NOT_CONVERGED, CommandError, UsageError, suggestion
from garrote.cli.outputs import check_library, check_targets

_THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(options: argparse.Namespace) -> int:
    """Check everything that can be checked, read, fit, print, write."""
    _check(options)
    _limit_threads(options)
    from garrote.estimators.registry import METHODS

    if options.method not in METHODS:
        hint = suggestion(options.method, METHODS) or f"; known are {', '.join(METHODS)}"
        raise UsageError(f"there is no method {options.method!r}{hint}", "select")
    estimator = METHODS[options.method].load()
    settings = _settings(options, estimator)

    from garrote.cli import console
    from garrote.tables import Wanted, read_table

    wanted = Wanted(
        target=options.target,
        include=tuple(options.include) or None,
        exclude=tuple(options.exclude),
        covariates=tuple(options.covariates),
        weights=options.weights,
        groups=options.groups,
        encode=options.encode,
        missing=options.missing,
    )
    with console.waiting(f"reading {options.file}"):
        table = read_table(options.file, wanted)
    _check_folds(table, settings.get("cv"), options)
    if not options.quiet and options.json != "-":
        console.say(
            f"{table.source}: {table.X.shape[0]} rows, {table.X.shape[1]} variables, response "
            f"{table.response}"
        )
    if table.covariates:
        settings |= _always_in(table.covariates, settings, inspect.signature(estimator).parameters)
    with console.warnings_kept() as heard, console.progress() as callback:
        if "callback" in inspect.signature(estimator).parameters:
            settings["callback"] = None if options.quiet else callback
        model = estimator(**settings)
        model.fit(
            table.X, table.y, sample_weight=table.weights, groups=table.groups,
            feature_names=table.names,
        )  # fmt: skip
    found = model.selection_
    model.selection_ = replace(
        found,
        response=table.response,
        warnings=(*table.notes, *found.warnings),
        provenance={**found.provenance, "source": table.source, "command": options.words},
    )
    for text in heard:
        if text not in found.warnings:
            console.warn(text)
    _write(model, table, options)
    return DONE if model.selection_.converged else NOT_CONVERGED


def _check(options: argparse.Namespace) -> None:
    outputs = {f"--{name}": getattr(options, name) for name in ("report", "json", "save")}
    check_targets(outputs, [options.file])
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


def _check_folds(table: Any, splitter: Any, options: argparse.Namespace) -> None:
    """Refuse folds that the rows, or their groups, cannot fill."""
    by_folds = options.gamma in (None, "cv") and options.expected_size is None
    if splitter is None or isinstance(splitter, int) or not by_folds:
        return
    things, count = "rows", len(table.X)
    if table.groups is not None:
        things, count = "groups", len(set(table.groups.tolist()))
    if splitter.get_n_splits() > count:
        remedy = f"--cv {count}" if count > 1 else "more of them"
        raise CommandError(
            f"{splitter.get_n_splits()} folds need as many {things}, and there are {count}: give "
            f"{remedy}, or --gamma or --expected-size, which need no folds"
        )


def _limit_threads(options: argparse.Namespace) -> None:
    """Share threads between folds, one product each; must happen before NumPy is loaded."""
    if options.threads is not None:
        alone = options.gamma not in (None, "cv") or options.expected_size is not None
        for name in _THREAD_SETTINGS:
            os.environ[name] = str(options.threads if alone else 1)
        os.environ["POLARS_MAX_THREADS"] = str(options.threads)


def _settings(options: argparse.Namespace, estimator: Any) -> dict[str, Any]:
    """Return the estimator's settings; refuse those that the method does not have."""
    from sklearn.model_selection import GroupKFold, KFold

    known = inspect.signature(estimator).parameters
    given = {
        "--gamma": ("gamma", options.gamma),
        "--expected-size": ("expected_size", options.expected_size),
        "--rule": ("rule", options.rule),
        "--threads": ("n_jobs", options.threads),
        **{f"--set {name}": (name, value) for name, value in options.set},
    }
    settings = {}
    for option, (name, value) in given.items():
        if value is None and not option.startswith("--set"):
            continue
        if name not in known or name == "callback":
            names = ", ".join(n for n in known if n != "callback")
            raise UsageError(
                f"{option}: {options.method} has no setting {name} (it has {names})", "select"
            )
        settings[name] = value
    if "cv" in known and "cv" not in settings:
        folds = options.cv or 5
        shuffled = KFold(folds, shuffle=True, random_state=options.seed)
        settings["cv"] = GroupKFold(folds) if options.groups else shuffled
    elif options.cv is not None:
        why = "--set cv says the same thing" if "cv" in known else f"{options.method} has no folds"
        raise UsageError(f"--cv: {why}", "select")
    if "random_state" in known:
        settings.setdefault("random_state", options.seed)
    return settings


def _always_in(
    columns: Sequence[int], settings: Mapping[str, Any], known: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the setting that keeps covariates in the model."""
    if "covariates" in known:
        return {"covariates": list(columns)}
    if "penalty_factor" in settings:
        raise UsageError(
            "--covariates and --set penalty_factor say the same thing: give one of them", "select"
        )
    return {"penalty_factor": dict.fromkeys(columns, 0.0)}


def _write(model: Any, table: Any, options: argparse.Namespace) -> None:
    from garrote.cli import console
    from garrote.cli.rendering import one_line, show_selection
    from garrote.files import write_text

    selection = model.selection_
    if options.save is not None:
        from garrote.persistence import save_model

        save_model(model, options.save, extra={"coding": table.coding.to_dict()})
    if options.report is not None:
        selection.report(options.report)
    if options.json == "-":
        print(selection.to_json(indent=2))
        return
    if options.json is not None:
        write_text(options.json, selection.to_json(indent=2) + "\n")
    if options.quiet:
        for name in selection.table().columns["variable"]:
            print(one_line(name))
        return
    console.say()
    show_selection(selection, getattr(model, "tol", None), options.top)
    for file, what in (
        (options.report, "The report is"),
        (options.json, "All results are"),
        (options.save, "The model is"),
    ):
        if file is not None:
            console.say(f"{what} in {file}.")
