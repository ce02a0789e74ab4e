"""From options of the command line to an estimator and its settings."""

import argparse
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from garrote.cli.errors import UsageError, suggestion
from garrote.cli.structure import with_structure

# A response of labels, whatever they are written in.
LABELS = "multinomial"
# Families of labels whose log odds are linear, which all methods of labels have, and all families.
_LOG_ODDS = ("binomial", LABELS)
_LABEL_FAMILIES = (*_LOG_ODDS, "probit")
_NOT_GIVEN = object()


def find_method(name: str) -> Any:
    """Return a method of the registry."""
    from garrote.estimators.registry import METHODS

    if name not in METHODS:
        known = f"; known are {', '.join(METHODS)}"
        hint = _of_another_option(name) or suggestion(name, METHODS) or known
        raise UsageError(f"there is no method {name!r}{hint}", "select")
    return METHODS[name]


def _of_another_option(name: str) -> str:
    """Return how to ask for a prior or a penalty that was taken for a method; "" for other names."""
    from garrote.penalties import PENALTIES
    from garrote.priors import SHRINKAGE_PRIORS

    if name == "single-effects":
        return (
            ": give --method bayes --set prior=single-effects, or for labels --method bayes --set "
            "method=single-effects"
        )
    if name in SHRINKAGE_PRIORS:
        return f", which is a prior: give --method bayes --set prior={name}"
    if name in PENALTIES:
        return f", which is a penalty: give --penalty {name}"
    return ""


def by_folds(options: argparse.Namespace) -> bool:
    """Tell whether the strength is chosen by cross-validation."""
    more = dict(options.set)
    strengths = (options.gamma, options.alpha, more.get("gamma"), more.get("alpha"))
    return options.expected_size is None and all(given in (None, "cv") for given in strengths)


def asks_for_labels(options: argparse.Namespace, method: Any) -> bool:
    """Tell whether the target is to be labels, even if it holds numbers.

    A method without families of its own is asked for labels by any family that its classifier is of.
    """
    asked = (options.family, dict(options.set).get("family"))
    if LABELS in asked:
        return True
    without = "family" not in _parameters(method.load()) and method.for_labels is not None
    return without and any(name in _LOG_ODDS for name in asked)


def method_name(options: argparse.Namespace) -> str:
    """Return the method that was asked for; a penalty alone asks for the one that has penalties."""
    if options.method is not None:
        return str(options.method)
    return "garrote" if options.penalty is None and "penalty" not in dict(options.set) else "lasso"


def check_settings(options: argparse.Namespace, method: Any) -> None:
    """Refuse, before anything is read, settings that no estimator of a method has."""
    kinds = [method.load(), *([method.for_labels.load()] if method.for_labels else [])]
    labels = asks_for_labels(options, method)
    _given_settings(options, [name for kind in kinds for name in _parameters(kind)], labels)


def make_settings(
    options: argparse.Namespace, estimator: Any, labels: bool, table: Any = None
) -> dict[str, Any]:
    """Return the settings of the estimator that was chosen, for a table if one was read."""
    known = _parameters(estimator)
    if options.offset is not None and "offset" not in inspect.signature(estimator.fit).parameters:
        raise UsageError(f"--offset: {options.method} takes none; add --method lasso", "select")
    settings = _given_settings(options, known, labels, table)
    if "cv" in known:
        settings.setdefault("cv", _splitter(options, labels))
    if "random_state" in known:
        settings.setdefault("random_state", options.seed)
    return settings


