"""Which shape of the slab the data prefer: effects alike in size, or many of them near zero."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class SlabShapes(Shown):
    """How probable the shapes of the slab are, each by the separation of its two humps (0 for one).

    See `garrote.priors.TwoHumpedSlab`.
    """

    separation: Floats
    probability: Floats

    @classmethod
    def of(cls, separation: Floats, probability: Floats) -> "SlabShapes | None":
        """Return the shapes, if there is more than one."""
        if len(separation) < 2:
            return None
        return cls(np.asarray(separation), np.asarray(probability / probability.sum()))

    @property
    def two_humped(self) -> float:
        """The probability of two humps: of effects that are alike in size."""
        return float(self.probability[self.separation > 0].sum())

    @property
    def mean_separation(self) -> float:
        """The mean separation; 0 is the Gaussian slab."""
        return float(self.probability @ self.separation)

    def __str__(self) -> str:
        return (
            f"effects are alike in size (a slab of two humps) with probability {self.two_humped:.2f}, "
            f"mean separation {self.mean_separation:.2f}"
        )
