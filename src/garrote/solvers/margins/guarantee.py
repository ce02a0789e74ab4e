"""How wide kinks may be for an objective at most some error above the best, before any step is made.

Coefficients that vary by sigma around their means raise the norm by sigma^2 trace and every kink's value
by its surplus at most, in widths zeta_n = sigma sqrt(1 + |row_n|^2) (Staines & Barber's Eqs. 30, 33 and
34). The width for an allowed error is their Eq. 35, as its derivation has it.
"""

from garrote.arrays import Floats
from garrote.solvers.margins.losses import Margins
from garrote.solvers.margins.spaces import Space
from garrote.solvers.smoothing.guarantee import smoothing_error, width_for
from garrote.solvers.smoothing.kinks import GaussianKink, Kink


def error_bound(
    space: Space, margins: Margins, kink: Kink, scales: Floats, width: float, weights: Floats
) -> float:
    """Return by how much the smooth objective is above that of the margins, at most (Eq. 34)."""
    return smoothing_error(*_parts(space, margins, kink, scales, weights), width)


def guaranteed_width(
    space: Space, margins: Margins, kink: Kink, scales: Floats, error: float, weights: Floats
) -> float:
    """Return the widest width that keeps the smooth optimum within an error of the best (Eq. 35)."""
    return width_for(*_parts(space, margins, kink, scales, weights), error)


def _parts(
    space: Space, margins: Margins, kink: Kink, scales: Floats, weights: Floats
) -> tuple[float, float]:
    """Return what the width's square and the width are multiplied by.

    The norm rises only where coefficients are averaged over.
    """
    averaged = isinstance(kink, GaussianKink)
    quadratic = space.trace(weights) if averaged else 0.0
    return quadratic, kink.surplus * len(margins.at) * float(margins.cost @ scales)
