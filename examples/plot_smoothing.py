"""
Smoothing at work
=================
A function of jumps, and a lasso, averaged over normal laws that narrow from left to right: the
average (orange) has no kink and lies above the least value, and its optimum (red) leads to that of the
function.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote.smoothing import GaussianBound, Shrinking, minimise
from garrote.solvers.smoothing.kinks import KINKS, absolute_slope, absolute_value

widths = [2.0, 1.0, 0.5, 0.1]
figure, rows = plt.subplots(2, 4, figsize=(12, 6), layout="constrained", sharey="row")


def jumps(x):
    return np.round(0.4 * (x[:, 0] - 1.5) ** 2 + 1.5 * np.cos(4 * x[:, 0]))


grid = np.linspace(-4, 6, 1001)
normal = np.random.default_rng(0).standard_normal((2000, 1))
for axis, sigma in zip(rows[0], widths, strict=True):
    average = [jumps(at + sigma * normal).mean() for at in grid]
    fit = minimise(GaussianBound(jumps, draws=2000), np.array([-3.0]), sigma=Shrinking(2.0, sigma))
    axis.plot(grid, jumps(grid[:, None]), color="tab:blue", lw=1)
    axis.plot(grid, average, color="tab:orange")
    axis.plot(fit.mean, np.interp(fit.mean, grid, average), "o", color="tab:red")
    axis.set(title=rf"$\sigma$ = {sigma:g}", xlabel=r"$\mu$")

# The lasso of two coefficients: Equation 15 of Staines & Barber (2012), with its contours.
A, b, size = np.array([[2.0, 1.2], [1.2, 1.5]]), np.array([-9.0, -4.6]), 5.0
kink = KINKS["gaussian"]


def smooth_lasso(mu, sigma):
    kinked = size * absolute_value(kink, mu, sigma).sum(axis=-1)
    return mu @ b + ((mu @ A) * mu).sum(axis=-1) + sigma**2 * np.trace(A) + kinked


def lasso(w):
    return w @ b + ((w @ A) * w).sum(axis=1) + size * np.abs(w).sum(axis=1)


bound = GaussianBound(
    lasso,
    average=lambda mu, sigma: smooth_lasso(mu, sigma[0]),
    gradient=lambda mu, sigma: b + 2 * A @ mu + size * absolute_slope(kink, mu, sigma),
)
corner = np.stack(np.meshgrid(np.linspace(-1, 2.5, 201), np.linspace(-1, 1.5, 201)), axis=-1)
way = []
for axis, sigma in zip(rows[1], widths, strict=True):
    fit = minimise(bound, np.array([2.0, 1.0]), sigma=Shrinking(sigma, sigma))
    way.append(fit.mean)
    values = smooth_lasso(corner, sigma)
    levels = values.min() + np.array([0.05, 0.3, 1.0, 2.5, 5.0, 8.0])
    axis.contour(
        corner[..., 0], corner[..., 1], values, levels, colors="tab:orange", linestyles="-"
    )
    axis.axhline(0, color="tab:blue", lw=0.5)
    axis.axvline(0, color="tab:blue", lw=0.5)
    axis.plot(*np.transpose(way), "o-", color="tab:red", ms=4)
    axis.set(xlabel=r"$\mu_1$", title=rf"$\mu_2$ = {fit.mean[1]:.4f}")
rows[0, 0].set_ylabel("a function of jumps")
rows[1, 0].set_ylabel(r"a lasso: $\mu_2$")
