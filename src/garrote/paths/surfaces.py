"""The SparseNet surface: MCP fits over a grid of strengths and concavities (Mazumder et al. 2011).

At each strength the lasso (gamma = inf) is solved, from the lasso before; gamma then falls, each fit
starting from the one before. So every fit is reached from the convex end, which avoids most poor optima.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.paths.penalised import (
    ALPHAS,
    as_path,
    equal_terms,
    make_smooth,
    resolve_alphas,
    run_alone,
)
from garrote.penalties.base import Terms
from garrote.penalties.concave import MCP
from garrote.penalties.elastic_net import L1
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.solvers.control import Control
from garrote.solvers.penalised.reweighted import solve_tangents, stationary
from garrote.solvers.penalised.working_set_path import (
    Smooth,
    certified,
    solve_at,
    tolerance_at,
)
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class PenaltySurface(Shown):
    """One path for each gamma, from the lasso (inf) down.

    Examples
    --------
    >>> from garrote import Problem
    >>> from garrote.datasets import make_sparse_regression
    >>> from garrote.paths.surfaces import fit_surface
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> problem = Problem.from_rows(data.X, data.y, scale_response=False)
    >>> surface = fit_surface(problem, gammas=[10.0, 3.0, 1.5], alphas=10)
    >>> surface.size.shape
    (4, 10)
    >>> bool(surface.certificate.max() < 1e-9)
    True
    """

    gammas: Floats
    paths: tuple[Path[PenaltyFit], ...]

    @property
    def strengths(self) -> Floats:
        """The alphas, descending."""
        return self.paths[0].strengths

    @property
    def certificate(self) -> Floats:
        """The certificate's value, gammas x strengths."""
        return np.array([path.certificate for path in self.paths])

    @property
    def size(self) -> Floats:
        """How many coefficients are not 0, gammas x strengths."""
        return np.array([path.size for path in self.paths])


def fit_surface(
    problem: Problem,
    gammas: Any = (20.0, 6.0, 3.0, 2.0, 1.5),
    alphas: int | Floats = ALPHAS,
    *,
    terms: Terms | None = None,
    control: Control | None = None,
) -> PenaltySurface:
    """Fit MCP over strengths and gammas, each fit reached from the lasso of its strength.

    Parameters
    ----------
    problem : Problem
    gammas : array
        Concavities > 0; the lasso, inf, is added.
    alphas : int or array
        How many strengths to place, or the strengths themselves, as for `garrote.fit_path`.
    terms : Terms, optional
        Each variable's own factor of the penalty, and bounds.
    control : Control, optional
        Tolerance (1e-6) and iteration limit.

    Returns
    -------
    PenaltySurface
    """
    given = np.atleast_1d(np.asarray(gammas, dtype=np.float64))
    if not (given > 0).all():
        raise ValueError(f"gammas must be > 0, got {given[np.argmin(given > 0)]:g}")
    falling = np.unique(np.append(given, np.inf))[::-1]
    penalties = [MCP(float(gamma)) for gamma in falling[1:]]
    terms = terms or equal_terms(problem)
    problem = problem.in_response_units().compressed()
    strengths = resolve_alphas(problem, L1(), terms, alphas, None)
    smooth = make_smooth(problem)
    rows = run_alone(
        problem, _solve(problem, smooth, penalties, strengths, terms, control or Control(1e-6))
    )
    return PenaltySurface(
        falling, tuple(as_path(problem, smooth, list(points)) for points in zip(*rows, strict=True))
    )


def _solve(
    problem: Problem,
    smooth: Smooth,
    penalties: list[MCP],
    strengths: Floats,
    terms: Terms,
    control: Control,
) -> Generator[Floats, Floats, list[list[PenaltyFit]]]:
    """Return the solutions of each strength, from the lasso on."""
    rows = []
    for step, strength in enumerate(map(float, strengths)):
        tolerance = tolerance_at(smooth, strength, control)
        lasso = L1().at(strength, terms)
        seen, rounds = yield from solve_at(smooth, lasso, tolerance, control.max_iter)
        row = [certified(smooth, lasso, strength, seen, rounds)]
        convex, intercept = smooth.coef.copy(), np.copy(smooth.intercept)[()]
        # Where curvatures change with the fit, only tangents are sure to descend.
        solve, state = (
            (solve_at, certified)
            if problem.likelihood.least_squares
            else (solve_tangents, stationary)
        )
        for penalty in penalties:
            rule = penalty.at(strength, terms)
            seen, rounds = yield from solve(smooth, rule, tolerance, control.max_iter)
            row.append(state(smooth, rule, strength, seen, rounds))
        smooth.coef[:] = 0.0  # the working set may have grown
        smooth.coef[: len(convex)], smooth.intercept = convex, intercept
        rows.append(row)
        control.report("surface", step + 1, len(strengths))
    return rows
