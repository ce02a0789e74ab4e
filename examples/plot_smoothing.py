"""
Smoothing at work
=================
A function of jumps, and a lasso, averaged over normal laws that narrow from left to right: the
average (orange) has no K, and its optimum (red) leads to that of the function.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote.smoothing import GaussianBound, Shrinking, minimise
from garrote.solvers.smoothing.kinks import KINKS, absolute_slope, absolute_value

A, b, K, way = np.array([[2.0, 1.2], [1.2, 1.5]]), np.array([-9.0, -4.6]), KINKS["gaussian"], []


def jumps(x):
    return np.round(0.4 * (x[:, 0] - 1.5) ** 2 + 1.5 * np.cos(4 * x[:, 0]))


def lasso(w, sigma=1e-9):  # Equation 15 of Staines & Barber (2012), of two coefficients
    return w @ b + ((w @ A) * w).sum(-1) + 3.5 * sigma**2 + 5 * absolute_value(K, w, sigma).sum(-1)


figure, rows = plt.subplots(2, 4, figsize=(12, 6), layout="constrained", sharey="row")
grid, normal = np.linspace(-4, 6, 1001), np.random.default_rng(0).standard_normal((2000, 1))
corner = np.stack(np.meshgrid(np.linspace(-1, 2.5, 201), np.linspace(-1, 1.5, 201)), axis=-1)
for above, below, sigma in zip(*rows, (2.0, 1.0, 0.5, 0.1), strict=True):
    fit = minimise(GaussianBound(jumps, draws=2000), np.array([-3.0]), sigma=Shrinking(2.0, sigma))
    above.plot(grid, jumps(grid[:, None]), color="tab:blue", lw=1)
    above.plot(grid, [jumps(at + sigma * normal).mean() for at in grid], color="tab:orange")
    above.plot(fit.mean, jumps(fit.mean + sigma * normal).mean(), "o", color="tab:red")
    above.set_title(rf"$\sigma$ = {sigma:g}")
    slope = lambda mu, s: b + 2 * A @ mu + 5 * absolute_slope(K, mu, s)  # noqa: E731
    bound = GaussianBound(lasso, lambda mu, s: lasso(mu, s[0]), slope)
    way.append(minimise(bound, np.array([2.0, 1.0]), sigma=Shrinking(sigma, sigma)).mean)
    levels = lasso(way[-1], sigma) + np.array([0.05, 0.3, 1.0, 2.5, 5.0, 8.0])
    below.contour(*corner.T, lasso(corner, sigma).T, levels, colors="tab:orange", linestyles="-")
    below.plot(*np.transpose(way), "o-", color="tab:red", ms=4)
    below.set(xlabel=r"$\mu_1$", title=rf"$\mu_2$ = {way[-1][1]:.4f}")
