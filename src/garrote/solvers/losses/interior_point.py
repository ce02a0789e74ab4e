"""Linear programmes of residuals, by a primal-dual interior point method (Portnoy & Koenker 1997).

Minimises sum_i (above_i p_i + below_i q_i) + sum_j ridge_j b_j^2 / 2 over b, p and q of at least 0 with
A b + p - q = y, where A has a dense part and, below it, rows of single coefficients: a penalty of
|b_j|, or a bound of b_j, is a residual of such a row. Steps are Mehrotra's, a prediction and a
correction, by one factor of A'WA.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from garrote.arrays import Floats

# Steps end at this share of the way to the boundary.
_NEARLY = 0.9995
# What is added to the system's diagonal, as a share of it: columns may depend on one another.
_HELD = 1e-14
_MOST_STEPS = 60
# Distances from the boundary below this share are rounding.
_ROUNDING = 1e-16


class Programme(NamedTuple):
    """The dense rows and those of single coefficients: whose these are, and what they should equal.

    ``above`` and ``below`` are the costs of residuals, those of dense rows first.
    """

    dense: Floats
    owner: np.ndarray
    y: Floats
    above: Floats
    below: Floats
    ridge: Floats

    def dot(self, coef: Floats) -> Floats:
        """Return A b."""
        return np.concatenate([self.dense @ coef, coef[self.owner]])

    def tdot(self, rows: Floats) -> Floats:
        """Return A'a."""
        n, k = self.dense.shape
        single = np.bincount(self.owner, rows[n:], minlength=k)
        return np.asarray(self.dense.T @ rows[:n] + single)

    def gram(self, weights: Floats) -> Floats:
        """Return A'WA, and the ridge."""
        n, k = self.dense.shape
        scaled = self.dense * np.sqrt(weights[:n])[:, None]
        found = scaled.T @ scaled
        diagonal = np.bincount(self.owner, weights[n:], minlength=k) + self.ridge
        found[np.diag_indices(k)] += diagonal
        found[np.diag_indices(k)] *= 1.0 + _HELD
        return np.asarray(found)


class Solution(NamedTuple):
    """Coefficients, the dual of every row, how far both are from the boundaries, and the steps made.

    ``up`` and ``down`` are the residuals' positive and negative parts; each goes with what the dual
    leaves of ``above`` and ``below``: one of the two is next to 0.
    """

    coef: Floats
    dual: Floats
    up: Floats
    down: Floats
    steps: int


def solve_programme(programme: Programme, accuracy: float, coef: Floats) -> Solution:
    """Solve to a duality gap of some size, from coefficients."""
    above, below, y = programme.above, programme.below, programme.y
    left = y - programme.dot(coef)
    room = max(float(np.abs(left).mean()), 1e-12 * max(float(np.abs(y).max()), 1e-300))
    up, down = np.maximum(left, 0.0) + room, np.maximum(-left, 0.0) + room
    dual = 0.5 * (above - below)
    tiny, made = _ROUNDING * (above + below), 0
    for made in range(_MOST_STEPS):  # noqa: B007 (it is told)
        over = np.maximum(above - dual, tiny)
        under = np.maximum(below + dual, tiny)
        gap = float(up @ over + down @ under)
        short = y - programme.dot(coef) - up + down
        slope = programme.tdot(dual) - programme.ridge * coef
        away = np.abs(short).sum() * (above + below).max() + np.abs(slope) @ np.abs(coef)
        if gap <= accuracy and away <= accuracy:
            break
        weights = 1.0 / (up / over + down / under)
        try:
            factor = cho_factor(programme.gram(weights), check_finite=False)
        except np.linalg.LinAlgError:
            break  # nothing is left to gain in these digits

        def step(target_up: Floats, target_down: Floats) -> tuple[Floats, ...]:
            """Solve for complementarity products as given."""
            e_up, e_down = target_up / over - up, target_down / under - down  # noqa: B023
            rest = short - e_up + e_down  # noqa: B023
            right = programme.tdot(weights * rest) + slope  # noqa: B023
            b = cho_solve(factor, right, check_finite=False)  # noqa: B023
            a = weights * (rest - programme.dot(b))  # noqa: B023
            return b, a, e_up + up / over * a, e_down - down / under * a  # noqa: B023

        nothing = np.zeros_like(up)
        _, a, p, q = step(nothing, nothing)
        primal, dually = _reach((up, p), (down, q)), _reach((over, -a), (under, a))
        left_over = float((up + primal * p) @ (over - dually * a))
        left_over += float((down + primal * q) @ (under + dually * a))
        middle = gap / (2 * len(up)) * (max(left_over, 0.0) / gap) ** 3
        b, a, p, q = step(middle + p * a, middle - q * a)
        primal, dually = _reach((up, p), (down, q)), _reach((over, -a), (under, a))
        if programme.ridge.any():
            primal = dually = min(primal, dually)
        coef, up, down = coef + primal * b, up + primal * p, down + primal * q
        dual = dual + dually * a
    return Solution(coef, dual, up, down, made + 1)


def _reach(*pairs: tuple[Floats, Floats]) -> float:
    """Return the share of a step that keeps all numbers above 0."""
    share = 1.0
    for value, change in pairs:
        falling = change < 0
        if falling.any():
            share = min(share, _NEARLY * float((-value[falling] / change[falling]).min()))
    return share
