"""Patches in plain NumPy: posteriors one patch at a time, and pictures to restore."""

import numpy as np


def scene(height=48, width=56, colours=None):
    """Return a picture of edges and waves, from 40 to 220."""
    rows, columns = np.mgrid[:height, :width]
    picture = 90.0 + 60.0 * (rows + 0.5 * columns > 0.6 * height) + 20.0 * np.sin(columns / 3.0)
    if colours is None:
        return picture
    return np.stack([picture * (1.0 - 0.2 * k) for k in range(colours)], axis=2)


def psnr(found, truth):
    return 10 * np.log10(255.0**2 / np.mean((np.asarray(found, float) - truth) ** 2))


def mixture_posterior(patch, known, weights, means, covariances, noise):
    """Return mean, variance and log likelihood of one patch, by conditioning each part."""
    logs, centres, spreads = [], [], []
    for weight, mean, covariance in zip(weights, means, covariances, strict=True):
        seen = covariance[np.ix_(known, known)] + noise * np.eye(known.sum())
        gain = covariance[:, known] @ np.linalg.inv(seen)
        left = patch[known] - mean[known]
        centres.append(mean + gain @ left)
        spreads.append(np.diag(covariance - gain @ covariance[known]))
        density = left @ np.linalg.solve(seen, left) + np.linalg.slogdet(2 * np.pi * seen)[1]
        logs.append(np.log(weight) - 0.5 * density)
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    mean = shares @ centres
    square = shares @ (np.array(spreads) + np.array(centres) ** 2)
    return mean, square - mean**2, np.logaddexp.reduce(logs)


def pursuit_posterior(atoms, patch, known, noise, spread, log_odds, most, always):
    """Return mean and variance of one patch, each density computed from the covariance itself."""
    inside = list(range(min(always, most)))

    def density(chosen):
        seen = (atoms[chosen].T * spread[chosen]) @ atoms[chosen]
        seen = seen[np.ix_(known, known)] + noise * np.eye(known.sum())
        fit = patch[known] @ np.linalg.solve(seen, patch[known]) + np.linalg.slogdet(seen)[1]
        return -0.5 * fit + log_odds[chosen].sum()

    while len(inside) < most:
        others = [j for j in range(always, len(atoms)) if j not in inside]
        rises = [density([*inside, j]) - density(inside) for j in others]
        if not others or max(rises) <= 0:
            break
        inside.append(others[int(np.argmax(rises))])
    whole = (atoms[inside].T * spread[inside]) @ atoms[inside]
    mean, variance, _ = mixture_posterior(
        patch, known, [1.0], [np.zeros(len(patch))], [whole], noise
    )
    return mean, variance
