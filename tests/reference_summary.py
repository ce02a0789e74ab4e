"""Summary statistics in plain NumPy, as textbooks have them: a regression for each variable."""

import numpy as np


def simple_regressions(X, y):
    """Return the t-statistic of each column in a regression on it and an intercept."""
    found = []
    for x in X.T:
        table = np.column_stack([np.ones(len(y)), x])
        coef, *_ = np.linalg.lstsq(table, y, rcond=None)
        rest = y - table @ coef
        noise = rest @ rest / (len(y) - 2)
        found.append(coef[1] / np.sqrt(noise * np.linalg.inv(table.T @ table)[1, 1]))
    return np.array(found)


def minus_log_density(z, covariance):
    """Return minus the log density of a normal vector of mean 0, up to a constant."""
    _, log_determinant = np.linalg.slogdet(covariance)
    return 0.5 * (log_determinant + z @ np.linalg.solve(covariance, z))


def given_the_others(z, covariance):
    """Return mean and variance of each entry of a normal vector of mean 0 given all others."""
    mean, variance = np.empty(len(z)), np.empty(len(z))
    for j in range(len(z)):
        rest = np.delete(np.arange(len(z)), j)
        weights = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, j])
        mean[j] = weights @ z[rest]
        variance[j] = covariance[j, j] - weights @ covariance[rest, j]
    return mean, variance


def chain(rng, n, d, rho):
    """Return standardised rows whose neighbouring columns correlate."""
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return (X - X.mean(axis=0)) / X.std(axis=0)
