"""Support vector machines by a general solver of their dual, and Staines & Barber's formulas."""

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm


def objective(kernel, coef, intercept, margins):
    """Return w'w + the loss of f = K coef + intercept."""
    return coef @ kernel @ coef + margins.value(kernel @ coef + intercept)


def best_objective(kernel, y, cost):
    """Return the least w'w + sum of cost max(0, 1 - y f), by the dual and a general solver."""
    signed = 0.25 * kernel * np.outer(y, y)

    def value(alpha):
        return alpha @ signed @ alpha - alpha.sum(), 2 * signed @ alpha - 1

    found = minimize(
        value,
        np.zeros(len(y)),
        jac=True,
        method="SLSQP",
        bounds=[(0, c) for c in cost],
        constraints={"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y},
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    assert found.success
    return -found.fun


def bound(kernel, y, C, beta, b, sigma):
    """Return E of Eq. 29 at given means: K holds y_n y_m, nu has the sign that Eq. 28 asks for."""
    signed = kernel * np.outer(y, y)
    nu = 1 - signed @ beta - b * y
    zeta = np.sqrt(sigma**2 + (signed**2).sum(axis=1) * sigma**2)
    hinges = nu * norm.cdf(nu / zeta) + zeta * norm.pdf(nu / zeta)
    return beta @ signed @ beta + sigma**2 * np.trace(signed) + C * hinges.sum()


def sigma_for(kernel, C, error):
    """Return sigma of Eq. 35, with the prefactor 1 / trace(K) that its derivation gives."""
    trace = np.trace(kernel)
    m = np.sqrt(1 + (kernel**2).sum(axis=1)).sum()
    return (np.sqrt(C**2 * m**2 / (8 * np.pi) + error * trace) - C * m / np.sqrt(8 * np.pi)) / trace
