"""``garrote predict``: apply a saved model to new rows."""

import argparse
import csv
import inspect
import io
import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from garrote.cli.errors import DONE, CommandError
from garrote.cli.outputs import check_library, check_sources, check_targets

if TYPE_CHECKING:
    from garrote.tables import Coding


def run(options: argparse.Namespace) -> int:
    """Match the columns by name, predict, and write one line a row."""
    check_sources([options.model, options.file])
    check_targets({"--output": options.output}, [options.model, options.file])
    check_library("polars", "reading a table", "cli")
    from garrote.files.writing import write_text
    from garrote.persistence import load_extra, load_model
    from garrote.summaries import visible
    from garrote.tables import Coding, read_new_rows

    with warnings.catch_warnings():
        # That a splitter could not be stored matters to those who fit again.
        warnings.simplefilter("ignore")
        model = load_model(options.model)
    extra = load_extra(options.model)
    if "coding" not in extra:
        raise CommandError(
            f"{options.model} was not saved by garrote select --save, so its columns have no names "
            "to match; predict with it from Python"
        )
    coding, known = Coding.from_dict(extra["coding"]), {}
    offset = options.offset or extra.get("offset")
    if offset is not None:
        rows = read_new_rows(options.file, _with_offset(coding, offset, model), options.missing)
        rows, known["offset"] = rows[:, :-1], rows[:, -1]
    else:
        rows = read_new_rows(options.file, coding, options.missing)
    text = _predicted(model, rows, known)
    if options.output is None or options.output == "-":
        sys.stdout.write(visible(text, kept="\n") if sys.stdout.isatty() else text)
    else:
        write_text(options.output, text)
    return DONE


def _with_offset(coding: "Coding", offset: str, model: Any) -> "Coding":
    """Return a coding with one column more, the offset, which has no mean to put in."""
    from garrote.tables.coding import CodedColumn

    if "offset" not in inspect.signature(model.predict).parameters:
        raise CommandError(f"--offset {offset}: the model has none; leave it out")
    if offset in (column.name for column in coding.columns):
        raise CommandError(f"--offset {offset}: that column is a variable of the model")
    column = CodedColumn(offset, "number", means=(math.nan,))
    return replace(coding, columns=(*coding.columns, column))


def _predicted(model: Any, rows: Any, known: Mapping[str, Any]) -> str:
    """Return the predictions as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if "return_std" in inspect.signature(model.predict).parameters:
        mean, deviation = model.predict(rows, return_std=True, **known)
        writer.writerow(["prediction", "standard_deviation"])
        writer.writerows((f"{m:.10g}", f"{s:.6g}") for m, s in zip(mean, deviation, strict=True))
    elif hasattr(model, "predict_proba"):
        writer.writerow(["prediction", *(f"probability of {label}" for label in model.classes_)])
        labels, chances = model.predict(rows, **known), model.predict_proba(rows, **known)
        for label, each in zip(labels, chances, strict=True):
            writer.writerow([label, *(f"{chance:.6g}" for chance in each)])
    else:
        writer.writerow(["prediction"])
        writer.writerows((f"{m:.10g}",) for m in model.predict(rows, **known))
    return text.getvalue()
