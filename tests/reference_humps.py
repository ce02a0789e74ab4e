"""Two-humped slabs in plain NumPy: noise, signs, models and slabs by sums over grids."""

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, xlogy

# A sum over equal steps errs by exp(-2 (pi deviation / step)^2): by less than rounding up to 400 rows,
# where the logarithm of the noise deviates by 0.07.
LOG_NOISE = np.linspace(-14.0, 10.0, 801)


def log_evidence_by_coefficients(X, y, variance, separation, noise=None, points=241):
    """Return log p(y) of the model of all columns, by a grid over coefficients; for one or two.

    Without a noise variance that is summed over too, with density 1 / noise.
    """
    k, n = X.shape[1], len(y)
    noises = np.exp(np.linspace(-6, 4, 241)) if noise is None else np.array([noise])
    middle = np.linalg.lstsq(X, y, rcond=None)[0]
    logs = []
    for s2 in noises:
        m, s = np.sqrt(separation * variance * s2), np.sqrt((1 - separation) * variance * s2)
        wide = 12.0 * np.sqrt(s2 / np.linalg.eigvalsh(X.T @ X).min())
        axes = [np.linspace(c - wide, c + wide, points) for c in middle]
        w = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, k)
        left = np.sum((y[:, None] - X @ w.T) ** 2, axis=0)
        likelihood = -0.5 * n * np.log(2 * np.pi * s2) - 0.5 * left / s2
        density = np.logaddexp(-0.5 * ((w - m) / s) ** 2, -0.5 * ((w + m) / s) ** 2)
        density -= np.log(2 * s) + 0.5 * np.log(2 * np.pi)
        cell = sum(np.log(axis[1] - axis[0]) for axis in axes)
        logs.append(logsumexp(likelihood + density.sum(axis=1)) + cell)
    if noise is not None:
        return logs[0]
    return logsumexp(logs) + np.log(np.log(noises[1] / noises[0]))


def model_law(X, y, variance, separation, noise=None):
    """Return log p(y), mean, second moments and mean noise of a model, over all of its signs.

    Given noise and signs coefficients and response are jointly Gaussian; the noise is a fine grid.
    """
    k, n = X.shape[1], len(y)
    logs, means, seconds, noises = [], [], [], []
    grid = LOG_NOISE if noise is None else np.array([np.log(noise)])
    step = np.log(grid[1] - grid[0]) if noise is None else 0.0
    narrow = (1 - separation) * variance
    cover = np.eye(n) + narrow * X @ X.T
    gain = narrow * X.T @ np.linalg.inv(cover)
    own = narrow * (np.eye(k) - gain @ X)
    values, vectors = np.linalg.eigh(cover)
    deviation = np.exp(0.5 * grid)
    for t in product((-1.0, 1.0), repeat=k):
        shift = np.sqrt(separation * variance) * np.array(t).reshape(k)
        # y - s X shift in the eigenvectors of its covariance, for every s of the grid.
        off = vectors.T @ y - deviation[:, None] * (vectors.T @ (X @ shift))
        log = -0.5 * n * (np.log(2 * np.pi) + grid) - 0.5 * np.log(values).sum()
        log = log - 0.5 * (off**2 / values).sum(axis=1) / deviation**2 - k * np.log(2) + step
        centre = deviation[:, None] * shift + (y - deviation[:, None] * (X @ shift)) @ gain.T
        logs.append(log)
        means.append(centre)
        seconds.append(
            centre[:, :, None] * centre[:, None, :] + deviation[:, None, None] ** 2 * own
        )
        noises.append(deviation**2)
    logs = np.concatenate(logs)
    total = logsumexp(logs)
    share = np.exp(logs - total)
    mean = share @ np.concatenate(means)
    second = np.tensordot(share, np.concatenate(seconds), 1)
    return total, mean, second, share @ np.concatenate(noises)


def all_models(X, y, log_prior, slabs, noise=None):
    """Return inclusion probabilities, means, second moments, noise, log evidence and slabs' shares.

    ``log_prior`` takes a tuple of columns; ``slabs`` are (log weight, variance, separation).
    """
    D = X.shape[1]
    entries = []
    for weight, variance, separation in slabs:
        for inside in product((False, True), repeat=D):
            own = np.flatnonzero(inside)
            log, mean, second, s2 = model_law(X[:, own], y, variance, separation, noise)
            full, square = np.zeros(D), np.zeros((D, D))
            full[own], square[np.ix_(own, own)] = mean, second
            entries.append((weight + log + log_prior(own), np.array(inside), full, square, s2))
    logs = np.array([entry[0] for entry in entries])
    share = np.exp(logs - logsumexp(logs))
    parts = [np.tensordot(share, np.array([e[i] for e in entries]), 1) for i in (1, 2, 3, 4)]
    by_slab = share.reshape(len(slabs), -1).sum(axis=1)
    return (*parts, logsumexp(logs), by_slab, logs.reshape(len(slabs), -1))


