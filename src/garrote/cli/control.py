"""``--control``: a method put into an estimator that bounds, or counts, its false selections."""

import argparse
from typing import Any

from garrote.cli.errors import UsageError, suggestion
from garrote.cli.objects import parameters_of

# The method that is controlled where none is named: its paths are cheap to repeat.
_BASE = "lasso"
# Settings that the command line gives by options of its own.
_OWN = ("base", "random_state", "n_jobs")


def take_control(options: argparse.Namespace) -> None:
    """Check what was asked for, and take the settings of the control out of those of the method."""
    options.control_settings = {}
    if options.control is None:
        if options.fdr is not None:
            raise UsageError("--fdr goes with --control stability or knockoffs: add one", "select")
        return
    row = _row(options.control)
    if options.stability:
        raise UsageError(
            "--stability and --control both fit parts of the rows: give one of them", "select"
        )
    options.stability = 0
    if options.method is None:
        options.method = _BASE
    known = [name for name in parameters_of(row.load()) if name not in _OWN]
    options.control_parameters = known
    options.control_settings = {name: value for name, value in options.set if name in known}
    options.set = [pair for pair in options.set if pair[0] not in known]
    if options.fdr is None:
        return
    if row.share is None:
        raise UsageError(
            f"--fdr: {options.control} bounds no share of false selections; give --control stability",
            "select",
        )
    if not 0 < options.fdr < 1:
        raise UsageError(f"--fdr must be between 0 and 1, got {options.fdr:g}", "select")
    options.control_settings[row.share] = options.fdr


def refuse_beside_control(options: argparse.Namespace, measures: bool, gaps: bool) -> None:
    """Refuse what a control does not do: measure on folds, and pool fillings of gaps."""
    if options.control is None:
        return
    if measures:
        raise UsageError(
            "--cv with --control: what is controlled is not measured on folds; leave --cv out",
            "select",
        )
    if options.missing == "impute" and gaps:
        raise UsageError(
            "--missing impute pools posteriors, and --control has none: give --missing mean or drop",
            "select",
        )


def controlled(model: Any, options: argparse.Namespace) -> Any:
    """Return the model by itself, or as the base of the control that was asked for."""
    if options.control is None:
        return model
    quiet = {name: None for name in ("callback",) if name in parameters_of(type(model))}
    model.set_params(**quiet)
    kind = _row(options.control).load()
    return kind(
        model, random_state=options.seed, n_jobs=options.threads, **options.control_settings
    )


def _row(name: str) -> Any:
    from garrote.estimators.registry import CONTROLS

    if name not in CONTROLS:
        known = f"; known are {', '.join(CONTROLS)}"
        raise UsageError(
            f"there is no control {name!r}{suggestion(name, CONTROLS) or known}", "select"
        )
    return CONTROLS[name]
