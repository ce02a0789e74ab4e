"""What the target is: labels, counts, or numbers."""

import numpy as np

from garrote.arrays import Array
from garrote.results.selections.data_check import Finding
from garrote.summaries import listing

# Counts are whole numbers from 0 on, of which at most this part differs, in a table of so many rows.
_DIFFERENT, _FEWEST_ROWS = 1 / 2, 20
# Counts whose variance is so many times their mean are rarely Poisson's, whatever explains their mean.
_EVEN = 3.0


def is_zero_or_one(y: Array) -> bool:
    """Tell whether numbers are 0 and 1, each at least once."""
    return y.dtype.kind == "f" and np.array_equal(np.unique(y), (0.0, 1.0))


def may_be_counts(y: Array) -> bool:
    """Tell whether numbers look like counts: whole, from 0 on, and few different ones."""
    if y.dtype.kind != "f" or len(y) < _FEWEST_ROWS or y.min() != 0 or y.max() <= 1:
        return False
    return bool((y == np.rint(y)).all()) and len(np.unique(y)) <= _DIFFERENT * len(y)


def find_target(name: str, y: Array | None, labels: bool) -> list[Finding]:
    """Ask whether a target of whole numbers is counts and, if it may be, whether two are labels."""
    if y is None or y.dtype.kind != "f":
        return []
    values, said = np.unique(y), listing([name])
    if may_be_counts(y):
        spread = float(y.var() / y.mean())
        text = (
            f"{said} holds whole numbers from 0 to {y.max():g}, {len(values)} different ones: are these "
            "counts? They are taken for measured numbers unless that is said"
        )
        if spread <= _EVEN:
            return [Finding("target", text, {"--family": ("poisson",)})]
        text += (
            f". Their variance is {spread:.2g} times their mean, more than Poisson's law allows unless "
            "columns explain it: the negative binomial estimates how much they vary"
        )
        return [Finding("target", text, {"--family": ("negative-binomial",)})]
    if labels and len(values) == 2 and not is_zero_or_one(y):
        text = f"{said} is {values[0]:g} or {values[1]:g} in every row: are these labels of two classes?"
        return [Finding("target", text, {"--categories": (name,)})]
    return []
