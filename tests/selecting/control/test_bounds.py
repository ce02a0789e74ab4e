"""Bounds on false selections against formulas, linear programmes and laws sought by brute force."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from garrote.selecting.control.bounds import (
    BOUNDS,
    hits_needed,
    largest_size,
    largest_tail,
    least_threshold,
    thresholds,
    unimodal,
    worst_case,
)


def tail_by_search(mean, place, steps, r, starts=40):
    """Return the largest tail of laws f with f^r convex that a general optimiser finds."""
    rng = np.random.default_rng(0)
    i = np.arange(steps + 1)
    second = np.zeros((steps - 1, steps + 1))
    for k in range(steps - 1):
        second[k, k : k + 3] = 1.0, -2.0, 1.0

    def law(g):
        f = g ** (1.0 / r)
        return f / f.sum()

    constraints = [
        {"type": "ineq", "fun": lambda g: second @ g},
        {"type": "ineq", "fun": lambda g: mean * steps - law(g) @ i},
    ]
    best = 0.0
    for _ in range(starts):
        g = np.cumsum(np.cumsum(rng.exponential(size=steps + 1) ** 3)) + rng.exponential()
        found = minimize(
            lambda g: -law(g)[place:].sum(), g / g[0], method="SLSQP",
            bounds=[(1e-3, 1e6)] * (steps + 1), constraints=constraints,
            options={"maxiter": 400, "ftol": 1e-12},
        )  # fmt: skip
        g = found.x
        if (second @ g >= -1e-9).all() and law(g) @ i <= mean * steps * (1 + 1e-9):
            best = max(best, float(law(g)[place:].sum()))
    return best


def tail_of_unimodal_laws(mean, place, steps):
    """Return the largest tail of unimodal laws, by a linear programme for each mode."""
    i = np.arange(steps + 1)
    best = 0.0
    for mode in range(steps + 1):
        rises = [np.eye(steps + 1)[k] - np.eye(steps + 1)[k + 1] for k in range(mode)]
        falls = [np.eye(steps + 1)[k + 1] - np.eye(steps + 1)[k] for k in range(mode, steps)]
        found = linprog(
            -(i >= place).astype(float), A_ub=np.vstack([*rises, *falls, i]),
            b_ub=np.append(np.zeros(steps), mean * steps), A_eq=np.ones((1, steps + 1)), b_eq=[1.0],
        )  # fmt: skip
        if found.status == 0:
            best = max(best, -found.fun)
    return best


@pytest.mark.parametrize(
    ("mean", "place", "steps", "r"),
    [(0.05, 3, 6, -0.5), (0.02, 2, 5, -0.5), (0.15, 5, 8, -0.25), (0.1, 6, 8, -0.25)],
)
def test_the_tail_of_r_concave_laws_is_the_largest_that_a_search_finds(mean, place, steps, r):
    found = largest_tail(mean, place, steps, r)
    sought = tail_by_search(mean, place, steps, r)
    assert sought <= found * (1 + 1e-6)
    assert sought >= found * (1 - 1e-2)


@pytest.mark.parametrize(
    ("share", "threshold"), [(0.05, 0.7), (0.1, 0.62), (0.05, 0.9), (0.2, 1.0)]
)
def test_the_unimodal_bound_is_the_linear_programme_s(share, threshold):
    pairs, variables = 50, 100
    place = hits_needed(threshold, 2 * pairs) - pairs
    tail = tail_of_unimodal_laws(share**2, place, pairs)
    # The theorem's factor is of the tail as a share of the mean.
    found = unimodal(share * variables, variables, threshold, pairs)
    assert found == pytest.approx(tail * variables, rel=1e-6)


def test_the_worst_case_is_markov_s_inequality():
    assert worst_case(10.0, 200, 0.75, 50) == pytest.approx(10**2 / (0.5 * 200))
    assert worst_case(200.0, 200, 0.6, 50) == 200.0


@pytest.mark.parametrize("threshold", [0.55, 0.6, 0.75, 0.9, 1.0])
@pytest.mark.parametrize("size", [1, 5, 20, 60])
def test_stronger_assumptions_give_smaller_bounds(size, threshold):
    found = [BOUNDS[name].formula(size, 500, threshold, 50) for name in BOUNDS]
    assert found[0] <= found[1] * (1 + 1e-9)
    assert found[1] <= found[2] * (1 + 1e-9)
    assert found[2] == found[3]


@pytest.mark.parametrize("name", BOUNDS)
def test_the_size_that_follows_from_a_bound_is_the_largest_that_keeps_it(name):
    formula = BOUNDS[name].formula
    size = largest_size(name, 300, 0.8, 50, 1.0)
    assert formula(size, 300, 0.8, 50) <= 1.0 < formula(size + 1, 300, 0.8, 50)


@pytest.mark.parametrize("name", BOUNDS)
def test_the_threshold_that_follows_from_a_bound_is_the_least_that_keeps_it(name):
    formula, grid = BOUNDS[name].formula, thresholds(50)
    found = least_threshold(name, 12.0, 300, 50, 1.0)
    kept = [t for t in grid if formula(12.0, 300, float(t), 50) <= 1.0]
    assert found == pytest.approx(min(kept))


def test_a_bound_that_no_threshold_keeps_has_none():
    assert least_threshold("worst-case", 100.0, 200, 50, 1.0) is None
    assert largest_size("worst-case", 200, 0.6, 50, 1e-6) == 0


@pytest.mark.parametrize(("threshold", "hits"), [(0.6, 60), (0.61, 61), (0.601, 61), (1.0, 100)])
def test_a_threshold_asks_for_whole_hits(threshold, hits):
    assert hits_needed(threshold, 100) == hits
