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
from garrote.elementary import exponential, logarithm
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
        # Tangents of random angles have Cauchy's law; NumPy's own draws of it take five times as long.
        jumps = _STEP * np.tan(np.pi * rng.random((len(part), _TRIES)))
        places = _reachable(log_variance[part], jumps)
        hurdles = np.log(1.0 - rng.random((len(part), _TRIES)))
        height, ratio = _weighed(law, places, scale**2 * curvature[part])
        reached = _visit(
            columns, form.by_rows, residual, curvature, noise, part, height, ratio, hurdles,
            rng.standard_normal(len(part)), coef,
        )  # fmt: skip
        log_variance[part] = places[reached, np.arange(len(part))]
    return coef, np.exp(log_variance)


def _reachable(start: Floats, jumps: Floats) -> Floats:
    """Return where each variance may end, for every set of jumps (a row each) that could be taken.

    Bit by bit the number of a row says which jumps are.
    """
    places = start[None, :]
    for trial in range(jumps.shape[1]):
        places = np.concatenate([places, places + jumps[:, trial]])
    return places


@kernel
def _weighed(law, places, wide):
    """Return the log density of every place but for the data's part, and its ratio of variances.

    What does not depend on the residual is so computed for many columns at a time.
    """
    height, ratio = np.empty_like(places), np.empty_like(places)
    for row in range(places.shape[0]):
        for k in range(places.shape[1]):
            t = places[row, k]
            # Beyond +-400 is what none of these laws can reach.
            inside = min(max(t, -400.0), 400.0)
            r = wide[k] * exponential(inside)
            log = log_variance_density(law, inside) - 0.5 * logarithm(1.0 + r)
            height[row, k] = log if t == inside else -np.inf
            ratio[row, k] = r
    return height, ratio


@kernel
def _visit(
    columns, by_rows, residual, curvature, noise, order, height, ratio, hurdles, normal, coef
):
    """Move variances and coefficients in some order; return which places the variances reached.

    The residual is X'r for cross products.
    """
    reached = np.zeros(len(order), dtype=np.int64)
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
        half = 0.5 * alone * alone / (curve * noise)
        here = 0
        log = height[0, k] - half / (1.0 + ratio[0, k])
        for trial in range(hurdles.shape[1]):
            there = here + (1 << trial)
            proposed = height[there, k] - half / (1.0 + ratio[there, k])
            if proposed - log >= hurdles[k, trial]:
                here, log = there, proposed
        reached[k] = here
        kept = ratio[here, k] / (curve * (1.0 + ratio[here, k]))
        new = alone * kept + np.sqrt(noise * kept) * normal[k]
        step = new - coef[j]
        coef[j] = new
        for i in range(len(column)):
            residual[i] -= step * column[i]
    return reached
