"""Stationary points from given or random inclusion probabilities, instead of from an annealed path."""

from collections.abc import Generator

import numpy as np

from garrote.arrays import Floats
from garrote.priors.garrote import GarrotePrior
from garrote.problem import Problem
from garrote.results import Fit
from garrote.solvers.annealing import Control, evaluate_solutions, same_solution
from garrote.solvers.certificate import Candidate
from garrote.solvers.fixed_point import dual_weights, noise_precision, primal_weights
from garrote.solvers.variational import Annealer

# Eq. 9 is solved with all columns at once; beyond this they would not fit a usual machine.
_MOST_BYTES = 4 * 2**30
# Solutions that differ by less than this, in probability and standard errors, are one.
_DISTINCT = 1e-2


def solve_from(
    problem: Problem,
    prior: GarrotePrior,
    gamma: float,
    starts: list[Floats],
    control: Control,
) -> Generator[Floats, Floats, list[Fit]]:
    """Settle from each start: w follows from m by Eq. 9, the noise by Eq. 10, then sweeps go on.

    Returns one certified solution for each start that does not end in the branch that interpolates.
    """
    annealer = Annealer(problem, problem.compressed(), prior, control)
    wide = problem.has_rows and problem.n_features > len(problem.response)
    needed = 8 * problem.n_features * min(problem.n_features, max(1, len(problem.response)))
    if needed > _MOST_BYTES:
        raise ValueError(
            f"starts need X as a dense block of {needed / 2**30:.1f} GiB, more than the "
            f"{_MOST_BYTES / 2**30:.0f} GiB allowed: leave out n_starts and start"
        )
    weights = (dual_weights if wide else primal_weights)(problem)
    columns = np.arange(problem.n_features)
    settled = []
    for m in starts:
        w = weights(m)
        precision = noise_precision(problem, prior, m * w)
        begin = Candidate(gamma, columns, m, w, precision, 0)
        _, _, rows = yield from evaluate_solutions(problem, [begin])
        settled.append(annealer.settled_further(begin, rows[0], control.tol))
    fits = yield from annealer.certified(settled)
    return [fit for fit in fits if fit.expected_size <= max(problem.most_variables, 1.0)]


def distinct_optima(problem: Problem, fits: list[Fit]) -> tuple[Fit, ...]:
    """Return the different solutions among some at one gamma, lowest free energy first."""
    distinct: list[Fit] = []
    for fit in sorted(fits, key=lambda fit: fit.free_energy):
        known = any(
            same_solution(_as_candidate(fit), _as_candidate(other), problem, _DISTINCT)
            for other in distinct
        )
        if not known:
            distinct.append(fit)
    return tuple(distinct)


def _as_candidate(fit: Fit) -> Candidate:
    return Candidate(
        fit.strength, fit.columns, fit.probability, fit.weight, 1 / fit.noise_variance, fit.n_iter
    )
