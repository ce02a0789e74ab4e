"""Sums of single effects in plain NumPy, line by line after Wang et al. (2020), as an oracle."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from scipy.stats import norm


def regress_single_effect(X, r, log_prior, v, s):
    """Return log Bayes factors, probabilities, means and variances of one single effect.

    The Bayes factor of a column is the ratio of two densities of its least-squares estimate.
    """
    c = (X**2).sum(axis=0)
    estimate, error = X.T @ r / c, np.sqrt(s / c)
    log_bf = norm.logpdf(estimate, scale=np.sqrt(v + error**2)) - norm.logpdf(estimate, scale=error)
    log_post = log_prior + log_bf
    variance = 1 / (1 / v + c / s)
    return log_bf, np.exp(log_post - logsumexp(log_post)), variance * c / s * estimate, variance


def best_variance(X, r, log_prior, s):
    """Return the prior variance of the largest evidence, by a grid and a bounded search."""
    c = (X**2).sum(axis=0)
    estimate, error = X.T @ r / c, np.sqrt(s / c)
    plain = log_prior - norm.logpdf(estimate, scale=error)

    def loss(log_v):
        spread = np.sqrt(np.exp(log_v) + error**2)
        return -logsumexp(plain + norm.logpdf(estimate, scale=spread), axis=-1)

    grid = np.linspace(-20, 10, 151)
    middle = grid[np.argmin(loss(grid[:, None]))]
    found = minimize_scalar(
        loss, bounds=(middle - 0.2, middle + 0.2), method="bounded", options={"xatol": 1e-7}
    )
    return np.exp(found.x) if found.fun < 0 else 0.0


def lower_bound(X, y, log_prior, a, mu, var, v, s):
    """Return the evidence lower bound of a sum of single effects, term by term."""
    n = len(y)
    b = a * mu
    squares = (X**2).sum(axis=0)
    spread = sum(
        a[k] * (mu[k] ** 2 + var[k]) @ squares - ((X @ b[k]) ** 2).sum() for k in range(len(a))
    )
    bound = -n / 2 * np.log(2 * np.pi * s) - (((y - X @ b.sum(axis=0)) ** 2).sum() + spread) / (
        2 * s
    )
    for k in range(len(a)):
        if v[k] == 0:
            continue
        kl = norm_kl(mu[k], var[k], v[k])
        here = a[k] > 0
        bound -= (a[k][here] * (np.log(a[k][here]) - log_prior[here] + kl[here])).sum()
    return bound


def norm_kl(mean, variance, v):
    """Return the divergence of N(mean, variance) from N(0, v)."""
    return 0.5 * (variance / v + mean**2 / v - 1 - np.log(variance / v))


def fit_single_effects_slowly(X, y, log_prior, L, sweeps=200, v=None):
    """Run iterative Bayesian stepwise selection; X and y are centred, prior variances by their optima.

    Returns probabilities, means and variances (L x D each), prior variances, noise and all lower bounds.
    """
    n, D = X.shape
    a, mu, var = np.zeros((L, D)), np.zeros((L, D)), np.zeros((L, D))
    variances, s, bounds = np.zeros(L), y @ y / n, []
    for _ in range(sweeps):
        for k in range(L):
            others = np.delete(np.arange(L), k)
            r = y - X @ (a[others] * mu[others]).sum(axis=0)
            variances[k] = best_variance(X, r, log_prior, s) if v is None else v
            if variances[k] == 0:
                a[k], mu[k], var[k] = np.exp(log_prior), 0, 0
            else:
                _, a[k], mu[k], var[k] = regress_single_effect(X, r, log_prior, variances[k], s)
        b = a * mu
        spread = sum(
            a[k] * (mu[k] ** 2 + var[k]) @ (X**2).sum(axis=0) - ((X @ b[k]) ** 2).sum()
            for k in range(L)
        )
        s = (((y - X @ b.sum(axis=0)) ** 2).sum() + spread) / n
        bounds.append(lower_bound(X, y, log_prior, a, mu, var, variances, s))
    return a, mu, var, variances, s, np.array(bounds)
