"""The Gibbs sampler of scale mixtures for labels, by Polya-Gamma variables.

Given omega_i ~ PG(weight_i, eta_i) labels are a regression of kappa_i / omega_i, kappa_i = weight_i
(y_i - 1/2), on the columns, with a known noise variance of 1 and rows of weight omega_i (Polson, Scott &
Windle 2013). A state draws

    omega, given all coefficients,
    the coefficients' variances, given the coefficients and omega, by the moves for numbers,
    the scale and all coefficients, given variances and omega,
    the intercept and the covariates, given these.

Intercept and covariates are integrated out of the second and third draw, and drawn before anything asks
for them. The precision of a covariate is a row of pseudo-data: its root in its own column, 0 elsewhere.

Under separated classes, and there are none else where columns outnumber rows, the likelihood holds no
coefficient, and under tails like Cauchy's none would have a mean. So each of them has such a row, too: a
factor N(0, `WIDEST`^2) beside its prior, by which all moments are finite and which leaves the draws of
the variances as they are (Nishimura & Suchard 2023).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from garrote.arrays import Array, Floats
from garrote.priors.scale_mixture import ScaleMixturePrior
from garrote.solvers.algebra.gaussian_draws import ByColumns
from garrote.solvers.labels.logistic_draws import LabelledRows
from garrote.solvers.labels.polya_gamma import draw_polya_gamma
from garrote.solvers.shrinkage.shrinkage_gibbs import (
    ShrinkageChain,
    ShrinkageTarget,
    draw_block,
    draw_variances,
    first_scale,
)

# A callback hears of this many states at once.
_TOGETHER = 20
# No effect of a standard deviation on log odds is believed to be much larger than this.
WIDEST = 5.0
# What a label tells of its log odds, at most, beside a number whose noise variance is 1.
INFORMATION = 0.25


class LabelChain(NamedTuple):
    """States of one chain, and the coefficients of the intercept and the covariates (S x F)."""

    states: ShrinkageChain
    fixed: Floats


class WeighedLabels(NamedTuple):
    """The regression that stands for labels under weights of the rows, beside the fixed columns.

    ``form`` is the regression on what these leave; ``basis`` spans them in weighed rows and
    pseudo-rows, ``triangle`` maps their coefficients there.
    """

    form: ByColumns
    columns: Floats
    response: Floats
    basis: Floats
    triangle: Floats

    @classmethod
    def of(cls, rows: LabelledRows, omega: Floats) -> "WeighedLabels":
        """Weigh the rows and project the fixed columns out of the others."""
        root, held = np.sqrt(omega), len(rows.held)
        columns = np.vstack([(rows.columns * root).T, np.zeros((held, len(rows.columns)))])
        kappa = rows.weights * (rows.labels - 0.5)
        response = np.concatenate([kappa / root - root * rows.offset, np.zeros(held)])
        fixed = np.vstack([(rows.fixed * root).T, np.diag(np.sqrt(rows.held))])
        basis, triangle = np.linalg.qr(fixed)
        left = columns - basis @ (basis.T @ columns)
        aim = response - basis @ (basis.T @ response)
        gram = left.T @ left
        gram[np.diag_indices_from(gram)] += 1.0 / WIDEST**2
        form = ByColumns(gram, left.T @ aim, float(aim @ aim))
        return cls(form, columns, response, basis, triangle)

    def draw_fixed(self, coef: Floats, rng: np.random.Generator) -> Floats:
        """Draw the coefficients of the fixed columns given those of the others."""
        aim = self.basis.T @ (self.response - self.columns @ coef)
        drawn = aim + rng.standard_normal(len(aim))
        return np.asarray(solve_triangular(self.triangle, drawn, check_finite=False))


def run_label_shrinkage(
    rows: LabelledRows,
    prior: ScaleMixturePrior,
    information: float,
    pairs: Array,
    rng: np.random.Generator,
    steps: int,
    burn_in: int,
    keep: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> LabelChain:
    """Run one chain and keep one of every ``keep`` states.

    ``information`` is what all labels tell of a coefficient, in rows of noise variance 1, ``pairs`` are
    the columns that resemble each other.
    """
    count, kept = len(rows.columns), steps // keep
    coef, scales = np.empty((kept, count)), np.empty(kept)
    fixed, shrinkage = np.empty((kept, len(rows.fixed))), np.zeros(count)
    root, v = prior.first_root(count), np.zeros(count)
    scale = first_scale(prior, information, rng) if count else 1.0
    level = np.zeros(len(rows.fixed))
    for state in range(-burn_in, kept * keep):
        eta = rows.offset + level @ rows.fixed + (scale * v) @ rows.columns
        weighed = WeighedLabels.of(rows, draw_polya_gamma(rng, rows.weights, eta))
        curvature = weighed.form.curvature
        target = ShrinkageTarget(weighed.form, prior, curvature, information, 0.0, 1.0, pairs)
        if count and state > -burn_in:
            root, scale = draw_variances(target, scale, 1.0, v, rng)
        if count:
            scale, _, v = draw_block(target, weighed.form.given(root), scale, rng)
        level = weighed.draw_fixed(scale * v, rng)
        if state >= 0:
            shrinkage += 1.0 / (1.0 + curvature * scale**2 * root.variance)
            if state % keep == keep - 1:
                place = state // keep
                coef[place], scales[place], fixed[place] = scale * v, scale, level
        if report is not None and (state + 1) % _TOGETHER == 0:
            report(state + 1 + burn_in, steps + burn_in)
    states = ShrinkageChain(coef, np.ones(kept), scales, shrinkage / (kept * keep))
    return LabelChain(states, fixed)
