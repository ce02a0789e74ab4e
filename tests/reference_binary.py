"""Plain NumPy oracles for labels and counts: integrals, sums over models, the bound."""

import itertools

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, expit, log_expit, logsumexp


def log_likelihood(family, y, eta, weights):
    if family == "binomial":
        return weights @ (y * log_expit(eta) + (1 - y) * log_expit(-eta))
    return weights @ (y * eta - np.exp(eta))


def integrate_model(family, X, y, weights, variance, *, held=None, nodes=9):
    """Log evidence, means and covariance of (intercept, coefficients) of one model.

    The intercept is flat, coefficients have N(0, variance); columns of ``held`` precisions N(0, 1 /
    held). Gauss-Hermite quadrature around the mode, importance-weighted: exact as nodes grow.
    """
    F = np.column_stack([np.ones(len(y)), X])
    prior = np.full(F.shape[1], 1.0 / variance)
    prior[0] = 0.0
    if held is not None:
        prior[1 : 1 + len(held)] = held

    def minus_log(b):
        return -log_likelihood(family, y, F @ b, weights) + 0.5 * prior @ b**2

    def slope(b):
        mean = expit(F @ b) if family == "binomial" else np.exp(F @ b)
        return -F.T @ (weights * (y - mean)) + prior * b

    mode = minimize(minus_log, np.zeros(len(prior)), jac=slope, tol=1e-12).x
    mean = expit(F @ mode) if family == "binomial" else np.exp(F @ mode)
    bend = mean * (1 - mean) if family == "binomial" else mean
    hessian = (F.T * (weights * bend)) @ F + np.diag(prior)
    root = np.linalg.cholesky(np.linalg.inv(hessian)) * 1.15
    t, w = np.polynomial.hermite_e.hermegauss(nodes)
    grid = np.array(list(itertools.product(t, repeat=len(prior))))
    logs = np.array(list(itertools.product(np.log(w), repeat=len(prior)))).sum(axis=1)
    points = mode + grid @ root.T
    eta = points @ F.T
    if family == "binomial":
        values = (log_expit(eta) * y + log_expit(-eta) * (1 - y)) @ weights
    else:
        values = (y * eta - np.exp(eta)) @ weights
    values -= 0.5 * points**2 @ prior
    logs = logs + 0.5 * (grid**2).sum(axis=1) + values + np.linalg.slogdet(root)[1]
    own = prior[1:]
    total = logsumexp(logs) + 0.5 * np.log(own / (2 * np.pi)).sum()
    p = np.exp(logs - logsumexp(logs))
    mean = p @ points
    covariance = (points - mean).T @ (p[:, None] * (points - mean))
    return total, mean, covariance


def laplace_model(family, X, y, weights, variance):
    """The same by Laplace's approximation: log evidence and mode."""
    F = np.column_stack([np.ones(len(y)), X])
    prior = np.append(0.0, np.full(X.shape[1], 1.0 / variance))
    b = np.zeros(len(prior))
    for _ in range(200):
        mean = expit(F @ b) if family == "binomial" else np.exp(F @ b)
        bend = mean * (1 - mean) if family == "binomial" else mean
        hessian = (F.T * (weights * bend)) @ F + np.diag(prior)
        step = np.linalg.solve(hessian, F.T @ (weights * (y - mean)) - prior * b)
        b = b + step / max(1.0, np.abs(F @ step).max())
    value = log_likelihood(family, y, F @ b, weights) - 0.5 * prior @ b**2
    value += 0.5 * np.log(prior[1:]).sum() - 0.5 * np.linalg.slogdet(hessian)[1]
    return value + 0.5 * np.log(2 * np.pi), b


def exact_posterior(family, X, y, weights, variance, beta, *, integrate=integrate_model):
    """Inclusion probabilities and mean coefficients over all models, X standardised.

    One inclusion probability ~ Beta(*beta) is shared.
    """
    D = X.shape[1]
    models = [m for k in range(D + 1) for m in itertools.combinations(range(D), k)]
    logs, means = [], []
    for model in models:
        evidence, mean, *_ = integrate(family, X[:, list(model)], y, weights, variance)
        a, b = beta
        logs.append(evidence + betaln(a + len(model), b + D - len(model)) - betaln(a, b))
        full = np.zeros(D)
        full[list(model)] = mean[1:]
        means.append(full)
    p = np.exp(np.array(logs) - logsumexp(logs))
    inside = np.array([[j in m for j in range(D)] for m in models])
    return p @ inside, p @ np.array(means), logsumexp(logs)


