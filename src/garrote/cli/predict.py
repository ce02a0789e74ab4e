"""``garrote predict``: apply a saved model to new rows."""

import argparse
import csv
import inspect
import io
import sys
import warnings

from garrote.cli.errors import DONE, CommandError
from garrote.cli.outputs import check_library, check_targets


def run(options: argparse.Namespace) -> int:
    """Match the columns by name, predict, and write one line a row."""
    check_targets({"--output": options.output}, [options.model, options.file])
    check_library("polars", "reading a table", "cli")
    from garrote.files import write_text
    from garrote.persistence import load_extra, load_model
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
    rows = read_new_rows(options.file, Coding.from_dict(extra["coding"]), options.missing)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if _gives_deviations(model):
        mean, deviation = model.predict(rows, return_std=True)
        writer.writerow(["prediction", "standard_deviation"])
        writer.writerows((f"{m:.10g}", f"{s:.6g}") for m, s in zip(mean, deviation, strict=True))
    elif hasattr(model, "predict_proba"):
        writer.writerow(["prediction", *(f"probability of {label}" for label in model.classes_)])
        for label, chances in zip(model.predict(rows), model.predict_proba(rows), strict=True):
            writer.writerow([label, *(f"{chance:.6g}" for chance in chances)])
    else:
        writer.writerow(["prediction"])
        writer.writerows((f"{m:.10g}",) for m in model.predict(rows))
    if options.output is None or options.output == "-":
        sys.stdout.write(text.getvalue())
    else:
        write_text(options.output, text.getvalue())
    return DONE


def _gives_deviations(model: object) -> bool:
    return "return_std" in inspect.signature(model.predict).parameters  # type: ignore[attr-defined]
