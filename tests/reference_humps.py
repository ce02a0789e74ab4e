"""Two-humped slabs in plain NumPy: noise, signs, models and slabs by sums over grids."""

from itertools import product

import numpy as np
from scipy.special import logsumexp

LOG_NOISE = np.linspace(-14.0, 10.0, 4801)


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
