"""What likelihoods with a mean of exp(eta) share: the logarithm as link, and how far a rate may go."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.base import Likelihood, adapt_to_data, inverse_link
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.limits.magnitudes import refuse_rates

# Beyond this a rate is out of the range of any data; squares of it are still numbers.
LARGEST = 300.0
# Logarithms of rates are at most this, beyond all that may be predicted: squares are still numbers.
_FURTHEST = 350.0
# Rates are this large at least when their logarithm is taken.
LEAST = 1e-300


class LogLink(Likelihood):
    """The mean of y is exp(eta); exposures enter as offsets, their logarithms."""

    effect_scale = "log mean"

    def link(self, mean: Floats) -> Floats:
        """Return the logarithm."""
        return np.log(np.maximum(mean, LEAST))

    def check_predictor(self, eta: Floats) -> None:
        """Refuse rates beyond e^300, naming the first row that has one."""
        refuse_rates(eta)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the settings: the fields of a named tuple, but for its name."""
        return [field for field in getattr(cls, "_fields", ()) if field != "name"]

    def set_params(self, **params: Any) -> Any:
        """Refuse: what kernels are given cannot change."""
        if not params or not params.keys() <= self.get_params(deep=False).keys():
            return super().set_params(**params)  # which names the settings there are
        raise ValueError(
            f"{type(self).__name__} cannot be changed by set_params({', '.join(params)}=...): search "
            "over whole families, {'family': [...]}"
        )


def refuse_counts(family: str, y: Floats, remedy: str) -> None:
    """Refuse what is no count, and counts that are all zero."""
    bad = np.flatnonzero(~((y >= 0) & (y == np.floor(y)) & np.isfinite(y)))
    if len(bad):
        raise ValueError(
            f"family={family!r} needs counts 0, 1, 2, ... in y, got {y[bad[0]]:g} at row {bad[0]} "
            f"({len(bad)} in all); {remedy}"
        )
    if not y.any():
        raise ValueError("every count in y is 0: there is nothing to explain")


def refuse_rows(family: str, y: Floats, good: Array, needed: str, remedy: str) -> None:
    """Refuse responses that are not ``good``, naming the first of them."""
    bad = np.flatnonzero(~(good & np.isfinite(y)))
    if len(bad):
        raise ValueError(
            f"family={family!r} needs {needed} in y, got {y[bad[0]]:g} at row {bad[0]} "
            f"({len(bad)} in all){remedy}"
        )


@inverse_link.register
def _(likelihood: LogLink, eta):
    return np.exp(np.minimum(eta, LARGEST))


@gaussian_mean.register
def _(likelihood: LogLink, eta, variance=None):
    log_rate = eta if variance is None else eta + 0.5 * variance
    return np.exp(np.minimum(log_rate, _FURTHEST))


@adapt_to_data.register
def _(likelihood: LogLink, y, weights=None, offset=None):
    refuse_far_offsets(weights, offset)
    return likelihood


def refuse_far_offsets(weights: Floats | None, offset: Floats | None) -> None:
    """Refuse offsets that say that one row has e^300 times the mean of another."""
    if offset is None:
        return
    spread = np.ptp(offset if weights is None else offset[weights > 0])
    if spread > LARGEST:
        raise ValueError(
            f"offsets differ by {spread:.4g}, rates by a factor of exp({spread:.4g}), which no "
            "counts can have: give the logarithms of exposures"
        )
