"""What a fit will cost, said before it begins where somebody would wonder whether it ends.

Estimates are a count of operations over a rate that one core of a usual machine has. They are right
within a factor of two or three, which is enough to decide whether to wait.
"""

import warnings
from numbers import Integral
from typing import Any

import numpy as np

# Folds where none are named, as in scikit-learn, and of which nothing else is known.
_FOLDS = 5
# Fits that take no longer are not worth a word.
_WORTH_SAYING = 60.0


class CostWarning(UserWarning):
    """A fit that is about to begin will take more than a minute."""


def foretell(what: str, seconds: float, remedy: str) -> None:
    """Warn that something will take long, and say what makes it shorter.

    Parameters
    ----------
    what : str
        What is done, with its size: "sampling 2000 coefficients given 5000 rows".
    seconds : float
        The estimate, for one core.
    remedy : str
        What to do for less: "lower n_steps".
    """
    if seconds > _WORTH_SAYING:
        warnings.warn(
            f"{what} takes about {_in_words(seconds)} on one core: {remedy} for less, or give a "
            "callback to see how far it is",
            CostWarning,
            stacklevel=4,
        )


def points_in_all(grid: Any, cv: Any, validated: bool) -> int:
    """Return how many strengths are solved: those of a grid, and where it is validated of each fold.

    ``grid`` are strengths or how many, ``cv`` says which folds as scikit-learn has it: None are five.
    """
    points = int(grid) if isinstance(grid, Integral) else int(np.size(grid))
    if not validated:
        return points
    folds = cv if isinstance(cv, Integral) else getattr(cv, "n_splits", _FOLDS)
    return points * (1 + int(folds))


def _in_words(seconds: float) -> str:
    if seconds < 2 * 3600:
        return f"{max(round(seconds / 60), 1):.0f} min"
    return f"{seconds / 3600:.0f} hours"
