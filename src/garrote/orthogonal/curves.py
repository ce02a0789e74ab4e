"""Estimates of one coefficient as functions of its least squares estimate, method by method."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from garrote.arrays import Floats
from garrote.orthogonal.univariate import best_univariate_solution, univariate_solutions


def ridge_curve(w: ArrayLike, factor: float = 0.5) -> Floats:
    """Ridge estimate as a function of the least squares estimate: factor * w.

    Examples
    --------
    >>> from garrote.orthogonal import ridge_curve
    >>> ridge_curve([0.4, 2.0])
    array([0.2, 1. ])
    """
    return factor * np.asarray(w, dtype=float)


def lasso_curve(w: ArrayLike, threshold: float = 0.5) -> Floats:
    """Lasso estimate as a function of the least squares one: sign(w) (abs(w) - threshold)^+.

    Examples
    --------
    >>> from garrote.orthogonal import lasso_curve
    >>> lasso_curve([0.4, 2.0])
    array([0. , 1.5])
    """
    w = np.asarray(w, dtype=float)
    return np.sign(w) * np.maximum(np.abs(w) - threshold, 0.0)


def breiman_garrote_curve(w: ArrayLike, threshold: float = 0.25) -> Floats:
    """Breiman's garrote as a function of the least squares estimate: (1 - threshold / w^2)^+ w.

    Examples
    --------
    >>> from garrote.orthogonal import breiman_garrote_curve
    >>> breiman_garrote_curve([0.4, 2.0])
    array([0.   , 1.875])
    """
    w = np.asarray(w, dtype=float)
    kept = w**2 > threshold
    return np.where(kept, w - threshold / np.where(kept, w, 1.0), 0.0)


def variational_garrote_curve(
    w: ArrayLike,
    gamma: float = -10.0,
    n_samples: float = 100,
    response_variance: float | None = None,
    branch: Literal["best", "sparse", "dense"] = "best",
) -> Floats:
    """Variational garrote as a function of the least squares estimate: m w, m from Eq. 15.

    Parameters
    ----------
    w : array_like
        Least squares estimates for y = w x + noise, where x and the noise have variance 1.
    gamma, n_samples
        As in `univariate_solutions`; the defaults are those of the text's Fig. 2.
    response_variance : float, optional
        Variance of y; rho = w^2 / response_variance. By default 1 + w^2, as the model says: the
        caption's "sigma_y^2 = 1" is the unexplained variance, and taken as the variance of y it
        would leave no solution for abs(w) >= 1.
    branch : {"best", "sparse", "dense"}, default="best"
        Which stable solution to follow where two exist.

    Returns
    -------
    ndarray
        Odd in w.

    Examples
    --------
    >>> from garrote.orthogonal import variational_garrote_curve
    >>> variational_garrote_curve([0.2, 2.0]).round(3)
    array([0., 2.])
    """
    w = np.asarray(w, dtype=float)
    rho = w**2 / (1 + w**2 if response_variance is None else response_variance)
    if branch == "best":
        m = [best_univariate_solution(r, gamma, n_samples) for r in rho.flat]
    elif branch in ("sparse", "dense"):
        end = 0 if branch == "sparse" else -1
        m = [univariate_solutions(r, gamma, n_samples).probability[end] for r in rho.flat]
    else:
        raise ValueError(f"branch must be 'best', 'sparse' or 'dense', got {branch!r}")
    return np.reshape(m, w.shape) * w


def shrinkage_curves(
    w: ArrayLike,
    *,
    ridge: float = 0.5,
    lasso: float = 0.5,
    garrote: float = 0.25,
    gamma: float = -10.0,
    n_samples: float = 100,
) -> dict[str, Floats]:
    """Estimates of all four methods as functions of the least squares one, by method.

    Parameters
    ----------
    w : array_like
        Least squares estimates.
    ridge : float, default=0.5
        Factor of `ridge_curve`; the defaults are those of the text's Fig. 2.
    lasso, garrote : float
        Thresholds of `lasso_curve` and `breiman_garrote_curve`.
    gamma, n_samples : float
        As in `variational_garrote_curve`.

    Examples
    --------
    >>> from garrote.orthogonal import shrinkage_curves
    >>> curves = shrinkage_curves([0.4, 2.0])
    >>> {method: float(curve[-1].round(3)) for method, curve in curves.items()}
    {'ridge': 1.0, 'lasso': 1.5, 'garrote': 1.875, 'VG': 2.0}
    """
    return {
        "ridge": ridge_curve(w, ridge),
        "lasso": lasso_curve(w, lasso),
        "garrote": breiman_garrote_curve(w, garrote),
        "VG": variational_garrote_curve(w, gamma, n_samples),
    }
