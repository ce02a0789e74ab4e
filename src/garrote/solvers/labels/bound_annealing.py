"""Annealing and reheating of the mean field for labels: gamma up, then down.

Each solution starts from the last. Where both directions lead to the same solution it is one object;
elsewhere the one of the higher bound on the evidence is kept. Kappen & Gomez (2014), Algorithm 1,
with the likelihood bounded as in `logistic_bound`.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.solvers.control import cut_message
from garrote.solvers.labels.logistic_bound import BoundSolution, LogisticBound, NextVariance

# Bounds and probabilities that differ by less belong to one solution.
_SAME = 1e-2
# The tolerance at which the way back is looked at first.
_ROUGHLY = 1e-2


@dataclass(frozen=True)
class AnnealedBound:
    """Solutions with gamma annealed (forward) and reheated (backward), from sparse to dense."""

    forward: tuple[BoundSolution, ...]
    backward: tuple[BoundSolution, ...]
    cut: str | None

    @cached_property
    def strengths(self) -> Floats:
        """The gammas that were reached, ascending."""
        return np.array([one.strength for one in self.forward])

    @cached_property
    def kept(self) -> Array:
        """Which direction led to the higher bound, at each gamma."""
        pairs = zip(self.forward, self.backward, strict=True)
        return np.array(["backward" if b.bound > f.bound else "forward" for f, b in pairs])

    @cached_property
    def solutions(self) -> tuple[BoundSolution, ...]:
        """The solution of the higher bound at each gamma."""
        both = zip(self.forward, self.backward, self.kept, strict=True)
        return tuple(b if side == "backward" else f for f, b, side in both)


def anneal_bound(
    bound: LogisticBound,
    gammas: Floats,
    variance: float,
    next_variance: NextVariance | None = None,
) -> AnnealedBound:
    """Solve for ascending gammas and back; the slab's variance is learned at each where that is asked.

    Ends before more than half of the variables that would interpolate are in.
    """
    limit, control, cut = bound.problem.most_variables, bound.control, None
    start = bound.empty(float(gammas[0]), variance)
    forward: list[BoundSolution] = []
    for gamma in gammas:
        one = bound.solve(float(gamma), start, next_variance)
        if forward and one.expected_size > limit:
            cut = cut_message(forward[-1].strength, limit)
            break
        forward.append(one)
        start = one
        control.report("forward", len(forward), len(gammas))
    backward, roughly = forward[-1:], bound.roughly(_ROUGHLY)
    for one in forward[-2::-1]:
        again = one
        # Roughly is enough to see whether the way back leads to the same solution.
        back = roughly.solve(one.strength, backward[-1], next_variance)
        if not same_bound_solution(one, back):
            again = bound.solve(one.strength, back, next_variance)
            again = one if same_bound_solution(one, again) or again.expected_size > limit else again
        backward.append(again)
        control.report("backward", len(backward), len(forward))
    return AnnealedBound(tuple(forward), tuple(backward[::-1]), cut)


def same_bound_solution(a: BoundSolution, b: BoundSolution) -> bool:
    """Tell whether two solutions at one gamma are one."""
    columns = np.union1d(a.columns, b.columns)
    apart = np.zeros(len(columns))
    apart[np.searchsorted(columns, a.columns)] = a.probability
    apart[np.searchsorted(columns, b.columns)] -= b.probability
    return bool(max(abs(a.bound - b.bound), np.abs(apart).max(initial=0.0)) < _SAME)


def as_fit(bound: LogisticBound, solution: BoundSolution) -> Fit:
    """Describe a solution as one of a path; its free energy is minus the bound on the evidence."""
    reached, tolerance = solution.certificate.value, bound.control.tol
    said = "converged"
    if not reached <= tolerance:
        said = f"not converged: certificate {reached:.1e}, wanted {tolerance:.1e}"
    first = bound.problem.scale.intercept_count
    return Fit(
        strength=solution.strength,
        columns=solution.columns,
        probability=solution.probability,
        weight=solution.weight,
        noise_variance=1.0,
        free_energy=-solution.bound,
        expected_size=solution.expected_size,
        certificate=solution.certificate,
        n_iter=solution.rounds + 1,
        message=said,
        intercept=float(solution.fixed[0]) if first else 0.0,
        covariate_coef=solution.fixed[first:],
    )


def as_path(bound: LogisticBound, annealed: AnnealedBound) -> Path[Fit]:
    """Describe both directions as a path."""
    fits = {id(one): as_fit(bound, one) for one in (*annealed.forward, *annealed.backward)}
    return Path(
        fits=tuple(fits[id(one)] for one in annealed.solutions),
        # Log odds have no units, whatever the codes of the labels are.
        scale=replace(bound.problem.scale, response_mean=0.0, response_scale=1.0),
        n_features=bound.problem.n_features,
        cut=annealed.cut,
        forward=tuple(fits[id(one)] for one in annealed.forward),
        backward=tuple(fits[id(one)] for one in annealed.backward),
        kept=annealed.kept,
    )
