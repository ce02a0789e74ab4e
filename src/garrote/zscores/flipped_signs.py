"""Which z-scores have the sign of the other allele? The signs that make z and LD most likely together.

Near copies of a variable have near the same z-score. Where the sign of one was flipped, each of them
contradicts the others, the most likely mismatch of LD rises until it explains the contradiction, and
then nothing stands out from it any more. So signs are turned, and the mismatch is sought anew for each:

    z ~ N(0, (1 - s) R + s I + W sum_j R_j R_j'),

with s, and a few effects j of variance W, as the z-scores like best. Effects are no errors: two of
opposite signs on correlated variables may hide each other. But they would have to be huge for near
copies, and W admits effects of some times the largest z-score only, or of one standard deviation of y.

Each effect and each flipped sign costs 2 log D, the price of the best of D by chance; a sign costs a
likelihood ratio beyond that. Where the opposite choice, turning the rest of a block of correlated
variables, is about as likely, the z-scores do not tell which of the two is right.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from garrote.arrays import Array, Floats
from garrote.zscores.mismatch import Spectrum

# A smaller mismatch is not believed here: z-scores are rounded, and a wrong one stands out all the same.
LEAST_MISMATCH = 1e-3
# The mismatches that are tried.
_MISMATCHES = (LEAST_MISMATCH, 3e-3, 1e-2, 3e-2, 0.1, 0.2, 0.4, 0.7, 1.0)
# An effect may be so many times the largest z-score.
_LARGEST_EFFECT = 5.0
# Effects at most, and how many more than the best number of them, or of signs, are tried.
_MOST_EFFECTS, _BEYOND = 20, 2
# A smaller z-score has no sign.
_HAS_SIGN = 2.0
# Twice the log likelihood ratio that a flipped sign needs beyond the price of the best of D.
_NEEDED = 10.0
# Twice the log likelihood ratio that makes a sign worth a look, and that settles which of two it is.
_NOTABLE = 6.0
# Signs that are turned in each round to see which of them is best.
_COMPARED = 4
# Variables with a correlation beyond these belong to a block.
_BLOCKS = (0.5, 0.7, 0.8, 0.9, 0.95)
# Near copies correlate beyond this.
_NEAR = 0.8


class Flip(NamedTuple):
    """Signs that are flipped, and those that would explain the z-scores as well in their place."""

    variables: tuple[int, ...]
    instead: tuple[int, ...]


def find_flipped(spectrum: Spectrum, z: Floats, ld: Floats, n: float, most: int) -> list[Flip]:
    """Return the signs that seem to be flipped, by blocks of correlated variables.

    Parameters
    ----------
    spectrum : Spectrum
        Of ``ld``, with the same z-scores.
    z : array of shape (D,)
        Z-scores adjusted for n.
    ld : array of shape (D, D)
    n : float
        Number of samples.
    most : int
        Number of signs beyond which they are no longer looked for.
    """
    model = _Model(spectrum, z, n)
    turned = _greedy(model, ld, most)
    return _with_alternatives(model, turned, ld) if turned else []


def largest_effect(z: Floats, n: float) -> float:
    """Return the size of the largest plausible effect, in the units of z-scores."""
    return float(min(_LARGEST_EFFECT * np.abs(z).max(), np.sqrt(n)))


def _with_alternatives(model: "_Model", turned: list[int], ld: Floats) -> list[Flip]:
    """Return the signs with those that may be flipped in their place, by blocks."""
    best = model.cost(turned)
    found, open_ones = list[Flip](), set[int]()
    for block in _blocks(ld, model.signed, turned):
        mine, rest = (
            tuple(j for j in block if (j in turned) == flipped) for flipped in (True, False)
        )
        if not 0 < len(rest) <= len(mine) or open_ones.intersection(mine):
            continue
        others = [j for j in turned if j not in mine]
        if model.cost([*others, *rest]) < best + _NOTABLE:
            found.append(Flip(mine, rest))
            open_ones.update(mine)
    return [*found, *(Flip((j,), ()) for j in turned if j not in open_ones)]


def _blocks(ld: Floats, signed: Array, turned: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the blocks of correlated variables with a flipped sign among them, the largest first."""
    places = np.flatnonzero(signed)
    near = np.abs(ld[np.ix_(places, places)])
    found: dict[tuple[int, ...], None] = {}
    for least in _BLOCKS:
        _, label = connected_components(csr_array(near > least), directed=False)
        for k in np.flatnonzero(np.isin(places, turned)):
            found[tuple(places[label == label[k]].tolist())] = None
    return sorted(found, key=len, reverse=True)


