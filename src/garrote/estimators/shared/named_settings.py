"""Settings that are objects, or names of objects: what to write in place of a name to set its parts."""

from collections.abc import Callable
from typing import Any


class NamedSettings:
    """Gives an estimator a `set_params` that says what to write where a name has no settings."""

    def set_params(self, **params: Any) -> Any:
        """Change settings by name, those of an object as in ``penalty__gamma``."""
        own = {name: value for name, value in params.items() if "__" not in name}
        given = self.get_params(deep=False) | own  # type: ignore[attr-defined]
        for name in params:
            setting, _, inner = name.partition("__")
            if inner and setting in given and not hasattr(given[setting], "set_params"):
                raise ValueError(_remedy(setting, given[setting], inner, _objects(self, setting)))
        return super().set_params(**params)  # type: ignore[misc]


def _objects(model: Any, setting: str) -> dict[str, Callable[[], Any]]:
    """Return what makes the objects that the names of a setting stand for."""
    # Most estimators never need most of these.
    if setting == "penalty":
        from garrote.penalties import PENALTIES

        return dict(PENALTIES)
    if setting == "family":
        from garrote.likelihoods import FAMILIES

        return {name: type(likelihood) for name, likelihood in FAMILIES.items()}
    if setting == "method":
        from garrote.inference.methods import METHODS

        return dict(METHODS)
    if setting == "prior":
        from garrote.priors.names import PRIORS, prior_class

        kind, family = model._kind, model._family
        return {name: prior_class(name, family) for name in PRIORS if PRIORS[name].kind == kind}
    return {}


def _remedy(setting: str, value: Any, inner: str, objects: dict[str, Callable[[], Any]]) -> str:
    """Return the message for a part of a setting that is no object."""
    said = (
        f"{setting} is the name {value!r}" if isinstance(value, str) else f"{setting} is {value!r}"
    )
    part = inner.partition("__")[0]
    having = {
        name: make.__name__
        for name, make in objects.items()
        if part in make().get_params(deep=False)
    }
    if value in having:
        return f"{said}; write {setting}={having[value]}() to set its {part}"
    if having:
        names = " or ".join(f"{setting}={name}()" for name in sorted(set(having.values())))
        return f"{said}, which has no setting {part!r}; write {names} to set it"
    return f"{said}, which has no setting {part!r}"
