"""Rows of the models that likelihoods describe."""

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
    return X, eta + rng.standard_normal(n)