class _Model:
    """The likelihood of z-scores after some signs were turned."""

    def __init__(self, spectrum: Spectrum, z: Floats, n: float) -> None:
        self.spectrum, self.z = spectrum, z
        self.signed = np.abs(z) > _HAS_SIGN
        self.price = 2.0 * np.log(max(len(z), 2))
        self.effect_variance = largest_effect(z, n) ** 2
        self.variances = np.array([spectrum.variances(s) for s in _MISMATCHES])
        self.precisions = (1.0 / self.variances) @ (spectrum.vectors**2).T
        self.log_determinants = np.log(self.variances).sum(axis=1)

    def null_cost(self, turned: Sequence[int]) -> float:
        """Return minus twice the log-likelihood without effects."""
        _, rotated = self.with_signs(turned)
        return float(np.min(self.log_determinants + (1.0 / self.variances) @ rotated**2))

    def gains(self, turned: Sequence[int]) -> Floats:
        """Return what turning each further sign gains in twice the log-likelihood without effects."""
        z, rotated = self.with_signs(turned)
        whitened = rotated / self.variances
        now = self.log_determinants + whitened @ rotated
        change = 4.0 * z * (z * self.precisions - whitened @ self.spectrum.vectors.T)
        gains = now.min() - np.min(now[:, None] + change, axis=0)
        gains[~self.signed] = -np.inf
        gains[list(turned)] = -np.inf
        return gains

    def cost(self, turned: Sequence[int]) -> float:
        """Return minus twice the log-likelihood beside the likeliest effects, and what signs cost."""
        _, rotated = self.with_signs(turned)
        fits = [
            fixed + _left_by_effects(self.spectrum, rotated, v, self.effect_variance, self.price)
            for fixed, v in zip(self.log_determinants, self.variances, strict=True)
        ]
        return min(fits) + (self.price + _NEEDED) * len(turned)

    def with_signs(self, turned: Sequence[int]) -> tuple[Floats, Floats]:
        """Return z after some signs were turned, and in the basis of eigenvectors."""
        index = list(turned)
        z = self.z.copy()
        z[index] *= -1.0
        return z, self.spectrum.rotated + 2.0 * z[index] @ self.spectrum.vectors[index]


def _greedy(model: _Model, ld: Floats, most: int) -> list[int]:
    """Turn one sign after the other, the best of some each time, and keep the best number of them."""
    turned: list[int] = []
    best, kept = model.cost(turned), 0
    while len(turned) < most and len(turned) - kept <= _BEYOND:
        steps = _steps(model, ld, turned)
        if not steps:
            break
        cost, turned = min((model.cost(signs), signs) for signs in steps)
        if cost < best:
            best, kept = cost, len(turned)
    return turned[:kept]


def _steps(model: _Model, ld: Floats, turned: list[int]) -> list[list[int]]:
    """Return the best signs to turn next; several at once if no single one improves anything.

    Where two near copies contradict two others, turning one of them makes nothing better.
    """
    gains = model.gains(turned)
    best = np.argsort(-gains)[:_COMPARED].tolist()
    if single := [[*turned, j] for j in best if gains[j] > _NOTABLE]:
        return single
    z, _ = model.with_signs(turned)
    places = np.flatnonzero(model.signed)
    near = ld[np.ix_(places, places)]
    against = (np.abs(near) > _NEAR) & (near * np.outer(z[places], z[places]) < 0)
    sides = {tuple(places[row].tolist()) for row in against if np.count_nonzero(row) > 1}
    now = model.null_cost(turned)
    ranked = sorted(
        (model.null_cost(signs), signs)
        for signs in ([*turned, *side] for side in sides if not set(side) & set(turned))
    )
    return [signs for cost, signs in ranked[:_COMPARED] if now - cost > _NOTABLE]


def _left_by_effects(
    spectrum: Spectrum, rotated: Floats, variances: Floats, effect_variance: float, price: float
) -> float:
    """Return the quadratic form of z beside the effects that are worth their price, with that price.

    Effects are taken one after the other, the best first. With K the inverse of the whitened covariance
    so far, one of column c takes (c'Kz)^2 W / (1 + W c'Kc) off the form.
    """
    root = np.sqrt(variances)
    columns = (spectrum.values / root)[:, None] * spectrum.vectors.T
    whitened = rotated / root
    along, length = whitened @ columns, np.sum(columns**2, axis=0)
    form = float(whitened @ whitened)
    best, kept, taken = form, 0, 0
    directions = np.zeros((0, len(rotated)))
    while taken < _MOST_EFFECTS and taken - kept <= _BEYOND:
        share = effect_variance / (1.0 + effect_variance * np.maximum(length, 0.0))
        j = int(np.argmax(share * along**2))
        form -= float(share[j] * along[j] ** 2)
        taken += 1
        if form + price * taken < best:
            best, kept = form + price * taken, taken
        root_share = np.sqrt(share[j])
        direction = root_share * (columns[:, j] - directions.T @ (directions @ columns[:, j]))
        shadow = direction @ columns
        along, length = along - shadow * root_share * along[j], length - shadow**2
        directions = np.vstack([directions, direction])
    return best
