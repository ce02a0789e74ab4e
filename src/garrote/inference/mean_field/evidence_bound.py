"""Bounds on the evidence: of one factorised solution, and of a mixture of several.

A solution has inclusion probabilities m and means mu of weights that are in. The noise and the weights'
spreads are integrated out, as they are in sums over models. With c = x'x, the slab's ridge r = 1 / v,
the squared residual R at the means, and prior log odds gamma beside the variables' own,

    F = log_evidence(Q) + sum_j m_j log(r / (c_j + r)) / 2 - KL(q(s) | prior),
    Q = R + sum_j m_j (1 - m_j) mu_j^2 c_j + r sum_j m_j mu_j^2,

where log_evidence(Q) is what the empty model would have, were Q left of y'y. Under a slab of two humps
mu_j^2 is the mean over the sign t_j of E[w_j | t_j]^2 in the last two sums; the integral over the noise
has sum_j m_j E[t_j w_j] beside Q, and each variable that is in costs half of the humps' height more, and
the divergence of t_j from even odds. F has the constant of `Posterior.log_evidence` by enumeration.
It is the sum of a part in v and a part in gamma, each of which is integrated over the range of priors
that the solution stands for.

A mixture of solutions with weights p has the bound

    sum_c p_c F_c + I(c; s),

I being the information that the inclusions carry on which component they are of. It is log sum_c exp F_c
where components share no model, and counts a solution once that is there twice. The information in some
of the inclusions is never more, so that those are taken which differ.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import softmax, xlog1py, xlogy

from garrote.arrays import Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.mean_field.paired_mean_field import slab_factors
from garrote.inference.mean_field.prior_grid import Cell
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.solvers.control import squared_residuals

# Inclusions that tell components apart, at most, and how far a probability has to differ between two.
_TELLING = 12
_DIFFERS = 1e-3
# The weights of a mixture have converged when they move by less, or after so many rounds.
_STILL = 1e-9
_ROUNDS = 200


Prior = TypeVar("Prior", bound=Hashable)


def evidence_bounds(
    problem: Problem, beliefs: Beliefs, solutions: Sequence[tuple[Cell, Fit]]
) -> list[float]:
    """Return the bound of each solution, integrated over the hyperparameters of its grid cell."""
    squared = squared_residuals(problem, [fit for _, fit in solutions])
    offsets = beliefs.offsets(problem)
    return [
        cell.log_variance.log_integral(_over_variances(problem, beliefs, fit, left, cell))
        + over_log_odds(cell, fit.probability, offsets[fit.columns])
        for (cell, fit), left in zip(solutions, squared, strict=True)
    ]


def over_log_odds(cell: Cell, probability: Floats, offsets: Floats) -> float:
    """Return the bound's part in the prior log odds, integrated; with the switches' entropy."""
    m = probability
    entropy = -float((xlogy(m, m) + xlog1py(1 - m, -m)).sum())
    size = cell.log_odds.log_integral(m.sum() * cell.log_odds.points)
    return size + float(m @ offsets) + entropy


def _over_variances(
    problem: Problem, beliefs: Beliefs, fit: Fit, left: float, cell: Cell
) -> Floats:
    """Return the bound's part in the slab's variance, at the points of a cell."""
    m, c = fit.probability, problem.curvature[fit.columns]
    signed = slab_factors(cell.slab).signed(fit.weight, c, fit.precision)
    squares, along = m * signed.square, float(m @ signed.along)
    left = left + float((squares - fit.coef**2) @ c)
    slabs = [cell.slab.at(float(np.exp(u))) for u in cell.log_variance.points]
    humps = [slab.humps for slab in slabs]
    fits = [
        slab.log_fit(beliefs.n, problem.yty, left + ridge * squares.sum(), along)
        - 0.5 * height * m.sum()
        for slab, (ridge, _, height) in zip(slabs, humps, strict=True)
    ]
    ridges = np.array([ridge for ridge, _, _ in humps])
    return np.array(fits) - 0.5 * np.log1p(c / ridges[:, None]) @ m - float(m @ signed.told)


class Mixed(NamedTuple):
    """The weights of a mixture's components, and the bound that it has."""

    weight: Floats
    bound: float


def mix(bounds: Sequence[float], solutions: Sequence[Fit]) -> Mixed:
    """Return the mixture of some solutions that has the highest bound.

    The bound is concave in the weights: these rise with what a component has that the mixture has not,
    as in the algorithm of Blahut and Arimoto for the capacity of a channel.
    """
    energies = np.asarray(bounds, dtype=np.float64)
    weight = softmax(energies)
    if len(energies) == 1:
        return Mixed(weight, float(energies[0]))
    states = _states(solutions)
    entropies = -xlogy(states, states).sum(axis=1)
    for _ in range(_ROUNDS):
        gained = energies + states @ -np.log(_positive(weight @ states)) - entropies
        after = softmax(np.log(_positive(weight)) + gained)
        moved = np.abs(after - weight).max()
        weight = after
        if moved < _STILL:
            break
    mixed = weight @ states
    information = float(-xlogy(mixed, mixed).sum() - weight @ entropies)
    return Mixed(weight, float(weight @ energies) + max(information, 0.0))


def mix_priors(
    bounds: Mapping[Prior, Sequence[float]],
    solutions: Mapping[Prior, Sequence[Fit]],
    best: Prior,
) -> tuple[list[float], Floats]:
    """Mix the solutions of each prior; return all log weights, and the weights at the best prior."""
    logs: list[float] = []
    weights = np.ones(1)
    for prior, parts in solutions.items():
        mixed = mix(bounds[prior], parts)
        with np.errstate(divide="ignore"):  # an optimum may count for nothing beside the others
            logs += (mixed.bound + np.log(mixed.weight)).tolist()
        if prior == best:
            weights = mixed.weight
    return logs, weights


def _positive(values: Floats) -> Floats:
    """Keep logarithms finite of what has no weight in any sum."""
    return np.maximum(values, 1e-300)


def _states(solutions: Sequence[Fit]) -> Floats:
    """Return the probability of all values of the inclusions that differ most, a row a solution."""
    listed = np.unique(np.concatenate([one.columns for one in solutions]))
    probability = np.zeros((len(solutions), len(listed)))
    for row, one in zip(probability, solutions, strict=True):
        row[np.searchsorted(listed, one.columns)] = one.probability
    differ = np.ptp(probability, axis=0)
    telling = np.argsort(-differ, kind="stable")[:_TELLING]
    states = np.ones((len(solutions), 1))
    for column in telling[differ[telling] > _DIFFERS]:
        inside = probability[:, column, None]
        states = np.hstack([states * inside, states * (1.0 - inside)])
    return states
