"""The method of an estimator that fits a path: an object of `garrote.paths`, or a solver's name."""

from typing import Any, ClassVar

from garrote.estimators.shared.named_settings import NamedSettings, Objects
from garrote.paths import PathMethod


class FollowsPath(NamedSettings):
    """Gives an estimator its ``method`` as an object."""

    _method_class: ClassVar[type[PathMethod]]
    method: Any

    @property
    def _path_method(self) -> Any:
        """The method, checked."""
        return self._method_class.of(self.method)

    @property
    def _objects(self) -> dict[str, Objects]:
        return {**super()._objects, "method": self._method_class.named()}
