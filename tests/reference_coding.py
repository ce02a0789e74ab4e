"""Sparse codes in plain NumPy, one signal at a time, as the texts say it."""

import itertools

import numpy as np
from scipy.optimize import minimize


def signals_of_few_atoms(n=60, count=30, length=16, size=3, noise=0.05, seed=0):
    """Return atoms of length 1, and signals made of a few of them."""
    rng = np.random.default_rng(seed)
    atoms = rng.standard_normal((count, length))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    codes = np.zeros((n, count))
    for code in codes:
        code[rng.choice(count, size, replace=False)] = rng.uniform(0.5, 2, size) * rng.choice(
            [-1, 1], size
        )
    return atoms, codes @ atoms + noise * rng.standard_normal((n, length))


def objective(atoms, signal, code, alpha):
    """Return what Murphy's Eq. 13.176 asks to be small."""
    return 0.5 * np.sum((signal - code @ atoms) ** 2) + alpha * np.abs(code).sum()


def lasso_code(atoms, signal, alpha, positive=False, sweeps=20_000):
    """Minimise over one coordinate after the other."""
    code, left, squares = np.zeros(len(atoms)), signal.copy(), np.sum(atoms**2, axis=1)
    for _ in range(sweeps):
        before = code.copy()
        for j in np.flatnonzero(squares):
            pull = atoms[j] @ left + squares[j] * code[j]
            new = np.sign(pull) * max(abs(pull) - alpha, 0.0) / squares[j]
            new = max(new, 0.0) if positive else new
            left += (code[j] - new) * atoms[j]
            code[j] = new
        if np.abs(code - before).max() < 1e-13:
            break
    return code


def pursuit_code(atoms, signal, size):
    """Take in what resembles the residual most, and fit all that are in by least squares."""
    inside, code = [], np.zeros(len(atoms))
    unit = atoms / np.linalg.norm(atoms, axis=1, keepdims=True)
    for _ in range(size):
        inside.append(int(np.argmax(np.abs(unit @ (signal - code @ atoms)))))
        code[inside] = np.linalg.lstsq(atoms[inside].T, signal, rcond=None)[0]
    return code


def spike_slab_code(atoms, signal, inclusion, slab, noise):
    """Sum over all sets of atoms: exact inclusion probabilities and means."""
    count, length = atoms.shape
    weights, probability, mean = [], [], []
    for inside in itertools.product([0, 1], repeat=count):
        chosen = np.flatnonzero(inside)
        d = atoms[chosen]
        covariance = noise * np.eye(length) + slab * d.T @ d
        fit = -0.5 * (
            signal @ np.linalg.solve(covariance, signal) + np.linalg.slogdet(covariance)[1]
        )
        odds = len(chosen) * np.log(inclusion) + (count - len(chosen)) * np.log(1 - inclusion)
        weights.append(fit + odds)
        probability.append(inside)
        code = np.zeros(count)
        code[chosen] = slab * d @ np.linalg.solve(covariance, signal)
        mean.append(code)
    weights = np.exp(np.array(weights) - max(weights))
    weights /= weights.sum()
    return weights @ np.array(probability), weights @ np.array(mean)


def beta_process_truth(n, count, width, beliefs, rng):
    """Draw signals, atoms, codes, probabilities and precisions from the prior (Zhou et al. 2012)."""
    atoms = rng.standard_normal((count, width)) / np.sqrt(width)
    share = rng.beta(beliefs.mass / count, beliefs.concentration * (count - 1) / count, size=count)
    slab, noise = (rng.gamma(shape, 1 / rate) for shape, rate in (beliefs.slab, beliefs.noise))
    codes = (rng.random((n, count)) < share) * rng.standard_normal((n, count)) / np.sqrt(slab)
    return atoms, codes, share, slab, noise


