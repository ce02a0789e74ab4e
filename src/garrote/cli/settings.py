"""From options of the command line to an estimator and its settings."""

import argparse
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from garrote.cli.errors import UsageError, suggestion
from garrote.cli.objects import method_with_prior, parameters_of, parts_of
from garrote.cli.structure import with_structure

# A response of labels, whatever they are written in.
LABELS = "multinomial"
# Families of labels whose log odds are linear, which all methods of labels have, and all families.
_LOG_ODDS = ("binomial", LABELS)
_LABEL_FAMILIES = (*_LOG_ODDS, "probit")
_NOT_GIVEN = object()
# The methods that are taken by default: models are sampled, which takes seconds up to so many columns
# and, of labels, a table of up to so many entries; beyond, the garrote's path is annealed.
_SAMPLING, _ANNEALING, _PENALISED = "spike-slab", "garrote", "lasso"
# The method whose searches are asked for by their own names, too.
_GREEDY = "greedy"
_SAMPLED_COLUMNS, _SAMPLED_LABELS = 5000, 100_000
# Settings of sampling that its estimator has in objects, by the names of the command line.
_OF_SAMPLING = ("expected_size", "n_steps", "burn_in", "n_chains")
# The two bounds of coefficients, which are one setting.
_BOUNDS = ("lower", "upper")
# What is said of them where nobody asked for a method.
DEFAULTS = {
    _SAMPLING: "which sums or samples models (--method garrote anneals a path)",
    _ANNEALING: "which anneals a path (--method spike-slab samples models, and takes longer)",
    _PENALISED: "which takes more than two classes, as the methods that state probabilities do not",
}


def find_method(name: str) -> Any:
    """Return a method of the registry."""
    from garrote.estimators.registry import SELECTORS

    if name not in SELECTORS:
        known = f"; known are {', '.join(SELECTORS)}"
        hint = _of_another_option(name) or suggestion(name, SELECTORS) or known
        raise UsageError(f"there is no method {name!r}{hint}", "select")
    return SELECTORS[name]


def _of_another_option(name: str) -> str:
    """Return how to ask for a prior or a penalty that was taken for a method; "" for other names."""
    from garrote.penalties import PENALTIES

    method = method_with_prior(name)
    if method is not None:
        return f", which is a prior: give --method {method} --set prior={name}"
    return f", which is a penalty: give --penalty {name}" if name in PENALTIES else ""


def by_folds(options: argparse.Namespace) -> bool:
    """Tell whether the strength is chosen by cross-validation."""
    more = dict(options.set)
    if options.method == _GREEDY and more.get("criterion") != "cv":
        return False
    strengths = (options.gamma, options.alpha, more.get("gamma"), more.get("alpha"))
    return (
        options.expected_size is None
        and options.bound is None
        and all(given in (None, "cv") for given in strengths)
    )


def asks_for_labels(options: argparse.Namespace, method: Any) -> bool:
    """Tell whether the target is to be labels, even if it holds numbers.

    A method without families of its own is asked for labels by any family that its classifier is of.
    """
    asked = (options.family, dict(options.set).get("family"))
    if LABELS in asked:
        return True
    without = "family" not in parameters_of(method.load()) and method.for_labels is not None
    return without and any(name in _LOG_ODDS for name in asked)


def method_name(options: argparse.Namespace) -> str:
    """Return the method that was asked for; a penalty, or a bound on it, asks for the penalised one.

    Where nothing is asked for it is sampling, if the settings given are its own and groups ask for no
    folds, or else the garrote.
    """
    if options.method is not None:
        return _with_search(options, str(options.method))
    asked = options.penalty is not None or options.bound is not None
    if asked or "penalty" in dict(options.set):
        return "lasso"
    from garrote.likelihoods import families_with_posteriors

    named = dict(_typed(options, ["n_jobs"]).values())
    family = named.pop("family", "gaussian") in (*families_with_posteriors(), LABELS)
    known = {*parameters_of(find_method(_SAMPLING).load()), *_OF_SAMPLING}
    # Groups belong to folds: without a number of these, they ask for a method that chooses by them.
    folds = options.groups is not None and options.cv is None
    return _SAMPLING if family and not folds and known >= set(named) else _ANNEALING


