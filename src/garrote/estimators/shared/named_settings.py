"""Settings that are objects, or names of objects: what to write in place of a name to set its parts."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

# By name, what makes the object with default settings that the name stands for.
Objects = Mapping[str, Callable[[], Any]]


class NamedSettings:
    """Gives an estimator a `set_params` that says what to write where a name has no settings."""

    @property
    def _objects(self) -> dict[str, Objects]:
        """The settings that may be names, and the objects that these stand for."""
        return {}

    def set_params(self, **params: Any) -> Any:
        """Change settings by name, those of an object as in ``penalty__gamma``."""
        shallow = {name: value for name, value in params.items() if "__" not in name}
        given = self.get_params(deep=False) | shallow  # type: ignore[attr-defined]
        for name in [name for name in params if "__" in name]:
            setting, _, part = name.partition("__")
            value = given.get(setting)
            if isinstance(value, tuple) and hasattr(value, "get_params"):  # of kernels: made anew
                made = type(value)(**(value.get_params(deep=False) | {part: params.pop(name)}))
                params[setting] = given[setting] = made
                continue
            if part and setting in given and not hasattr(given[setting], "set_params"):
                objects = self._objects.get(setting, {})
                raise ValueError(_remedy(setting, given[setting], part, objects))
        return super().set_params(**params)  # type: ignore[misc]


def _remedy(setting: str, value: Any, part: str, objects: Objects) -> str:
    """Return the message for a part of a setting that is no object."""
    having = {
        name: _as_written(make)
        for name, make in objects.items()
        if part in make().get_params(deep=False)
    }
    if isinstance(value, str) and value in having:
        return f"{setting} is the name {value!r}; write {setting}={having[value]} to set its {part}"
    said = f"{setting} is {value!r}, which has no setting {part!r}"
    names = " or ".join(f"{setting}={name}" for name in sorted(set(having.values())))
    return f"{said}; write {names} to set it" if names else said


def _as_written(make: Callable[[], Any]) -> str:
    """Return how the object is written that a name stands for."""
    if isinstance(make, partial):
        return f"{make.func.__name__}({', '.join(map(repr, make.args))})"
    return f"{make.__name__}()"