def bound_mean_field(X, y, weights, variance, log_odds, rounds=3000):
    """Mean field with the Jaakkola bound, intercept integrated out, by plain coordinate updates.

    Returns inclusion probabilities, means given inclusion, xi and the lower bound.
    """
    N, D = X.shape
    m, w, xi = np.full(D, 0.5), np.zeros(D), np.ones(N)
    for _ in range(rounds):
        h = weights * np.tanh(xi / 2) / (2 * xi)
        centred = X - h @ X / h.sum()
        target = weights * (y - 0.5)
        c = (h[:, None] * centred**2).sum(axis=0)
        for j in range(D):
            others = centred @ (m * w) - centred[:, j] * m[j] * w[j]
            w[j] = (centred[:, j] @ target - (h * centred[:, j]) @ others) / (c[j] + 1 / variance)
            m[j] = expit(
                log_odds
                + 0.5 * np.log(1 / variance / (c[j] + 1 / variance))
                + 0.5 * (c[j] + 1 / variance) * w[j] ** 2
            )
        spread = m * (w**2 + 1 / (c + 1 / variance)) - (m * w) ** 2
        eta = centred @ (m * w) + target.sum() / h.sum()
        xi = np.sqrt(eta**2 + centred**2 @ spread + 1 / h.sum())
    return m, w, xi, lower_bound(X, y, weights, variance, log_odds, m, w, xi)


def bound_mean_field_em(X, y, weights, law, beta, steps=100, rounds=60):
    """The same with the slab's variance and the shared log odds by EM, from variance 1.

    ``law`` are shape and rate of the Gamma law of 1 / variance, ``beta`` is that of the probability.
    Returns inclusion probabilities, the variance and the log odds.
    """
    (shape, rate), (a, b) = law, beta
    variance, log_odds = 1.0, np.log(a / b)
    for _ in range(steps):
        m, w, xi, _ = bound_mean_field(X, y, weights, variance, log_odds, rounds)
        h = weights * np.tanh(xi / 2) / (2 * xi)
        c = (h[:, None] * (X - h @ X / h.sum()) ** 2).sum(axis=0)
        squares = m @ (w**2 + 1 / (c + 1 / variance))
        variance = (squares + 2 * rate) / (m.sum() + 2 * shape)
        p = (m.sum() + a) / (len(m) + a + b)
        log_odds = np.log(p / (1 - p))
    return m, variance, log_odds


def lower_bound(X, y, weights, variance, log_odds, m, w, xi):
    """The bound on log evidence from its definition, given factors and xi; the intercept is flat."""
    lam = np.tanh(xi / 2) / (4 * xi)
    h = 2 * lam * weights
    mean_x = h @ X / h.sum()
    centred = X - mean_x
    c = (h[:, None] * centred**2).sum(axis=0)
    s = 1 / (c + 1 / variance)
    v = m * w
    second = m * (w**2 + s) - v**2
    # The intercept given w is Gaussian with precision sum(h).
    level = (weights @ (y - 0.5)) / h.sum()
    eta = level + centred @ v
    square = eta**2 + centred**2 @ second + 1 / h.sum()
    rows = log_expit(xi) - xi / 2 + lam * xi**2 + (y - 0.5) * eta - lam * square
    total = weights @ rows + 0.5 * np.log(2 * np.pi * np.e / h.sum())
    prior_in, prior_out = log_expit(log_odds), log_expit(-log_odds)
    tiny = 1e-300
    total -= np.sum(m * (np.log(m + tiny) - prior_in) + (1 - m) * (np.log1p(-m + tiny) - prior_out))
    slab = 0.5 * ((w**2 + s) / variance - 1 - np.log(s / variance))
    return total - np.sum(m * slab)


def polya_gamma_density(x, tilt, terms=200):
    """The density of PG(1, z) by its alternating series."""
    k = np.arange(terms)[:, None]
    each = (-1.0) ** k * (2 * k + 1) / np.sqrt(2 * np.pi * x**3)
    each = each * np.exp(-((2 * k + 1) ** 2) / (8 * x))
    return np.cosh(tilt / 2) * np.exp(-(tilt**2) * x / 2) * each.sum(axis=0)
