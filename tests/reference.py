"""The Variational Garrote in plain NumPy, as its paper prints it: the judge of the solvers.

Equation numbers are those of Kappen & Gomez (2014). N is the number of rows, ``chi`` the covariance
matrix X'X / N, ``b`` the covariances X'y / N and ``variance`` that of y, all of centred data.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear
from scipy.special import expit, logit, xlogy
from scipy.stats import truncnorm


class Data(NamedTuple):
    """Centred rows and their moments."""

    X: np.ndarray
    y: np.ndarray
    chi: np.ndarray
    b: np.ndarray
    variance: float
    n: int


class Solution(NamedTuple):
    """Inclusion probabilities, weights and noise precision at one gamma, with their free energy."""

    gamma: float
    m: np.ndarray
    w: np.ndarray
    beta: float
    free_energy: float


def centred(X, y) -> Data:
    X = np.asarray(X, dtype=float)
    X, y, n = X - X.mean(axis=0), y - np.mean(y), len(y)
    return Data(X, y, X.T @ X / n, X.T @ y / n, float(y @ y / n), n)


def free_energy(data: Data, gamma, m, w, beta) -> float:
    """Eq. 7; ``gamma`` may differ from variable to variable."""
    v = m * w
    variances = m * (1 - m) * w**2 * np.diag(data.chi)
    misfit = v @ data.chi @ v + variances.sum() - 2 * v @ data.b + data.variance
    entropy = xlogy(m, m).sum() + xlogy(1 - m, 1 - m).sum()
    likelihood = beta * data.n / 2 * misfit - data.n / 2 * np.log(beta / (2 * np.pi))
    return float(likelihood - np.sum(gamma * m) + entropy)


def implied_probability(data: Data, gamma, w, beta):
    """Right-hand side of Eq. 8."""
    return expit(gamma + beta * data.n / 2 * w**2 * np.diag(data.chi))


def weights(data: Data, m):
    """Eq. 9."""
    own = np.diag(data.chi)
    return np.linalg.solve(data.chi * m + np.diag((1 - m) * own), data.b)


def noise_variance(data: Data, m, w) -> float:
    """Eq. 10, with the floor that noiseless data need."""
    return max(data.variance - (m * w) @ data.b, 1e-10 * data.variance)


def certificate(data: Data, gamma, m, w, beta):
    """Violations of Eqs. 8, 9 (by rows, in standard errors) and 10 (before Eq. 9 is used in it)."""
    own = np.diag(data.chi)
    residual = data.y - data.X @ (m * w)
    implied = data.X.T @ residual / (data.n * own) + m * w
    spread = residual @ residual / data.n + np.sum(m * (1 - m) * w**2 * own)
    spread = max(spread, 1e-10 * data.variance)
    return (
        np.abs(m - implied_probability(data, gamma, w, beta)).max(),
        (np.abs(w - implied) * np.sqrt(beta * data.n * own)).max(),
        abs(beta * spread - 1),
    )


def implied_weights(data: Data, m, w):
    """What row i of Eq. 9 says about w_i, given all others."""
    return data.X.T @ (data.y - data.X @ (m * w)) / (data.n * np.diag(data.chi)) + m * w


def iterate(data: Data, gamma, m, tol=1e-7, max_iter=20_000) -> Solution:
    """Lines 6-12 of Algorithm 1: damped fixed point iteration from given probabilities."""
    eta = 1.0
    for _ in range(max_iter):
        w = weights(data, m)
        beta = 1 / noise_variance(data, m, w)
        implied = implied_probability(data, gamma, w, beta)
        if np.abs(implied - m).max() <= tol:
            break
        if eta * np.abs(implied - m).max() > 0.1 and eta > 1e-3:
            eta /= 2
        m = (1 - eta) * m + eta * implied
    return Solution(float(gamma), m, w, beta, free_energy(data, gamma, m, w, beta))


def first_gamma(data: Data, eps=1e-3) -> float:
    """Eq. 13, for columns of any scale."""
    return float(logit(eps) - np.max(data.n * data.b**2 / (2 * np.diag(data.chi) * data.variance)))


def paper_grid(data: Data, count=50) -> np.ndarray:
    """The paper's range: from gamma_min to 0.02 gamma_min, in even steps."""
    first = first_gamma(data)
    return np.linspace(first, 0.02 * first, count)


