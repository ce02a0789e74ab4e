"""Settings as objects: equal by their values, read, copied and searched over as scikit-learn does."""

from typing import Any

from sklearn.base import BaseEstimator


class Settings(BaseEstimator):
    """The base of priors, laws of inclusion and methods, which are frozen dataclasses.

    ``get_params``, ``clone`` and grid searches (``method__n_steps``) reach into an estimator's settings.
    `set_params` changes the object itself, which other estimators may share; nothing else changes
    settings once they are made.
    """

    def set_params(self, **params: Any) -> "Settings":
        """Change settings by name, and check them again."""
        known = self.get_params(deep=False)
        for name in params:
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no setting {name!r}; its settings are {sorted(known)}"
                )
        type(self)(**(known | params))  # refuses what cannot be meant, before anything is changed
        for name, value in params.items():
            object.__setattr__(self, name, value)
        return self

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, as far as it can be told without data."""
