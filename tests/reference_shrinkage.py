"""Shrinkage priors by brute force: mixing densities, unnormalised priors and posteriors on grids.

Plain NumPy and quadrature, each line after its equation; what the solvers are checked against.
"""

import numpy as np
import scipy.integrate
from scipy.special import gammaln


def exponential(variance):
    """Laplace: tau^2 ~ Ga(1, 1/2)."""
    return 0.5 * np.exp(-0.5 * variance)


def gamma(shape):
    """Normal-gamma: tau^2 ~ Ga(shape, 1/2)."""
    return lambda t: np.exp(
        (shape - 1) * np.log(t) - 0.5 * t - shape * np.log(2.0) - gammaln(shape)
    )


def inverse_gamma(degrees):
    """Student: tau^2 ~ IG(degrees / 2, degrees / 2)."""
    a = degrees / 2
    return lambda t: np.exp(a * np.log(a) - gammaln(a) - (a + 1) * np.log(t) - a / t)


def inverse_gamma_scale(shape):
    """HAL: tau^2 | g ~ Ga(1, 1 / (2 g^2)), g ~ IG(shape, 1), integrated over log g."""
    log_g = np.linspace(-12.0, 25.0, 401)
    g = np.exp(log_g)
    weight = np.exp(-shape * log_g - 1 / g - gammaln(shape))

    def density(t):
        inside = weight * np.exp(-np.asarray(t)[..., None] / (2 * g**2)) / (2 * g**2)
        return scipy.integrate.trapezoid(inside, log_g, axis=-1)

    return density


def gamma_rate(shape):
    """NEG: tau^2 | r ~ Exponential(r), r ~ Ga(shape, 1)."""
    return lambda t: shape * (1 + t) ** (-shape - 1)


def half_cauchy(t):
    """Horseshoe: tau ~ C+(0, 1), as a density of tau^2."""
    return 1 / (np.pi * np.sqrt(t) * (1 + t))


def variance_grid(mixing, v, size=1):
    """Return log variances and their density given v (``size`` coefficients of length |v|)."""
    log_t = np.linspace(-60.0, 60.0, 6001)
    t = np.exp(log_t)
    with np.errstate(under="ignore", divide="ignore"):
        log = np.log(mixing(t)) + log_t - 0.5 * v**2 / t - 0.5 * size * (np.log(2 * np.pi) + log_t)
    return log_t, np.exp(log)


def marginal_density(mixing, v):
    """Integrate N(v | 0, t) p(t) over the variance t."""
    log_t, density = variance_grid(mixing, v)
    return scipy.integrate.trapezoid(density, log_t)


def variance_cdf(mixing, v, size=1):
    """Return the distribution function of tau^2 given v."""
    log_t, density = variance_grid(mixing, v, size)
    below = np.concatenate([[0.0], scipy.integrate.cumulative_trapezoid(density, log_t)])
    return lambda t: np.interp(np.log(t), log_t, below / below[-1])


class Grid:
    """The posterior of two coefficients, by summing over a grid of everything that is unknown.

    ``log_prior`` is the unnormalised log density of v = w / (s * scale), of shape (..., 2). Points are
    close to each other near 0, where priors are steep.
    """

    def __init__(self, X, y, rows, log_prior, noise, scales, typical):
        u = np.linspace(-11.5, 11.5, 161)
        axis, width = 1e-4 * np.sinh(u), np.cosh(u)
        self.w = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
        squares = y @ y - 2 * self.w @ (X.T @ y)
        squares += np.einsum("...i,ij,...j", self.w, X.T @ X, self.w)
        total, self.noise_mean = np.zeros(self.w.shape[:2]), 0.0
        for s2 in noise:
            own = np.zeros_like(total)
            for scale in scales:
                size = np.sqrt(s2) * scale
                # Sums over log noise and log scale: Jeffreys' prior and a half-Cauchy one.
                log = log_prior(self.w / size) - 2 * np.log(size)
                if len(scales) > 1:
                    log += np.log(scale) - np.log1p((scale / typical) ** 2)
                own += np.exp(log)
            fit = -0.5 * rows * np.log(s2) - squares / (2 * s2)
            own *= np.exp(fit) * np.outer(width, width)
            total += own
            self.noise_mean += s2 * own.sum()
        self.noise_mean /= total.sum()
        self.probability = total / total.sum()

    def mean(self):
        return np.einsum("ij,ijk->k", self.probability, self.w)

    def deviation(self):
        return np.sqrt(np.einsum("ij,ijk->k", self.probability, self.w**2) - self.mean() ** 2)

    def positive(self):
        return np.einsum("ij,ijk->k", self.probability, 0.5 * (np.sign(self.w) + 1))


