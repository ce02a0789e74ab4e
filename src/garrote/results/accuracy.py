"""How well inclusion probabilities are known: by the chains that found them, and beside better ones."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats
from garrote.summaries import Shown

# Disagreement between stated and checked inclusion probabilities that a reader should know of.
DISAGREES = 0.1


@dataclass(frozen=True, repr=False)
class Audit(Shown):
    """A comparison of inclusion probabilities with better ones, on the variables that matter most."""

    columns: Array
    stated: Floats
    checked: Floats
    against: str

    @property
    def largest_difference(self) -> float:
        """The largest disagreement."""
        return float(np.abs(self.stated - self.checked).max(initial=0.0))

    def __str__(self) -> str:
        return (
            f"{len(self.columns)} variables checked against {self.against}: inclusion probabilities "
            f"differ by at most {self.largest_difference:.3f}"
        )


@dataclass(frozen=True, repr=False)
class SamplingAccuracy(Shown):
    """How well chains know each variable.

    Attributes
    ----------
    monte_carlo_error : array of shape (D,)
        Standard errors of the inclusion probabilities; of the coefficients' means, under priors that
        leave no variable out.
    effective_sample_size, split_r_hat : array of shape (D,), optional
        So many independent draws would tell as much, and how the halves of all chains compare (1 if
        they agree).
    """

    monte_carlo_error: Floats
    effective_sample_size: Floats | None = None
    split_r_hat: Floats | None = None