class Factors(NamedTuple):
    """A factorised posterior: q(s_j = 1, t_j = +-1), means of w given each, one spread, the noise."""

    states: np.ndarray
    means: np.ndarray
    spread: np.ndarray
    noise: float

    @property
    def inclusion(self):
        return self.states.sum(axis=0)

    @property
    def coef(self):
        return (self.states * self.means).sum(axis=0)

    @property
    def square(self):
        return (self.states * (self.means**2 + self.spread)).sum(axis=0)


SIGNS = np.array([[1.0], [-1.0]])


def humped_mean_field(
    gram, xty, yty, n, log_odds, variance, separation, noise=None, sweeps=2000, start=None
):
    """Update q(s_j, t_j, w_j) in turn, each over out, + and -, and the noise by its bound.

    w ~ N(t sqrt(separation variance noise), (1 - separation) variance noise) given its sign t.
    Ends where a sweep changes nothing beyond rounding.
    """
    c, D = np.diag(gram), len(xty)
    ridge, place = 1.0 / ((1 - separation) * variance), np.sqrt(separation * variance)
    sigma = yty / n if noise is None else noise
    states, means = np.zeros((2, D)), np.zeros((2, D))
    if start is not None:
        states, means, sigma = start.states.copy(), start.means.copy(), start.noise
    for _ in range(sweeps):
        before = np.concatenate([states, means]), sigma
        for j in range(D):
            coef = (states * means).sum(axis=0)
            without = xty[j] - gram[j] @ coef + c[j] * coef[j]
            pulled = without + ridge * place * np.sqrt(sigma) * SIGNS[:, 0]
            means[:, j] = pulled / (c[j] + ridge)
            logs = log_odds[j] - np.log(2) + 0.5 * np.log(ridge / (c[j] + ridge))
            logs = logs - 0.5 * ridge * place**2 + 0.5 * pulled**2 / (c[j] + ridge) / sigma
            states[:, j] = np.exp(logs - np.logaddexp(0.0, np.logaddexp(*logs)))
        now = Factors(states, means, sigma / (c + ridge), sigma)
        if noise is None:
            residual = yty - 2 * xty @ now.coef + now.coef @ gram @ now.coef
            total = residual + c @ (now.square - now.coef**2) + ridge * now.square.sum()
            pull = ridge * place * (states * SIGNS * means).sum()
            rows = n + states.sum()
            sigma = ((np.sqrt(pull**2 + 4 * rows * total) - pull) / (2 * rows)) ** 2
        moved = np.abs(np.concatenate([states, means]) - before[0]).max()
        if moved < 1e-15 and abs(sigma - before[1]) < 1e-15:
            break
    return Factors(states, means, sigma / (c + ridge), sigma)


def humped_free_energy(gram, xty, yty, n, log_odds, variance, separation, q):
    """Return minus the bound on log p(y), up to the prior of the empty model, from its definition."""
    c = np.diag(gram)
    narrow, place = (1 - separation) * variance * q.noise, np.sqrt(separation * variance * q.noise)
    residual = yty - 2 * xty @ q.coef + q.coef @ gram @ q.coef
    energy = 0.5 * (residual + c @ (q.square - q.coef**2)) / q.noise
    energy += 0.5 * n * np.log(2 * np.pi * q.noise)
    away = (q.spread + (q.means - SIGNS * place) ** 2) / narrow
    divergence = 0.5 * (away - 1.0 - np.log(q.spread / narrow))
    energy += (q.states * (divergence - log_odds + np.log(2))).sum()
    out = 1.0 - q.inclusion
    return energy + xlogy(q.states, q.states).sum() + xlogy(out, out).sum()


def label_models(X, y, log_prior, slabs, weights=1.0, offset=0.0, points=81, wide=8.0):
    """Return inclusion probabilities, means and the slabs' shares for labels, by a grid; two columns.

    The intercept is flat; ``log_prior`` takes a size, ``slabs`` are (log weight, variance, separation).
    Rows count by their ``weights``, and have a known ``offset`` of their log odds.
    """
    level = np.linspace(-3.0, 3.0, 41)
    axis = np.linspace(-wide / 2, wide / 2, points)
    signs = 2.0 * y - 1.0
    fitted = (axis[:, None, None] * X[:, 0] + axis[:, None] * X[:, 1])[:, :, None, :]
    eta = fitted + level[:, None] + offset
    likelihood = logsumexp(-(weights * np.logaddexp(0.0, -signs * eta)).sum(axis=-1), axis=-1)
    middle, step = points // 2, np.log(axis[1] - axis[0])
    logs, inside, means = [], [], []
    for weight, variance, separation in slabs:
        place, narrow = np.sqrt(separation * variance), (1 - separation) * variance
        both = np.logaddexp(
            -0.5 * (axis - place) ** 2 / narrow, -0.5 * (axis + place) ** 2 / narrow
        )
        density = both - np.log(2) - 0.5 * np.log(2 * np.pi * narrow) + step
        cells = {
            (0, 0): likelihood[middle, middle].reshape(1, 1),
            (1, 0): (likelihood[:, middle] + density)[:, None],
            (0, 1): (likelihood[middle] + density)[None, :],
            (1, 1): likelihood + density[:, None] + density,
        }
        for model, table in cells.items():
            total = logsumexp(table)
            share = np.exp(table - total)
            logs.append(weight + log_prior(sum(model)) + total)
            inside.append(model)
            first = share.sum(axis=1) @ axis if model[0] else 0.0
            means.append((first, share.sum(axis=0) @ axis if model[1] else 0.0))
    share = np.exp(np.array(logs) - logsumexp(logs))
    return (
        share @ np.array(inside),
        share @ np.array(means),
        share.reshape(len(slabs), 4).sum(axis=1),
    )


