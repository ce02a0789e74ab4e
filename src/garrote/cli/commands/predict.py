"""``garrote predict``: apply a saved model to new rows."""

import argparse
import csv
import inspect
import io
import math
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from garrote.cli.commands.survival import survival_columns
from garrote.cli.errors import DONE, CommandError
from garrote.cli.outputs import check_library, check_sources, check_targets

if TYPE_CHECKING:
    from garrote.tables import Coding

_MOST_NAMED = 5


def run(options: argparse.Namespace) -> int:
    """Match the columns by name, predict, and write one line a row."""
    check_sources([options.model, options.file])
    check_targets({"--output": options.output}, [options.model, options.file])
    check_library("polars", "reading a table", "cli")
    from garrote.persistence import load_extra, load_model
    from garrote.tables import Coding, read_needed_rows
    from garrote.tables.terms.expanding import expand_again
    from garrote.tables.terms.expansion import Expansion

    with warnings.catch_warnings():
        # That a splitter could not be stored matters to those who fit again.
        warnings.simplefilter("ignore")
        model = load_model(options.model)
    if not hasattr(model, "predict"):
        raise CommandError(
            f"{options.model} is of {type(model).__name__}, which selects and predicts nothing: fit the "
            "selected columns by another method, garrote select --include ..."
        )
    extra = load_extra(options.model)
    if "coding" not in extra:
        raise CommandError(
            f"{options.model} was not saved by garrote select --save, so its columns have no names "
            "to match; predict with it from Python"
        )
    coding = Coding.from_dict(extra["coding"])
    terms = Expansion.from_dict(extra["terms"]) if "terms" in extra else None
    owners = [{name} for name in coding.owners] if terms is None else terms.owners(coding)
    needed = _needed(model, owners)
    offset = options.offset or extra.get("offset")
    if offset is not None:
        coding = _with_offset(coding, offset, model)
        needed.append(offset)
    carried = [*options.keep, *([options.strata] if options.strata else [])]
    rows = read_needed_rows(options.file, coding, needed, options.missing, carried, options.sheet)
    _say_filled(model, owners, rows.filled)
    values, known = rows.values, {}
    if offset is not None:
        values, known["offset"] = values[:, :-1], values[:, -1]
        coding = replace(coding, columns=coding.columns[:-1])
    if terms is not None:
        values = expand_again(options.file, coding, values, terms)
    with warnings.catch_warnings():
        # A model of a file has names, an array none; the coding has found the columns by name.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        predicted = _predicted(model, values, known)
        strata = rows.kept.get(options.strata) if options.strata else None
        predicted |= survival_columns(model, values, options, strata, known)
    kept = {name: rows.kept[name] for name in options.keep}
    for name in options.keep:
        if name in predicted:
            raise CommandError(f"--keep {name}: the output has a column of that name; rename it")
    _write(kept | predicted, options.output)
    return DONE


def _needed(model: Any, owners: Sequence[Collection[str]]) -> list[str]:
    """Return the columns of the table that a selected variable is made of."""
    chosen = zip(owners, model.selection_.selected, strict=True)
    return list(dict.fromkeys(name for some, selected in chosen if selected for name in some))


def _say_filled(model: Any, owners: Sequence[Collection[str]], filled: Sequence[str]) -> None:
    """Say where the mean stands for what is not known of a column that has some effect."""
    import numpy as np

    from garrote.cli import console
    from garrote.summaries import listing

    acting = np.flatnonzero(np.any(np.atleast_2d(model.coef_), axis=0))
    matter = {name for j in acting for name in owners[int(j)]}
    told = [name for name in filled if name in matter]
    if told:
        console.warn(
            f"{listing(told, most=_MOST_NAMED)}, not selected but of some effect on the average over "
            "models, lack values, or have unknown ones: means of the rows fitted to were put in"
        )


def _write(columns: Mapping[str, Sequence[Any]], output: str | None) -> None:
    """Print columns as CSV, or write them to a file."""
    from garrote.files.writing import write_text
    from garrote.summaries import visible

    if output is not None and Path(output).suffix.lower() == ".xlsx":
        from garrote.tables.writing import write_columns

        write_columns(output, columns)
        return
    text = _as_csv(columns)
    if output is None or output == "-":
        sys.stdout.write(visible(text, kept="\n") if sys.stdout.isatty() else text)
    else:
        write_text(output, text)


def _as_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return columns as CSV; predictions with ten digits, what says how sure they are with six."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    digits = [10 if name == "prediction" else 6 for name in columns]
    for row in zip(*columns.values(), strict=True):
        cells = zip(row, digits, strict=True)
        writer.writerow([f"{c:.{d}g}" if isinstance(c, float) else c for c, d in cells])
    return text.getvalue()


def _with_offset(coding: "Coding", offset: str, model: Any) -> "Coding":
    """Return a coding with one column more, the offset, which has no mean to put in."""
    from garrote.tables.coding import CodedColumn

    if "offset" not in inspect.signature(model.predict).parameters:
        raise CommandError(f"--offset {offset}: the model has none; leave it out")
    if offset in (column.name for column in coding.columns):
        raise CommandError(f"--offset {offset}: that column is a variable of the model")
    column = CodedColumn(offset, "number", means=(math.nan,))
    return replace(coding, columns=(*coding.columns, column))


def _predicted(model: Any, rows: Any, known: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the predictions, and how sure they are where the model tells."""
    if "return_std" in inspect.signature(model.predict).parameters:
        mean, deviation = model.predict(rows, return_std=True, **known)
        return {"prediction": mean.tolist(), "standard_deviation": deviation.tolist()}
    columns = {"prediction": model.predict(rows, **known).tolist()}
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(rows, **known)
        for label, each in zip(model.classes_, chances.T, strict=True):
            columns[f"probability of {label}"] = each.tolist()
    return columns
