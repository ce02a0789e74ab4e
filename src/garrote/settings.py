"""Settings as objects: equal by their values, read, copied and searched over as scikit-learn does."""

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, Self, TypeVar

from sklearn.base import BaseEstimator, clone

Kind = TypeVar("Kind")


class Settings(BaseEstimator):
    """The base of penalties, likelihoods, priors, laws of inclusion and methods: frozen dataclasses.

    ``get_params``, ``clone`` and grid searches (``method__n_steps``) reach into an estimator's settings.
    `set_params` changes the object itself, which other estimators may share; nothing else changes
    settings once they are made. What no data could make right is refused when an object is made or
    changed (``__post_init__``), what depends on the data by `fit`.
    """

    def set_params(self, **params: Any) -> Self:
        """Change settings by name, and check them again."""
        known = self.get_params(deep=False)
        changed = dict(known)
        for name, value in params.items():
            whole, _, part = name.partition("__")  # a setting of a setting, as in "g__a"
            if whole not in known or (part and not isinstance(changed[whole], Settings)):
                raise ValueError(
                    f"{type(self).__name__} has no setting {name!r}; its settings are {sorted(known)}"
                )
            changed[whole] = clone(changed[whole]).set_params(**{part: value}) if part else value
        made = type(self)(**changed)  # refuses what cannot be meant, before all changes
        self.__dict__.clear()  # with all that was kept for the settings before
        self.__dict__.update(made.__dict__)
        return self

    def __sklearn_clone__(self) -> Self:
        """Return an equal object; values that an object made plain need not be those given."""
        return type(self)(**deepcopy(self.get_params(deep=False)))

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, as far as it can be told without data."""


def as_settings(
    setting: str,
    given: Any,
    kind: type[Any],
    known: Mapping[str, Callable[[], Kind]],
    otherwise: str,
    names: tuple[str, ...] | None = None,
) -> Kind:
    """Return settings by themselves or, with their defaults, by the name that stands for them.

    Parameters
    ----------
    setting : str
        What users call it: "penalty".
    given : object
        Of class ``kind``, or a name.
    known : mapping of str to callables
        What makes the settings of each name.
    otherwise : str
        What else there may be than a name, for the error: "an object of garrote.penalties".
    names : tuple of str, optional
        The names that the error tells of, where these are not all of ``known``.
    """
    if isinstance(given, kind):
        return given
    if isinstance(given, str) and given in known:
        return known[given]()
    raise ValueError(
        f"{setting} must be one of {names or tuple(known)}, or {otherwise}, got {given!r}"
    )


def is_number(value: Any) -> bool:
    """Tell whether a setting is a finite number; truth values are none."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def check_count(name: str, value: Any, least: int) -> None:
    """Refuse a setting that is no whole number, or too small a one."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")


def check_positive(name: str, value: Any) -> None:
    """Refuse a setting that is no positive number."""
    if not (is_number(value) and value > 0):
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
