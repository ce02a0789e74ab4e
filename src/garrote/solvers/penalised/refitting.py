"""Fits without a penalty to the columns that a penalty has found.

Their certificate covers both: the penalised fit, which says which columns these are, and the optimality
of the coefficients without a penalty, all others held at 0.
"""

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Terms
from garrote.penalties.subset import NoPenalty
from garrote.results.certificates import with_refit
from garrote.results.fit import PenaltyFit
from garrote.rules import restricted
from garrote.solvers.control import Control
from garrote.solvers.descent.optimality import certify
from garrote.solvers.penalised.working_set_path import Smooth

# Fits without a penalty are solved to this share of the null model's largest gradient.
_REFITTED = 1e-10


def relaxed(
    smooth: Smooth, solved: list[PenaltyFit], terms: Terms, control: Control, share: float
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Move each solution towards the fit to its columns without a penalty, as far as there is one."""
    tolerance = _REFITTED * float(np.abs(smooth.null.gradient).max(initial=0.0))
    refitted = []
    for point in solved:
        # All other columns of the working set are held at 0 by their bounds.
        lower, upper = np.zeros((2, len(terms.lower)))
        lower[point.columns], upper[point.columns] = (
            terms.lower[point.columns], terms.upper[point.columns],
        )  # fmt: skip
        free = NoPenalty().at(0.0, Terms(terms.factor, lower, upper))
        before = np.zeros(len(terms.lower))
        before[point.columns] = point.coef
        smooth.grow(point.columns[~smooth.inside[point.columns]])
        smooth.coef[:], smooth.intercept = before[smooth.columns], np.copy(point.intercept)[()]
        rounds = smooth.solve(restricted(free, smooth.columns), tolerance, control.max_iter)
        seen = yield from smooth.evaluate()
        certificate = certify(
            free, smooth.columns, smooth.coef, seen, smooth.curvature, smooth.null
        )
        if share < 1.0:
            smooth.coef[:] = share * smooth.coef + (1.0 - share) * before[smooth.columns]
            seen = yield from smooth.evaluate()
        after = np.zeros(len(terms.lower))
        after[smooth.columns] = smooth.coef
        refitted.append(
            replace(
                point,
                coef=after[point.columns],
                intercept=np.copy(smooth.intercept)[()],
                loss=seen.loss,
                certificate=with_refit(point.certificate, certificate),
                n_iter=point.n_iter + rounds,
            )
        )
    return refitted
