"""How far an answer is from optimal, recomputed in plain float64 NumPy from the data alone.

Nothing here trusts a library's own stopping rule. The lassos are held to the duality gap, the
variational garrote to its stationarity equations; both are reported as the worst point of a path.
"""

import numpy as np
from scipy import sparse

BLOCK_BYTES = 64 * 2**20


def lasso_gap(X, y, lambdas, coefficients):
    """Largest relative duality gap over a lasso path.

    The objective is ||y - Xb||^2 / (2N) + lambda ||b||_1, the gap is divided by that of b = 0,
    ||y||^2 / (2N), and the dual point is the residual scaled into the feasible set, as far as the
    dual objective gains by it.

    Parameters
    ----------
    coefficients : sparse array, strengths x features
    """
    y = np.asarray(y, dtype=np.float64)
    N = y.size
    residuals = residuals_of(X, y, coefficients)
    largest = np.zeros(len(lambdas))
    for _, block in column_blocks(X):
        np.maximum(largest, np.abs(block.T @ residuals).max(axis=0), out=largest)
    squares = np.einsum("nk,nk->k", residuals, residuals)
    primal = squares / (2 * N) + lambdas * np.asarray(np.abs(coefficients).sum(axis=1)).ravel()
    feasible = N * np.asarray(lambdas) / np.maximum(largest, 1e-300)
    scale = np.minimum(feasible, (y @ residuals) / np.maximum(squares, 1e-300))
    dual = (y @ y - ((y[:, None] - scale * residuals) ** 2).sum(axis=0)) / (2 * N)
    return float((primal - dual).max() / (y @ y / (2 * N)))


def group_gap(X, y, lambdas, coefficients, size):
    """Largest relative duality gap over the path of a group lasso, groups being ``size`` columns each.

    The objective is ||y - Xb||^2 / (2N) + lambda sum_g ||b_g||, the gap is divided by that of b = 0.
    """
    N = y.size
    residuals = residuals_of(X, y, coefficients)
    largest = np.zeros(len(lambdas))
    for start in range(0, X.shape[1], size):
        products = X[:, start : start + size].T @ residuals
        np.maximum(largest, np.linalg.norm(products, axis=0), out=largest)
    squares = np.einsum("nk,nk->k", residuals, residuals)
    lengths = np.linalg.norm(coefficients.toarray().reshape(len(lambdas), -1, size), axis=2)
    primal = squares / (2 * N) + lambdas * lengths.sum(axis=1)
    scale = np.minimum(1.0, N * np.asarray(lambdas) / np.maximum(largest, 1e-300))
    dual = (y @ y - ((y[:, None] - scale * residuals) ** 2).sum(axis=0)) / (2 * N)
    return float((primal - dual).max() / (y @ y / (2 * N)))


def logistic_gap(X, labels, lambdas, coefficients):
    """Largest relative duality gap over the path of a logistic lasso without an intercept.

    The objective is the mean of log(1 + exp(eta)) - y eta plus lambda ||b||_1, the gap is divided by
    that of b = 0, log 2, and the dual point is y less the fitted probability, scaled into the feasible
    set; the conjugate is the mean entropy of the probabilities that it stands for.
    """
    eta = -residuals_of(X, np.zeros(len(labels)), coefficients)
    rows = labels[:, None] - 1 / (1 + np.exp(-eta))
    largest = np.zeros(len(lambdas))
    for _, block in column_blocks(X):
        np.maximum(largest, np.abs(block.T @ rows).max(axis=0), out=largest)
    share = np.minimum(1.0, len(labels) * np.asarray(lambdas) / np.maximum(largest, 1e-300))
    mean = np.clip(labels[:, None] - share * rows, 1e-300, 1.0)
    rest = np.clip(1.0 - labels[:, None] + share * rows, 1e-300, 1.0)
    dual = -(mean * np.log(mean) + rest * np.log(rest)).mean(axis=0)
    loss = (np.logaddexp(0.0, eta) - labels[:, None] * eta).mean(axis=0)
    primal = loss + lambdas * np.asarray(np.abs(coefficients).sum(axis=1)).ravel()
    return float((primal - dual).max() / np.log(2.0))


def garrote_violation(X, y, gammas, inclusion, coefficients, precision):
    """Largest violation of the variational garrote's stationarity equations over a path.

    For centred columns of curvature c_j = x_j'x_j and r = y - X (m w), the largest of
    |m - sigmoid(gamma + beta c w^2 / 2)|, sqrt(beta c) |w - (x_j'r / c + m w)| and
    |beta (r'r + sum m (1 - m) w^2 c) / N - 1|; all three have no unit. Where m is zero, w is
    not part of the state and takes its stationary value.

    Parameters
    ----------
    inclusion : array or sparse array, gammas x features
        The probabilities m.
    coefficients : sparse array, gammas x features
        The means m w.
    precision : array, gammas
        The noise precision beta.

    Returns
    -------
    array, gammas
    """
    y = np.asarray(y, dtype=np.float64)
    y = y - y.mean()
    N = y.size
    precision = np.asarray(precision, dtype=np.float64)
    residuals = residuals_of(X, y, coefficients)
    residuals -= residuals.mean(axis=0)
    inclusion, coefficients = sparse.csc_matrix(inclusion), sparse.csc_matrix(coefficients)
    worst, spread = np.zeros(len(gammas)), np.zeros(len(gammas))
    for columns, block in column_blocks(X):
        mean = np.asarray(block.mean(axis=0)).ravel()
        curvature = np.asarray(squared(block).sum(axis=0)).ravel() - N * mean**2
        varying = curvature > 1e-12 * N * np.maximum(mean**2, 1e-300)
        c = np.where(varying, curvature, 1.0)
        m, mw = (part[:, columns].toarray() for part in (inclusion, coefficients))
        stationary = (block.T @ residuals).T / c + mw
        w = np.where(m > 0, mw / np.where(m > 0, m, 1.0), stationary)
        odds = np.asarray(gammas)[:, None] + precision[:, None] * c * w**2 / 2
        of_inclusion = np.abs(m - 1 / (1 + np.exp(-np.clip(odds, -700, 700))))
        of_mean = np.sqrt(precision[:, None] * c) * np.abs(w - stationary)
        of_both = np.maximum(of_inclusion, of_mean) * varying
        worst = np.maximum(worst, of_both.max(axis=1))
        spread += (m * (1 - m) * w**2 * c * varying).sum(axis=1)
    squares = np.einsum("nk,nk->k", residuals, residuals)
    return np.maximum(worst, np.abs(precision * (squares + spread) / N - 1))


def residuals_of(X, y, coefficients):
    """Return ``y - X b`` for every row b of `coefficients`, as samples x strengths."""
    by_feature = sparse.csr_matrix(coefficients.T).astype(np.float64)
    residuals = np.repeat(y[:, None], by_feature.shape[1], axis=1)
    for columns, block in column_blocks(X):
        part = by_feature[columns]
        used = np.flatnonzero(np.diff(part.indptr))
        fitted = block[:, used] @ part[used].toarray()
        residuals -= fitted
    return residuals


def column_blocks(X):
    """Yield (columns, float64 block) pairs, so that no second copy of X is ever held."""
    N, D = X.shape
    width = D if sparse.issparse(X) else max(1, BLOCK_BYTES // (8 * N))
    for start in range(0, D, width):
        columns = slice(start, min(start + width, D))
        yield columns, X[:, columns].astype(np.float64, copy=False)


def squared(block):
    return block.multiply(block) if sparse.issparse(block) else block * block