def best_atoms(atoms, codes, signals, passes):
    """Let every atom be the best one of length 1 at most, given all others (Mairal et al. 2010)."""
    atoms, inner, outer = atoms.copy(), codes.T @ codes, codes.T @ signals
    for _ in range(passes):
        for j in np.flatnonzero(np.diag(inner)):
            free = atoms[j] + (outer[j] - inner[j] @ atoms) / inner[j, j]
            atoms[j] = free / max(np.linalg.norm(free), 1.0)
    return atoms


def ksvd_step(atoms, codes, signals):
    """Update each atom and its codes by a step of the power method on what all others leave."""
    atoms, codes = atoms.copy(), codes.copy()
    for j in range(len(atoms)):
        rows = np.flatnonzero(codes[:, j])
        if len(rows):
            rest = signals[rows] - codes[rows] @ atoms + np.outer(codes[rows, j], atoms[j])
            atoms[j] = codes[rows, j] @ rest
            atoms[j] /= np.linalg.norm(atoms[j])
            codes[rows, j] = rest @ atoms[j]
    return atoms, codes


def bounded_atom(square, target, gamma):
    """Minimise sum of square_j (w_j - target_j)^2 / 2 with |w|^2 + gamma |w|_1 <= 1.

    No entry has another sign than its target, so that the bound is smooth in the sizes.
    """
    sign, size = np.sign(target), np.abs(target)
    found = minimize(
        lambda w: 0.5 * square @ (w - size) ** 2,
        np.full(len(size), 0.1 / len(size)),
        jac=lambda w: square * (w - size),
        bounds=[(0, None)] * len(size),
        constraints={"type": "ineq", "fun": lambda w: 1 - w @ w - gamma * w.sum()},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return sign * found.x


def factor_bound(signals, seen, codes, loadings, numbers):
    """Return mean field's lower bound of two spike-and-slab factors, entry by entry.

    Factors are tuples of mean, probability and variance inside of each entry; numbers the prior
    probabilities of codes and loadings, the loadings' variances and the noise's.
    """

    def moments(factor, i, k):
        mean, m, spread = (each[i, k] for each in factor)
        return (mean, mean**2 / m + m * spread) if m > 0 else (0.0, 0.0)

    def divergence(factor, i, k, share, variance):
        mean, m, spread = (each[i, k] for each in factor)
        centre = mean / m
        switch = m * np.log(m / share) + (1 - m) * np.log((1 - m) / (1 - share))
        size = (spread + centre**2) / variance - 1 - np.log(spread / variance)
        return switch + 0.5 * m * size

    of_codes, of_loadings, slab, noise = numbers
    total, components = 0.0, range(codes[0].shape[1])
    for i, j in zip(*np.nonzero(seen), strict=True):
        pairs = [(moments(codes, i, k), moments(loadings, k, j)) for k in components]
        fitted = sum(z[0] * w[0] for z, w in pairs)
        spread = sum(z[1] * w[1] - z[0] ** 2 * w[0] ** 2 for z, w in pairs)
        error = (signals[i, j] - fitted) ** 2 + spread
        total -= 0.5 * (np.log(2 * np.pi * noise) + error / noise)
    for k in components:
        for i in range(len(signals)):
            total -= divergence(codes, i, k, of_codes[k], 1.0)
        for j in range(signals.shape[1]):
            total -= divergence(loadings, k, j, of_loadings[k], slab[k])
    return total


def planted_factors(n=200, width=40, count=5, in_codes=0.4, in_parts=0.3, missing=0.4, seed=0):
    """Return sparse parts, the product of sparse codes with them, and that with noise 0.1 and gaps."""
    rng = np.random.default_rng(seed)
    codes = rng.standard_normal((n, count)) * (rng.random((n, count)) < in_codes)
    parts = rng.standard_normal((count, width)) * (rng.random((count, width)) < in_parts)
    truth = codes @ parts
    signals = truth + 0.1 * rng.standard_normal(truth.shape)
    signals[rng.random(truth.shape) < missing] = np.nan
    return parts, truth, signals


def likeness(parts, found):
    """Return the cosine of each part with the component that is most like it."""
    unit = [
        rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        for rows in (parts, found)
    ]
    return np.abs(unit[0] @ unit[1].T).max(axis=1)
