"""How far a smoothed objective is from the objective, and how narrow kinks have to be for a given error.

Averaged over x ~ N(mu, sigma^2 I), a convex quadratic x'Ax gains sigma^2 trace(A), and a kink |b'x| no
more than 2 surplus |b| sigma, which it gains at b'mu = 0. The sum of both is at least as large as what
the objective's value at the smoothed optimum is above its least (Staines & Barber 2012, section 2.1 and
Eqs. 34-36). The width for a given error solves a quadratic equation; Eqs. 18 and 35 of the text
divide its root by the root of the trace where it has to be the trace.
"""

import numpy as np

from garrote.settings import is_number


def smoothing_error(quadratic: float, linear: float, width: float) -> float:
    """Return the most that smoothing adds: quadratic width^2 + linear width."""
    return quadratic * width**2 + linear * width


def width_for(quadratic: float, linear: float, error: float) -> float:
    """Return the width at which smoothing adds ``error`` at most; infinite where it never does.

    That is (sqrt(linear^2 + 4 quadratic error) - linear) / (2 quadratic), written such that nothing
    cancels and a quadratic part of 0 is no hazard.
    """
    if not (is_number(error) and error > 0):
        raise ValueError(f"error must be a number above 0, got {error!r}: no width gives less")
    below = linear + float(np.sqrt(linear**2 + 4.0 * quadratic * error))
    return 2.0 * error / below if below > 0 else np.inf