def algorithm_1(data: Data, gammas, tol=1e-7):
    """Forward and backward solutions; the forward pass ends before half of the rank is passed."""
    limit = (len(np.unique(data.X, axis=0)) - 1) / 2
    forward, m = [], np.zeros(len(data.b))
    for gamma in gammas:
        solution = iterate(data, gamma, m, tol)
        if solution.m.sum() > limit and forward:
            break
        m = solution.m
        forward.append(solution)
    backward = [forward[-1]]
    for solution in forward[-2::-1]:
        backward.append(iterate(data, solution.gamma, backward[-1].m, tol))
    return forward, backward[::-1]


def settle_by_sweeps(data: Data, gamma, coef, noise, tol=1e-8):
    """Update one variable after the other by Eqs. 8-10 until nothing moves; return m, m w and noise."""
    m, w, coef = np.zeros(len(coef)), np.zeros(len(coef)), coef.copy()
    for _ in range(20_000):
        before, old = coef.copy(), noise
        for j in range(len(coef)):
            w[j] = coef[j] + (data.b[j] - data.chi[j] @ coef) / data.chi[j, j]
            m[j] = expit(gamma + 0.5 * data.n / noise * data.chi[j, j] * w[j] ** 2)
            coef[j] = m[j] * w[j]
        left = data.variance - 2 * coef @ data.b + coef @ data.chi @ coef
        left += np.sum(m * (1 - m) * w**2 * np.diag(data.chi))
        noise = max(left, 1e-10 * data.variance)
        if max(np.abs(coef - before).max(), abs(noise / old - 1)) < tol:
            break
    return m, coef, noise


def reheat_from_the_dense_side(data: Data, gammas, limit):
    """Anneal by sweeps to the last gamma before 2 limit variables are in, and all the way back.

    Returns the inclusion probabilities on the way back, or None where there are more than ``limit``.
    """
    coef, noise, visited = np.zeros(len(data.b)), data.variance, []
    for gamma in gammas:
        m, there, left = settle_by_sweeps(data, gamma, coef, noise)
        if m.sum() > 2 * limit:
            break
        coef, noise = there, left
        visited.append(gamma)
    back = {}
    for gamma in visited[-2::-1]:
        m, coef, noise = settle_by_sweeps(data, gamma, coef, noise)
        back[gamma] = m if m.sum() <= limit else None
    return back


def example_1(seed):
    """Independent inputs, one true variable: 50 rows, 100 columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 100))
    return X, X[:, 0] + rng.standard_normal(50)


def example_2(seed):
    """Inputs with correlation 0.5^|i - j|, five true variables: 50 rows, 100 columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 100))
    for j in range(1, 100):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    return X, X[:, [0, 1, 4, 9, 49]].sum(axis=1) + rng.standard_normal(50)


