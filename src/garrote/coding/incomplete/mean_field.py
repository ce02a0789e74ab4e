"""Codes of signals with gaps under a spike and a slab: means by factors that are made to agree."""

import numpy as np
import scipy.sparse
from scipy.special import expit

from garrote.arrays import Array, Floats
from garrote.coding.codes import Codes
from garrote.coding.incomplete.signals import Incomplete
from garrote.results.certificates import EQUATIONS, Certificate
from garrote.solvers.coding.beta_process_draws import Laws
from garrote.solvers.coding.incomplete_codes import (
    lasso_codes_with_gaps,
    spike_slab_codes_with_gaps,
)

# Atoms less probable than this are left out of sparse codes.
_IMPROBABLE = 1e-8
# Signals whose codes are dense at a time.
_TOGETHER = 2048


def coded_by_mean_field(
    laws: Laws, signals: Incomplete, variances: Floats | None = None
) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Return means and probabilities of codes, from the lasso's codes on.

    ``variances`` are those of the entries of atoms that are known by their means.
    """
    means, sure = [], []
    for start in range(0, len(signals.values), _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        mean, probability = _coded(laws, signals.values[rows], signals.seen[rows], variances)
        kept = probability > _IMPROBABLE
        means.append(scipy.sparse.csr_array(mean * kept))
        sure.append(scipy.sparse.csr_array(probability * kept))
    return (
        scipy.sparse.csr_array(scipy.sparse.vstack(means, format="csr")),
        scipy.sparse.csr_array(scipy.sparse.vstack(sure, format="csr")),
    )


def _coded(
    laws: Laws, values: Floats, seen: Array, variances: Floats | None
) -> tuple[Floats, Floats]:
    """Return means and probabilities of a block of signals, dense."""
    atoms, log_odds, slab, noise = laws
    codes = np.zeros((len(values), len(atoms)))
    # Beyond this an atom is hardly ever noise.
    longest = max(float(np.sum(atoms**2, axis=1).max()), 1e-300)
    price = float(np.sqrt(2.0 * np.log(len(atoms) + 1) * longest / noise))
    lasso_codes_with_gaps(atoms, values, seen, price, codes)
    probability, _ = spike_slab_codes_with_gaps(
        atoms, variances, values, seen, log_odds, slab, noise, codes
    )
    return codes, probability


def encoded_by_mean_field(
    laws: Laws, signals: Incomplete, variances: Floats | None = None
) -> Codes:
    """Code signals, and measure each code by the equations of its factors, over entries seen."""
    codes, probability = coded_by_mean_field(laws, signals, variances)
    atoms, count = laws.atoms, len(signals.values)
    spread = np.zeros_like(atoms) if variances is None else variances
    error, accuracy = np.zeros(count), np.zeros(count)
    for start in range(0, count, _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        values, seen = signals.values[rows], signals.seen[rows]
        mean, inside = codes[rows].toarray(), probability[rows].toarray()
        left = (values - mean @ atoms) * seen
        sure = seen @ (atoms**2).T
        precision = laws.slab + laws.noise * (sure + seen @ spread.T)
        centre = laws.noise * (left @ atoms.T + mean * sure) / precision
        odds = laws.log_odds + 0.5 * np.log(laws.slab / precision) + 0.5 * centre**2 * precision
        expected = expit(odds)
        off = np.abs(expected * centre - mean) * np.sqrt(precision)
        accuracy[rows] = np.maximum(np.abs(expected - inside), off).max(axis=1)
        whole, lost = np.sum(values**2, axis=1), np.sum(left**2, axis=1)
        error[rows] = np.divide(lost, whole, out=np.zeros(len(lost)), where=whole > 0)
    worst = float(accuracy.max(initial=0.0))
    said = f"largest inclusion of {count:,} signals"
    certificate = Certificate(EQUATIONS, worst, {"inclusion": worst}, said)
    return Codes(codes, error, accuracy, certificate, probability)
