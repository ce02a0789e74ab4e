"""Rows of the models that likelihoods describe, and a table of near copies."""

import numpy as np

from garrote.likelihoods import inverse_link


def simulated(likelihood, n=200, d=4, seed=0, offset=0.0):
    """Rows of a model of this likelihood, its columns far from standardised."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.array([1.0, 5.0, 0.2, 2.0])[:d] + np.arange(d)
    eta = (X - X.mean(axis=0)) @ np.array([0.8, -0.1, 1.5, 0.0])[:d] + 0.3 + offset
    if likelihood.name in ("binomial", "probit"):
        return X, (rng.random(n) < inverse_link(likelihood, eta)).astype(float)
    if likelihood.name == "poisson":
        return X, rng.poisson(np.exp(eta)).astype(float)
    if likelihood.name == "negative-binomial":
        return X, rng.poisson(np.exp(eta) * rng.gamma(2.0, 0.5, n)).astype(float)
    if likelihood.name in ("gamma", "inverse-gaussian", "tweedie"):
        some = likelihood.name != "tweedie" or rng.random(n) < 0.8
        return X, np.where(some, rng.gamma(2.0, 0.5 * np.exp(eta)), 0.0)
    return X, eta + rng.standard_normal(n)


def near_copies():
    """Return twelve columns, three of them nearly equal, and a response of one of these and another."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 12))
    X[:, 5], X[:, 7] = (X[:, 2] + size * rng.standard_normal(100) for size in (0.01, 0.02))
    return X, X[:, 2] + 0.7 * X[:, 9] + rng.standard_normal(100)