def sparse_regression(n=100, d=20, size=3, seed=0, noise=1.0, correlation=0.0):
    """X, y and truth: ``size`` true variables of alternating sign, at the first columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    truth = np.zeros(d)
    truth[:size] = 1.5 * (-1.0) ** np.arange(size)
    return X, X @ truth + noise * rng.standard_normal(n), truth


def paired_mean_field(gram, xty, yty, n, log_odds, variance, noise=None, sweeps=3000):
    """Carbonetto & Stephens (2012): update q(w_j, s_j) in turn, and the noise variance by its bound.

    The slab is N(0, noise * variance). Returns inclusion probabilities, means given inclusion, noise.
    """
    D, c, ridge = len(xty), np.diag(gram), 1.0 / variance
    alpha, mu = np.zeros(D), np.zeros(D)
    sigma = yty / n if noise is None else noise
    for _ in range(sweeps):
        for j in range(D):
            without = xty[j] - gram[j] @ (alpha * mu) + c[j] * alpha[j] * mu[j]
            mu[j] = without / (c[j] + ridge)
            evidence = 0.5 * np.log(ridge / (c[j] + ridge))
            evidence += 0.5 * (c[j] + ridge) * mu[j] ** 2 / sigma
            alpha[j] = 1.0 / (1.0 + np.exp(-(log_odds[j] + evidence)))
        if noise is None:
            mean, spread = alpha * mu, sigma / (c + ridge)
            squares = alpha * (mu**2 + spread)
            residual = yty - 2 * xty @ mean + mean @ gram @ mean
            total = residual + c @ (squares - mean**2) + ridge * squares.sum()
            sigma = total / (n + alpha.sum())
    return alpha, mu, sigma


def paired_em(gram, xty, yty, n, a, b, variance=1.0, noise=None, steps=2000):
    """Paired mean field with its hyperparameters by EM: the E step is `paired_mean_field`'s.

    The M step has the modes under 1 / variance ~ Gamma(1/2, 1/2) and pi ~ Beta(a, b), in log variance
    and log odds. Returns inclusion probabilities, means, noise, variance and pi.
    """
    D, c = len(xty), np.diag(gram)
    pi = a / (a + b)
    for _ in range(steps):
        odds = np.full(D, logit(pi))
        alpha, mu, sigma = paired_mean_field(gram, xty, yty, n, odds, variance, noise, 200)
        squares = np.sum(alpha * (mu**2 / sigma + 1 / (c + 1 / variance)))
        before = variance, pi
        variance, pi = (squares + 1) / (alpha.sum() + 1), (alpha.sum() + a) / (D + a + b)
        if np.allclose(before, (variance, pi), rtol=1e-8):
            break
    return alpha, mu, sigma, variance, pi


def bernoulli_gaussian_em(X, y, m, a, b, variance=1.0, steps=3000):
    """Murphy (2012), 13.2.3.3: q(s_j) and q(w_j) apart; s_j in turn, all w_j at once, then the priors.

    Returns inclusion probabilities, means of the weights, noise, slab variance (in units of the noise)
    and pi. The slab variance is iterated to its own fixed point.
    """
    n, D = X.shape
    G, c, pi = X.T @ X, np.sum(X**2, axis=0), a / (a + b)

    def weigh(m):
        system = G * np.outer(m, m) + np.diag(m * (1 - m) * c + 1 / variance)
        mu = np.linalg.solve(system, m * (X.T @ y))
        r = y - X @ (m * mu)
        return mu, (r @ r + np.sum((m * (1 - m) * c + 1 / variance) * mu**2)) / n

    mu, noise = weigh(m)
    for _ in range(steps):
        spread = 1 / (m * c + 1 / variance)
        for j in range(D):
            without = y - X @ (m * mu) + m[j] * mu[j] * X[:, j]
            gain = mu[j] * (X[:, j] @ without) - 0.5 * c[j] * mu[j] ** 2
            m[j] = expit(logit(pi) + gain / noise - 0.5 * c[j] * spread[j])
        mu, noise = weigh(m)
        for _ in range(200):
            before, counted = variance, variance * m * c / (1 + variance * m * c)
            variance = (mu @ mu / noise + 1) / (counted.sum() + 1)
            if variance == before:
                break
        pi = (m.sum() + a) / (D + a + b)
    return m, mu, noise, variance, pi


def narrow_spike_em(X, y, p, spike, a, b, variance=1.0, steps=3000):
    """Rockova & George (2014), with the mode taken in w / sqrt(noise): classify, then ridge."""
    n, D = X.shape
    pi, noise = a / (a + b), y @ y / n
    w = np.zeros(D)
    for step in range(steps):
        if step:
            slab = logit(pi) + 0.5 * np.log(spike / variance)
            p = expit(slab + 0.5 * w**2 / noise * (1 / spike - 1 / variance))
        penalty = p / variance + (1 - p) / spike
        w = np.linalg.solve(X.T @ X + np.diag(penalty), X.T @ y)
        noise = (np.sum((y - X @ w) ** 2) + penalty @ w**2) / n
        if step:
            variance = max((p @ w**2 / noise + 1) / (p.sum() + 1), spike)
            pi = (p.sum() + a) / (D + a + b)
    return p, w, noise, variance, pi


def lasso_by_shooting(X, y, thresholds, sweeps=5000):
    """Minimise |y - Xw|^2 / (2 N) + sum of thresholds_j |w_j| (Murphy 2012, algorithm 13.1)."""
    n, d = X.shape
    coef, residual, curvature = np.zeros(d), y.copy(), np.sum(X**2, axis=0) / n
    for _ in range(sweeps):
        before = coef.copy()
        for j in range(d):
            c = X[:, j] @ residual / n + curvature[j] * coef[j]
            new = np.sign(c) * max(abs(c) - thresholds[j], 0.0) / curvature[j]
            residual += X[:, j] * (coef[j] - new)
            coef[j] = new
        if np.abs(coef - before).max() < 1e-14:
            break
    return coef


def hierarchical_adaptive_lasso(X, y, a, b, noise, steps=2000):
    """Run the EM of Murphy (2012), Eqs. 13.139-13.140, with the noise variance that 13.140 drops."""
    n, coef = len(y), np.zeros(X.shape[1])
    for _ in range(steps):
        before = coef
        coef = lasso_by_shooting(X, y, noise / n * (a + 1) / (b + np.abs(coef)))
        if np.abs(coef - before).max() < 1e-13:
            break
    return coef


def concave_cost(name, t, shape, w):
    """Return what MCP (gamma = shape) or SCAD (a = shape) charges for a coefficient at strength t."""
    size = abs(w)
    if name == "MCP":
        return t * size - size**2 / (2 * shape) if size < shape * t else shape * t**2 / 2
    if size <= t:
        return t * size
    if size <= shape * t:
        return (2 * shape * t * size - size**2 - t**2) / (2 * (shape - 1))
    return t**2 * (shape + 1) / 2


def concave_shrink(name, t, shape, z):
    """Return the best coefficient where least squares gives z and the column has mean square 1."""
    size = abs(z)
    candidates = [size]
    if name == "MCP" and shape > 1:
        candidates.append(min(max((size - t) / (1 - 1 / shape), 0.0), shape * t))
    if name == "SCAD":
        candidates.append(min(max(size - t, 0.0), t))
    if name == "SCAD" and shape > 2:
        middle = ((shape - 1) * size - shape * t) / (shape - 2)
        candidates.append(min(max(middle, t), shape * t))
    values = [(w - size) ** 2 / 2 + concave_cost(name, t, shape, w) for w in (0.0, *candidates)]
    return np.sign(z) * (0.0, *candidates)[int(np.argmin(values))]


def concave_path_by_shooting(X, y, name, shape, strengths, sweeps=2000):
    """Sweep over the columns in turn until nothing moves, each strength from the fit before.

    Columns are centred and of mean square 1. Returns the coefficients at each strength.
    """
    gram, right = X.T @ X / len(y), X.T @ y / len(y)
    w, found = np.zeros(X.shape[1]), []
    for t in strengths:
        for _ in range(sweeps):
            moved = 0.0
            for j in range(len(w)):
                new = concave_shrink(name, t, shape, w[j] + right[j] - gram[j] @ w)
                moved, w[j] = max(moved, abs(new - w[j])), new
            if moved < 1e-7:
                break
        found.append(w.copy())
    return found


def group_lasso(X, y, groups, strength, norm=2, l1_ratio=0.0, steps=20_000):
    """Proximal gradient for ||y - Xw||^2 / (2 N) plus norms of groups, as the definitions read.

    Steps have momentum, which is dropped where it points uphill. The group's norm has the weight
    sqrt(size), or size where it is the largest entry's; that one's proximal point is z less its
    projection on an l1 ball, found by bisection.
    """
    N, D = X.shape
    step = N / np.linalg.norm(X, 2) ** 2
    w, beyond, speed = np.zeros(D), np.zeros(D), 1.0
    for _ in range(steps):
        z = beyond + step * X.T @ (y - X @ beyond) / N
        z = np.sign(z) * np.maximum(np.abs(z) - step * strength * l1_ratio, 0.0)
        new = np.zeros(D)
        for label in np.unique(groups):
            own = groups == label
            size = np.count_nonzero(own)
            limit = step * strength * (1 - l1_ratio) * (np.sqrt(size) if norm == 2 else size)
            if norm == 2:
                length = np.linalg.norm(z[own])
                new[own] = max(0.0, 1.0 - limit / length) * z[own] if length else 0.0
            elif np.abs(z[own]).sum() > limit:
                low, high = 0.0, np.abs(z[own]).max()
                level = 0.5 * (low + high)
                while low < level < high:
                    excess = np.maximum(np.abs(z[own]) - level, 0.0).sum()
                    low, high = (level, high) if excess > limit else (low, level)
                    level = 0.5 * (low + high)
                new[own] = np.clip(z[own], -level, level)
        faster = 0.5 + np.sqrt(0.25 + speed**2)
        share = (speed - 1) / faster if (beyond - new) @ (new - w) <= 0 else 0.0
        beyond, speed = new + share * (new - w), faster if share else 1.0
        if np.abs(new - w).max() < 1e-15:
            break
        w = new
    return w


def differences(n, edges):
    """One row for each edge (i, j) of a graph on n nodes: z_i - z_j."""
    rows = np.zeros((len(edges), n))
    for row, (i, j) in zip(rows, edges, strict=True):
        row[i] += 1.0
        row[j] -= 1.0
    return rows


def fused_by_dual(x, rows, limits):
    """argmin ||z - x||^2 / 2 + sum_k limits_k |rows_k z|, by its dual: least squares within a box."""
    free = np.asarray(limits) > 0
    if not free.any():
        return np.array(x, dtype=float)
    box = np.asarray(limits, dtype=float)[free]
    dual = lsq_linear(rows[free].T, x, (-box, box), method="bvls", tol=1e-15, max_iter=10_000)
    return x - rows[free].T @ dual.x


def project_l1_ball_by_sorting(x, radius, weights):
    """The text's Eqs. 13.75-13.76: try every number of kept coefficients, the largest ratios first."""
    size = np.abs(x)
    if weights @ size <= radius:
        return np.array(x, dtype=float)
    order = sorted(np.flatnonzero(weights), key=lambda j: -size[j] / weights[j])
    kept = squares = level = 0.0
    for j in order:
        kept, squares = kept + weights[j] * size[j], squares + weights[j] ** 2
        level = max(level, (kept - radius) / squares)
    return np.sign(x) * np.maximum(size - level * weights, 0.0)


