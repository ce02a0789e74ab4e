"""Annealing and reheating of the mean field for labels, by the bound of `logistic_bound`.

The solution of the higher bound on the evidence is kept, which is that of the lower free energy.
"""

from dataclasses import fields
from typing import cast

import numpy as np

from garrote.arrays import Floats
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.solvers.annealing import Annealed, anneal, one_by_one
from garrote.solvers.labels.bound_rounds import NextVariance
from garrote.solvers.labels.logistic_bound import LabelFit, LogisticBound
from garrote.solvers.lockstep import run_together

# Bounds and probabilities that differ by less belong to one solution.
_SAME = 1e-2


def anneal_bound(
    bound: LogisticBound,
    gammas: Floats,
    variance: float,
    next_variance: NextVariance | None = None,
) -> Annealed[LabelFit]:
    """Solve for ascending gammas and back; the slab's variance is learned at each where that is asked.

    Ends before more than half of the variables that would interpolate are in.
    """

    def solve(gamma: float, start: LabelFit) -> LabelFit:
        return bound.solve(gamma, start, next_variance)

    def solve_back(known: LabelFit, denser: LabelFit) -> LabelFit:
        # Roughly, and among the columns that matter, is enough to see whether it leads back.
        if bound.leads_to(known, denser, _SAME):
            return known
        back = solve(known.strength, denser)
        return known if same_label_fit(known, back) else back

    start = bound.empty(float(gammas[0]), variance)
    limit = bound.problem.most_variables
    annealing = anneal(one_by_one(solve, solve_back), gammas, limit, start, bound.control)
    (found,) = run_together([annealing], None)
    return cast(Annealed[LabelFit], found)


def same_label_fit(a: LabelFit, b: LabelFit) -> bool:
    """Tell whether two solutions at one gamma are one."""
    columns = np.union1d(a.columns, b.columns)
    apart = np.zeros(len(columns))
    apart[np.searchsorted(columns, a.columns)] = a.probability
    apart[np.searchsorted(columns, b.columns)] -= b.probability
    return bool(max(abs(a.bound - b.bound), np.abs(apart).max(initial=0.0)) < _SAME)


def as_fit(bound: LogisticBound, solution: LabelFit) -> Fit:
    """Describe a solution as one of a path, without what it says of every row."""
    reached, tolerance = solution.certificate.value, bound.control.tol
    said = "converged"
    if not reached <= tolerance:
        said = f"not converged: certificate {reached:.1e}, wanted {tolerance:.1e}"
    first = bound.problem.scale.intercept_count
    told = {
        "n_iter": solution.n_iter + 1,
        "message": said,
        "intercept": float(solution.fixed[0]) if first else 0.0,
        "covariate_coef": solution.fixed[first:],
    }
    return Fit(**{part.name: getattr(solution, part.name) for part in fields(Fit)} | told)


def as_path(bound: LogisticBound, annealed: Annealed[LabelFit]) -> Path[Fit]:
    """Describe both directions as a path."""
    problem = bound.problem
    return annealed.path(problem.scale, problem.n_features, lambda one: as_fit(bound, one))
