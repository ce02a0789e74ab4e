"""Models in files: arrays and a JSON header in one zip, without pickle.

Nothing in a file is executed: only the classes listed by garrote itself are ever made, and what
they are given is checked first. ``header.json`` has the format and its version, the versions that
wrote it, and the tree of values (see `garrote.persistence.trees`); each array is one ``.npy``. The
SHA-256 of each part is stored too, so that a file that was changed by accident is refused; it is no
protection against those who change a file on purpose.
"""

from garrote.persistence.archive import ModelFileError
from garrote.persistence.models import load, load_extra, load_model, save_model

__all__ = ["ModelFileError", "load", "load_extra", "load_model", "save_model"]