def obeys_variational_inequality(penalty, x, z, candidates):
    """Whether penalty(c) >= penalty(z) + (x - z)'(c - z): for all c exactly if z is prox(x)."""
    slack = 1e-10 * (1.0 + np.abs(x).max(initial=0.0)) ** 2
    return all(penalty(c) >= penalty(z) + (x - z) @ (c - z) - slack for c in candidates)


def lasso_by_proximal_gradient(X, slope, threshold, bend=1.0, steps=100_000):
    """Minimise a mean loss of b + Xw, plus threshold |w|_1, by proximal gradient steps with momentum.

    ``slope`` gives minus the derivative of each row's loss at its linear predictor; no second derivative
    is above ``bend``. Returns b and w.
    """
    Z = np.column_stack([np.ones(len(X)), X])
    rate = len(X) / (bend * np.linalg.norm(Z, 2) ** 2)
    v, beyond, speed = np.zeros(Z.shape[1]), np.zeros(Z.shape[1]), 1.0
    for _ in range(steps):
        moved = beyond + rate * Z.T @ slope(Z @ beyond) / len(X)
        new = np.sign(moved) * np.maximum(np.abs(moved) - rate * threshold, 0.0)
        new[0] = moved[0]
        faster = 0.5 + np.sqrt(0.25 + speed**2)
        # Momentum that points uphill is dropped.
        share = (speed - 1) / faster if (beyond - new) @ (new - v) <= 0 else 0.0
        beyond, speed = new + share * (new - v), faster if share else 1.0
        if np.abs(new - v).max() < 1e-15:
            break
        v = new
    return v[0], v[1:]


