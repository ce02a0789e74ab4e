"""How wide kinks may be for an objective that is at most some error above the best: before any data fit.

Coefficients that vary by sigma around their means raise the norm by sigma^2 trace and every kink's value
by its surplus at most, in widths zeta_n = sigma sqrt(1 + |row_n|^2) (Staines & Barber's Eqs. 30, 33 and
34). The width at which both add up to an allowed error is the root of a quadratic: their Eq. 35, whose
prefactor is 1 / trace where it is derived (printed is 1 / sqrt(trace)).
"""

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.margins.losses import Margins
from garrote.solvers.margins.spaces import Space
from garrote.solvers.smoothing.kinks import GaussianKink, Kink


def error_bound(
    space: Space, margins: Margins, kink: Kink, scales: Floats, width: float, weights: Floats
) -> float:
    """Return by how much the smooth objective is above that of the margins, at most (Eq. 34)."""
    return _curved(space, kink, weights) * width**2 + _straight(margins, kink, scales) * width


def guaranteed_width(
    space: Space, margins: Margins, kink: Kink, scales: Floats, error: float, weights: Floats
) -> float:
    """Return the widest width that keeps the smooth optimum within an error of the best (Eq. 35)."""
    curved, straight = _curved(space, kink, weights), _straight(margins, kink, scales)
    # The root in the form that loses no digits where the error is small.
    return float(2.0 * error / (straight + np.sqrt(straight**2 + 4.0 * error * curved)))


def _curved(space: Space, kink: Kink, weights: Floats) -> float:
    """Return what sigma^2 is multiplied by: only where coefficients are averaged does the norm rise."""
    return space.trace(weights) if isinstance(kink, GaussianKink) else 0.0


def _straight(margins: Margins, kink: Kink, scales: Floats) -> float:
    return kink.surplus * len(margins.at) * float(margins.cost @ scales)
