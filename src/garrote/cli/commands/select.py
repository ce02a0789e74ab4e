"""``garrote select``: read a table, choose its variables, say which and how sure."""

import argparse
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from garrote.cli.checking import show_check, show_refusal, with_command
from garrote.cli.control import controlled, refuse_beside_control, take_control
from garrote.cli.errors import DONE, FAILED, NOT_CONVERGED, CommandError, UsageError
from garrote.cli.objects import parameters_of
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
from garrote.cli.variables import heredity_notes, keep_whole, with_annotations


def run(options: argparse.Namespace) -> int:
    """Check everything that can be checked, read, fit, print, write."""
    if options.zscores is not None or options.ld is not None:
        from garrote.cli.commands import zscores

        return zscores.run(options)
    from garrote.cli.commands import genotypes, survival

    if genotypes.is_genotypes(options):
        return genotypes.run(options)
    genotypes.refuse_without(options)
    take_target(options)
    survival.take_times(options)
    _check(options)
    take_control(options)
    limit_threads(options)
    by_default, options.method = options.method is None, method_name(options)
    method = find_method(options.method)
    check_settings(options, method)
    from garrote.tables import RefusedTable

    try:
        table = read(options, method)
    except RefusedTable as refusal:
        show_refusal(refusal.label, with_command(refusal.check, options))
        return FAILED
    labels = are_labels(table, options, [method])
    table = replace(table, check=with_command(_with_target(table, labels), options))
    classes = len(set(table.y.tolist())) if labels else 0
    if by_default:
        rows, columns = table.X.shape
        options.method = method_for_table(options, options.method, rows, columns, classes)
        if table.of_times:
            options.method = survival.default_method(options, columns)
        method = find_method(options.method)
    estimator = method.for_labels.load() if labels else method.load()
    _check_method(estimator, table, classes, options)
    settings = make_settings(options, estimator, labels, table)
    chooses = "cv" in inspect.signature(estimator).parameters
    measures = not chooses and options.cv is not None
    survival.refuse_of_times(options, table, measures)
    refuse_beside_control(options, measures, table.has_gaps)
    _check_folds(table, options.cv if measures else settings.get("cv"), options)
    if measures:
        _check_measured(table, options)
    if table.covariates:
        check_covariates(settings.get("penalty", "none"), table)
        settings |= _always_in(table.covariates, settings, inspect.signature(estimator).parameters)
    whole = keep_whole(options, estimator, with_annotations(options, settings, estimator), table)
    settings = whole.settings
    table = replace(table, check=replace(table.check, reading=(*whole.notes, *table.check.reading)))
    if not options.quiet and options.json != "-":
        show_check(table, table.check)
        _announce(table, labels, options.method if by_default else None, whole.groups is not None)
    model = _fit(estimator, settings, table, labels, options)
    model.selection_ = _by_variables(model, table, whole.groups)
    if measures:
        _validate(model, table, labels, options)
    _write(model, table, options)
    return DONE if model.selection_.converged else NOT_CONVERGED


def _by_variables(model: Any, table: Any, groups: Any) -> Any:
    """Return the selection, with columns of one variable together and effects that are curves."""
    if groups is None:
        return model.selection_
    from garrote.tables.terms.drawing import curves_of

    found = model.selection_.annotated(groups=groups)
    return found.annotated(heredity_notes(groups, found), curves=curves_of(model, found, table))


def take_target(options: argparse.Namespace) -> None:
    """Take the response of a formula for the target, where no other was named."""
    if options.formula is None or options.target is not None:
        return
    from garrote.tables.terms.formula import read_formula

    options.target = read_formula(options.formula, ["x"]).response


def are_labels(table: Any, options: argparse.Namespace, methods: Sequence[Any]) -> bool:
    """Tell whether the target is labels: words, or 0 and 1 unless it was said what they are.

    0 and 1 stay numbers where a method could not take them for labels.
    """
    if table.y.dtype.kind == "U" or all(asks_for_labels(options, method) for method in methods):
        return True
    if not table.is_zero_or_one or "family" in dict(options.set) or options.family is not None:
        return False
    return all(_takes_labels(method, table, options) for method in methods)


