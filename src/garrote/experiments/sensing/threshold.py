"""Up to how many entries a sparse signal is recovered by l1, from how many random measurements.

Theory and measurement of one line: that where half of all signals are recovered.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from garrote.arrays import Floats

# Steps of Newton's method for two coefficients, and the weight of the prior that holds them finite.
_STEPS, _RIDGE = 50, 1e-3


def weak_threshold(share: float) -> float:
    r"""Return the largest k / M at which l1 recovers, as signals grow with M / N fixed at ``share``.

    For a matrix of M x N independent Gaussian entries and k entries of any signs at random places, the
    fraction is

    .. math::
        \rho(\delta) = \max_{z \ge 0} \frac{1 - t(z) / \delta}{1 + z^2 - t(z)}, \qquad
        t(z) = 2 [(1 + z^2) \Phi(-z) - z \phi(z)],

    below which almost all signals are recovered, and above which almost none.

    Parameters
    ----------
    share : float
        M / N, above 0 and at most 1.

    References
    ----------
    Donoho, Maleki & Montanari (2009), Message-passing algorithms for compressed sensing. PNAS 106,
    18914-18919: the formula. Donoho & Tanner (2009), Observed universality of phase transitions in
    high-dimensional geometry, with implications for modern data analysis and signal processing. Phil.
    Trans. R. Soc. A 367, 4273-4293: the same line by the faces of random polytopes.

    Examples
    --------
    >>> from garrote.experiments.sensing.threshold import weak_threshold
    >>> round(weak_threshold(0.5), 4)
    0.3857
    """
    if not 0 < share <= 1:
        raise ValueError(f"the share of measurements must be above 0 and at most 1, got {share}")

    def negated(z: float) -> float:
        tail = 2.0 * ((1.0 + z**2) * norm.cdf(-z) - z * norm.pdf(z))
        return -float((1.0 - tail / share) / (1.0 + z**2 - tail))

    # The function rises to one maximum, and z = 5 is far beyond it for any share above 1e-5.
    return -float(minimize_scalar(negated, bounds=(0.0, 5.0), method="bounded").fun)


def halfway(levels: Floats, successes: Floats) -> tuple[float, float]:
    """Return where a logistic curve of successes is at a half, and the standard error of that place.

    Parameters
    ----------
    levels, successes : array
        Of each attempt, where it was made, and 1 if it succeeded or 0.
    """
    center, spread = levels.mean(), levels.std()
    X = np.column_stack([np.ones(len(levels)), (levels - center) / spread])
    coef = np.zeros(2)
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-X @ coef))
        slope = X.T @ (successes - chance) - _RIDGE * coef
        curvature = (X.T * (chance * (1.0 - chance))) @ X + _RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        coef = coef + step * min(1.0, 5.0 / np.abs(step).max())
    covariance = np.linalg.inv(curvature)
    place = -coef[0] / coef[1]
    along = np.array([1.0, place]) / coef[1]
    error = float(np.sqrt(along @ covariance @ along))
    return float(center + spread * place), float(spread * error)