def _given_settings(
    options: argparse.Namespace, known: Sequence[str], labels: bool = False, table: Any = None
) -> dict[str, Any]:
    given = {
        "--gamma": ("gamma", options.gamma),
        "--expected-size": ("expected_size", options.expected_size),
        "--family": ("family", options.family),
        "--penalty": ("penalty", options.penalty),
        "--alpha": ("alpha", options.alpha),
        "--rule": ("rule", options.rule),
        "--threads": ("n_jobs", options.threads),
        **{f"--set {name}": (name, value) for name, value in options.set},
    }
    settings: dict[str, Any] = {}
    penalty = dict(given.values()).get("penalty") if "penalty" in known else None
    of_penalty = _penalty_settings(penalty)
    for option, (name, value) in given.items():
        if value is None and not option.startswith("--set"):
            continue
        if name == "family" and labels:
            settings |= _label_family(value, options.method, known)
        elif name in known:
            settings[name] = value
        elif name in of_penalty:
            of_penalty[name] = value
        else:
            names = ", ".join(dict.fromkeys([*known, *of_penalty]))
            remedy = _elsewhere(name, options.method, known, labels)
            if labels and name == "prior":
                remedy = _instead_of_prior(value)
            raise UsageError(
                f"{option}: {options.method} has no setting {name}{' for labels' if labels else ''}"
                f"{remedy} (it has {names})",
                "select",
            )
    chosen = {name: value for name, value in of_penalty.items() if value is not _NOT_GIVEN}
    if chosen:
        settings["penalty"] = _make_penalty(settings["penalty"], with_structure(chosen, table))
    if options.cv is not None and ("cv" not in known or "cv" in settings):
        why = "--set cv says the same thing" if "cv" in known else f"{options.method} has no folds"
        raise UsageError(f"--cv: {why}", "select")
    return settings


def _parameters(estimator: Any) -> list[str]:
    return [name for name in inspect.signature(estimator).parameters if name != "callback"]


def _instead_of_prior(value: Any) -> str:
    """Return what to say in place of a prior to a classifier that has one only."""
    from garrote.inference.choosing import methods_for

    if value in methods_for("binomial", "models", "effects"):
        return f"; say --set method={value}"
    return "; their prior is a spike and slab, so leave it out"


def _elsewhere(name: str, method: str, known: Sequence[str], labels: bool) -> str:
    """Return which penalty or method to ask for where another one has a setting; "" if none has it."""
    from garrote.estimators.registry import METHODS
    from garrote.penalties import PENALTIES

    kinds = {penalty: inspect.signature(kind).parameters for penalty, kind in PENALTIES.items()}
    if "penalty" in known:
        having = [penalty for penalty, own in kinds.items() if name in own and name != "name"]
        return f"; add --penalty {having[0]}" if having else ""
    rows = {m: row.for_labels if labels else row for m, row in METHODS.items() if m != method}
    having = [m for m, row in rows.items() if row and name in _parameters(row.load())]
    return f"; add --method {having[0]}" if having else ""


def _label_family(family: str, method: str, known: Sequence[str]) -> dict[str, str]:
    """Return the setting by which a classifier knows a family; none where it has only one."""
    if family not in _LABEL_FAMILIES:
        raise UsageError(
            f"--family {family}: the target holds labels of classes, which are binomial or probit (two) "
            f"or {LABELS}: leave it out, or name a target of numbers",
            "select",
        )
    if "family" in known:
        return {"family": family}
    if family not in _LOG_ODDS:
        raise UsageError(
            f"--family {family}: {method} has binomial models of labels only; add --method lasso",
            "select",
        )
    return {}


def _penalty_settings(name: Any) -> dict[str, Any]:
    """Return the settings of a penalty, none of them given yet."""
    if name is None:
        return {}
    from garrote.penalties import PENALTIES

    if name not in PENALTIES:
        hint = suggestion(str(name), PENALTIES) or f"; known are {', '.join(PENALTIES)}"
        raise UsageError(f"there is no penalty {str(name)!r}{hint}", "select")
    kind: Any = PENALTIES[name]
    return {name: _NOT_GIVEN for name in inspect.signature(kind).parameters if name != "name"}


def _make_penalty(name: str, settings: Mapping[str, Any]) -> Any:
    from garrote.penalties import PENALTIES

    kind: Any = PENALTIES[name]
    return kind(**settings)


def _splitter(options: argparse.Namespace, labels: bool) -> Any:
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    folds = options.cv or 5
    if options.groups:
        return StratifiedGroupKFold(folds) if labels else GroupKFold(folds)
    kind = StratifiedKFold if labels else KFold
    return kind(folds, shuffle=True, random_state=options.seed)
