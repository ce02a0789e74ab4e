"""Answers for rows that are arrays of another library: what is said of them is where they are.

That is scikit-learn's rule for the array API ("everything follows X"), and holds where its
``array_api_dispatch`` is on. Without it answers are NumPy's, wherever X lies.
"""

from collections.abc import Callable
from functools import wraps
from inspect import getattr_static, isfunction
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.metaestimators import available_if

from garrote.designs.devices.arrays import is_foreign, to_device, to_host
from garrote.designs.stored import as_stored

_OF_ROWS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")


def follow_rows(estimator: type) -> None:
    """Let what an estimator says of rows follow them, and its score take y from anywhere."""
    for name in _OF_ROWS:
        _replace(estimator, name, _following)
    _replace(estimator, "score", _fetching)


def _replace(estimator: type, name: str, wrap: Callable[..., Any]) -> None:
    method = getattr(estimator, name, None)
    if method is None or hasattr(method, "_follows_rows"):
        return
    wrapped, stored = wrap(method), getattr_static(estimator, name)
    wrapped._follows_rows = True
    if not isfunction(stored):  # a method that some of its objects lack stays one
        wrapped = available_if(lambda self: bool(stored.__get__(self, type(self))))(wrapped)
    setattr(estimator, name, wrapped)


def _following(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, **known: Any) -> Any:
        # What the method calls in turn is given rows that follow nothing.
        said = method(self, as_stored(X), *args, **known)
        if not (is_foreign(X) and get_config().get("array_api_dispatch")):
            return said
        return tuple(_there(one, X) for one in said) if isinstance(said, tuple) else _there(said, X)

    return answer


def _fetching(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def score(self: Any, X: Any, y: Any, *args: Any, **known: Any) -> Any:
        fetched = {name: to_host(value) for name, value in known.items()}
        return method(self, as_stored(X), to_host(y), *map(to_host, args), **fetched)

    return score


def _there(said: Any, X: Any) -> Any:
    """Return numbers beside X; words, designs and sparse matrices stay here."""
    numbers = isinstance(said, np.ndarray) and said.dtype.kind in "biuf"
    return to_device(said, X) if numbers else said
