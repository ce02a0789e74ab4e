"""Sums of single effects of groups in plain NumPy: rows and their covariances, no coordinates kept.

A group that has an effect adds Z_g u to the response, u ~ N(0, v I), with Z_g an orthogonal basis of its
columns, each of squared length N. Every formula is that of a multivariate normal response.
"""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def bases(X, groups):
    """Return for each group columns of squared length N that span what it fits."""
    found = []
    for g in np.unique(groups):
        own = X[:, groups == g] - X[:, groups == g].mean(axis=0)
        own = own / np.where(own.std(axis=0) > 0, own.std(axis=0), 1.0)
        left, size, _ = np.linalg.svd(own, full_matrices=False)
        found.append(left[:, size > 1e-6 * size[0]] * np.sqrt(len(X)))
    return found


def log_bayes_factors(Z, r, noise, variance):
    """Return the log Bayes factor of every group, by densities of the response."""
    n = len(r)
    null = multivariate_normal(np.zeros(n), noise * np.eye(n)).logpdf(r)
    return np.array(
        [
            multivariate_normal(np.zeros(n), noise * np.eye(n) + variance * z @ z.T).logpdf(r)
            - null
            for z in Z
        ]
    )


def fit(X, y, groups, effects, noise, variance, log_prior=None, rounds=200):
    """Return probabilities of groups (effects x groups) and fitted values of each effect.

    The noise and the effects' variance are known; y is centred.
    """
    Z = bases(X, groups)
    log_prior = np.full(len(Z), -np.log(len(Z))) if log_prior is None else log_prior
    a, fitted = np.zeros((effects, len(Z))), np.zeros((effects, len(y)))
    evidence = np.zeros(effects)
    for _ in range(rounds):
        before = fitted.copy()
        for k in range(effects):
            r = y - fitted.sum(axis=0) + fitted[k]
            logs = log_prior + log_bayes_factors(Z, r, noise, variance)
            evidence[k] = logsumexp(logs)
            a[k] = np.exp(logs - evidence[k])
            means = [z @ np.linalg.solve(z.T @ z + noise / variance * np.eye(z.shape[1]), z.T @ r)
                     for z in Z]  # fmt: skip
            fitted[k] = a[k] @ np.array(means)
        if np.abs(fitted - before).max() < 1e-10:
            break
    return a, fitted, evidence