def _takes_labels(method: Any, table: Any, options: argparse.Namespace) -> bool:
    """Tell whether a method has a classifier, with all that was asked for."""
    if method.for_labels is None:
        return False
    kind = method.for_labels.load()
    try:
        make_settings(options, kind, True, table)
    except UsageError:
        return False
    return table.offset is None or "offset" in inspect.signature(kind.fit).parameters


def read(options: argparse.Namespace, method: Any) -> Any:
    """Read the table; whether its target is asked about depends on what the method could do."""
    from garrote.cli import console
    from garrote.tables import Wanted, read_table

    known = parameters_of(method.load())
    family = options.family or dict(options.set).get("family")
    wanted = Wanted(
        target=options.target,
        include=tuple(options.include) or None,
        exclude=tuple(options.exclude),
        covariates=tuple(options.covariates),
        weights=options.weights,
        groups=options.groups,
        offset=options.offset,
        encode=True,
        missing=options.missing,
        categories=tuple(options.categories),
        na=tuple(options.na),
        labels=method.for_labels is not None,
        family=family or (None if "family" in known else "gaussian"),
        imputes=not {"penalty", "search"} & set(known) and options.event is None,
        formula=options.formula,
        interactions=options.interactions,
        curves=options.curves,
        sheet=options.sheet,
        max_memory=None if options.max_memory is None else 1e9 * options.max_memory,
        event=options.event,
        start=options.start,
        strata=options.strata,
    )
    with console.waiting(f"reading {options.file}"):
        table = read_table(options.file, wanted)
    if table.X.shape[0] == 1:
        raise CommandError(
            f"{table.source} has one row, from which nothing can be learnt: add some"
        )
    return table


def _with_target(table: Any, labels: bool) -> Any:
    """Return the check of a table that says what its target of 0 and 1 was taken for."""
    return replace(table.check, reading=(*target_notes(table, labels), *table.check.reading))


def target_notes(table: Any, labels: bool) -> list[str]:
    """Say that a target of 0 and 1 was taken for labels, where it was."""
    if not (labels and table.is_zero_or_one):
        return []
    return [
        f"{table.response} is 0 or 1 in every row and was taken for labels of two classes; --family "
        "gaussian takes it for a number"
    ]


def variables_in_words(table: Any, together: bool) -> str:
    """Return how many variables a table has and, where some have several, of how many columns."""
    columns = table.X.shape[1]
    count = len(table.variables.names) if together else columns
    return f"{count} variables" + (f" ({columns} columns)" if count < columns else "")


def _announce(table: Any, labels: bool, by_default: str | None, levels: bool) -> None:
    """Say what was read and, where nobody asked for a method, which one is taken."""
    from garrote.cli import console
    from garrote.summaries import listing

    said = (
        f"{table.X.shape[0]} rows, {variables_in_words(table, levels)}, response {table.response}"
    )
    if labels:
        said += f" (labels {listing(sorted(set(as_labels(table.y).tolist())), str)})"
    console.say(f"{table.source}: {said}")
    if by_default and table.of_times:
        console.say(f"method {by_default}, by Cox's partial likelihood")
    elif by_default in DEFAULTS:
        console.say(f"method {by_default}, {DEFAULTS[by_default]}")


def _fit(
    estimator: Any, settings: dict[str, Any], table: Any, labels: bool, options: argparse.Namespace
) -> Any:
    """Return the fitted model; its selection tells also of the table and of the command."""
    from garrote.cli import console

    y = as_labels(table.y) if labels else table.y
    with console.warnings_kept(options.quiet) as heard, console.progress() as callback:
        if "callback" in inspect.signature(estimator).parameters:
            settings["callback"] = None if options.quiet else callback
        known = {} if table.offset is None else {"offset": table.offset}
        model = _imputed_or_fitted(
            controlled(estimator(**settings), options),
            table,
            y,
            options,
            groups=table.groups,
            **known,
        )
    found = model.selection_
    model.selection_ = found.annotated(
        _response_notes(y, settings, estimator),
        {"source": table.source, "command": options.words},
        # The fit knows the response as y; of two classes it says which one's log odds it models.
        response=table.response + ("" if table.of_times else found.response.removeprefix("y")),
        check=table.check,
    )
    say_heard(heard, found)
    return model


