"""Settings as objects: equal by their values, read, copied and searched over as scikit-learn does."""

from typing import Any

from sklearn.base import BaseEstimator


class Settings(BaseEstimator):
    """The base of priors, laws of inclusion and methods, which are frozen dataclasses.

    ``get_params``, ``clone`` and grid searches (``method__n_steps``) reach into an estimator's settings.
    They change copies of their own, by `set_params`; nothing else changes settings once they are made.
    """

    def set_params(self, **params: Any) -> "Settings":
        """Change settings by name, and check them again."""
        known = self.get_params(deep=False)
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no setting {name!r}; its settings are {sorted(known)}"
                )
            object.__setattr__(self, name, value)
        self.__post_init__()
        return self

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, as far as it can be told without data."""
