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


def cost_of_signs(z, ld, mismatches, effect_variance, price):
    """Return minus twice the log density of z at its likeliest mismatch, beside effects at a price each.

    Effects are taken one after the other as long as one more, or two, are worth their price.
    """
    costs = []
    for s in mismatches:
        covariance = (1 - s) * ld + s * np.eye(len(z))
        fixed = np.linalg.slogdet(covariance)[1]
        best, taken, kept = z @ np.linalg.solve(covariance, z), 0, 0
        while taken - kept <= 2:
            tried = [covariance + effect_variance * np.outer(r, r) for r in ld]
            forms = [z @ np.linalg.solve(t, z) for t in tried]
            covariance, taken = tried[int(np.argmin(forms))], taken + 1
            if min(forms) + price * taken < best:
                best, kept = min(forms) + price * taken, taken
        costs.append(fixed + best)
    return min(costs)


def with_copies(rng, n, d, copies, effect=0.3, spread=0.05):
    """Return z-scores and LD of d variables, the first of which, with an effect, has near copies."""
    X = rng.standard_normal((n, d))
    X[:, 1:copies] = X[:, :1] + spread * rng.standard_normal((n, copies - 1))
    y = effect * X[:, 0] + rng.standard_normal(n)
    return simple_regressions(X, y), np.corrcoef(X.T)