def penalised_by_proximal_gradient(X, slope, loss, weights, offset, shrink, steps=20_000):
    """Minimise a weighted mean loss of offset + b + XB plus a penalty of B by proximal gradient steps.

    Linear predictors have a row for every sample and a column for every output. ``loss`` gives the loss
    of each row there, ``slope`` minus its derivatives, ``shrink(B, rate)`` the proximal point of B.
    Steps have momentum, and are halved until they lower what they promise to. Returns b and B.
    """
    Z, share = np.column_stack([np.ones(len(X)), X]), weights / weights.sum()
    rate = 1.0
    v = beyond = np.zeros((Z.shape[1], offset.shape[1]))
    speed, value = 1.0, np.inf
    for _ in range(steps):
        eta = offset + Z @ beyond
        downhill, here = Z.T @ (share[:, None] * slope(eta)), share @ loss(eta)
        while True:
            moved = beyond + rate * downhill
            new = np.vstack([moved[:1], shrink(moved[1:], rate)])
            change, reached = new - beyond, share @ loss(offset + Z @ new)
            promised = here - np.sum(downhill * change) + np.sum(change**2) / (2 * rate)
            if reached <= promised + 1e-15 * abs(here):
                break
            rate /= 2
        faster = 0.5 + np.sqrt(0.25 + speed**2)
        # Momentum that points uphill is dropped.
        onwards = (speed - 1) / faster if np.sum((beyond - new) * (new - v)) <= 0 else 0.0
        beyond, speed = new + onwards * (new - v), faster if onwards else 1.0
        if np.abs(new - v).max() < 1e-12 and value - reached < 1e-15:
            break
        v, value = new, reached
    return new[0], new[1:]


