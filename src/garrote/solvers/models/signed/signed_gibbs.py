"""The paired Gibbs sampler under a slab of two humps: each coefficient with its inclusion and sign.

Given their signs the coefficients are those of a Gaussian slab around the humps: products with the
response are raised by the pull of the humps, lift * deviation * sign. A variable that is drawn sums over
both signs. Given the coefficients the signs are independent of each other; the slab's variance and shape
are drawn without regard to them (`garrote.solvers.models.signed.slab_draws`).
"""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.elementary import exponential
from garrote.priors.evidence.humps import log_integral
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.models.model_chain import Averages, Target, Trail
from garrote.solvers.models.paired_gibbs import PairedGibbsWalk
from garrote.solvers.models.signed.slab_draws import draw_slab, with_slabs


class SignedGibbsWalk(PairedGibbsWalk):
    """A walk whose state are the coefficients and their signs; one step is a sweep."""

    def __init__(self, target: Target, rng: np.random.Generator, rows: GramRows | None = None):
        super().__init__(target, rng, rows)
        self.shapes: Any = target.slab.shapes()
        self.shape = 0

    @property
    def separation(self) -> float:
        """The separation of the humps."""
        return float(self.shapes[self.shape][1].separation)

    @property
    def ridge(self) -> float:
        """The precision of the coefficients around the humps, times the noise variance."""
        return 1.0 / (self.variance * (1.0 - self.separation))

    @property
    def height(self) -> float:
        """The squared distance of the humps from zero, in their own variances."""
        return self.separation / (1.0 - self.separation)

    @property
    def pull(self) -> float:
        """What a positive sign adds to a variable's product with the response."""
        return float(np.sqrt(self.height * self.ridge * self.noise))

    def begin(self, members: list[int]) -> None:
        """Start from the ridge regression on given variables, with its signs."""
        super().begin(members)
        self.sign = np.sign(self.coef)

    def walk(self, steps: int, averages: Averages | None) -> Trail:
        """Make sweeps; count their states in ``averages`` where it is given, and return the way."""
        self._slabs: list[tuple[float, float]] = []
        return with_slabs(super().walk(steps, averages), self._slabs)

    def _draw_sign(self, j: int, precision: float) -> float:
        odds = 2.0 * self.gradient[j] * self.pull / (precision * self.noise)
        return 1.0 if self.rng.random() < 1.0 / (1.0 + exponential(-odds)) else -1.0

    def _coins(self, uniforms: Floats) -> Floats:
        return self.rng.random(len(uniforms))

    def _products(self, j: int) -> Floats:
        """Return products with the response, raised by the signs; that of a newcomer by chance."""
        if j >= 0 and not self.coef[j]:
            self.sign[j] = 1.0 if self.rng.random() < 0.5 else -1.0
        return np.asarray(self.target.problem.xty + self.pull * self.sign)

    def _draw_noise(self) -> float:
        """Draw the noise variance; return its mean given coefficients and signs."""
        if self.slab.known_noise is not None:
            return self.noise
        rule = (
            self.shapes[self.shape][1]
            .at(self.variance)
            .signed_rule(self.target.n, self.target.problem.yty)
        )
        n = 2.0 * rule.shape + np.count_nonzero(self.coef)
        square = self._left() + self.ridge * float(self.coef @ self.coef)
        square = 2.0 * rule.rate + max(square, rule.least)
        x = rule.lift * float(self.sign @ self.coef) / np.sqrt(square)
        self.noise = float(square / _draw_inverse_deviation(n, x, self.rng) ** 2)
        return float(square * np.exp(log_integral(n - 2.0, x) - log_integral(n, x)))

    def _draw_variance(self) -> None:
        """Draw the slab's variance and shape given the coefficients, and then their signs."""
        self._slabs.append((float(np.log(self.variance)), self.separation))
        scaled = self.coef[self.coef != 0.0] / np.sqrt(self.noise)
        self.variance, self.shape = draw_slab(
            self.target.slab, self.shapes, self.variance, self.shape, scaled, self.rng
        )
        odds = 2.0 * self.coef * self.pull / self.noise
        plus = self.rng.random(len(odds)) < 1.0 / (1.0 + np.exp(-np.clip(odds, -700, 700)))
        self.sign = np.where(self.coef != 0.0, np.where(plus, 1.0, -1.0), 0.0)


def _draw_inverse_deviation(n: float, x: float, rng: np.random.Generator) -> float:
    """Draw u with density u^(n-1) exp(-u^2/2 + x u), by rejection from a normal around its mode."""
    mode = 0.5 * (x + np.sqrt(x * x + 4.0 * (n - 1.0)))
    while True:
        u = mode + rng.standard_normal()
        if u <= 0.0:
            continue
        log_ratio = (n - 1.0) * (np.log(u / mode) - (u - mode) / mode)
        if np.log(rng.random()) < log_ratio:
            return float(u)
