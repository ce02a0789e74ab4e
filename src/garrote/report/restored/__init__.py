"""The page of a restored picture: before and after, where it is unsure, and what it was made of."""

from garrote.report.restored.plates import Plate, write_restoration

__all__ = ["Plate", "write_restoration"]
