"""Codes of signals with gaps under a spike and a slab: means by factors that are made to agree."""

from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.special import expit

from garrote.arrays import Array, Floats
from garrote.coding.coders.base import of_the_worst
from garrote.coding.codes import Codes
from garrote.coding.incomplete.signals import Incomplete
from garrote.results.certificates import EQUATIONS
from garrote.solvers.coding.dealing import stacked
from garrote.solvers.coding.incomplete_codes import (
    lasso_codes_with_gaps,
    spike_slab_codes_with_gaps,
)
from garrote.solvers.coding.lasso_codes import lasso_codes

# Atoms less probable than this are left out of sparse codes.
_IMPROBABLE = 1e-8
# Signals whose codes are dense at a time.
_TOGETHER = 2048


class SlabLaws(NamedTuple):
    """What codes are found by: atoms by means and variances (None: known), log odds, two precisions."""

    atoms: Floats
    variances: Floats | None
    log_odds: Floats
    slab: Floats
    noise: float


def coded_by_mean_field(
    laws: SlabLaws, signals: Incomplete
) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Return means and probabilities of codes, from the lasso's codes on."""
    means, sure = [], []
    # Beyond this an atom is hardly ever noise.
    longest = max(float(np.sum(laws.atoms**2, axis=1).max()), 1e-300)
    price = float(np.sqrt(2.0 * np.log(len(laws.atoms) + 1) * longest / laws.noise))
    for start in range(0, len(signals.values), _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        values, seen = signals.values[rows], signals.seen[rows]
        codes = np.zeros((len(values), len(laws.atoms)))
        whole = seen.all(axis=1)
        if whole.any():
            codes[whole] = _lasso_of_whole(laws.atoms, values[whole], price)
        if not whole.all():
            some = codes[~whole]
            lasso_codes_with_gaps(laws.atoms, values[~whole], seen[~whole], price, some)
            codes[~whole] = some
        probability, _ = spike_slab_codes_with_gaps(
            laws.atoms, laws.variances, values, seen, laws.log_odds, laws.slab, laws.noise, codes
        )
        kept = probability > _IMPROBABLE
        means.append(scipy.sparse.csr_array(codes * kept))
        sure.append(scipy.sparse.csr_array(probability * kept))
    count = len(laws.atoms)
    return stacked(means, count), stacked(sure, count)


def _lasso_of_whole(atoms: Floats, signals: Floats, price: float) -> Floats:
    """Return the lasso's codes of signals without gaps."""
    gram = atoms @ atoms.T
    return lasso_codes(gram, signals @ atoms.T, price, False, min(atoms.shape)).toarray()


def encoded_by_mean_field(laws: SlabLaws, signals: Incomplete) -> Codes:
    """Code signals, and measure each code by the equations of its factors, over entries seen."""
    codes, probability = coded_by_mean_field(laws, signals)
    count = len(signals.values)
    error, accuracy = np.zeros(count), np.zeros(count)
    for start in range(0, count, _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        values, seen = signals.values[rows], signals.seen[rows]
        mean, inside = codes[rows].toarray(), probability[rows].toarray()
        accuracy[rows] = off_equations(laws, values, seen, mean, inside)
        error[rows] = share_left(laws.atoms, values, seen, mean)
    return Codes(
        codes, error, accuracy, of_the_worst(EQUATIONS, "inclusion", accuracy), probability
    )


def off_equations(
    laws: SlabLaws, values: Floats, seen: Array, mean: Floats, inside: Floats
) -> Floats:
    """Return how far a probability, or a mean in standard errors, is from its equation at most."""
    atoms = laws.atoms
    left, squares = (values - mean @ atoms) * seen, seen @ (atoms**2).T
    uncertain = 0.0 if laws.variances is None else seen @ laws.variances.T
    precision = laws.slab + laws.noise * (squares + uncertain)
    centre = laws.noise * (left @ atoms.T + mean * squares) / precision
    odds = laws.log_odds + 0.5 * np.log(laws.slab / precision) + 0.5 * centre**2 * precision
    expected = expit(odds)
    off = np.abs(expected * centre - mean) * np.sqrt(precision)
    return np.asarray(np.maximum(np.abs(expected - inside), off).max(axis=1))


def share_left(atoms: Floats, values: Floats, seen: Array, codes: Floats) -> Floats:
    """Return which share of the squares of each signal's seen entries is left."""
    lost = np.sum(((values - codes @ atoms) * seen) ** 2, axis=1)
    whole = np.sum(values**2, axis=1)
    return np.divide(lost, whole, out=np.zeros(len(lost)), where=whole > 0)
