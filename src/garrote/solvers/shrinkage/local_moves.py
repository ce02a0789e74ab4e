"""Coefficients and their variances moved together, one after the other.

Given all other coefficients, z_j being what least squares would make of coefficient j and c_j its
curvature,

    z_j | tau_j ~ N(0, s^2 (1 / c_j + scale^2 tau_j^2)),

with the coefficient itself integrated out. So a variance may jump by orders of magnitude, with
steps of a Cauchy law in log tau^2 that are accepted or not; the coefficient is drawn after it.
Where variances and coefficients only take turns, a variable needs some hundred states to come in
under priors of heavy tails.
"""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.limits.budgets import SCALES_PER_CALL
from garrote.scale_mixtures.laws import log_variance_density
from garrote.solvers.algebra.gaussian_draws import ByColumns, ByRows

# Steps of one variance on one visit.
_TRIES = 3
# The typical step in log tau^2.
_STEP = 2.0


def move_locally(
    form: ByRows | ByColumns,
    law: Any,
    curvature: Floats,
    scale: float,
    noise: float,
    coef: Floats,
    variance: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Visit all coefficients once, in random order; return coefficients and their tau^2.

    ``law`` is the mixing law of tau^2 as kernels know it.
    """
    columns, residual = form.columns, form.residual(coef)
    coef, log_variance = coef.copy(), np.log(np.maximum(variance, 1e-200))
    order = rng.permutation(len(coef))
    for first in range(0, len(order), SCALES_PER_CALL):
        part = order[first : first + SCALES_PER_CALL]
        jumps = _STEP * rng.standard_cauchy((len(part), _TRIES))
        hurdles = np.log(1.0 - rng.random((len(part), _TRIES)))
        _visit(
            law, columns, form.by_rows, residual, curvature, scale, noise, part, jumps, hurdles,
            rng.standard_normal(len(part)), coef, log_variance,
        )  # fmt: skip
    return coef, np.exp(log_variance)


@kernel
def _visit(
    law, columns, by_rows, residual, curvature, scale, noise, order, jumps, hurdles, normal, coef,
    log_variance,
):  # fmt: skip
    """Move the variances and coefficients in some order; the residual is X'r for cross products."""
    for k in range(len(order)):
        j = order[k]
        column = columns[j]
        pull = 0.0
        if by_rows:
            for i in range(len(column)):
                pull += column[i] * residual[i]
        else:
            pull = residual[j]
        curve = curvature[j]
        alone = pull + curve * coef[j]
        square, wide = alone * alone / (curve * noise), curve * scale * scale
        t = log_variance[j]
        height = log_variance_density(law, t) + _log_fit(square, wide * np.exp(t))
        for trial in range(jumps.shape[1]):
            there = t + jumps[k, trial]
            if abs(there) > 400.0:  # beyond what any of these laws can reach
                continue
            proposed = log_variance_density(law, there) + _log_fit(square, wide * np.exp(there))
            if proposed - height >= hurdles[k, trial]:
                t, height = there, proposed
        log_variance[j] = t
        stiff = curve + 1.0 / (scale * scale * np.exp(t))
        new = alone / stiff + np.sqrt(noise / stiff) * normal[k]
        step = new - coef[j]
        coef[j] = new
        for i in range(len(column)):
            residual[i] -= step * column[i]


@kernel(inline=True)
def _log_fit(square, ratio):
    """Return the log density of z, ``ratio`` being that of the variances of prior and error."""
    return -0.5 * np.log1p(ratio) - 0.5 * square / (1.0 + ratio)