def _with_search(options: argparse.Namespace, name: str) -> str:
    """Return a method; the name of a search asks for the method that has searches, with this one."""
    from garrote.estimators.registry import SELECTORS

    if name in SELECTORS:
        return name
    from garrote.solvers.greedy import SEARCHES

    if name not in SEARCHES:
        return name
    options.set = [("search", name), *options.set]
    return _GREEDY


def method_for_table(
    options: argparse.Namespace, name: str, rows: int, columns: int, classes: int = 0
) -> str:
    """Return the method that is taken by default for a table of a size.

    Sampling takes seconds for some thousand columns. A larger table is annealed, if the garrote has all
    the settings given. ``classes`` are those of a target of labels: the penalised path takes any number,
    the others two.
    """
    if classes > 2 and _has_settings(options, _PENALISED):
        return _PENALISED
    entries = rows * columns if classes else 0
    small = columns <= _SAMPLED_COLUMNS and entries <= _SAMPLED_LABELS
    if name != _SAMPLING or small or not _has_settings(options, _ANNEALING):
        return name
    return _ANNEALING


def _has_settings(options: argparse.Namespace, name: str) -> bool:
    """Tell whether a method has all the settings that were given."""
    try:
        check_settings(argparse.Namespace(**vars(options) | {"method": name}), find_method(name))
    except UsageError:
        return False
    return True


def check_settings(options: argparse.Namespace, method: Any) -> None:
    """Refuse, before anything is read, settings that no estimator of a method has."""
    kinds = [method.load(), *([method.for_labels.load()] if method.for_labels else [])]
    _given_settings(options, kinds, asks_for_labels(options, method))


def make_settings(
    options: argparse.Namespace, estimator: Any, labels: bool, table: Any = None
) -> dict[str, Any]:
    """Return the settings of the estimator that was chosen, for a table if one was read."""
    known = parameters_of(estimator)
    settings = _given_settings(options, [estimator], labels, table)
    if "cv" in known:
        events = table is not None and table.of_times  # spread evenly, as labels are
        settings.setdefault("cv", _folds(options, labels or events, "random_state" in known))
    if "random_state" in known:
        settings.setdefault("random_state", options.seed)
    if "stability" in known:
        settings.setdefault("stability", "auto" if options.stability is None else None)
    return settings


def _typed(options: argparse.Namespace, known: Sequence[str]) -> dict[str, tuple[str, Any]]:
    """Return what was typed: option, name and value of every setting."""
    given = {
        "--gamma": ("gamma", options.gamma),
        "--expected-size": ("expected_size", options.expected_size),
        "--family": ("family", options.family),
        "--penalty": ("penalty", options.penalty),
        "--alpha": ("alpha", options.alpha),
        "--bound": ("bound", options.bound),
        "--l1-ratio": ("l1_ratio", options.l1_ratio),
        "--rule": ("rule", options.rule),
        "--stability": ("stability", options.stability or None),
        # Methods that have no threads of their own leave them to linear algebra.
        "--threads": ("n_jobs", options.threads if "n_jobs" in known else None),
    }
    typed = {option: pair for option, pair in given.items() if pair[1] is not None}
    return typed | {f"--set {name}": (name, value) for name, value in options.set}


def _given_settings(
    options: argparse.Namespace, kinds: Sequence[Any], labels: bool = False, table: Any = None
) -> dict[str, Any]:
    known = [name for kind in kinds for name in parameters_of(kind)]
    typed = _typed(options, known)
    named = dict(typed.values())
    of_penalty = _penalty_settings(named.get("penalty") if "penalty" in known else None)
    parts = [parts_of(kind, named, labels or k > 0) for k, kind in enumerate(kinds)]
    settings: dict[str, Any] = {}
    of_objects: dict[str, Any] = {}
    for option, (name, value) in typed.items():
        if name == "family" and labels:
            settings |= _label_family(value, options.method, known)
        elif name in known:
            settings[name] = value
        elif name == "family" and value == "gaussian":
            continue  # a method without families is of numbers
        elif name in of_penalty:  # before the method's: both may have an order
            of_penalty[name] = value
        elif any(name in part.names for part in parts):
            of_objects[name] = value
        elif name in _BOUNDS and "bounds" in known:
            settings["bounds"] = _bounds(named)
        elif name == "bound" and "alpha" in known:
            settings["alpha"] = _bound(value, named)
        elif name == "expected_size" and (law := _law_of_size(kinds)):
            settings[law] = _expected_size(value, law, named)
        else:
            names = list(dict.fromkeys([*known, *of_penalty, *(n for p in parts for n in p.names)]))
            _refuse(option, name, options.method, names, known, labels)
    chosen = {name: value for name, value in of_penalty.items() if value is not _NOT_GIVEN}
    if chosen:
        settings["penalty"] = _make_penalty(settings["penalty"], with_structure(chosen, table))
    if options.cv is not None and "cv" in settings:
        raise UsageError("--cv: --set cv says the same thing", "select")
    if len(kinds) > 1:
        return settings
    return parts[0].put(settings, with_structure(of_objects, table))


