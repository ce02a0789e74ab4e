"""The garrote of labels with one switch for each group, in plain NumPy: Jaakkola's bound, by groups.

Groups have coordinates Z_g of unit variance, uncorrelated; a slab N(0, v I) on them; a flat intercept.
"""

import numpy as np
from scipy.special import expit, log_expit, xlogy


def coordinates(X, weights):
    """Return the columns of a group as uncorrelated ones of unit variance."""
    X = X - np.average(X, axis=0, weights=weights)
    X = X / np.sqrt(np.average(X**2, axis=0, weights=weights))
    values, vectors = np.linalg.eigh(X.T @ (weights[:, None] * X) / weights.sum())
    kept = values > 1e-9 * values[-1]
    return X @ (vectors[:, kept] / np.sqrt(values[kept]))


def solve(X, y, groups, gamma, variance, weights=None, rounds=4000):
    """Return inclusion probabilities of groups, the mean predictor and the bound, from nothing."""
    weights = np.ones(len(y)) if weights is None else weights
    parts = [coordinates(X[:, groups == g], weights) for g in np.unique(groups)]
    m = np.zeros(len(parts))
    w = [np.zeros(part.shape[1]) for part in parts]
    S = [np.eye(part.shape[1]) * variance for part in parts]
    share = np.average(y, weights=weights)
    xi, bound = np.full(len(y), max(abs(np.log(share / (1 - share))), 0.1)), -np.inf
    for _ in range(rounds):
        lam = np.tanh(xi / 2) / (2 * xi)
        omega, target = weights * lam, (y - 0.5) / lam
        one = omega / omega.sum()
        left = [part - one @ part for part in parts]
        centred = target - one @ target
        for g, Z in enumerate(left):
            others = sum(m[h] * left[h] @ w[h] for h in range(len(left)) if h != g)
            C = Z.T @ (omega[:, None] * Z)
            S[g] = np.linalg.inv(C + np.eye(len(C)) / variance)
            u = Z.T @ (omega * (centred - others))
            w[g] = S[g] @ u
            _, logdet = np.linalg.slogdet(S[g] / variance)
            m[g] = expit(gamma + 0.5 * logdet + 0.5 * u @ w[g])
        fitted = sum(m[g] * Z @ w[g] for g, Z in enumerate(left))
        eta = one @ target + fitted
        spread = 1 / omega.sum() + sum(
            m[g] * np.einsum("ij,jk,ik->i", Z, S[g], Z) + m[g] * (1 - m[g]) * (Z @ w[g]) ** 2
            for g, Z in enumerate(left)
        )
        before, bound = bound, _bound(y, weights, xi, eta, spread, gamma, variance, m, w, S, omega)
        if abs(bound - before) < 1e-12 and np.abs(np.sqrt(eta**2 + spread) - xi).max() < 1e-9:
            break
        xi = np.sqrt(eta**2 + spread)
    return m, eta, bound


def _bound(y, weights, xi, eta, spread, gamma, variance, m, w, S, omega):
    lam = np.tanh(xi / 2) / (4 * xi)
    each = log_expit(xi) - xi / 2 + (y - 0.5) * eta - lam * (eta**2 + spread - xi**2)
    total = weights @ each + 0.5 * np.log(2 * np.pi / omega.sum()) + 0.5
    for one, mean, cov in zip(m, w, S, strict=True):
        _, logdet = np.linalg.slogdet(cov / variance)
        slab = 0.5 * (logdet + len(mean) - (np.trace(cov) + mean @ mean) / variance)
        total += one * (gamma + slab) - xlogy(one, one) - xlogy(1 - one, 1 - one)
        total -= np.logaddexp(0.0, gamma)
    return total