def humped_spike_em(X, y, p, spike, separation, a, b, variance=None, steps=400):
    """EM of a narrow spike and two humps: every weight belongs to the spike, to + or to -.

    Then a ridge regression towards the humps; the mode is taken in w / sqrt(noise). An unknown variance
    is maximised over by itself. Returns responsibilities of the humps, weights, noise, variance and pi.
    """
    (n, D), known = X.shape, variance is not None
    v = variance if known else 1.0
    pi, noise, w = a / (a + b), y @ y / n, np.zeros(D)
    r = np.array([p / 2, p / 2])
    for step in range(steps):
        u = w / np.sqrt(noise)
        if step:
            each = np.log(pi / 2) + _log_normal(u, SIGNS * np.sqrt(separation * v), v, separation)
            logs = np.vstack([each, np.log1p(-pi) + _log_normal(u, 0.0, spike, 0.0)])
            r = np.exp(logs - logsumexp(logs, axis=0))[:2]
        narrow, place = (1 - separation) * v, np.sqrt(separation * v)
        penalty = r.sum(axis=0) / narrow + (1 - r.sum(axis=0)) / spike
        pull = place / narrow * (r[0] - r[1])
        w = np.linalg.solve(X.T @ X + np.diag(penalty), X.T @ y + np.sqrt(noise) * pull)
        # N s^2 + (pull'w) s = |y - Xw|^2 + penalty'w^2
        square, lean = np.sum((y - X @ w) ** 2) + penalty @ w**2, pull @ w
        noise = ((np.sqrt(lean**2 + 4 * n * square) - lean) / (2 * n)) ** 2
        if step:
            pi = (r.sum() + a) / (D + a + b)
            v = v if known else _best_variance(r, w / np.sqrt(noise), separation, v)
    return r, w, noise, v, pi


def _log_normal(u, place, variance, separation):
    narrow = (1 - separation) * variance
    return -0.5 * (u - place) ** 2 / narrow - 0.5 * np.log(2 * np.pi * narrow)


def _best_variance(r, u, separation, now):
    def short(log):
        v = np.exp(log)
        fit = (r * _log_normal(u, SIGNS * np.sqrt(separation * v), v, separation)).sum()
        return -(fit - 0.5 * log - 0.5 / v)  # 1 / variance ~ Gamma(1/2, 1/2)

    near = np.log(now) + np.array([-2.0, 2.0])
    return np.exp(minimize_scalar(short, bounds=near, method="bounded", options={"xatol": 1e-11}).x)


def signed_sums(X, y, log_prior, variance, separation, points=401):
    """Return inclusion probabilities and log p(y), summed over all signs of all models.

    Given noise and signs the response is Gaussian; the noise is integrated by the trapezoidal rule.
    """
    n, D = X.shape
    grid = np.linspace(-8.0, 6.0, points)
    deviation, logs, inside = np.exp(0.5 * grid), [], []
    for model in product((False, True), repeat=D):
        own = np.flatnonzero(model)
        k, Z = len(own), X[:, own]
        values, vectors = np.linalg.eigh(np.eye(n) + (1 - separation) * variance * Z @ Z.T)
        scaled = vectors.T / np.sqrt(values)[:, None]
        signs = np.array(list(product((-1.0, 1.0), repeat=k))).reshape(2**k, k)
        shift = np.sqrt(separation * variance) * (scaled @ Z) @ signs.T
        whole = scaled @ y
        # |whole - s shift|^2 / s^2 for every deviation s and all signs.
        off = (whole @ whole) / deviation[:, None] ** 2 - 2 * (whole @ shift) / deviation[:, None]
        off = off + np.sum(shift**2, axis=0)
        log = -0.5 * off - 0.5 * n * (np.log(2 * np.pi) + grid[:, None]) - k * np.log(2)
        total = logsumexp(log) + np.log(grid[1] - grid[0]) - 0.5 * np.log(values).sum()
        logs.append(total + log_prior(own))
        inside.append(model)
    share = np.exp(np.array(logs) - logsumexp(logs))
    return share @ np.array(inside), logsumexp(logs)
