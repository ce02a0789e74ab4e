"""The certificate of a garrote's fit computed again, from the data as an oracle takes them."""

import numpy as np
import pytest

from reference import Data, certificate, implied_weights


def on_all_columns(fit, n_features):
    """Return a fit's probabilities and weights for all columns; m = 0 for those not listed."""
    m, w = np.zeros((2, n_features))
    m[fit.columns], w[fit.columns] = fit.probability, fit.weight
    return m, w


def standardized(X, y, weights=None, intercept=True) -> Data:
    """Return what a fit's numbers refer to: scaled (and weighted) rows, as the oracle takes them."""
    w = np.ones(len(y)) if weights is None else weights
    X, y, n = np.asarray(X, dtype=float), np.asarray(y, dtype=float), w.sum()
    if intercept:
        X, y = X - w @ X / n, y - w @ y / n
    X = X / np.sqrt(w @ X**2 / n)
    y = y / np.sqrt(w @ y**2 / n)
    X, y = np.sqrt(w)[:, None] * X, np.sqrt(w) * y
    return Data(X, y, X.T @ X / n, X.T @ y / n, float(y @ y / n), n)


def recomputed(data, fit, offsets=0.0):
    """Return the oracle's certificate of a fit; columns that it does not list count as out."""
    m, w = on_all_columns(fit, len(data.b))
    listed = np.isin(np.arange(len(m)), fit.columns)
    w = np.where(listed, w, implied_weights(data, m, w))
    return certificate(data, fit.strength + offsets, m, w, 1 / fit.noise_variance)


def assert_certified(data, path, tol, offsets=0.0, known_noise=False):
    """Check every point of both branches: the stated certificate is the true one, and below tol."""
    for fit in (*path.forward, *path.backward):
        inclusion, weight, noise = recomputed(data, fit, offsets)
        stated = fit.certificate
        assert stated["inclusion"] == pytest.approx(inclusion, rel=1e-3, abs=1e-8)
        assert stated["weight"] == pytest.approx(weight, rel=1e-3, abs=1e-6)
        if not known_noise:
            assert stated["noise"] == pytest.approx(noise, rel=1e-3, abs=1e-8)
        assert max(inclusion, weight, 0.0 if known_noise else noise) <= tol * (1 + 1e-6)
