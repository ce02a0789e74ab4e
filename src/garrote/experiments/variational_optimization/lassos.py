"""The lassos of sections 2.2 and 2.4, plain and fused, and the text's own steps for them (Eq. 20)."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.penalties import L1, FusedLasso
from garrote.penalties.base import Penalty
from garrote.solvers.smoothing.kinks import KINKS, absolute_curvature, absolute_slope

# Eqs. 19 and 23: coefficients that are not 0 are about 5 or -5; the noise, as a share of the signal.
_SIZE, _NOISE, _ROWS = 5.0, 0.1, 10
# Eq. 20: the share of a Newton step, and steps at most.
_SHORT, _STEPS = 0.1, 1000
_AVERAGE = KINKS["gaussian"]


@dataclass(frozen=True)
class Lasso:
    """||y - Xw||^2 + size sum |w_i| + jump sum |w_i - w_(i-1)|, Eqs. 11 and 21."""

    X: Floats
    y: Floats
    truth: Floats
    size: float
    jump: float = 0.0

    def value(self, w: Floats) -> float:
        """Return the objective."""
        charged = self.size * np.abs(w).sum() + self.jump * np.abs(np.diff(w)).sum()
        return float(np.sum((self.y - self.X @ w) ** 2) + charged)

    @property
    def penalty(self) -> Penalty:
        """The penalty, of the scale of garrote."""
        share = self.size / (self.size + self.jump)
        return FusedLasso("chain", l1_ratio=share) if self.jump else L1()

    @property
    def strength(self) -> float:
        """Its strength: the loss of garrote is that of the text over 2 N."""
        return (self.size + self.jump) / (2.0 * len(self.y))


def draw_lasso(rng: np.random.Generator, count: int, fused: bool = False) -> Lasso:
    """Return data of section 2.2, or of section 2.4 with the strengths of the text where D = 500."""
    truth = _repeated(rng, count) if fused else _single(rng, count)
    X = rng.standard_normal((_ROWS * count, count))
    clean = X @ truth
    noise = _NOISE * np.abs(clean).mean() * rng.standard_normal(len(clean))
    if fused:
        return Lasso(X, clean + noise, truth, 1.0 * count, 0.4 * count)
    return Lasso(X, clean + noise, truth, 30.0 * count)


def _single(rng: np.random.Generator, count: int) -> Floats:
    """Eq. 19: half are 0, the others about 5 or about -5."""
    signs = rng.choice([0.0, 1.0, -1.0], count, p=[0.5, 0.25, 0.25])
    return np.asarray(signs * (_SIZE + rng.standard_normal(count)))


def _repeated(rng: np.random.Generator, count: int) -> Floats:
    """Eq. 23: half are the one before, the others a new one of Eq. 19."""
    fresh = _single(rng, count)
    kept = rng.random(count) < 0.5
    kept[0] = False
    return fresh[np.maximum.accumulate(np.where(kept, 0, np.arange(count)))]


def steps_of_the_text(
    lasso: Lasso, sigma: float, shrink: float, tol: float
) -> tuple[Floats, list[Floats]]:
    """Return the mean at the end, and all means: a tenth of a diagonal Newton step for each width.

    They end where coefficients change by less than ``tol`` of their size on average, or after 1000.
    """
    gram, right = lasso.X.T @ lasso.X, lasso.X.T @ lasso.y
    diagonal, mu = 2.0 * np.diag(gram), np.zeros(len(right))
    way = [mu]
    for _ in range(_STEPS):
        slope = 2.0 * (gram @ mu - right) + lasso.size * absolute_slope(_AVERAGE, mu, sigma)
        second = diagonal + lasso.size * absolute_curvature(_AVERAGE, mu, sigma)
        if lasso.jump:
            jumps, wide = np.diff(mu), 2.0**0.5 * sigma
            pull = np.pad(lasso.jump * absolute_slope(_AVERAGE, jumps, wide), 1)
            stiff = np.pad(lasso.jump * absolute_curvature(_AVERAGE, jumps, wide), 1)
            slope, second = slope - np.diff(pull), second + stiff[1:] + stiff[:-1]
        change = _SHORT * slope / second
        mu, sigma = mu - change, shrink * sigma
        way.append(mu)
        if np.abs(change).mean() < tol * np.abs(mu).mean():
            break
    return mu, way
