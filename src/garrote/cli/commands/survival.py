"""Times until an event at the command line: options of ``garrote select`` and ``garrote predict``."""

import argparse
from collections.abc import Sequence
from typing import Any

from garrote.cli.errors import CommandError, UsageError
from garrote.cli.values import numbers

OPTIONS = ("time", "event", "start", "strata")
# All models that are fitted on a walk hold X dense; of wider tables the penalised path is the default.
_MOST_WALKED = 1000


def add_survival(command: argparse.ArgumentParser) -> None:
    """Add the options that name times and events in place of a target."""
    times = command.add_argument_group("times until an event, in place of --target (Cox's model)")
    times.add_argument(
        "--time", metavar="COLUMN", help="when the event came, or the row was last seen without it"
    )
    times.add_argument(
        "--event", metavar="COLUMN",
        help="1 or true where the event came, 0 or false where it did not; COLUMN:VALUE says which "
        "value means that it came, as in status:2",
    )  # fmt: skip
    times.add_argument(
        "--start", metavar="COLUMN",
        help="when a row came under observation, where that is after time 0 (left truncation)",
    )  # fmt: skip
    times.add_argument(
        "--strata", metavar="COLUMN", help="rows of a stratum share a baseline hazard of its own"
    )


def add_times(command: argparse.ArgumentParser) -> None:
    """Add the options of predictions: when survival is asked for, and the strata of new rows."""
    command.add_argument(
        "--times", type=numbers, metavar="T,T",
        help="of a model of times until an event: columns with the probability to be without event then",
    )  # fmt: skip
    command.add_argument(
        "--strata", metavar="COLUMN", help="the strata of new rows, where the fit had such"
    )


def take_times(options: argparse.Namespace) -> None:
    """Take times for the target and Cox's model for the family, where --time is given."""
    given = [name for name in OPTIONS if getattr(options, name) is not None]
    family = options.family or dict(options.set).get("family")
    if not given:
        if family == "cox":
            raise UsageError(
                "--family cox: name the times and the events by --time and --event, not a target",
                "select",
            )
        return
    missing = [f"--{name}" for name in ("time", "event") if getattr(options, name) is None]
    if missing:
        raise UsageError(
            f"--{given[0]} goes with --time and --event: {missing[0]} is missing", "select"
        )
    if options.target is not None:
        raise UsageError("--target and --time both name the response: give one of them", "select")
    if family not in (None, "cox"):
        raise UsageError(
            f"--time is of --family cox, and --family is {family}: leave it out", "select"
        )
    options.target, options.family = options.time, "cox"


def default_method(options: argparse.Namespace, columns: int) -> str:
    """Return the method for a table of times of so many columns, where nobody asked for one."""
    asked = options.penalty is not None or options.alpha is not None or options.bound is not None
    return "lasso" if asked or options.cv is not None or columns > _MOST_WALKED else "spike-slab"


def refuse_of_times(options: argparse.Namespace, table: Any, measures: bool) -> None:
    """Refuse what there is not for times until an event."""
    if not table.of_times:
        return
    if measures:
        raise UsageError(
            f"--cv measures {options.method} by densities of rows held out, which Cox's model has not: "
            "leave it out, or give --method lasso, which chooses alpha by partial likelihood in folds",
            "select",
        )
    if options.missing == "impute" and table.has_gaps:
        raise UsageError(
            "--missing impute is not there for times until an event: give --missing drop or mean",
            "select",
        )
    if options.control is not None:
        raise UsageError(
            f"--control {options.control} is not there for times until an event: leave it out",
            "select",
        )


def survival_columns(
    model: Any, rows: Any, options: argparse.Namespace, strata: Sequence[Any] | None, known: Any
) -> dict[str, list[float]]:
    """Return a column for each time that survival is asked for."""
    has = hasattr(model, "baseline_")
    if not has and (options.times is not None or options.strata is not None):
        raise CommandError(
            "--times and --strata are for models of times until an event (garrote select --time)"
        )
    if not has or options.times is None:
        return {}
    named = len(model.baseline_.strata) > 1
    if named and strata is None:
        raise CommandError("the fit had strata: name their column by --strata")
    if not named and strata is not None:
        raise CommandError("the fit had no strata: leave --strata out")
    try:
        curves = model.predict_survival(rows, list(options.times), strata=strata, **known)
    except ValueError as error:
        raise CommandError(str(error)) from None
    return {
        f"survival at {time:g}": column.tolist()
        for time, column in zip(options.times, curves.T, strict=True)
    }
