"""Relevance determination by plain formulas: the evidence from N x N matrices, EM as the text has it.

Murphy (2012), section 13.7, with y and X centred, N - 1 rows being left by the mean.
"""

import numpy as np
from scipy.special import expit


def log_evidence(X, y, variance, noise, rows):
    """Eq. 13.151 on centred data: the direction of the mean, which has noise alone, left out."""
    covariance = noise * np.eye(len(y)) + (X * variance) @ X.T
    _, determinant = np.linalg.slogdet(covariance)
    determinant -= np.log(noise) * (len(y) - rows)
    return -0.5 * (rows * np.log(2 * np.pi) + determinant + y @ np.linalg.solve(covariance, y))


def posterior(X, y, variance, noise):
    """Eqs. 13.156-13.158 for variables with positive variances: mean and covariance."""
    covariance = np.linalg.inv(X.T @ X / noise + np.diag(1 / variance))
    return covariance @ X.T @ y / noise, covariance


def em(X, y, variance, noise, rows, steps, a=0.0, b=0.0, c=0.0, d=0.0):
    """Eqs. 13.166 and 13.168, with the evidence after every step."""
    reached = []
    for _ in range(steps):
        mean, covariance = posterior(X, y, variance, noise)
        left = np.sum((y - X @ mean) ** 2)
        determined = np.sum(1 - np.diag(covariance) / variance)
        variance = (mean**2 + np.diag(covariance) + 2 * b) / (1 + 2 * a)
        noise = (left + noise * determined + 2 * d) / (rows + 2 * c)
        reached.append(log_evidence(X, y, variance, noise, rows))
    return variance, noise, reached


def laplace_evidence(X, y, variance):
    """Log evidence of labels by Laplace, up to a constant, the intercept being flat; by plain Newton."""
    columns = np.column_stack([np.ones(len(y)), X])
    precision = np.concatenate([[0.0], 1 / variance])
    w = np.zeros(len(precision))
    for _ in range(200):
        p = expit(columns @ w)
        gradient = columns.T @ (y - p) - precision * w
        information = (columns.T * (p * (1 - p))) @ columns + np.diag(precision)
        w = w + np.linalg.solve(information, gradient)
    eta = columns @ w
    p = expit(eta)
    information = (columns.T * (p * (1 - p))) @ columns + np.diag(precision)
    log_posterior = y @ eta - np.logaddexp(0, eta).sum() - 0.5 * precision @ w**2
    _, determinant = np.linalg.slogdet(information)
    return log_posterior - 0.5 * determinant - 0.5 * np.log(variance).sum(), w
