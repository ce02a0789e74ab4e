"""Features together: family x solver x weights x offset x storage x shape, and estimator by estimator.

Penalised fits are judged by the conditions of an optimum, written down in NumPy; estimators by what
weights and offsets mean: a weight of k is a row repeated k times, an offset of numbers is subtracted.
What cannot go together is refused, and the refusal says what to do.
Combinations cover every pair of values.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.special import expit, softmax
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from garrote import (
    ShrinkageClassifier,
    ShrinkageRegressor,
    SingleEffectsClassifier,
    SingleEffectsRegressor,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    VariationalGarrote,
    VariationalGarroteClassifier,
)
from garrote.inference import EM, Gibbs, Metropolis, Sample, Search
from garrote.likelihoods import Huber, SeveralResponses
from garrote.paths import Anneal, AnnealBound, FollowPath
from garrote.paths.combinations import is_possible, solvers
from garrote.penalties import L1, FusedLasso, GroupLasso
from garrote.priors import EffectSlab, GaussianSlab, SingleEffects, TwoHumpedSlab
from pairwise import pairwise

SHAPES = {"more rows": (60, 6), "more columns": (24, 40)}
STORAGES = {
    "C float64": np.ascontiguousarray,
    "F float32": lambda X: np.asfortranarray(X, dtype=np.float32),
    "CSC": scipy.sparse.csc_array,
    "CSR float32": lambda X: scipy.sparse.csr_array(X.astype(np.float32)),
    "data frame": lambda X: pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])]),
}
COMMON = {
    "weights": ["equal", "counts"],
    "offset": [False, True],
    "storage": list(STORAGES),
    "shape": list(SHAPES),
}
ALPHA, EDGE = 0.08, 1.345


def columns(shape):
    """Half zeros, and float32 numbers, so that every storage holds the same matrix."""
    n, d = SHAPES[shape]
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, d)) < 0.5, 2 * rng.standard_normal((n, d)), 0.0)
    return X.astype(np.float32).astype(np.float64)


def row_weights(kind, n):
    return np.ones(n) if kind == "equal" else np.random.default_rng(1).integers(0, 4, n) * 1.0


def described(row):
    return ", ".join(str(value) for value in row.values())


# --- penalised fits of every family


def normal_slope(y, eta):
    sign = 2 * y - 1
    return sign * np.exp(norm.logpdf(eta) - norm.logcdf(sign * eta))


# Minus the derivative of each row's loss by its linear predictors (rows x outputs), for responses y.
SLOPES = {
    "gaussian": lambda y, eta: y - eta,
    "several gaussian": lambda y, eta: y - eta,
    "binomial": lambda y, eta: y - expit(eta),
    "probit": normal_slope,
    "poisson": lambda y, eta: y - np.exp(eta),
    "huber": lambda y, eta: np.clip(y - eta, -EDGE, EDGE),
    "multinomial": lambda y, eta: y - softmax(eta, axis=1),
}
OUTPUTS = {"several gaussian": 2, "multinomial": 3}
# Families that no name stands for: they are told by the shape of y.
UNNAMED = {"several gaussian": SeveralResponses(2)}


def responses(family, X):
    """Return responses and an offset that matters as much as the columns do (rows x outputs)."""
    rng, outputs = np.random.default_rng(2), OUTPUTS.get(family, 1)
    offset = rng.standard_normal((len(X), outputs))
    eta = 0.3 + offset + X[:, :3] @ rng.standard_normal((3, outputs)) / 2
    y = {
        "binomial": rng.random(eta.shape) < expit(eta),
        "probit": eta + rng.standard_normal(eta.shape) > 0,
        "poisson": rng.poisson(np.exp(np.minimum(eta, 2.0))),
        "multinomial": np.eye(outputs)[np.argmax(eta + rng.gumbel(size=eta.shape), axis=1)],
    }.get(family, eta + 0.5 * rng.standard_normal(eta.shape))
    return y.astype(float), offset


def penalised(family, solver):
    settings = {
        "alpha": ALPHA,
        "standardize": False,
        "method": FollowPath(solver, alphas=[2 * ALPHA], tol=1e-11, max_iter=50_000),
    }
    if family == "multinomial":
        return SparseClassifier(**settings)
    named = {"several gaussian": "gaussian", "huber": Huber(corner=EDGE, scale=1.0)}
    return SparseRegressor(family=named.get(family, family), **settings)


PENALISED = pairwise(
    {
        "family": list(SLOPES),
        # Subgradients are too slow to be judged closely, and least angle regression is not the lasso.
        "solver": [solver for solver in solvers() if solver not in ("subgradient", "least-angle")],
        **COMMON,
    },
    lambda family, solver, **_: is_possible(L1(), UNNAMED.get(family, family), solver),
)


@pytest.mark.parametrize("row", PENALISED, ids=described)
def test_penalised_fits_meet_the_conditions_of_an_optimum(row):
    X = columns(row["shape"])
    y, offset = responses(row["family"], X)
    weights = row_weights(row["weights"], len(X))
    several = y.shape[1] > 1
    given = y.argmax(axis=1) if row["family"] == "multinomial" else y if several else y[:, 0]
    known = (offset if several else offset[:, 0]) if row["offset"] else None
    model = penalised(row["family"], row["solver"])
    model.fit(STORAGES[row["storage"]](X), given, weights, offset=known)
    coef = np.atleast_2d(model.coef_)
    eta = X @ coef.T + model.intercept_ + (offset if row["offset"] else 0.0)
    left = weights[:, None] * SLOPES[row["family"]](y, eta) / weights.sum()
    pull = (X.T @ left).T
    assert coef.any()
    assert row["shape"] == "more rows" or not coef.all()
    np.testing.assert_allclose(left.sum(axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(pull[coef != 0], ALPHA * np.sign(coef[coef != 0]), atol=1e-4)
    assert np.abs(pull).max() <= ALPHA + 1e-4


# --- every estimator

# Chains that are short: with one seed they are the same wherever the problem is.
SHORT = {"method": Gibbs(100, 20), "random_state": 0}
KNOWN = {"inclusion": 0.1, "random_state": 0}
ESTIMATORS = {
    "garrote": VariationalGarrote(gamma=-4.0, method=Anneal(gammas=10, tol=1e-8)),
    "garrote, dual": VariationalGarrote(
        gamma=-4.0, method=Anneal(solver="dual", gammas=10, tol=1e-8)
    ),
    "mean field": SpikeSlabRegressor(GaussianSlab(1.0), "mean-field", inclusion=0.1),
    "EM": SpikeSlabRegressor(GaussianSlab(1.0), "em", inclusion=0.1),
    "single effects": SingleEffectsRegressor(SingleEffects(effects=3)),
    "BIC, all models": SpikeSlabRegressor("bic", "enumerate"),
    "informed walks": SpikeSlabRegressor(GaussianSlab(1.0), Sample(100, 20), **KNOWN),
    "flips and swaps": SpikeSlabRegressor(GaussianSlab(1.0), Metropolis(100, 20), **KNOWN),
    "draws of coefficients": SpikeSlabRegressor(GaussianSlab(1.0), Gibbs(100, 20), **KNOWN),
    "search": SpikeSlabRegressor(GaussianSlab(1.0), Search(100), **KNOWN),
    "shapes, all models": SpikeSlabRegressor(method="enumerate"),
    "shapes, mean field": SpikeSlabRegressor(TwoHumpedSlab(1.0), "mean-field", inclusion=0.1),
    "shapes, EM": SpikeSlabRegressor(method=EM(spike_variance=0.01), inclusion=0.1),
    "shapes, informed walks": SpikeSlabRegressor(method=Sample(100, 20), **KNOWN),
    "shapes, flips and swaps": SpikeSlabRegressor(method=Metropolis(100, 20), **KNOWN),
    "shapes, draws of coefficients": SpikeSlabRegressor(method=Gibbs(100, 20), **KNOWN),
    "lasso": SparseRegressor(alpha=0.1, method=FollowPath(tol=1e-11)),
    "MCP": SparseRegressor("mcp", alpha=0.1, method=FollowPath(tol=1e-11)),
    "garrote, labels": VariationalGarroteClassifier(
        gamma=-4.0, method=AnnealBound(gammas=6, tol=1e-8)
    ),
    "mean field, labels": SpikeSlabClassifier(EffectSlab(1.0), "mean-field", inclusion=0.1),
    "single effects, labels": SingleEffectsClassifier(SingleEffects(effects=3)),
    "BIC, all models, labels": SpikeSlabClassifier("bic", "enumerate"),
    "lasso, labels": SparseClassifier(alpha=0.05, method=FollowPath(tol=1e-11)),
    "lasso, counts": SparseRegressor(family="poisson", alpha=0.1, method=FollowPath(tol=1e-11)),
    "BIC, all models, counts": SpikeSlabRegressor("bic", "enumerate", family="poisson"),
    "flips and swaps, counts": SpikeSlabRegressor(
        EffectSlab(1.0), Metropolis(100, 20), family="poisson", **KNOWN
    ),
    "horseshoe": ShrinkageRegressor("horseshoe", **SHORT),
    "Laplace": ShrinkageRegressor("laplace", **SHORT),
    "horseshoe, labels": ShrinkageClassifier("horseshoe", **SHORT),
    "Laplace, labels": ShrinkageClassifier("laplace", **SHORT),
}


def enumerable(estimator, shape, **_):
    """Tell whether all models can be summed, where they are."""
    return "all models" not in estimator or shape == "more rows"


ALL = pairwise({"estimator": list(ESTIMATORS), **COMMON}, enumerable)


def fitted(name, X, y, *, weights=None, offset=None):
    model = ESTIMATORS[name]
    more = {} if offset is None else {"offset": offset}
    with warnings.catch_warnings():
        # The rows are few, which is said; what is asked here is whether all say the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*rows")
        model.fit(X, y, sample_weight=weights, **more)
    return np.r_[np.ravel(model.coef_), np.ravel(model.intercept_)]


@pytest.mark.parametrize("row", ALL, ids=described)
def test_weights_are_repeats_and_storage_and_shape_do_not_matter(row):
    X = columns(row["shape"])
    rng = np.random.default_rng(4)
    # Numbers are what is left beside an offset; of labels and counts it is a part of the predictor.
    kind = row["estimator"].rpartition(", ")[2]
    additive = kind not in ("labels", "counts")
    offset = rng.standard_normal(len(X)) if row["offset"] else np.zeros(len(X))
    eta = 0.3 + offset + X[:, 0] - X[:, 1]
    y = {
        "labels": lambda: rng.random(len(X)) < expit(eta),
        "counts": lambda: rng.poisson(np.exp(np.minimum(eta, 2.0))),
    }.get(kind, lambda: eta + 0.5 * rng.standard_normal(len(X)))()
    counts = row_weights(row["weights"], len(X)).astype(int)
    found = fitted(
        row["estimator"],
        STORAGES[row["storage"]](X),
        y * 1.0,
        weights=None if row["weights"] == "equal" else counts,
        offset=offset if row["offset"] else None,
    )
    # The plain problem: dense rows, each as often as it counts; numbers less what is known of them.
    told = {"offset": np.repeat(offset, counts)} if row["offset"] and not additive else {}
    response = y - offset if additive else y * 1.0
    plain = fitted(
        row["estimator"],
        np.asfortranarray(np.repeat(X, counts, axis=0)),
        np.repeat(response, counts),
        **told,
    )
    assert np.abs(plain[:-1]).max() > 0.01
    np.testing.assert_allclose(found, plain, atol=1e-5)


# --- settings that exclude each other


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        (SparseRegressor(FusedLasso(), alpha=0.1, refit=True), "leave refit at False"),
        (SparseRegressor(FusedLasso(), alpha=0.1, bounds=(0, None)), "leave them out, or take"),
        (SparseRegressor(GroupLasso(), alpha=0.1, bounds=(0, None)), "leave them out, or take"),
        (SparseRegressor("best-subset", bounds=(0, None)), "leave them out or take MCP"),
        (SparseRegressor("best-subset", penalty_factor={0: 2.0}), "leave them out"),
        (SparseRegressor(alpha=0.1, bounds=(0, None), method="em"), "take 'coordinate' or"),
        (
            SparseRegressor(alpha=0.1, bounds=(0, None), method="iterated_ridge"),
            "take 'coordinate'",
        ),
        (SingleEffectsClassifier(SingleEffects(variance="em")), "must be 'optim' or a number"),
    ],
    ids=str,
)
def test_settings_that_exclude_each_other_are_refused_with_what_to_do(model, remedy):
    X = columns("more rows")
    with pytest.raises(ValueError, match=remedy):
        model.fit(X, (X[:, 0] > 0) * 1.0)
