"""``garrote select``: read a table, choose its variables, say which and how sure."""

import argparse
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from garrote.cli.errors import DONE, NOT_CONVERGED, CommandError, UsageError
from garrote.cli.results import check_results, limit_threads, say_heard, write_results
from garrote.cli.settings import (
    DEFAULTS,
    asks_for_labels,
    by_folds,
    check_settings,
    find_method,
    make_settings,
    method_for_table,
    method_name,
)
from garrote.cli.structure import check_covariates


def run(options: argparse.Namespace) -> int:
    """Check everything that can be checked, read, fit, print, write."""
    if options.zscores is not None or options.ld is not None:
        from garrote.cli.commands import zscores

        return zscores.run(options)
    _check(options)
    limit_threads(options)
    by_default, options.method = options.method is None, method_name(options)
    method = find_method(options.method)
    check_settings(options, method)
    table = _read(options, method.for_labels is not None)
    labels = asks_for_labels(options, method) or table.y.dtype.kind == "U"
    if by_default:
        rows, columns = table.X.shape
        options.method = method_for_table(options, options.method, rows, columns, labels)
        method = find_method(options.method)
    estimator = method.for_labels.load() if labels else method.load()
    settings = make_settings(options, estimator, labels, table)
    _check_folds(table, settings.get("cv"), options)
    if table.covariates:
        check_covariates(settings.get("penalty", "none"), table)
        settings |= _always_in(table.covariates, settings, inspect.signature(estimator).parameters)
    if not options.quiet and options.json != "-":
        _announce(table, options.method if by_default else None)
    model = _fit(estimator, settings, table, labels, options)
    _write(model, table, options)
    return DONE if model.selection_.converged else NOT_CONVERGED


def _read(options: argparse.Namespace, labels: bool) -> Any:
    from garrote.cli import console
    from garrote.tables import Wanted, read_table

    wanted = Wanted(
        target=options.target,
        include=tuple(options.include) or None,
        exclude=tuple(options.exclude),
        covariates=tuple(options.covariates),
        weights=options.weights,
        groups=options.groups,
        offset=options.offset,
        encode=options.encode,
        missing=options.missing,
        categories=tuple(options.categories),
        na=tuple(options.na),
        labels=labels,
    )
    with console.waiting(f"reading {options.file}"):
        return read_table(options.file, wanted)


def _announce(table: Any, by_default: str | None) -> None:
    """Say what was read and, where nobody asked for a method, which one is taken."""
    from garrote.cli import console
    from garrote.summaries import listing

    said = f"{table.X.shape[0]} rows, {table.X.shape[1]} variables, response {table.response}"
    if table.y.dtype.kind == "U":
        said += f" (labels {listing(sorted(set(table.y.tolist())), str)})"
    console.say(f"{table.source}: {said}")
    if by_default in DEFAULTS:
        console.say(f"method {by_default}, {DEFAULTS[by_default]}")


def _fit(
    estimator: Any, settings: dict[str, Any], table: Any, labels: bool, options: argparse.Namespace
) -> Any:
    """Return the fitted model; its selection tells also of the table and of the command."""
    from garrote.cli import console

    y = _as_labels(table.y) if labels else table.y
    with console.warnings_kept(options.quiet) as heard, console.progress() as callback:
        if "callback" in inspect.signature(estimator).parameters:
            settings["callback"] = None if options.quiet else callback
        model = estimator(**settings)
        known = {} if table.offset is None else {"offset": table.offset}
        model.fit(
            table.X, y, sample_weight=table.weights, groups=table.groups,
            feature_names=table.names, **known,
        )  # fmt: skip
    found = model.selection_
    notes = [*table.notes, *_response_notes(y, settings, estimator)]
    model.selection_ = replace(
        found,
        # The fit knows the response as y; of two classes it says which one's log odds it models.
        response=table.response + found.response.removeprefix("y"),
        warnings=(*notes, *found.warnings),
        provenance={**found.provenance, "source": table.source, "command": options.words},
    )
    say_heard(heard, found)
    return model


def _check(options: argparse.Namespace) -> None:
    missing = [name for name in ("file", "--target") if not getattr(options, name.strip("-"))]
    if missing:
        raise UsageError(
            f"required: {', '.join(missing)} (or --zscores, --ld and --n in place of a table)",
            "select",
        )
    if options.n is not None or options.mismatch != "estimate":
        raise UsageError(
            "--n and --mismatch go with --zscores and --ld, not with a table", "select"
        )
    check_results(options, [options.file])


def _check_folds(table: Any, splitter: Any, options: argparse.Namespace) -> None:
    """Refuse folds that the rows, or their groups, cannot fill."""
    if splitter is None or not by_folds(options):
        return
    folds = splitter if isinstance(splitter, int) else splitter.get_n_splits()
    things, count = "rows", len(table.X)
    if table.groups is not None:
        things, count = "groups", len(set(table.groups.tolist()))
    if folds > count:
        remedy = f"--cv {count}" if count > 1 else "more of them"
        without = "--gamma or --expected-size" if options.method == "garrote" else "--alpha bic"
        raise CommandError(
            f"{folds} folds need as many {things}, and there are {count}: give "
            f"{remedy}, or {without}, which need no folds"
        )


def _as_labels(y: Any) -> Any:
    """Return labels; numbers that are whole without their decimals."""
    whole = y.dtype.kind == "f" and bool((y == y.round()).all())
    return y.astype("int64") if whole else y


def _response_notes(y: Any, settings: Mapping[str, Any], estimator: Any) -> list[str]:
    """Say what else a response of 0 and 1 could be taken for."""
    if "family" not in inspect.signature(estimator).parameters or "family" in settings:
        return []
    if not bool(((y == 0) | (y == 1)).all()):
        return []
    return [
        "the response is 0 or 1 in every row and was fitted as a number; --family binomial models its "
        "log odds"
    ]


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
    if options.save is not None:
        from garrote.persistence import save_model

        extra = {"coding": table.coding.to_dict()}
        if options.offset is not None:
            extra["offset"] = options.offset
        save_model(model, options.save, extra=extra)
    write_results(model, options)
