"""Priors on which variables are in the model: independent odds, or one shared unknown probability."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from garrote.arrays import Floats


@dataclass(frozen=True)
class Inclusion:
    """A prior on models: by their size, and by the odds of each variable.

    Attributes
    ----------
    by_size : array of shape (D + 1,)
        Log prior of any one model of each size, before the variables' own odds.
    log_odds : array of shape (D,)
        Added for each variable that is in.
    shared : (float, float) or None
        The Beta law of a shared inclusion probability, where there is one.
    """

    by_size: Floats
    log_odds: Floats
    shared: tuple[float, float] | None = None

    @classmethod
    def independent(cls, probability: Floats, offsets: Floats) -> "Inclusion":
        """Give each variable its own probability (Murphy 2012, Eq. 13.6)."""
        log_odds = np.log(probability) - np.log1p(-probability)
        nothing = np.full(len(probability) + 1, float(np.log1p(-probability).sum()))
        return cls(nothing, log_odds + offsets)

    @classmethod
    def beta(cls, a: float, b: float, offsets: Floats) -> "Inclusion":
        """Give all variables one probability ~ Beta(a, b), integrated out (exercise 13.7)."""
        D = len(offsets)
        sizes = np.arange(D + 1)
        return cls(betaln(a + sizes, b + D - sizes) - betaln(a, b), offsets, (a, b))

    @classmethod
    def of_few(cls, offsets: Floats) -> "Inclusion":
        """Expect few variables, and assume little on how few: one probability ~ Beta(1, sqrt(D))."""
        return cls.beta(1.0, float(np.sqrt(max(len(offsets), 1))), offsets)

    def odds_of_one_more(self, size: int) -> float:
        """Return the prior log odds of one more variable in a model of some size."""
        return float(self.by_size[size + 1] - self.by_size[size])