def _refuse(
    option: str, name: str, method: str, names: Sequence[str], known: Sequence[str], labels: bool
) -> NoReturn:
    """Say that a method has no such setting, which one has it, and what it has."""
    remedy = _elsewhere(name, method, known, labels)
    raise UsageError(
        f"{option}: {method} has no setting {name}{' for labels' if labels else ''}{remedy} (it has "
        f"{', '.join(names)})",
        "select",
    )


def _law_of_size(kinds: Sequence[Any]) -> str | None:
    """Return the setting that says how many variables are expected, where there is one."""
    if any("gamma" in parameters_of(kind) for kind in kinds):
        return "gamma"
    return "inclusion" if any(getattr(kind, "_kind", None) == "models" for kind in kinds) else None


def _expected_size(value: float, law: str, named: Mapping[str, Any]) -> Any:
    from garrote.priors import ExpectedSize

    if named.get(law) is not None:
        raise UsageError(
            f"--expected-size and --set {law} say the same thing: give one of them", "select"
        )
    return ExpectedSize(value)


def _bound(value: float, named: Mapping[str, Any]) -> Any:
    from garrote.paths import Bound

    if named.get("alpha") is not None:
        raise UsageError("--bound and --alpha say the same thing: give one of them", "select")
    return Bound(value)


def _bounds(named: Mapping[str, Any]) -> tuple[Any, Any]:
    if named.get("bounds") is not None:
        raise UsageError(
            "--set bounds and --set lower or upper say the same thing: give one of them", "select"
        )
    return named.get("lower"), named.get("upper")


def _elsewhere(name: str, method: str, known: Sequence[str], labels: bool) -> str:
    """Return which penalty or method to ask for where another one has a setting; "" if none has it."""
    from garrote.estimators.registry import SELECTORS
    from garrote.penalties import PENALTIES

    kinds = {penalty: inspect.signature(kind).parameters for penalty, kind in PENALTIES.items()}
    if "penalty" in known:
        having = [
            penalty for penalty, settings in kinds.items() if name in settings and name != "name"
        ]
        return f"; add --penalty {having[0]}" if having else ""
    rows = {m: row.for_labels if labels else row for m, row in SELECTORS.items() if m != method}
    having = [m for m, row in rows.items() if row and name in _all_names(row.load(), labels)]
    return f"; add --method {having[0]}" if having else ""


def _all_names(estimator: Any, labels: bool) -> list[str]:
    parameters, parts = parameters_of(estimator), parts_of(estimator, {}, labels).names
    size = ["expected_size"] if _law_of_size([estimator]) else []
    bound = ["bound"] if "alpha" in parameters else []
    return [*parameters, *parts, *size, *bound, *(_BOUNDS if "bounds" in parameters else ())]


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
    return dict.fromkeys(inspect.signature(kind).parameters, _NOT_GIVEN)


def _make_penalty(name: str, settings: Mapping[str, Any]) -> Any:
    from garrote.penalties import PENALTIES

    kind: Any = PENALTIES[name]
    return kind(**settings)


def _folds(options: argparse.Namespace, labels: bool, has_seed: bool) -> Any:
    """Return the number of folds; folds of another seed for a method that has none of its own."""
    folds = options.cv or 5
    if has_seed or not options.seed or options.groups:
        return folds
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if labels else KFold
    return kind(folds, shuffle=True, random_state=options.seed)
