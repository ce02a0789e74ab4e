"""How much chains know: Monte Carlo errors, effective sample sizes and split R-hat."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.models.model_chain import Sampling


class Diagnosed(NamedTuple):
    """Of every variable's inclusion: standard error, effective sample size and split R-hat."""

    error: Floats
    effective_size: Floats
    split_r_hat: Floats


def diagnose(chains: Sequence[Sampling], inclusion: Floats) -> Diagnosed:
    """Compare batches with each other, and halves of chains with each other.

    The standard error is that of a ratio of weighted sums over batches, taken for independent. So many
    independent draws of the model as p (1 - p) / error^2 would have it too. R-hat compares the halves of
    all chains (Gelman et al. 2013, section 11.4) as the law of the indicator: within a half its variance
    is p (1 - p) with that half's p.
    """
    batch_weight = np.concatenate([chain.batch_weight for chain in chains])
    batch = np.concatenate([chain.batch_inclusion for chain in chains])
    off = batch - batch_weight[:, None] * inclusion
    count = len(batch_weight)
    error = np.sqrt((off**2).sum(axis=0) * count / (count - 1)) / batch_weight.sum()
    variance = inclusion * (1.0 - inclusion)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(error > 0, variance / error**2, np.inf)
        halves = np.concatenate([_halves(chain) for chain in chains])
        within = (halves * (1.0 - halves)).mean(axis=0)
        r_hat = np.sqrt(1.0 + halves.var(axis=0, ddof=1) / within)
    # Where no half ever moves, 0 / 0 means that they agree; where they do not, R-hat is infinite.
    return Diagnosed(error, size, np.where(np.isnan(r_hat), 1.0, r_hat))


def _halves(chain: Sampling) -> Floats:
    """Return the inclusion probabilities in the first and in the second half of a chain."""
    middle = len(chain.batch_weight) // 2
    parts = (slice(None, middle), slice(middle, None))
    return np.array(
        [chain.batch_inclusion[p].sum(axis=0) / chain.batch_weight[p].sum() for p in parts]
    )
