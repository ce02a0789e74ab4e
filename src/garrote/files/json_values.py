"""Numbers as JSON can hold them: plain ones, and None where there is none."""

from typing import Any

import numpy as np

from garrote.arrays import Floats

# Digits of the numbers that only pictures need.
PICTURE_DIGITS = 6


def number(value: Any) -> float | None:
    """Return a number, None where it is not finite."""
    return float(value) if np.isfinite(value) else None


def numbers(values: Floats, digits: int = PICTURE_DIGITS) -> list[Any]:
    """Return nested lists of numbers of few digits, None where there is no number."""
    if np.ndim(values) > 1:
        return [numbers(row, digits) for row in values]
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in values]
