"""Switches by the averages over independent ones: probabilities move until nearly all are 0 or 1."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize as scipy_minimize
from scipy.special import expit, logit

from garrote.arrays import Floats
from garrote.smoothing.agreement import check_switches
from garrote.smoothing.bernoulli import BernoulliBound, flips
from garrote.smoothing.objective import Objective
from garrote.smoothing.optimisers import LBFGS, NaturalGradient, Optimiser, Told
from garrote.solvers.control import Callback

# Probabilities begin no nearer to 0 and 1 than this, and end where all are that near; the largest
# change of log odds in one step.
_INSIDE, _DECIDED, _FARTHEST = 1e-3, 1e-4, 2.0
# Log odds of L-BFGS are no larger.
_MOST = 12.0


class Switched(NamedTuple):
    """The best state, the probabilities at the end, the average along the way, and the steps."""

    state: Floats
    theta: Floats
    history: Floats
    steps: int


def follow_switches(
    bound: BernoulliBound,
    objective: Objective,
    start: Floats,
    way: Optimiser | None,
    callback: Callback | None,
) -> Switched:
    """Go down, round the probabilities to a state, and flip single switches while that helps."""
    if not ((start >= 0) & (start <= 1)).all():
        wrong = int(np.argmax((start < 0) | (start > 1)))
        raise ValueError(
            f"start must be probabilities from 0 to 1, got {start[wrong]:g} at position {wrong}"
        )
    way = way or NaturalGradient()
    check_switches(bound, objective, np.round(start))
    odds = logit(np.clip(start, _INSIDE, 1.0 - _INSIDE))
    told = Told(callback, way.steps)
    if isinstance(way, LBFGS):
        odds, history, steps = _by_lbfgs(bound, objective, odds, way, told)
    elif isinstance(way, NaturalGradient):
        odds, history, steps = _by_natural_steps(bound, objective, odds, way, told)
    else:
        raise ValueError(
            "the average over switches is linear in each: Newton has no curvature there; take "
            "NaturalGradient() or LBFGS()"
        )
    theta = expit(odds)
    state = _descended(objective, _rounded(bound, objective, theta))
    return Switched(state, theta, np.array(history), steps)


def _by_natural_steps(
    bound: BernoulliBound, objective: Objective, odds: Floats, way: NaturalGradient, told: Told
) -> tuple[Floats, list[tuple[float, float]], int]:
    """Move log odds along dU/dtheta, which is the natural gradient of these."""
    history = []
    for made in range(way.steps):
        theta = expit(odds)
        here = bound.at(objective, theta, 1 + made)
        told.next()
        undecided = np.sqrt(theta * (1.0 - theta))
        history.append((float(undecided.max()), here.value))
        spread = float(np.linalg.norm(undecided * here.gradient))
        if spread == 0.0 or np.minimum(theta, 1.0 - theta).max() <= _DECIDED:
            return odds, history, made
        odds = odds - np.clip(way.rate * here.gradient / spread, -_FARTHEST, _FARTHEST)
    return odds, history, way.steps


def _by_lbfgs(
    bound: BernoulliBound, objective: Objective, odds: Floats, way: LBFGS, told: Told
) -> tuple[Floats, list[tuple[float, float]], int]:
    """Minimise the average over log odds, with the same draws all along."""
    history: list[tuple[float, float]] = []

    def at(odds: Floats) -> tuple[float, Floats]:
        theta = expit(odds)
        here = bound.at(objective, theta, 1)
        told.next()
        history.append((float(np.sqrt(theta * (1.0 - theta)).max()), here.value))
        return here.value, theta * (1.0 - theta) * here.gradient

    found = scipy_minimize(
        at, odds, jac=True, method="L-BFGS-B", bounds=[(-_MOST, _MOST)] * len(odds),
        options={"maxiter": way.steps, "gtol": way.tol, "ftol": 1e-15},
    )  # fmt: skip
    return found.x, history, int(found.nit)


def _rounded(bound: BernoulliBound, objective: Objective, theta: Floats) -> Floats:
    """Return a state whose value is no larger than the average, if that is known.

    The average is linear in each probability: one after the other goes to the end where it is lower.
    """
    if not bound.is_exact(len(theta)):
        return np.round(theta)
    state = theta.copy()
    for j in np.argsort(-np.abs(theta - 0.5), kind="stable"):
        if 0.0 < state[j] < 1.0:
            slope = bound.at(objective, state, 0).gradient[j]
            state[j] = float(slope < 0.0) if slope else np.round(state[j])
    return state


def _descended(objective: Objective, state: Floats) -> Floats:
    """Flip the best single switch while that lowers the value."""
    value = objective.value(state)
    while True:
        others = flips(state)
        values = objective.values(objective.place(others))
        if not values.min(initial=np.inf) < value:
            return state
        state, value = others[values.argmin()], float(values.min())