def _imputed_or_fitted(
    model: Any, table: Any, y: Any, options: argparse.Namespace, **known: Any
) -> Any:
    """Return the model, fitted to the table or to several fillings of its gaps."""
    if not (options.missing == "impute" and table.has_gaps):
        return model.fit(
            table.X, y, sample_weight=table.weights, feature_names=table.names, **known
        )
    from garrote.impute import pool

    if getattr(model, "stability", None) == "auto":  # refits to every filling would take long
        model.set_params(stability=None)
    return pool(
        model, table.X, y, table.weights, n_imputations=options.imputations,
        random_state=options.seed, feature_names=table.names, **known,
    )  # fmt: skip


def _validate(model: Any, table: Any, labels: bool, options: argparse.Namespace) -> None:
    """Measure a method that chooses nothing by folds on rows held out."""
    from garrote.cli import console

    y = as_labels(table.y) if labels else table.y
    with console.waiting(f"fitting {options.cv} times more, without each fold"):
        model.validate(
            table.X, y, table.weights, cv=options.cv, offset=table.offset, groups=table.groups,
            random_state=options.seed,
        )  # fmt: skip


def _check(options: argparse.Namespace) -> None:
    missing = [name for name in ("file", "--target") if not getattr(options, name.strip("-"))]
    if missing:
        raise UsageError(
            f"required: {', '.join(missing)} (or --time and --event in place of a target, or --zscores, "
            "--ld and --n in place of a table)",
            "select",
        )
    if options.n is not None or options.mismatch != "estimate":
        raise UsageError(
            "--n and --mismatch go with --zscores and --ld, not with a table", "select"
        )
    check_results(options, [options.file])


def _check_method(estimator: Any, table: Any, classes: int, options: argparse.Namespace) -> None:
    """Refuse more classes than a method takes, and imputations that it could not pool."""
    penalised = "penalty" in parameters_of(estimator)
    if classes > 2 and not penalised:
        raise CommandError(
            f"{table.source}: {table.response} has {classes} classes, and --method {options.method} "
            "takes two: give --method lasso, which takes any number"
        )
    if penalised and options.missing == "impute" and table.has_gaps:
        raise UsageError(
            f"--missing impute pools posteriors, and {options.method} has none: give --missing mean, or "
            "another --method",
            "select",
        )


def _check_measured(table: Any, options: argparse.Namespace) -> None:
    """Refuse to measure a method on rows held out of a table that they cannot be picked from."""
    if table.in_blocks:
        raise CommandError(
            f"--cv measures {options.method} on rows held out, which are picked from a table in memory, "
            "and this one is read in blocks: leave it out, or give --method lasso or garrote"
        )
    if table.has_gaps:
        raise CommandError(
            "--cv measures methods on rows without gaps: give --missing drop or mean with it"
        )


def _check_folds(table: Any, splitter: Any, options: argparse.Namespace) -> None:
    """Refuse folds that the rows, or their groups, cannot fill."""
    if splitter is None or (options.cv is None and not by_folds(options)):
        return
    folds = splitter if isinstance(splitter, int) else splitter.get_n_splits()
    things, count = "rows", table.X.shape[0]
    if table.groups is not None:
        things, count = "groups", len(set(table.groups.tolist()))
    if folds > count:
        remedy = f"--cv {count}" if count > 1 else "more of them"
        without = "--gamma or --expected-size" if options.method == "garrote" else "--alpha bic"
        raise CommandError(
            f"{folds} folds need as many {things}, and there are {count}: give "
            f"{remedy}, or {without}, which need no folds"
        )


def as_labels(y: Any) -> Any:
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


def _known_coding(table: Any) -> Any:
    """Return how columns became numbers, with their means."""
    if not table.in_blocks:
        return table.coding
    from garrote.tables.large import with_known_means

    return with_known_means(table.coding, table.X)


def _write(model: Any, table: Any, options: argparse.Namespace) -> None:
    if options.save is not None:
        from garrote.persistence import save_model

        extra = {"coding": _known_coding(table).to_dict()}
        if table.expansion is not None:
            extra["terms"] = table.expansion.to_dict()
        if options.offset is not None:
            extra["offset"] = options.offset
        save_model(model, options.save, extra=extra)
    write_results(model, options)
