"""Whether counts vary no more than their law allows; where they do, all that is stated is too sure."""

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods import Likelihood

# Counts may vary by this factor more than they should without a word, and by so many deviations of
# what chance makes of the factor.
_HARMLESS, _CHANCE = 1.5, 4.0


def dispersion(
    likelihood: Likelihood, y: Floats, mean: Floats, weights: Floats, spent: float
) -> tuple[float, float]:
    """Return by how much y varies more than it should, Pearson's statistic, and the rows behind it.

    A weight of 2 is two rows, but one of 1/2 is a row that varies twice as much.
    """
    freedom = max(float(weights.sum()), len(weights)) - spent
    squares = weights @ ((y - mean) ** 2 / np.maximum(likelihood.variance(mean), 1e-12))
    return float(squares) / max(freedom, 1.0), freedom


def dispersion_doubts(
    likelihood: Likelihood, y: Floats, mean: Floats, weights: Floats, spent: float
) -> tuple[str, ...]:
    """Say that counts vary too much for probabilities and intervals to hold, where they do."""
    factor, freedom = dispersion(likelihood, y, mean, weights, spent)
    if freedom <= 0 or factor <= max(_HARMLESS, 1.0 + _CHANCE * np.sqrt(2.0 / freedom)):
        return ()
    return (
        f"y varies {factor:.2g} times as much as {likelihood.name} counts with such means do: "
        "probabilities and intervals are too sure. family='negative-binomial' estimates how much counts "
        f"vary; weights of {1 / factor:.2g} for all rows allow for it, too",
    )
