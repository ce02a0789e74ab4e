"""The Bayesian information criterion of penalised fits."""

import numpy as np

from garrote.arrays import Array, Floats

# Models of more coefficients than this share of the rows are too near to interpolation to be judged.
_MOST_JUDGED = 0.5


def bayesian_criterion(
    loss: Floats,
    size: Array,
    n: float,
    scale: float | None,
    extra: float = 0.0,
    counted: float | None = None,
    absolute: bool = False,
) -> Floats:
    """Return the Bayesian information criterion of fits, up to a constant.

    Minus twice the log likelihood, plus log N for each coefficient that is not 0 (Zou et al. 2007), and
    ``extra``. ``scale`` is that of the noise. Where there is None, a Gaussian response has its variance
    estimated at each strength, which a model of nearly as many coefficients as rows drives to 0: such
    are not judged, their criterion is infinite. ``counted`` is what stands for N beside a coefficient,
    where that is not the number of rows: of censored times that of events (Volinsky & Raftery 2000). Of
    an ``absolute`` loss, that of quantiles, it is the scale that is estimated (Koenker 2005, section
    4.9.1).
    """
    counted = n if counted is None else counted
    power = 2.0 if absolute else 1.0
    logs = power * n * np.log(np.maximum(loss, 1e-300))
    fit = logs if scale is None else 2.0 * n * loss / scale**2
    judged = size <= _MOST_JUDGED * counted
    whole = fit + (np.log(counted) + extra) * size
    return np.where(judged, whole, np.inf) if judged.any() else whole
