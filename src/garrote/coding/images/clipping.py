"""Noise that was cut off at black and white: found in a picture, and taken into account.

Values beyond black and white become these, so that noise around black makes it lighter, on average,
and has less than its variance (Foi 2009).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from garrote.arrays import Array, Floats

# From which share of pixels of the least, or the largest, value on noise is taken to end there, if these
# are some and so many times as many as those of the next values, half a deviation wide.
_REPEATED, _SOME, _AS_NEXT = 1e-3, 5, 0.5
# So many deviations of the noise from a bound next to nothing of it is cut off; and the steps, and how
# far from a bound, in which means are tabulated.
_FAR, _STEPS, _REACH = 2.0, 300, 6.0


class Bounds(NamedTuple):
    """Where noise was cut off: minus infinity and infinity where it was not."""

    low: float = -np.inf
    high: float = np.inf

    @classmethod
    def of(cls, values: Floats, known: Array | None, sigma: float) -> "Bounds":
        """Look for the least and the largest value in many pixels: noise does not repeat itself.

        References
        ----------
        Foi, A. (2009). Clipped noisy images: heteroskedastic modeling and practical denoising. Signal
        Processing 89, 2609-2629.
        """
        seen = values if known is None else values[known]
        low, high = float(seen.min()), float(seen.max())
        if not sigma or high - low <= _FAR * sigma:
            return cls()
        below = low if _ends(seen - low, sigma) else -np.inf
        return cls(below, high if _ends(high - seen, sigma) else np.inf)

    @property
    def any(self) -> bool:
        """Whether noise was cut off at all."""
        return bool(np.isfinite(self).any())

    def far_from(self, mean: Floats, sigma: float) -> Array:
        """Return which pixels have all of their noise."""
        return np.asarray((mean - self.low > _FAR * sigma) & (self.high - mean > _FAR * sigma))

    def undone(self, mean: Floats, sigma: float) -> tuple[Floats, Floats]:
        """Return the values of which noise, cut off, has these means, and by how much deviations grow.

        A value x has the mean x + sigma h((x - low) / sigma) - sigma h((high - x) / sigma), with h(u) =
        phi(u) - u Phi(-u): a function that rises, and is turned around.
        """
        near = _REACH * np.linspace(0.0, 1.0, _STEPS) * sigma
        known = [mean.min(), mean.max()], self.low + near, self.high - near
        values = np.unique(np.clip(np.concatenate(known), *self))
        values = values[np.isfinite(values)]
        below, above = (values - self.low) / sigma, (self.high - values) / sigma
        means = values + sigma * (_over(below) - _over(above))
        slopes = 1.0 - ndtr(-below) - ndtr(-above)
        found = np.interp(mean, means, values)
        return np.asarray(found), np.asarray(1.0 / np.interp(mean, means, slopes))


def _ends(distance: Floats, sigma: float) -> bool:
    """Say whether noise was cut off where these distances are 0: its own tails thin out."""
    here = distance == 0
    count = np.count_nonzero(here)
    if count < max(_SOME, _REPEATED * distance.size):
        return False
    reach = max(0.5 * sigma, float(distance[~here].min()))
    return bool(count >= _AS_NEXT * np.count_nonzero(~here & (distance <= reach)))


def _over(u: Floats) -> Floats:
    """Return by how much a Gaussian number is below -u, on average over all: 0 if u is infinite."""
    far = np.minimum(u, 40.0)
    return np.asarray(np.exp(-0.5 * far**2) / np.sqrt(2.0 * np.pi) - far * ndtr(-far))
