"""Expectation-maximisation: steps until nothing moves, and a certificate from the data.

A model of the family offers one step, its objective, and what its equations imply at a point. States
and arrays run over the columns that have content.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from garrote.arrays import Floats
from garrote.inference.mean_field.hyperparameters import Hyperparameters, Learning
from garrote.paths.annealed import stored_design
from garrote.problem import Problem
from garrote.results.certificates import equations
from garrote.results.fit import Fit
from garrote.solvers.algebra.weighted_ridge import Ridge, WeightedRidge
from garrote.solvers.control import Control
from garrote.solvers.lockstep import run_together

# Steps end at this share of the tolerance that the certificate has to meet.
_INNER = 0.1
# Columns of smaller probability are not listed in a solution.
_LISTED = 1e-8


class EMState(NamedTuple):
    """Inclusion probabilities, weights, noise variance and hyperparameters."""

    probability: Floats
    weight: Floats
    noise: float
    at: Hyperparameters


class EMModel(Protocol):
    """What EM needs of a model."""

    @property
    def problem(self) -> Problem: ...
    @property
    def learning(self) -> Learning: ...
    @property
    def ridge(self) -> WeightedRidge: ...

    def first(self, probability: Floats) -> EMState:
        """Return where EM begins, given inclusion probabilities."""
        ...

    def extreme_starts(self, control: Control, dense: bool) -> "Starts":
        """Return starts that only this model has and, where ``dense``, one of all variables."""
        ...

    def step(self, state: EMState) -> EMState:
        """Return the state after one E and one M step, whose objective is not lower."""
        ...

    def objective(self, state: EMState) -> float:
        """Return what EM maximises."""
        ...

    def coef(self, state: EMState) -> Floats:
        """Return the coefficients that make the residual."""
        ...

    def implied(self, state: EMState, residual: Ridge) -> EMState:
        """Return what each equation says, given the others and the residual."""
        ...

    def spread(self, state: EMState) -> Floats:
        """Return the variances of the weights given inclusion."""
        ...


# Where EM begins, by what the start is: the model with the order in which it updates, and a state.
Starts = dict[str, tuple[EMModel, EMState]]


@dataclass(frozen=True)
class EMFit:
    """A solution of EM: as a Fit, as a state, and the objective after each step.

    The free energy of the Fit is minus the objective, priors of the hyperparameters included.
    """

    fit: Fit
    state: EMState
    trace: tuple[float, ...]


def run_em(model: EMModel, start: EMState, control: Control) -> EMFit:
    """Take steps until those still to come are below the tolerance, and certify the result."""
    state, change, count = start, np.inf, 0
    trace = [model.objective(state)]
    while count < control.max_iter:
        after = model.step(state)
        count += 1
        before, change = change, max(distances(model, state, after))
        state = after
        trace.append(model.objective(state))
        # Steps shrink geometrically: what is still to come is change * ratio / (1 - ratio).
        ratio = min(change / before, 0.9999) if before > 0 else 0.0
        if max(change, change * ratio / (1 - ratio)) <= _INNER * control.tol:
            break
    return EMFit(_certified(model, state, trace[-1], count, control), state, tuple(trace))


def distances(model: EMModel, a: EMState, b: EMState) -> tuple[float, float, float, float]:
    """Return the largest differences in probability, weight (standard errors), noise and priors."""
    errors = np.sqrt(model.ridge.curvature / a.noise)
    return (
        float(np.abs(a.probability - b.probability).max(initial=0.0)),
        float((errors * np.abs(a.weight - b.weight)).max(initial=0.0)),
        abs(b.noise / a.noise - 1.0),
        a.at.distance(b.at),
    )


def _certified(
    model: EMModel, state: EMState, objective: float, count: int, control: Control
) -> Fit:
    """Return a solution with its certificate, for which the residual is computed from the data."""
    columns, coef = model.ridge.columns, model.coef(state)
    task = model.problem.evaluate(columns, coef[:, None])
    ((squared, gradient),) = run_together([task], stored_design(model.problem))
    residual = Ridge(coef, gradient[0][columns], float(squared[0]), np.zeros(0))
    off = distances(model, state, model.implied(state, residual))
    certificate = equations(
        dict(zip(("inclusion", "weight", "noise", "hyperparameters"), off, strict=True))
    )
    reached = certificate.value <= control.tol
    listed = state.probability > _LISTED
    return Fit(
        strength=state.at.log_odds,
        columns=columns[listed],
        probability=state.probability[listed],
        weight=state.weight[listed],
        noise_variance=state.noise,
        free_energy=-objective,
        expected_size=float(state.probability.sum()),
        certificate=certificate,
        n_iter=count,
        message="converged"
        if reached
        else f"not converged: certificate {certificate.value:.1e} after {count} steps, wanted "
        f"{control.tol:.1e}",
    )