def probit_lasso_by_em(X, y, threshold, steps=3000):
    """Murphy (2012), exercise 13.9: means of truncated normal variables, then a lasso of them."""
    X = X - X.mean(axis=0)
    b, w = 0.0, np.zeros(X.shape[1])
    for _ in range(steps):
        eta, before = b + X @ w, w
        lower, upper = np.where(y > 0, -eta, -np.inf), np.where(y > 0, np.inf, -eta)
        z = eta + truncnorm.mean(lower, upper)
        b = z.mean()
        w = lasso_by_shooting(X, z - b, np.full(X.shape[1], threshold))
        if np.abs(w - before).max() < 1e-12:
            break
    return b, w


def fused_regression(X, y, edges, alpha, l1_ratio=0.0, weights=None, factor=None):
    """The fused lasso (Murphy 2012, Eq. 13.116 with a design), by bounded least squares on its dual.

    With A the differences and the identity, scaled by what they are charged, the optimum is
    w = H^-1 (X'y / N - A'u), H = X'X / N, where u minimises the length of H^-1/2 (X'y / N - A'u) subject
    to |u| <= charges. Columns have to be independent.
    """
    N, D = X.shape
    weights = np.ones(len(edges)) if weights is None else weights
    factor = np.ones(D) if factor is None else factor
    A = np.concatenate([differences(D, edges), np.eye(D)])
    charges = alpha * np.append((1 - l1_ratio) * weights, l1_ratio * factor)
    A, charges = A[charges > 0], charges[charges > 0]
    lower = np.linalg.cholesky(X.T @ X / N)
    left, right = np.linalg.solve(lower, A.T), np.linalg.solve(lower, X.T @ y / N)
    u = lsq_linear(left, right, (-charges, charges), "bvls", tol=1e-15, max_iter=1000).x
    return np.linalg.solve(lower.T, right - left @ u)


# The classical solvers of the lasso, ||y - Xw||^2 / (2 N) + strength |w|_1, each as its text has it.


