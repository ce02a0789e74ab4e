"""How far an LD matrix is from the one behind some z-scores: one number, by maximum likelihood.

Where R holds the correlations of the very samples, z ~ N(R b, R): in directions of small eigenvalue
there is next to nothing in z. An R of other samples, or a rounded one, leaves something there. The model
for that is z ~ N(R b, (1 - s) R + s I), with b zero, or zero but for a few effects. It is computed in
the basis of R's eigenvectors, in which z has independent entries.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from garrote.arrays import Array, Floats

# Variances below this are rounding: an exact R counts as one of this least eigenvalue.
_ROUNDING = 1e-10
# The values of s from which the search starts; a mismatch below the first one is none.
_STARTS = (1e-8, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 0.6, 0.95)
# Effects that are looked for at most, and how many more than the best number are tried.
_MOST_EFFECTS, _BEYOND = 20, 3
# A direction with less than this of its length left is spanned by those already taken.
_SPANNED = 1e-8


class Spectrum(NamedTuple):
    """Eigenvalues (none negative) and eigenvectors of R, and z in the basis of the latter."""

    values: Floats
    vectors: Floats
    rotated: Floats

    def of(self, z: Floats) -> "Spectrum":
        """Return the same with other z-scores."""
        return self._replace(rotated=z @ self.vectors)

    def variances(self, mismatch: float) -> Floats:
        """Return the variances of z without any effect."""
        return np.maximum((1.0 - mismatch) * self.values + mismatch, _ROUNDING)


def null_disagreement(spectrum: Spectrum) -> float:
    """Return the s of largest likelihood where no variable has an effect; 0 if that is rounding.

    It is what R's ``susieR::estimate_s_rss`` computes. Not only LD of other samples raises it, but
    also strong effects of opposite signs, so that it is no estimate of the mismatch.
    """
    return _likeliest(spectrum, np.zeros(0, dtype=np.intp), (_ROUNDING, 1.0))


def estimate_mismatch(spectrum: Spectrum) -> float:
    """Return the s of largest likelihood beside a few effects; 0 unless that is clearly better.

    Without effects, two of opposite signs on correlated variables would pass for a mismatch. Effects are
    taken one after the other, the best first. Each of them, and an s that is not 0, has to improve twice
    the log-likelihood by 2 log D: as much as the best of D is expected to do by chance.
    """
    price = 2.0 * np.log(max(len(spectrum.values), 2))
    grid = (0.0, *_STARTS)
    found = [_with_effects(spectrum, s, price) for s in grid]
    cost = [value + price * (s > 0) for s, (value, _) in zip(grid, found, strict=True)]
    best = int(np.argmin(cost))
    if best == 0:
        return 0.0
    around = max(grid[best - 1], _ROUNDING), (*grid, 1.0)[best + 1]
    return _likeliest(spectrum, found[best][1], around)


def _likeliest(spectrum: Spectrum, effects: Array, between: tuple[float, float]) -> float:
    """Return the best s of a range, the effects fitted beside each."""

    def cost(log_mismatch: float) -> float:
        variances = spectrum.variances(float(np.exp(log_mismatch)))
        root = np.sqrt(variances)
        left = spectrum.rotated / root
        if len(effects):
            columns = (spectrum.values / root)[:, None] * spectrum.vectors[effects].T
            left = left - columns @ np.linalg.lstsq(columns, left, rcond=None)[0]
        return float(np.log(variances).sum() + left @ left)

    low, high = np.log(between[0]), np.log(between[1])
    # The likelihood may have more than one maximum: look at some places before closing in on one.
    places = np.linspace(low, high, 25)
    near = int(np.argmin([cost(place) for place in places]))
    bounds = (places[max(near - 1, 0)], places[min(near + 1, len(places) - 1)])
    best = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    ends = [(cost(place), place) for place in (low, high)]
    _, place = min([(float(best.fun), float(best.x)), *ends])
    mismatch = float(np.exp(place))
    return mismatch if mismatch > _STARTS[0] else 0.0


def _with_effects(spectrum: Spectrum, mismatch: float, price: float) -> tuple[float, Array]:
    """Return minus twice the log-likelihood at one s, beside the effects that are worth their price.

    The effects are found by orthogonal matching pursuit.
    """
    variances = spectrum.variances(mismatch)
    root = np.sqrt(variances)
    columns = (spectrum.values / root)[:, None] * spectrum.vectors.T
    left = spectrum.rotated / root
    length = np.sum(columns**2, axis=0)
    free = length.copy()
    fixed = float(np.log(variances).sum())
    taken: list[int] = []
    basis = np.zeros((len(left), 0))
    best, kept = fixed + float(left @ left), 0
    while len(taken) < min(_MOST_EFFECTS, len(left)) and len(taken) - kept < _BEYOND:
        usable = free > _SPANNED * length
        usable[taken] = False
        if not usable.any():
            break
        gain = np.where(usable, (left @ columns) ** 2 / np.where(usable, free, 1.0), -1.0)
        j = int(np.argmax(gain))
        direction = columns[:, j]
        for _ in range(2):  # the second time for what rounding left
            direction = direction - basis @ (direction @ basis)
        direction = direction / np.linalg.norm(direction)
        basis = np.column_stack([basis, direction])
        left = left - direction * (direction @ left)
        free = free - (direction @ columns) ** 2
        taken.append(j)
        cost = fixed + float(left @ left) + price * len(taken)
        if cost < best:
            best, kept = cost, len(taken)
    return best, np.array(taken[:kept], dtype=np.intp)
