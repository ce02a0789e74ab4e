"""What every estimator can do with a file."""

import os

from garrote.persistence import save_model


class SaveMixin:
    """Gives an estimator `save`; `garrote.load` is its counterpart."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, without pickle; `garrote.load` reads it.

        Parameters
        ----------
        path : str or path
            Replaced if it exists. The suffix ``.garrote`` is customary.
        """
        save_model(self, path)
