"""The Polya-Gamma sampler of `logistic_gibbs` under a slab of two humps.

Signs are summed over where a variable is drawn, so that coefficients are all of a state. The slab's
variance and shape are drawn given these (`garrote.solvers.models.signed.slab_draws`).
"""

from typing import Any

import numpy as np

from garrote.priors.evidence.humps import humps_of
from garrote.solvers.labels.logistic_draws import LabelledRows
from garrote.solvers.labels.logistic_gibbs import LogisticGibbsWalk
from garrote.solvers.models.model_chain import Averages, Target, Trail
from garrote.solvers.models.signed.slab_draws import draw_slab, with_slabs


class HumpedLogisticWalk(LogisticGibbsWalk):
    """A walk whose state are coefficients and the shape of the slab; one step is a sweep."""

    def __init__(
        self, target: Target, rows: LabelledRows, rng: np.random.Generator, keep_every: int = 1
    ):
        super().__init__(target, rows, rng, keep_every)
        self.shapes: Any = target.slab.shapes()
        self.shape = 0

    @property
    def separation(self) -> float:
        """The separation of the humps."""
        return float(self.shapes[self.shape][1].separation)

    @property
    def humps(self) -> tuple[float, float, float]:
        """Ridge, lift and height of the slab."""
        return humps_of(self.variance, self.separation)

    def walk(self, steps: int, averages: Averages | None) -> Trail:
        """Make sweeps; count their states in ``averages`` where it is given, and return the way."""
        self._slabs: list[tuple[float, float]] = []
        return with_slabs(super().walk(steps, averages), self._slabs)

    def _draw_variance(self) -> None:
        """Draw the slab's variance and shape given the coefficients, over all of their signs."""
        self._slabs.append((float(np.log(self.variance)), self.separation))
        nonzero = self.coef[self.coef != 0.0]
        self.variance, self.shape = draw_slab(
            self.target.slab, self.shapes, self.variance, self.shape, nonzero, self.rng
        )
