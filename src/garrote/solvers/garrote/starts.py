"""Stationary points from given or random inclusion probabilities, and which of them are different."""

from collections.abc import Generator, Mapping, Sequence

import numpy as np

from garrote.arrays import Floats
from garrote.limits.budgets import BLOCK_BYTES
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.optima import Optima
from garrote.solvers.control import Control, evaluate_solutions, same_solution
from garrote.solvers.garrote.coordinate_annealing import Annealer
from garrote.solvers.garrote.parallel_updates import dual_weights, noise_precision, primal_weights

_MOST_SURE = 1.0 - 1e-8
# Solutions that differ by less than this, in probability and standard errors, are one.
DISTINCT = 1e-2


def solve_from(
    problem: Problem,
    prior: SpikeTerms,
    gamma: float,
    starts: Sequence[Floats],
    control: Control,
) -> Generator[Floats, Floats, dict[str, Fit]]:
    """Solve from each start: w follows from m by Eq. 9, the noise by Eq. 10, then sweeps go on.

    Returns certified solutions by how they were reached ("start 3"), without those in the branch that
    interpolates.
    """
    annealer = Annealer(problem, prior, control)
    wide = problem.has_rows and problem.n_features > len(problem.response)
    needed = 8 * problem.n_features * min(problem.n_features, max(1, len(problem.response)))
    if needed > BLOCK_BYTES:
        raise ValueError(
            f"starts need X as a dense block of {needed / 2**30:.1f} GiB, more than the "
            f"{BLOCK_BYTES / 2**30:.0f} GiB allowed: leave out n_starts and start"
        )
    weights = (dual_weights if wide else primal_weights)(problem)
    columns = np.arange(problem.n_features)
    points = []
    for m in starts:
        # With collinear columns all in for certain, Eq. 9 would have no single solution.
        w = weights(np.minimum(m, _MOST_SURE))
        precision = noise_precision(problem, prior, m * w)
        begin = Fit.uncertified(gamma, columns, m, w, 1.0 / precision)
        _, _, left = yield from evaluate_solutions(problem, [begin])
        points.append(annealer.solve_further(begin, left[0], control.tol))
    fits = yield from annealer.certified(points)
    most = max(problem.most_variables, 1.0)
    numbered = enumerate(fits, start=1)
    return {f"start {number}": fit for number, fit in numbered if fit.expected_size <= most}


def distinct_optima(problem: Problem, found: Mapping[str, Fit]) -> Optima:
    """Return the different solutions at one gamma, lowest free energy first.

    ``found`` has solutions by how each was reached: "annealed", "start 3", "entry order".
    """
    distinct: list[Fit] = []
    ways: list[list[str]] = []
    for how, fit in sorted(found.items(), key=lambda one: one[1].free_energy):
        for known, led_there in zip(distinct, ways, strict=True):
            if same_solution(fit, known, problem, DISTINCT):
                led_there.append(how)
                break
        else:
            distinct.append(fit)
            ways.append([how])
    order = {how: place for place, how in enumerate(found)}
    texts = (", ".join(sorted(set(led_there), key=lambda how: order[how])) for led_there in ways)
    return Optima(tuple(distinct), tuple(texts))
