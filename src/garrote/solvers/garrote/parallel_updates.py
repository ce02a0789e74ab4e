"""The garrote's equations solved in parallel: all inclusion probabilities at once, with damping.

`primal` iterates Eqs. 8-10 of Kappen & Gomez (2014), solving a D x D system each time; `dual` their
Appendix B, solving an N x N system. Both take the paper's damped step and halve it when a probability
moves by more than 0.1. They find what coordinate sweeps find, slower, and serve to check them.
"""

from collections.abc import Callable, Generator

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from garrote.arrays import Floats
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.solvers.annealing import Annealed, anneal, one_by_one
from garrote.solvers.control import Control
from garrote.solvers.garrote.coordinate_annealing import Annealer

# 1 - m is exactly 0 in double precision for strong variables: the dual divides by it, and copies of one
# column that are all in make the primal's system singular.
_SMALLEST_EXCLUSION, _SMALLEST_SHARE = 1e-8, 1e-12
# The paper halves the step without end; below this the iteration stands still.
_SMALLEST_STEP = 1e-3

Weights = Callable[[Floats], Floats]


def anneal_in_parallel(
    problem: Problem, prior: SpikeTerms, gammas: Floats, control: Control, form: str
) -> Generator[Floats, Floats, Annealed[Fit]]:
    """Run Algorithm 1 literally, but for the guard against the branch that interpolates; certify it."""
    if np.any(prior.signs):
        raise ValueError(f"solver {form!r} has no sign constraints; use 'coordinate'")
    weights = (primal_weights if form == "primal" else dual_weights)(problem)

    def solve(gamma: float, start: Fit) -> Fit:
        return _iterate(problem, prior, weights, gamma, start.probability, control)

    nothing = np.zeros(problem.n_features)
    empty = Fit.uncertified(gammas[0], np.arange(len(nothing)), nothing, nothing, 1.0)
    limit = problem.most_variables
    found = yield from anneal(one_by_one(solve), gammas, limit, empty, control)
    # Where m is too close to 1 for Appendix B, a few sweeps make up for the digits it loses.
    finisher = Annealer(problem, prior, control)
    return (yield from finisher.certified_branches(found))


def _iterate(
    problem: Problem,
    prior: SpikeTerms,
    weights: Weights,
    gamma: float,
    m: Floats,
    control: Control,
) -> Fit:
    """Iterate Eqs. 8-10 from given inclusion probabilities until Eq. 8 holds."""
    c, step = problem.curvature, 1.0
    count = 0
    while True:
        count += 1
        w = weights(m)
        precision = noise_precision(problem, prior, m * w)
        evidence = prior.pooled(0.5 * precision * c * w**2)
        implied = np.where(c > 0, expit(gamma + prior.offsets + evidence), 0.0)
        change = np.abs(implied - m).max(initial=0.0)
        if change <= 0.1 * control.tol or count >= control.max_iter:
            break
        if step * change > 0.1 and step > _SMALLEST_STEP:
            step /= 2
        m = m + step * (implied - m)
    size = float(m.sum())
    return Fit.uncertified(gamma, np.arange(len(m)), m, w, 1.0 / precision, count, size)


def noise_precision(problem: Problem, prior: SpikeTerms, coef: Floats) -> float:
    """Eq. 10, or the known noise."""
    if prior.noise_variance is not None:
        return 1.0 / prior.noise_variance
    left = (problem.yty - float(coef @ problem.xty)) / problem.n
    return 1.0 / max(problem.smallest_noise, left)


def primal_weights(problem: Problem) -> Weights:
    """Return the map m -> w of Eq. 9 as printed: a D x D system."""
    gram = problem.whole_gram()
    used = np.flatnonzero(problem.curvature > 0)
    # In units of each column's size: columns of different scales make the system ill-conditioned.
    size = np.sqrt(problem.curvature[used])
    chi, b = gram[np.ix_(used, used)] / np.outer(size, size), problem.xty[used] / size

    def weights(m: Floats) -> Floats:
        w = np.zeros(len(m))
        w[used] = soft_solution(chi, b, m[used]) / size
        return w

    return weights


def soft_solution(gram: Floats, xty: Floats, m: Floats) -> Floats:
    """Solve c_i w_i + sum over j != i of gram_ij m_j w_j = xty_i, with c the diagonal.

    Where 1 - m was clipped, w follows from the residual itself.
    """
    c = np.diag(gram)
    system = gram * m
    system[np.diag_indices_from(system)] += np.maximum(1 - m, _SMALLEST_SHARE) * c
    first = m * np.linalg.solve(system, xty)
    return np.asarray((xty - gram @ first) / c + first)


def dual_weights(problem: Problem) -> Weights:
    """Return the map m -> w of Eqs. 22, 25 and 26: an N x N system, then one Jacobi refinement."""
    if not problem.has_rows:
        raise ValueError("solver='dual' needs rows; from moments use 'coordinate' or 'primal'")
    used = np.flatnonzero(problem.curvature > 0)
    root = np.sqrt(problem.weights)
    x = root[:, None] * problem.table.block(used)
    y, c = root * problem.response, problem.curvature[used]

    def weights(m: Floats) -> Floats:
        out = np.maximum(1 - m[used], _SMALLEST_EXCLUSION)
        matrix = (x * (m[used] / out / c)) @ x.T
        matrix[np.diag_indices_from(matrix)] += 1.0
        unexplained = cho_solve(cho_factor(matrix), y)
        first = x.T @ unexplained / (out * c)
        # Where 1 - m was clipped, w follows from the residual itself.
        residual = y - x @ (m[used] * first)
        w = np.zeros(len(m))
        w[used] = x.T @ residual / c + m[used] * first
        return w

    return weights