def columns_used(X, w, noise, rows, nats):
    """Return the columns that a draw uses: least squares of its fit, one column after the other."""
    fit, used = X @ w, []

    def distance(columns):
        left = fit - X[:, columns] @ np.linalg.lstsq(X[:, columns], fit, rcond=None)[0]
        return 0.5 * rows * np.log1p(left @ left / (rows * noise))

    while len(used) < X.shape[1]:
        here = distance(used)
        there = {j: distance([*used, j]) for j in range(X.shape[1]) if j not in used}
        nearest = min(there.values())
        if here - nearest < nats:
            break
        left = fit - X[:, used] @ np.linalg.lstsq(X[:, used], fit, rcond=None)[0]
        as_good = [j for j, d in there.items() if d <= nearest + nats and d <= here - nats]
        share = w * np.linalg.norm(X, axis=0) * np.sign(X.T @ left)
        used.append(max(as_good, key=lambda j: share[j]))
    return sorted(used)


def bayesian_lasso(X, y, rate, states, rng, chains=100, burn_in=100):
    """Return draws of w with density exp(-rate |w| / s) by the three steps of Park & Casella (2008).

    One block after the other, nothing integrated out; columns and y are centred. ``states`` are those of
    each of some chains that run side by side.
    """
    rows, count = X.shape
    gram, xty = X.T @ X, X.T @ y
    variance, noise = np.ones((chains, count)), np.full(chains, np.var(y))
    draws = np.empty((burn_in + states, chains, count))
    for state in range(burn_in + states):
        covariance = np.linalg.inv(gram + np.eye(count) / variance[:, None, :])
        spread = np.linalg.cholesky(noise[:, None, None] * covariance)
        w = covariance @ xty + np.einsum("cij,cj->ci", spread, rng.standard_normal((chains, count)))
        left = np.sum((y - w @ X.T) ** 2, axis=1) + np.sum(w**2 / variance, axis=1)
        noise = 0.5 * left / rng.gamma(0.5 * (rows - 1 + count), size=chains)
        variance = 1 / rng.wald(rate * np.sqrt(noise)[:, None] / np.abs(w), rate**2)
        draws[state] = w
    return draws[burn_in:].reshape(-1, count)


def logistic_horseshoe(X, y, typical, states, rng, widest, burn_in=500):
    """Draw coefficients of a logistic regression under a horseshoe, with a flat intercept.

    A factor N(0, widest^2) stands beside the prior of each of them.

    Inverse gamma variables make the half-Cauchy laws (Makalic & Schmidt 2016); Polya-Gamma variables are
    sums of gamma variables, the far terms at their mean (Polson, Scott & Windle 2013).
    """
    n, d = X.shape
    design, kappa = np.column_stack([np.ones(n), X]), y - 0.5
    squares = (np.arange(1, 101) - 0.5) ** 2
    far = np.sum(1 / (np.arange(101, 100_000) - 0.5) ** 2)
    local, helper, scale, other = np.ones(d), np.ones(d), typical**2, 1.0
    w, draws = np.zeros(d + 1), np.empty((states, d))
    for state in range(-burn_in, states):
        tilt = (design @ w / (2 * np.pi)) ** 2
        terms = rng.standard_exponential((n, 100)) / (squares + tilt[:, None])
        omega = (terms.sum(axis=1) + far) / (2 * np.pi**2)
        precision = (design.T * omega) @ design
        precision[np.arange(1, d + 1), np.arange(1, d + 1)] += 1 / (local * scale) + 1 / widest**2
        lower = np.linalg.cholesky(precision)
        half = np.linalg.solve(lower, design.T @ kappa) + rng.standard_normal(d + 1)
        w = np.linalg.solve(lower.T, half)
        local = (1 / helper + w[1:] ** 2 / (2 * scale)) / rng.standard_exponential(d)
        helper = (1 + 1 / local) / rng.standard_exponential(d)
        scale = (1 / other + np.sum(w[1:] ** 2 / local) / 2) / rng.standard_gamma((d + 1) / 2)
        other = (1 / typical**2 + 1 / scale) / rng.standard_exponential()
        if state >= 0:
            draws[state] = w[1:]
    return draws