def soft(u, a):
    """Return the soft threshold (Murphy 2012, Eq. 13.70)."""
    return np.sign(u) * np.maximum(np.abs(u) - a, 0.0)


def lasso_by_ista(X, y, strength, steps):
    """Return every iterate of the Lecture's section 6.3, whose loss is ||y - Xw||^2 / N.

    Its lambda is 2 strength; its step gamma = N / (2 ||X'X||). The sign of its gradient is put right.
    """
    n, lam = len(y), 2 * strength
    gamma = n / (2 * np.linalg.norm(X.T @ X, 2))
    iterates = [np.zeros(X.shape[1])]
    for _ in range(steps):
        w = iterates[-1]
        iterates.append(soft(w + 2 * gamma / n * X.T @ (y - X @ w), lam * gamma))
    return iterates


def lasso_by_fista(X, y, strength, steps):
    """Return the last iterate of Murphy (2012), Eqs. 13.83-13.85."""
    n = len(y)
    step = n / np.linalg.norm(X.T @ X, 2)
    before = w = np.zeros(X.shape[1])
    for k in range(1, steps + 1):
        ahead = w + (k - 1) / (k + 2) * (w - before)
        before, w = w, soft(ahead + step / n * X.T @ (y - X @ ahead), strength * step)
    return w


def lasso_by_sparsa(X, y, strength, share=0.5, steps=500):
    """Return the last iterate of Murphy (2012), Algorithm 13.2, with ``steps`` at each lambda."""
    n = len(y)
    w, r = np.zeros(X.shape[1]), y
    while True:
        lam = max(share * np.abs(X.T @ r).max() / n, strength)
        alpha, g = np.linalg.norm(X, 2) ** 2 / n, -X.T @ (y - X @ w) / n
        for _ in range(steps):
            new = soft(w - g / alpha, lam / alpha)
            new_g = -X.T @ (y - X @ new) / n
            change = new - w
            if np.abs(change).max() < 1e-12:
                break
            alpha = change @ (new_g - g) / (change @ change)  # Eq. 13.82
            w, g = new, new_g
        r = y - X @ w
        if lam == strength:
            return w


def lasso_by_projected_gradient(X, y, strength, steps):
    """Return the solution of exercise 13.11: w = u - v with u, v >= 0, and safe steps."""
    n = len(y)
    step = n / (2 * np.linalg.norm(X.T @ X, 2))
    u = v = np.zeros(X.shape[1])
    for _ in range(steps):
        g = -X.T @ (y - X @ (u - v)) / n
        u, v = (np.maximum(part - step * (strength + s * g), 0.0) for part, s in ((u, 1), (v, -1)))
    return u - v


def lasso_by_em(X, y, strength, steps, ridge=0.0, groups=None):
    """Return the last iterate of Murphy (2012), section 13.4.4, in the form of Eq. 13.96.

    With sigma^2 = N the prior's gamma is the strength. Precisions are those of Eq. 13.91, of 13.129 with
    a ridge, and of 13.112 with groups.
    """
    left, d, right = np.linalg.svd(X, full_matrices=False)
    V, w = right.T, np.ones(X.shape[1])
    for _ in range(steps):
        size = np.abs(w)
        if groups is not None:
            size = np.sqrt(np.bincount(groups, w**2))[groups]
        psi = size / (strength + ridge * size)
        system = V.T @ (psi[:, None] * V) + len(y) * np.diag(d**-2.0)
        w = psi * (V @ np.linalg.solve(system, left.T @ y / d))
    return w


def lasso_by_subgradient(X, y, strength, steps):
    """Return the best objective of steps 1 / (L sqrt(k)) along a subgradient, the shortest at 0."""
    n = len(y)
    steep = np.linalg.norm(X.T @ X, 2) / n
    w, best = np.zeros(X.shape[1]), np.inf
    for k in range(1, steps + 1):
        r = y - X @ w
        best = min(best, r @ r / (2 * n) + strength * np.abs(w).sum())
        g = X.T @ r / n
        w = w + np.where(w == 0, soft(g, strength), g - strength * np.sign(w)) / (steep * k**0.5)
    return best
