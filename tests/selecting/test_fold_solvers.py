"""The choice by cross-validation does not depend on which solver fits the path."""

import numpy as np
import pytest

from garrote import SparseClassifier, SparseRegressor, VariationalGarrote
from garrote.datasets import make_sparse_regression
from garrote.paths import Anneal, FollowPath
from garrote.paths.annealed import SOLVERS as GARROTE_SOLVERS
from garrote.paths.combinations import solvers


def two_optima():
    """Return rows of which folds have several optima, few rows for many correlated columns."""
    data = make_sparse_regression(40, 60, 3, correlation=0.8, random_state=4)
    return data.X, data.y


def test_every_solver_of_the_garrote_chooses_the_same_gamma():
    X, y = two_optima()
    usual, *others = (
        VariationalGarrote(method=Anneal(solver=solver, gammas=20), cv=3).fit(X, y)
        for solver in GARROTE_SOLVERS
    )
    for model in others:
        errors = [one.cv_results_["fold_errors"] for one in (usual, model)]
        np.testing.assert_array_equal(*errors)
        assert model.gamma_ == usual.gamma_


@pytest.mark.parametrize("solver", [s for s in solvers() if s not in ("coordinate", "least-angle")])
def test_every_solver_of_a_convex_penalty_chooses_the_same_alpha(solver):
    X, y = two_optima()
    tol = 0.1 if solver == "subgradient" else 1e-4
    usual, model = (
        SparseRegressor("elastic-net", cv=3, method=FollowPath(by, 8, eps=0.1, tol=tol)).fit(X, y)
        for by in ("coordinate", solver)
    )
    np.testing.assert_array_equal(
        model.cv_results_["fold_errors"], usual.cv_results_["fold_errors"]
    )
    assert model.alpha_ == usual.alpha_


@pytest.mark.parametrize("penalty", ["mcp", "scad"])
@pytest.mark.parametrize("solver", ["ista", "fista", "sparsa"])
def test_every_solver_of_a_concave_penalty_chooses_the_same_alpha(penalty, solver):
    X, y = two_optima()
    usual, model = (
        SparseRegressor(penalty, cv=3, method=method).fit(X, y)
        for method in (
            FollowPath(alphas=8, eps=0.1),
            FollowPath(solver, alphas=8, eps=0.1, tol=1e-4, max_iter=2000),
        )
    )
    np.testing.assert_allclose(
        model.cv_results_["fold_errors"], usual.cv_results_["fold_errors"], rtol=1e-5
    )
    assert model.alpha_ == usual.alpha_


def test_labels_have_the_same_alpha_by_every_solver():
    X, y = two_optima()
    one, two = (
        SparseClassifier(method=FollowPath(solver=solver, alphas=6, eps=0.2), cv=3).fit(
            X[:, :8], y > 0
        )
        for solver in ("coordinate", "fista")
    )
    assert one.alpha_ == two.alpha_
    np.testing.assert_array_equal(*(m.cv_results_["fold_errors"] for m in (one, two)))
