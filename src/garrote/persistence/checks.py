"""Whether results are what their classes say: types by annotation, shapes by one letter an axis.

The same check runs before a model is written and after one is read, so that what was saved can be
loaded, and what was loaded cannot fail later for a reason that lies in the file.
"""

import types
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from garrote.likelihoods.survival.baseline import Baseline
from garrote.persistence.archive import ModelFileError

# D is the number of columns of X; other letters are equal within one object.
_SHAPES: dict[str, dict[str, str]] = {
    "Fit": {"columns": "k", "probability": "k", "weight": "k"},
    "Scale": {
        "column_mean": "D", "column_scale": "D",
        "covariates": "c", "covariate_response": "c", "covariate_columns": "cD",
    },
    "PenaltyFit": {"columns": "k", "coef": "k"},
    "Path": {"fits": "K", "forward": "K", "backward": "K", "kept": "K"},
    "Posterior": {
        "inclusion_probability": "D", "mean": "D",
    },
    "JointPosterior": {"inclusion_probability": "D", "noise_covariance": "KK", "certain_sign": "KD"},
    "Spread": {"columns": "k", "standard_error": "k", "correlation": "kk"},
    "Draws": {"draws": "SD", "sign_probability": "D", "shrinkage": "D"},
    "JointGaussian": {
        "columns": "k", "covariance": "kk", "sign_probability": "D", "deviation": "D", "mean": "D",
    },
    "SoftSupport": {
        "columns": "k", "probability": "k", "mean": "k", "deviation": "k", "correlation": "kk",
    },
    "Mixture": {
        "columns": "k", "weight": "C", "probability": "Ck", "mean": "Ck", "deviation": "Ck",
    },
    "PathView": {
        "strengths": "K", "columns": "k", "probability": "Kk", "effect": "Kk", "expected_size": "K",
    },
    "Validation": {"mean": "K", "standard_error": "K"},
    "LabelScores": {"classes": "C", "confusion": "FCC", "auc": "F", "calibration": "Fbt"},
    "PredictiveDensity": {
        "models": "M", "density": "Mn", "fold": "n", "weights": "n", "errors": "M",
    },
    "ClassEffects": {"names": "C", "effect": "CD"},
    "Predictions": {"rows": "n", "observed": "n", "predicted": "Kn"},
    "ModelsView": {"probability": "M", "size": "M", "columns": "k", "effect": "Mk"},
    "StandIns": {"columns": "k", "correlation": "kk"},
    "Stability": {"found": "D"},
    "Placed": dict.fromkeys(("chromosome", "position", "counted", "other"), "D"),
    "Consistency": dict.fromkeys(
        ("names", "z", "expected", "deviation", "flipped_evidence"), "D"
    ),
    "Selection": dict.fromkeys(
        ("names", "selected", "probability", "effect", "standard_error", "lower", "upper",
         "deviation", "marginal_z", "positions"), "D"
    ),
}  # fmt: skip
# Attributes that mean the same for every estimator; their last axis runs over the columns of X.
_BY_COLUMN = ("coef_", "inclusion_probability_", "feature_names_in_")
# Attributes of estimators, where these have them, that their classes do not annotate.
_ATTRIBUTES: dict[str, Any] = {
    "intercept_": float | np.ndarray,
    "classes_": np.ndarray,
    "cv_results_": dict,
    "baseline_": Baseline,
}
# Branches of a path, which only annealed ones have.
_BRANCHES = {"forward", "backward"}
# Fields that hold positions of columns.
_POSITIONS = {"columns", "covariates", "support"}


