"""Several responses that share variables, in plain NumPy: evidences of models, and single effects."""

import numpy as np
from scipy.stats import multivariate_normal


def centred(X, Y):
    """Return standardised columns and centred responses."""
    return (X - X.mean(axis=0)) / X.std(axis=0), Y - Y.mean(axis=0)


def log_evidence(X, Y, inside, variance):
    """Return the log evidence of one model, up to a constant: from the covariance of all rows.

    Given V rows of Y have the covariance V and columns I + variance X X'; V is integrated out.
    """
    Z, R = centred(X, Y)
    n, K = len(Y) - 1, Y.shape[1]
    cover = np.eye(len(Y)) + variance * Z[:, inside] @ Z[:, inside].T
    left = R.T @ np.linalg.solve(cover, R)
    return -0.5 * K * np.linalg.slogdet(cover)[1] - 0.5 * n * np.linalg.slogdet(left)[1]


def single_effect(X, R, V, covariances, weights, log_prior):
    """Return probabilities and mean coefficients (D x K) of one effect, by densities of estimates."""
    c = (X**2).sum(axis=0)
    logs = np.zeros((X.shape[1], len(covariances)))
    means = np.zeros((X.shape[1], len(covariances), len(V)))
    for j in range(X.shape[1]):
        estimate, spread = X[:, j] @ R / c[j], V / c[j]
        none = multivariate_normal(np.zeros(len(V)), spread).logpdf(estimate)
        for m, U in enumerate(covariances):
            there = multivariate_normal(np.zeros(len(V)), spread + U).logpdf(estimate)
            logs[j, m] = there - none + np.log(weights[m])
            means[j, m] = U @ np.linalg.solve(U + spread, estimate)
    by_column = np.logaddexp.reduce(logs, axis=1)
    log_bf = np.logaddexp.reduce(log_prior + by_column)
    parts = np.exp(logs - by_column[:, None])
    return np.exp(log_prior + by_column - log_bf), np.einsum("jm,jmk->jk", parts, means), log_bf
