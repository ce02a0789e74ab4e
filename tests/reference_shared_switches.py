"""The Variational Garrote with one switch for each group of columns, in plain NumPy: the judge.

The model is y = sum_g s_g X_g w_g + noise. With q(s) a product over groups and best weights, the free
energy is Eq. 7 of Kappen & Gomez (2014) in which the variance of a group is
m_g (1 - m_g) w_g'G_g w_g, G_g = X_g'X_g. No coordinates: groups are solved by pseudoinverses.
"""

import itertools

import numpy as np
from scipy.special import expit, logsumexp, xlogy


def members(groups):
    return [np.flatnonzero(groups == g) for g in np.unique(groups)]


def free_energy(X, y, groups, gamma, m, w, beta):
    """Eq. 7 with one entropy, one prior odds and one variance for each group; m is by group."""
    parts = members(groups)
    fitted = sum(m[g] * X[:, c] @ w[c] for g, c in enumerate(parts))
    spread = sum(m[g] * (1 - m[g]) * np.sum((X[:, c] @ w[c]) ** 2) for g, c in enumerate(parts))
    square = np.sum((y - fitted) ** 2) + spread
    entropy = xlogy(m, m).sum() + xlogy(1 - m, 1 - m).sum()
    energy = beta / 2 * square - len(y) / 2 * np.log(beta / (2 * np.pi))
    return float(energy + entropy - np.sum(gamma * m))


def updated(X, y, groups, gamma, m, w, known_noise=None):
    """One round of exact updates of every group in turn, then of the noise."""
    m, w = m.copy(), w.copy()
    parts = members(groups)
    gamma = np.broadcast_to(gamma, len(parts))
    beta = 1 / (known_noise or noise(X, y, groups, m, w))
    for g, c in enumerate(parts):
        others = sum(m[h] * X[:, d] @ w[d] for h, d in enumerate(parts) if h != g)
        w[c] = np.linalg.pinv(X[:, c], rcond=1e-6) @ (y - others)
        m[g] = expit(gamma[g] + beta / 2 * np.sum((X[:, c] @ w[c]) ** 2))
    return m, w


def noise(X, y, groups, m, w):
    """The noise variance that makes the free energy least."""
    parts = members(groups)
    fitted = sum(m[g] * X[:, c] @ w[c] for g, c in enumerate(parts))
    spread = sum(m[g] * (1 - m[g]) * np.sum((X[:, c] @ w[c]) ** 2) for g, c in enumerate(parts))
    return float((np.sum((y - fitted) ** 2) + spread) / len(y))


def solve(X, y, groups, gamma, known_noise=None, start=None):
    """Repeat rounds from the empty model, or from a start, until nothing moves."""
    m, w = start or (np.zeros(len(np.unique(groups))), np.zeros(X.shape[1]))
    for _ in range(5000):
        before = m, X @ w
        m, w = updated(X, y, groups, gamma, m, w, known_noise)
        if max(np.abs(m - before[0]).max(), np.abs(X @ w - before[1]).max()) < 1e-12:
            break
    return m, w, known_noise or noise(X, y, groups, m, w)


def violations(X, y, groups, gamma, m, w, variance):
    """Eqs. 8 to 10 in the form that they have for groups, from the definition."""
    parts = members(groups)
    gamma = np.broadcast_to(gamma, len(parts))
    residual = y - sum(m[g] * X[:, c] @ w[c] for g, c in enumerate(parts))
    off_m = off_w = 0.0
    for g, c in enumerate(parts):
        best = np.linalg.pinv(X[:, c], rcond=1e-6) @ (residual + m[g] * X[:, c] @ w[c])
        implied = expit(gamma[g] + np.sum((X[:, c] @ w[c]) ** 2) / (2 * variance))
        off_m = max(off_m, abs(m[g] - implied))
        off_w = max(off_w, np.linalg.norm(X[:, c] @ (best - w[c])) / np.sqrt(variance))
    return off_m, off_w, abs(noise(X, y, groups, m, w) / variance - 1)


def enumerated(X, y, groups, gamma, variance):
    """Inclusion probabilities of groups by all models: best weights, and known noise."""
    parts = members(groups)
    models = list(itertools.product([0, 1], repeat=len(parts)))
    logs = []
    for inside in models:
        columns = np.concatenate([np.zeros(0, int), *(parts[g] for g in np.flatnonzero(inside))])
        fitted = X[:, columns] @ np.linalg.pinv(X[:, columns]) @ y if len(columns) else 0 * y
        logs.append(gamma * sum(inside) - np.sum((y - fitted) ** 2) / (2 * variance))
    share = np.exp(np.array(logs) - logsumexp(logs))
    return share @ np.array(models, dtype=float)
