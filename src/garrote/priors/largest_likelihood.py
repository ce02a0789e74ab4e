"""No prior on coefficients and no price of them: models count by their largest likelihood alone."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from garrote.priors.base import Slab
from garrote.priors.evidence import SMALLEST_LEFT, Peak
from garrote.priors.slab import largest_fitted


@dataclass(frozen=True)
class LargestLikelihood(Slab):
    """Models count by their largest likelihood, and by the odds of their variables.

    It is what the Variational Garrote's free energy becomes where every variable is in or out for sure:
    its weights are the best ones, and only the prior log odds of inclusion hold models back (Kappen &
    Gomez 2014, Eq. 6). Models of more than half of the rows that are left are ruled out.
    """

    noise_variance: float | None = None
    integrated: ClassVar[bool] = False
    has_noise: ClassVar[bool] = True

    def rule(self, n: float, yty: float, most: int, spent: float = 0.0) -> Peak:
        """Return the criterion for n rows (less those spent on means)."""
        noise = np.nan if self.noise_variance is None else self.noise_variance
        least = SMALLEST_LEFT * (yty or 1.0)
        return Peak(0.0, n + spent, spent, least, largest_fitted(n), 0.0, noise)
