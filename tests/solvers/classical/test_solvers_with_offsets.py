"""Offset x solver x outputs x family x weights: all have the optimum of plain proximal steps."""

from functools import cache

import numpy as np
import pytest
from scipy.special import expit, log_ndtr, logsumexp, softmax

from garrote import SparseClassifier, SparseRegressor
from garrote.likelihoods import Huber
from garrote.likelihoods.several import SeveralResponses
from garrote.paths import FollowPath
from garrote.paths.combinations import is_possible, solvers
from garrote.penalties import L1, ElasticNet, GroupLasso
from reference import penalised_by_proximal_gradient, soft

ALPHA, OUTPUTS = 0.08, {"multinomial": 3, "several gaussian": 2}
# A response of several columns has no name among the families.
MATRICES = {"several gaussian": SeveralResponses(2)}
PENALTIES = {"lasso": L1(), "elastic-net": ElasticNet(0.6), "group-lasso": GroupLasso(None)}
EDGE = 1.345


def huber_slope(left):
    return np.clip(left, -EDGE, EDGE)


def huber_loss(left):
    size = np.abs(left)
    return np.where(size <= EDGE, left**2 / 2, EDGE * size - EDGE**2 / 2)


def normal_slope(sign, eta):
    return sign * np.exp(-(eta**2) / 2 - np.log(2 * np.pi) / 2 - log_ndtr(sign * eta))


# Each row's loss and minus its derivatives at linear predictors (rows x outputs), for responses y.
LOSSES = {
    "gaussian": lambda y, eta: ((y - eta) ** 2 / 2, y - eta),
    "several gaussian": lambda y, eta: ((y - eta) ** 2 / 2, y - eta),
    "binomial": lambda y, eta: (np.logaddexp(0, eta) - y * eta, y - expit(eta)),
    "probit": lambda y, eta: (-log_ndtr((2 * y - 1) * eta), normal_slope(2 * y - 1, eta)),
    "poisson": lambda y, eta: (np.exp(eta) - y * eta, y - np.exp(eta)),
    "huber": lambda y, eta: (huber_loss(y - eta), huber_slope(y - eta)),
    "multinomial": lambda y, eta: (
        (logsumexp(eta, axis=1) - (y * eta).sum(axis=1))[:, None],
        y - softmax(eta, axis=1),
    ),
}


@cache
def data(family):
    """Return X, y (rows x outputs) and an offset that matters as much as the columns do."""
    rng, outputs = np.random.default_rng(3), OUTPUTS.get(family, 1)
    X, offset = rng.standard_normal((50, 5)), rng.standard_normal((50, outputs))
    eta = 0.3 + X @ (rng.standard_normal((5, outputs)) * [[1.0], [1.0], [0.5], [0.0], [0.0]])
    eta = eta + offset
    y = {
        "gaussian": eta + 0.5 * rng.standard_normal(eta.shape),
        "several gaussian": eta + 0.5 * rng.standard_normal(eta.shape),
        "huber": eta + 0.5 * rng.standard_t(2, eta.shape),
        "binomial": rng.random(eta.shape) < expit(eta),
        "probit": eta + rng.standard_normal(eta.shape) > 0,
        "poisson": rng.poisson(np.exp(np.minimum(eta, 2.5))),
        "multinomial": np.eye(outputs)[np.argmax(eta + rng.gumbel(size=eta.shape), axis=1)],
    }[family]
    return X, y.astype(float), offset


def row_weights(weighted):
    return np.random.default_rng(4).integers(0, 4, 50).astype(float) if weighted else np.ones(50)


def charged(name, coef):
    """Return the penalty of coefficients (columns x outputs), and its proximal operator."""
    if (
        name == "group-lasso"
    ):  # one group a column, over all outputs, weighted by the root of its size
        root = np.sqrt(coef.shape[1])

        def shrink(B, rate):
            norms = np.linalg.norm(B, axis=1, keepdims=True)
            return B * np.maximum(1 - rate * ALPHA * root / np.maximum(norms, 1e-300), 0.0)

        return ALPHA * root * np.linalg.norm(coef, axis=1).sum(), shrink
    ratio = 0.6 if name == "elastic-net" else 1.0
    ridge = ALPHA * (1 - ratio)
    return ALPHA * ratio * np.abs(coef).sum() + 0.5 * ridge * (
        coef**2
    ).sum(), lambda B, rate: soft(B, rate * ALPHA * ratio) / (1 + rate * ridge)


def objective(family, penalty, weighted, known, level, coef):
    X, y, _ = data(family)
    weights, loss = row_weights(weighted), LOSSES[family](y, known + level + X @ coef)[0]
    return weights @ loss.sum(axis=1) / weights.sum() + charged(penalty, coef)[0]


@cache
def best(family, penalty, weighted):
    X, y, offset = data(family)
    loss = LOSSES[family]
    return penalised_by_proximal_gradient(
        X,
        lambda eta: loss(y, eta)[1],
        lambda eta: loss(y, eta)[0].sum(axis=1),
        row_weights(weighted),
        offset,
        charged(penalty, np.zeros((5, y.shape[1])))[1],
    )


def fitted(family, penalty, solver, weighted):
    """Return level and coefficients (columns x outputs) as a user gets them."""
    X, y, offset = data(family)
    tol = 3e-2 if solver == "subgradient" else 1e-9
    settings = {
        "penalty": GroupLasso() if penalty == "group-lasso" else PENALTIES[penalty],
        "alpha": ALPHA, "standardize": False,
        "method": FollowPath(solver, alphas=[2 * ALPHA], tol=tol, max_iter=20_000),
    }  # fmt: skip
    known = offset if offset.shape[1] > 1 else offset[:, 0]
    weights = row_weights(True) if weighted else None
    if family == "multinomial":
        model = SparseClassifier(**settings).fit(X, y.argmax(axis=1), weights, offset=known)
    else:
        name = {"several gaussian": "gaussian", "huber": Huber(scale=1.0)}.get(family, family)
        response = y if y.shape[1] > 1 else y[:, 0]
        model = SparseRegressor(family=name, **settings).fit(X, response, weights, offset=known)
    return np.atleast_1d(model.intercept_), np.atleast_2d(model.coef_).T


@pytest.mark.parametrize(
    ("family", "penalty", "solver"),
    [
        (family, name, solver)
        for family in LOSSES
        for name, penalty in PENALTIES.items()
        for solver in solvers()
        if is_possible(penalty, MATRICES.get(family, family), solver)
        # Groups are the columns' coefficients of several outputs.
        if name != "group-lasso" or family in OUTPUTS
        if name != "elastic-net" or family in ("gaussian", "several gaussian", "binomial")
        # Its steps are short; and least angle regression is not the lasso.
        if solver != "subgradient" or family in ("gaussian", "binomial", "multinomial")
        if solver != "least-angle"
    ],
)
def test_every_solver_counts_the_offset_and_the_weights(family, penalty, solver):
    slack = 3e-2 if solver == "subgradient" else 1e-8
    known = data(family)[2]
    for weighted in (False, True):
        values = [
            objective(family, penalty, weighted, known, *found)
            for found in (
                fitted(family, penalty, solver, weighted),
                best(family, penalty, weighted),
            )
        ]
        assert values[0] <= values[1] + slack
