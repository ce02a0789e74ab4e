"""Proximal gradient descent on arrays of several libraries: the optimum of the coordinate solver."""

from importlib.util import find_spec

import array_api_strict
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from garrote import Problem, fit_path, proximal_gradient
from garrote.likelihoods import Binomial
from garrote.penalties import L0, L1, MCP, ElasticNet, GroupLasso, Ridge
from garrote.solvers.control import Control
from reference import sparse_regression

LIBRARIES = ["numpy", "strict", *(["torch"] if find_spec("torch") else [])]
PENALTIES = [L1(), ElasticNet(0.5), Ridge(), GroupLasso(np.arange(30) // 3)]


def columns(n=60, d=30):
    X, y, _ = sparse_regression(n, d, 4, correlation=0.5)
    return X - X.mean(axis=0), y - y.mean()


def as_library(library, *arrays):
    if library == "numpy":
        return arrays
    if library == "strict":
        return tuple(array_api_strict.asarray(a) for a in arrays)
    import torch

    return tuple(torch.asarray(a) for a in arrays)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda one: one.name)
def test_every_library_reaches_the_optimum(penalty, library):
    X, y = columns()
    settings = {"fit_intercept": False, "standardize": False, "scale_response": False}
    best = fit_path(Problem.from_rows(X, y, **settings), penalty, [0.1], control=Control(1e-12))
    fit = proximal_gradient(*as_library(library, X, y), penalty, 0.1, tol=1e-10, max_iter=5000)
    assert fit.certificate["duality gap"] <= 1e-10
    np.testing.assert_allclose(np.asarray(fit.coef), best.coefficients().toarray()[0], atol=1e-4)
    assert type(fit.coef) is type(as_library(library, X)[0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_binomial_loss_is_that_of_the_coordinate_solver(library):
    X, y = columns()
    labels = (y > 0).astype(float)
    settings = {"fit_intercept": False, "standardize": False, "likelihood": Binomial()}
    problem = Problem.from_rows(X, labels, **settings)
    best = fit_path(problem, L1(), [0.02], control=Control(1e-12))
    fit = proximal_gradient(
        *as_library(library, X, labels), L1(), 0.02, family="binomial", tol=1e-10, max_iter=5000
    )
    assert fit.certificate["duality gap"] <= 1e-10
    np.testing.assert_allclose(np.asarray(fit.coef), best.coefficients().toarray()[0], atol=1e-4)
    assert fit.objective == pytest.approx(
        np.mean(np.logaddexp(0, X @ np.asarray(fit.coef)) - labels * (X @ np.asarray(fit.coef)))
        + 0.02 * np.abs(np.asarray(fit.coef)).sum()
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_single_precision_stays_single(library):
    X, y = (a.astype(np.float32) for a in columns())
    fit = proximal_gradient(*as_library(library, X, y), L1(), 0.1, tol=1e-5)
    assert fit.coef.dtype == as_library(library, X)[0].dtype
    double = proximal_gradient(*(a.astype(float) for a in (X, y)), L1(), 0.1, tol=1e-10)
    np.testing.assert_allclose(np.asarray(fit.coef), double.coef, atol=2e-3)


def test_hard_thresholding_has_a_violation_and_no_gap():
    X, y = columns()
    fit = proximal_gradient(X, y, L0(), 0.1, tol=1e-9)
    assert "duality gap" not in fit.certificate.parts
    assert fit.certificate["violation"] <= 1e-9
    kept = np.flatnonzero(fit.coef)
    assert 0 < len(kept) < 30
    np.testing.assert_allclose(X[:, kept].T @ (y - X @ fit.coef), 0.0, atol=1e-5)


def test_a_start_at_the_optimum_is_where_it_ends():
    X, y = columns()
    fit = proximal_gradient(X, y, L1(), 0.1, tol=1e-8)
    again = proximal_gradient(X, y, L1(), 0.1, tol=1e-8, start=fit.coef)
    assert again.n_iter == 0
    assert np.array_equal(again.coef, fit.coef)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"penalty": MCP()}, "penalty 'MCP' has no operator"),
        ({"penalty": GroupLasso(None, "inf")}, "norm=2"),
        ({"family": "hinge"}, "family must be one of"),
        ({"y": np.zeros(3)}, "y must have 60 entries of type float64"),
        ({"start": np.zeros(30, np.float32)}, "start must have 30 entries of type float64"),
        ({"X": np.zeros((0, 3))}, "X must be a matrix with rows and columns"),
        ({"strength": -1.0}, "strength must be a finite number >= 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(change, said):
    X, y = columns()
    with pytest.raises(ValueError, match=said):
        proximal_gradient(**{"X": X, "y": y, "penalty": L1(), "strength": 0.1, **change})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounds_beyond_the_optimum_do_no_harm(dtype):
    """Where nothing moves any more, rounding would make the loss look infinitely steep."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 20)).astype(dtype)
    y = (X[:, 0] + rng.standard_normal(50)).astype(dtype)
    fit = proximal_gradient(X, y, L1(), 0.1, tol=0.0, max_iter=3000)
    assert np.isfinite(fit.coef).all()
    assert fit.certificate["duality gap"] < (1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("penalty", [L1(), GroupLasso(np.arange(30) // 3)], ids=lambda p: p.name)
def test_without_a_penalty_the_certificate_is_that_of_least_squares(penalty):
    X, y = columns()
    fit = proximal_gradient(X, y, penalty, 0.0, tol=1e-8, max_iter=20_000)
    assert fit.certificate["duality gap"] <= 1e-8
    np.testing.assert_allclose(fit.coef, np.linalg.lstsq(X, y)[0], atol=1e-3)


def test_a_group_that_nothing_penalises_does_not_spoil_the_certificate():
    X, y = columns()
    weights = np.r_[0.0, np.ones(9)]
    penalty = GroupLasso(np.arange(30) // 3, weights=weights)
    fit = proximal_gradient(X, y, penalty, 0.1, tol=1e-7, max_iter=20_000)
    assert fit.certificate["duality gap"] <= 1e-7
    assert np.abs(X[:, :3].T @ (y - X @ fit.coef)).max() / 60 < 1e-4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"y": np.r_[-1.0, np.ones(59)], "family": "binomial"}, "labels 0 and 1"),
        ({"y": np.r_[np.nan, np.ones(59)]}, "y has entries that are NaN"),
        ({"X": np.full((60, 30), np.inf)}, "X has entries"),
        ({"tol": -1.0}, "tol must be >= 0"),
        ({"max_iter": 0}, "max_iter at least 1"),
        ({"penalty": ElasticNet(0.5, corrected=True)}, "corrected"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_any_step(change, said):
    X, y = columns()
    given = {"X": X, "y": y, "penalty": L1(), "strength": 0.1} | change
    with pytest.raises(ValueError, match=said):
        proximal_gradient(**given)


def test_whole_numbers_and_lists_are_numbers():
    fit = proximal_gradient([[2, 0], [0, 2]], [4, 0], L1(), 1.0)
    np.testing.assert_allclose(fit.coef, [1.5, 0.0], atol=1e-6)


def test_a_descent_that_is_cut_short_says_so():
    X, y = columns()
    with pytest.warns(ConvergenceWarning, match=r"raise max_iter \(3\)"):
        proximal_gradient(X, y, L1(), 0.01, max_iter=3)
