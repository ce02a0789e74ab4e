"""The method of an estimator that fits a path: an object of `garrote.paths`, or a solver's name."""

from typing import Any, ClassVar

from garrote.estimators.shared.named_settings import NamedSettings, Objects
from garrote.paths import PathMethod


class FollowsPath(NamedSettings):
    """Gives an estimator its ``method`` as an object; ``_strength`` names what varies along the path."""

    _method_class: ClassVar[type[PathMethod]]
    _strength: ClassVar[str] = "gamma"
    method: Any

    @property
    def _path_method(self) -> Any:
        """The method, checked."""
        return self._method_class.of(self.method)

    @property
    def _objects(self) -> dict[str, Objects]:
        return {**super()._objects, "method": self._method_class.named()}

    def _refit_settings(self) -> dict[str, Any]:
        """Return the strength that was chosen, which a refit to a part of the rows is told."""
        return {self._strength: getattr(self, f"{self._strength}_")}