def check_estimator(model: Any) -> None:
    """Raise `ModelFileError` if a fitted attribute is not what its class, or D, demands."""
    count = getattr(model, "n_features_in_", None)
    if type(count) is not int or count < 1:
        raise ModelFileError(f"n_features_in_ is {count!r}")
    cls: type = type(model)
    declared = _hints(cls)
    for name, hint in {**_ATTRIBUTES, **declared}.items():
        if name not in declared and not hasattr(model, name):
            continue
        if not _is(getattr(model, name, None), hint):
            raise ModelFileError(f"{name} is not what a {cls.__name__} has")
    for name in _BY_COLUMN:
        shape = np.shape(getattr(model, name, ()))
        if hasattr(model, name) and (not shape or count != shape[-1]):
            raise ModelFileError(f"{name} has shape {shape} for {count} columns")
    coef: Any = getattr(model, "coef_", None)
    level = np.shape(getattr(model, "intercept_", 0.0))
    if coef is not None and hasattr(model, "intercept_") and level != np.shape(coef)[:-1]:
        raise ModelFileError(f"intercept_ has shape {level}")
    if hasattr(model, "classes_") and np.ndim(coef) == 2:
        classes, rows = len(model.classes_), len(model.coef_)
        if rows not in (classes, classes - 1, classes * (classes - 1) // 2):
            raise ModelFileError(f"coef_ has {rows} rows for {classes} classes")
    given = model.get_params(deep=False)
    if hasattr(model, "dual_coef_"):  # a kernel machine, whose coefficients are those of rows
        count = len(model.dual_coef_)
    _check_inside((v for name, v in vars(model).items() if name not in given), count, set())


def _check(value: Any, count: int | None, seen: set[int]) -> None:
    if is_dataclass(value):
        if id(value) not in seen:
            seen.add(id(value))
            if count is not None:  # a path of several outputs has so many coefficients a column
                count *= getattr(value, "outputs", 1)
            _check_object(value, count)
            _check_inside((getattr(value, f.name) for f in fields(value)), count, seen)
    elif isinstance(value, Mapping):
        _check_inside(value.values(), count, seen)
    elif isinstance(value, tuple | list):
        _check_inside(value, count, seen)
    elif hasattr(value, "n_features_in_"):
        check_estimator(value)


def _check_inside(values: Iterable[Any], count: int | None, seen: set[int]) -> None:
    for value in values:
        _check(value, count, seen)


def _check_object(value: Any, count: int | None) -> None:
    cls: type = type(value)
    for name, hint in _hints(cls).items():
        if not _is(getattr(value, name), hint):
            given = type(getattr(value, name)).__name__
            raise ModelFileError(f"{cls.__name__}.{name} is a {given}, not what the class demands")
    sizes = {} if count is None else {"D": count}
    for name, letters in _SHAPES.get(cls.__name__, {}).items():
        found = getattr(value, name)
        if found is None or (name in _BRANCHES and not found):  # what the method does not give
            continue
        shape = found.shape if isinstance(found, np.ndarray) else (len(found),)
        expected = tuple(sizes.setdefault(k, n) for k, n in zip(letters, shape, strict=False))
        if len(shape) != len(letters) or shape != expected:
            raise ModelFileError(
                f"{cls.__name__}.{name} has shape {shape}, which does not go with the rest"
            )
    for name in _POSITIONS & {f.name for f in fields(cls)}:
        _check_positions(f"{cls.__name__}.{name}", getattr(value, name), count)


# Reading annotations costs more than comparing with them, and a path has a hundred fits.
_hints = cache(get_type_hints)


def _check_positions(name: str, found: Any, count: int | None) -> None:
    if found is None:  # a field that an older file does not have
        return
    whole = found.dtype.kind in "iu"
    if not whole or (found.size and (found.min() < 0 or (count and found.max() >= count))):
        raise ModelFileError(f"{name} does not hold positions of {count} columns")


def _is(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type, as far as results use such types."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any or origin is ClassVar:  # what a class says is not in a file
        return True
    if isinstance(hint, TypeVar):
        return _is(value, hint.__bound__)
    if origin in (Union, types.UnionType):
        return any(_is(value, part) for part in arguments)
    if origin is np.ndarray:
        (scalar,) = get_args(arguments[1])
        return isinstance(value, np.ndarray) and (scalar is Any or value.dtype == scalar)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if arguments[-1] is Ellipsis:
            return all(_is(part, arguments[0]) for part in value)
        return len(value) == len(arguments) and all(map(_is, value, arguments))
    if origin is list:
        return isinstance(value, list) and all(_is(part, arguments[0]) for part in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            _is(k, arguments[0]) and _is(v, arguments[1]) for k, v in value.items()
        )
    broader = {float: Real, int: Integral, bool: bool | np.bool_}.get(hint, hint)
    return isinstance(value, broader)
