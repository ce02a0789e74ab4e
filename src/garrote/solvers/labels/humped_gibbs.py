"""The Polya-Gamma sampler of `logistic_gibbs` under a slab of two humps.

Signs are summed over where a variable is drawn, so that coefficients are all of a state. The slab's
variance and shape are drawn given these: by Metropolis steps, and from all shapes.
"""

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from garrote.arrays import Array, Floats
from garrote.priors.humps import humps_of
from garrote.solvers.labels.logistic_gibbs import LabelledRows, LogisticGibbsWalk
from garrote.solvers.models.model_chain import Averages, Target, Trail
from garrote.solvers.models.signed.signed_gibbs import log_humps

# Standard deviations of the steps of the slab's log variance.
_STEPS = (0.7, 0.2, 0.06)


class HumpedLogisticWalk(LogisticGibbsWalk):
    """A walk whose state are coefficients and the shape of the slab; one step is a sweep."""

    def __init__(
        self, target: Target, rows: LabelledRows, rng: np.random.Generator, keep_every: int = 1
    ):
        super().__init__(target, rows, rng, keep_every)
        shapes: Any = target.slab.shapes()
        self.shapes = [(log, float(slab.separation)) for log, slab in shapes]
        self.separation = self.shapes[0][1]

    @property
    def humps(self) -> tuple[float, float, float]:
        """Ridge, lift and height of the slab."""
        return humps_of(self.variance, self.separation)

    def walk(self, steps: int, averages: Averages | None) -> Trail:
        """Make sweeps; count their states in ``averages`` where it is given, and return the way."""
        self._slabs: list[list[float]] = []
        trail = super().walk(steps, averages)
        # Of the states of one sweep the last counts, with the slab that it was drawn with.
        which: Array = np.cumsum(trail.flips < 0) - (trail.flips < 0)
        return trail._replace(slabs=np.array(self._slabs).reshape(-1, 2)[which])

    def _pulled(self, mean: float, precision: float) -> float:
        """Draw by how much a sign pulls a coefficient that comes in."""
        _, lift, _ = self.humps
        sign = 1.0 if self.rng.random() < expit(2.0 * mean * lift) else -1.0
        return sign * lift / precision

    def _draw_variance(self) -> None:
        """Draw the slab's variance and shape given the coefficients, over all of their signs."""
        self._slabs.append([float(np.log(self.variance)), self.separation])
        own = self.coef[self.coef != 0.0]
        if self.target.variance_is_unknown:
            for step in _STEPS:
                there = self.variance * float(np.exp(step * self.rng.standard_normal()))
                gain = self._log_slab(there, own) - self._log_slab(self.variance, own)
                if np.log(self.rng.random()) < gain:
                    self.variance = there
        if len(self.shapes) > 1:
            logs = [log + log_humps(own, self.variance, rho) for log, rho in self.shapes]
            which = self.rng.choice(len(logs), p=softmax(logs))
            self.separation = self.shapes[int(which)][1]

    def _log_slab(self, variance: float, own: Floats) -> float:
        log_density = float(self.target.slab.log_density(np.log(variance)))
        return log_density + log_humps(own, variance, self.separation)
