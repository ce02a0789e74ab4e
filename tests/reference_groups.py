"""Sums over all allowed sets of groups of columns, in plain NumPy: an oracle.

y = sum of X_g w_g over the groups that are in + noise; w_g ~ N(0, noise * variance * (X_g'WX_g / n)^+),
columns and response centred, noise with a flat logarithm. With P_g = X_g (X_g'WX_g / n)^+ X_g' the
response has covariance noise * (W^-1 + variance * sum of P_g), whatever the coding of a group's levels.
"""

from itertools import product

import numpy as np
from scipy.special import betaln, logsumexp


def allowed_sets(count, parents=()):
    """Yield sets of groups as rows of truth values; ``parents`` are pairs (child, parent)."""
    for row in product([False, True], repeat=count):
        if all(row[parent] or not row[child] for child, parent in parents):
            yield np.array(row)


def beta_log_prior(inside, a=1.0, b=None):
    """Return the log prior of sets of groups that are in with one probability ~ Beta(a, b)."""
    count, size = inside.shape[1], inside.sum(axis=1)
    b = np.sqrt(count) if b is None else b
    logs = betaln(a + size, b + count - size) - betaln(a, b)
    return logs - logsumexp(logs)


def grouped_posterior(X, y, groups, log_variances, log_weights, parents=(), weights=None):
    """Return inclusion probabilities of groups, means of coefficients and the log evidence.

    The slab's variance is averaged over a grid of its logarithm with log weights. Coefficients are
    those of least norm where columns of a group depend on each other.
    """
    n_rows, count = len(y), int(max(groups)) + 1
    weights = np.ones(n_rows) if weights is None else weights
    n, root = weights.sum(), np.sqrt(weights)[:, None]
    Xc = X - weights @ X / n
    yc = (y - weights @ y / n) * root[:, 0]
    inside = np.array(list(allowed_sets(count, parents)))
    prior = beta_log_prior(inside)
    logs = np.zeros((len(inside), len(log_variances)))
    means = np.zeros((len(inside), len(log_variances), X.shape[1]))
    for m, row in enumerate(inside):
        for v, variance in enumerate(np.exp(log_variances)):
            cover, back = np.eye(n_rows), np.zeros((X.shape[1], n_rows))
            for g in np.flatnonzero(row):
                own = np.flatnonzero(np.asarray(groups) == g)
                Z = root * Xc[:, own]
                slab = variance * np.linalg.pinv(Z.T @ Z / n, rcond=1e-10, hermitian=True)
                cover += Z @ slab @ Z.T
                back[own] = slab @ Z.T
            solved = np.linalg.solve(cover, yc)
            left = yc @ solved
            logs[m, v] = -0.5 * np.linalg.slogdet(cover)[1] - 0.5 * (n - 1) * np.log(left / 2)
            logs[m, v] += prior[m] + log_weights[v]
            means[m, v] = back @ solved
    total = logsumexp(logs)
    share = np.exp(logs - total)
    return share.sum(axis=1) @ inside, np.einsum("mv,mvj->j", share, means), float(total)


def largest_likelihood_posterior(
    X, y, groups, gamma, odds=None, noise=None, always=(), weights=None
):
    """Return inclusion probabilities of groups, means of coefficients and of the noise.

    Sets of groups count by the largest likelihood that they have, and by gamma and ``odds`` of each
    group. ``always`` are columns that are in every model. Coefficients are those of least norm for
    centred columns; the noise is that of least squares.
    """
    n_rows, groups = len(y), np.asarray(groups)
    weights = np.ones(n_rows) if weights is None else weights
    rows, root = weights.sum(), np.sqrt(weights)
    free = ~np.isin(np.arange(X.shape[1]), always)
    odds = np.zeros(groups.max() + 1) if odds is None else odds
    Z, yc = (root[:, None] * (X - weights @ X / rows)), root * (y - weights @ y / rows)
    logs, means, noises = [], [], []
    inside = np.array(list(allowed_sets(groups.max() + 1)))
    for row in inside:
        columns = np.flatnonzero(~free | row[groups])
        mean = np.zeros(X.shape[1])
        if len(columns):
            mean[columns] = np.linalg.pinv(Z[:, columns], rcond=1e-9) @ yc
        left = np.sum((yc - Z @ mean) ** 2)
        rank = np.linalg.matrix_rank(Z[:, columns]) if len(columns) else 0
        fit = -rows / 2 * np.log(left) if noise is None else -left / (2 * noise)
        logs.append(fit + np.sum(gamma + odds[row]))
        means.append(mean)
        noises.append(left / (rows - 1 - rank) if noise is None else noise)
    share = np.exp(np.array(logs) - logsumexp(logs))
    return share @ inside, share @ np.array(means), float(share @ noises)
