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

# What one core does in a second, about. Gaussian models that are enumerated, and the minutes that an
# enumeration may take,
MODELS_PER_SECOND, ENUMERATION_MINUTES = 5e6, 3.0
# ... neighbours of models that a search looks at, with all that comes after it,
NEIGHBOURS_PER_SECOND = 1.5e5
# ... models of a thousand rows of labels or counts that are fitted,
FITTED_PER_SECOND = 4000
# ... operations of a factorisation; and the hours that sampling may take.
FLOPS, SAMPLING_HOURS = 2e10, 24.0
# Seconds for an entry of X in a mean field of labels: .5 and 1.4 of 1e-6 were measured, and 100 times as
# much among the correlated columns of a small table of genes;
MEAN_FIELD_SECONDS = 2e-6
# ... in the garrote of labels at one strength: one to eight of 1e-8 were measured.
GARROTE_SECONDS = 4e-8
# Seconds for a row of one class at one strength, times the root of the number of columns: measured with
# 20 classes of 500 rows and 50 columns, and 12 of 1000 and 100, within a factor of two.
CLASSES_SECONDS = 4e-7


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
            stacklevel=5,
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
