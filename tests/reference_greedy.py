"""Greedy searches as the texts write them, in plain NumPy: every model is fitted anew."""

import itertools

import numpy as np


def least_squares(X, y, columns):
    """Return coefficients and the squared error of a fit to some columns."""
    columns = list(columns)
    coef = np.zeros(X.shape[1])
    if columns:
        coef[columns] = np.linalg.lstsq(X[:, columns], y, rcond=None)[0]
    return coef, float(np.sum((y - X @ coef) ** 2))


def matching_pursuit(X, y, steps, share=1.0):
    """Return the coefficients after each step (Lecture, section 6.1)."""
    coef, seen = np.zeros(X.shape[1]), []
    length = np.sum(X**2, axis=0)
    for _ in range(steps):
        product = X.T @ (y - X @ coef)
        best = int(np.argmax(product**2 / length))
        coef[best] += share * product[best] / length[best]
        seen.append(coef.copy())
    return seen


def omp(X, y, size):
    """Return the models of orthogonal matching pursuit (Lecture, section 6.2), as they grow."""
    chosen, models = [], [()]
    length = np.sum(X**2, axis=0)
    for _ in range(size):
        coef, _ = least_squares(X, y, chosen)
        worth = (X.T @ (y - X @ coef)) ** 2 / length
        worth[chosen] = -1
        chosen.append(int(np.argmax(worth)))
        models.append(tuple(sorted(chosen)))
    return models


def forward(X, y, size):
    """Return the models of forward selection (Murphy, Eq. 13.28)."""
    chosen, models = [], [()]
    for _ in range(size):
        others = [j for j in range(X.shape[1]) if j not in chosen]
        chosen.append(min(others, key=lambda j: least_squares(X, y, [*chosen, j])[1]))
        models.append(tuple(sorted(chosen)))
    return models


def backward(X, y):
    """Return the models of backward selection, from the full one."""
    chosen = list(range(X.shape[1]))
    models = [tuple(chosen)]
    while chosen:
        gone = min(chosen, key=lambda j: least_squares(X, y, [k for k in chosen if k != j])[1])
        chosen.remove(gone)
        models.append(tuple(chosen))
    return models[::-1]


def best_subsets(X, y, most=None):
    """Return the best subset of each size, by looking at all."""
    count = X.shape[1]
    sizes = range(count + 1 if most is None else most + 1)
    return [
        min(itertools.combinations(range(count), k), key=lambda c: least_squares(X, y, c)[1])
        for k in sizes
    ]


def foba(X, y, size, share=0.5):
    """Return the best model of each size that forward steps with backward steps come through."""
    chosen, gained, seen = [], [0.0], {0: (least_squares(X, y, ())[1], ())}

    def note():
        left = least_squares(X, y, chosen)[1]
        if len(chosen) not in seen or left < seen[len(chosen)][0]:
            seen[len(chosen)] = (left, tuple(sorted(chosen)))

    while len(chosen) < size:
        now = least_squares(X, y, chosen)[1]
        others = [j for j in range(X.shape[1]) if j not in chosen]
        best = min(others, key=lambda j: least_squares(X, y, [*chosen, j])[1])
        gained.append(now - least_squares(X, y, [*chosen, best])[1])
        chosen.append(best)
        note()
        while len(gained) > 2:
            now = least_squares(X, y, chosen)[1]
            rises = {j: least_squares(X, y, [k for k in chosen if k != j])[1] - now for j in chosen}
            least = min(rises, key=rises.get)
            if least == best or rises[least] >= share * gained[-1]:
                break
            chosen.remove(least)
            gained.pop()
            note()
    return [seen[k][1] for k in sorted(seen)]
