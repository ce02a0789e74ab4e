"""How a width shrinks: wide first, past all kinks; narrow last, where the bound is tight."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.settings import Settings, is_number

# Squares of narrower widths, and of wider ones than one over it, are no longer numbers.
_LEAST = 1e-100


@dataclass(frozen=True)
class Shrinking(Settings):
    """Widths from ``first`` to ``last``, each ``factor`` times the one before.

    Examples
    --------
    >>> from garrote.smoothing import Shrinking
    >>> Shrinking(1.0, 0.2, 0.5).widths().tolist()
    [1.0, 0.5, 0.25, 0.2]
    """

    first: float = 1.0
    last: float = 1e-3
    factor: float = 0.5

    def __post_init__(self) -> None:
        for name in ("first", "last"):
            value = getattr(self, name)
            if not (is_number(value) and value > 0):
                raise ValueError(
                    f"sigma must be a number above 0, got {name} = {value!r}: at 0 nothing is averaged, "
                    "and widths are the same for all coordinates"
                )
            if not _LEAST <= value <= 1.0 / _LEAST:
                raise ValueError(
                    f"sigma must be from {_LEAST:g} to {1.0 / _LEAST:g}, got {name} = {value:g}, whose "
                    "square is no number to count with: rescale x"
                )
        if not (is_number(self.factor) and 0 < self.factor < 1):
            raise ValueError(f"factor must be between 0 and 1, got {self.factor!r}")

    def widths(self) -> Floats:
        """Return all widths, the last exactly."""
        if self.first <= self.last:
            return np.array([self.last])
        steps = int(np.ceil(np.log(self.first / self.last) / -np.log(self.factor) - 1e-9))
        return np.append(self.first * self.factor ** np.arange(steps), self.last)
