"""What solvers state as their gap is the gap of the plain objective, computed here from the data."""

import numpy as np
import pytest

from garrote import Problem, fit_path
from garrote.paths.combinations import solvers
from garrote.penalties import L1, ElasticNet, GroupLasso, Ridge, Terms
from garrote.solvers.control import Control
from reference import sparse_regression

EXACT = [s for s in solvers() if s not in ("subgradient", "least-angle")]


def standardised(n, d):
    X, y, _ = sparse_regression(n, d, 4, correlation=0.5)
    return (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()


def values(Z, y, alpha, ratio, w):
    """Return the elastic net's objective at w, and its dual at the residual or a share of it."""
    n, threshold, ridge = len(y), alpha * ratio, alpha * (1 - ratio)
    r = y - Z @ w
    g = Z.T @ r / n
    primal = r @ r / (2 * n) + threshold * np.abs(w).sum() + ridge / 2 * (w @ w)
    if ridge == 0:
        share = min(1.0, threshold / np.abs(g).max())
        return primal, share * (r @ y) / n - share**2 * (r @ r) / (2 * n)
    beyond = np.maximum(np.abs(g) - threshold, 0.0)
    return primal, (r @ y) / n - (r @ r) / (2 * n) - (beyond**2).sum() / (2 * ridge)


@pytest.mark.parametrize(
    ("solver", "shape"), [*((solver, (60, 20)) for solver in EXACT), ("em", (30, 50))]
)
def test_stated_gaps_are_those_of_the_plain_objective_and_bound_coefficients(solver, shape):
    Z, y = standardised(*shape)
    null = y @ y / (2 * len(y))
    for ratio in (0.3, 0.7, 1.0):
        penalty = L1() if ratio == 1 else ElasticNet(ratio)
        alphas = np.abs(Z.T @ y).max() / len(y) / ratio * np.array([0.5, 0.1])
        path = fit_path(Problem.from_rows(Z, y), penalty, alphas, solver=solver)
        best = fit_path(Problem.from_rows(Z, y), penalty, alphas, control=Control(1e-12))
        for fit, exact in zip(path.fits, best.fits, strict=True):
            w, there = (np.bincount(f.columns, f.coef, shape[1]) for f in (fit, exact))
            primal, dual = values(Z, y, fit.strength, ratio, w)
            assert fit.certificate["duality gap"] == pytest.approx(
                (primal - dual) / null, abs=1e-12
            )
            assert fit.certificate["duality gap"] <= 1e-6
            # The gap bounds the objective; coefficients are within its root, by the curvature.
            least = np.linalg.eigvalsh(Z.T @ Z / len(y))[0] + fit.strength * (1 - ratio)
            far = np.sum((w - there) ** 2)
            assert 0.5 * max(least, 0.0) * far <= (primal - dual) * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("shape", [(60, 20), (30, 50)])
@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.3), Ridge()])
def test_em_fits_what_nothing_penalises(penalty, shape):
    Z, y = standardised(*shape)
    terms = Terms.equal(shape[1])
    terms.factor[7] = 0.0
    problem = Problem.from_rows(Z, y)
    best = fit_path(problem, penalty, 4, eps=0.05, terms=terms)
    path = fit_path(problem, penalty, best.strengths, terms=terms, solver="em")
    assert path.certificate.max() <= 1e-6
    largest = np.abs(best.coefficients().toarray()).max()
    np.testing.assert_allclose(
        path.coefficients().toarray(), best.coefficients().toarray(), atol=0.01 * largest
    )


def test_em_of_groups_has_the_objective_that_it_states():
    Z, y = standardised(60, 20)
    problem, groups = Problem.from_rows(Z, y), GroupLasso(np.arange(20) // 4)
    best = fit_path(problem, groups, 4, eps=0.1, control=Control(1e-10))
    path = fit_path(problem, groups, best.strengths, solver="em")
    for fit, exact in zip(path.fits, best.fits, strict=True):
        costs = []
        for one in (fit, exact):
            w = np.bincount(one.columns, one.coef, 20)
            norms = 2.0 * np.linalg.norm(w.reshape(5, 4), axis=1)
            costs.append(np.sum((y - Z @ w) ** 2) / 120 + fit.strength * norms.sum())
        assert costs[0] - costs[1] <= fit.certificate["duality gap"] * path.null_loss + 1e-12
        assert fit.certificate["duality gap"] <= 1e-6
