"""A linear regression that is one draw from its posterior, which all predictions of it share."""

from typing import Self

import numpy as np

from garrote.arrays import Array, Floats

_MOST_PREDICTORS = 12
_ROWS_FOR_EACH = 3  # complete rows that each predictor asks for
# Of the variance of a predictor, what those before it must leave unexplained. Columns that are nearly
# sums of others would get coefficients as good as arbitrary, and so would the gaps of rows that differ.
_LEAST_LEFT = 1e-4


class DrawnRegression:
    """Regression of a column with gaps on the response and a few other columns, drawn once.

    Under a flat prior on the coefficients and log sigma, with n rows and p predictors beside the
    intercept, sigma^2 is the residual sum of squares over a draw of chi^2 with n - p - 1 degrees of
    freedom, and the coefficients given sigma^2 are normal about least squares, with covariance
    sigma^2 (Z'Z)^-1 (Rubin 1987, section 5.3). `fit` draws both once, and all gaps of a column are then
    filled by the same draw: rows that each drew their own would hide how uncertain coefficients are.
    Nothing is shrunk, as what is shrunk here comes out too small in the regression of the response.

    The response is always a predictor, unless it is constant in the rows or these are fewer than three.
    The others are those that correlate most with the column once both are adjusted for the response:
    two columns that do not correlate by themselves do so given a response that depends on both, and
    leaving that out would bias their effects. Predictors are at most 12, and at most a third of the
    rows.

    Parameters
    ----------
    generator : numpy.random.Generator
        Clones share it, so that the regressions of one imputation have different random numbers.
    n_responses : int, default=1
        How many of the last columns of X stand for the response.

    Attributes
    ----------
    predictors_ : array of int
        The columns of X that enter, those of the response first.
    coef_ : array of shape (len(predictors_),)
    intercept_, sigma_ : float
        The draw.

    References
    ----------
    Rubin, D. B. (1987). Multiple Imputation for Nonresponse in Surveys. Wiley.
    """

    def __init__(self, generator: np.random.Generator, n_responses: int = 1) -> None:
        self.generator = generator
        self.n_responses = n_responses

    def __sklearn_clone__(self) -> Self:
        """Return one that is not fitted, and goes on with the same random numbers."""
        return type(self)(self.generator, self.n_responses)

    def fit(self, X: Floats, y: Floats) -> Self:
        """Draw sigma and coefficients.

        Parameters
        ----------
        X : array of shape (n, D)
            The other columns and, last, the response.
        y : array of shape (n,)
            The values of the column that are known, two or more.
        """
        rows, means, level = len(y), X.mean(axis=0), float(y.mean())
        centered, target = X - means, y - level
        self.predictors_ = _chosen(centered, target, self.n_responses)
        basis, triangle = np.linalg.qr(centered[:, self.predictors_])
        along = basis.T @ target
        left = target - basis @ along
        variance = left @ left / self.generator.chisquare(rows - len(along) - 1)
        self.sigma_ = float(np.sqrt(variance))
        noise = self.sigma_ * self.generator.standard_normal(len(along) + 1)
        self.coef_ = np.linalg.solve(triangle, along + noise[1:])
        level += float(noise[0]) / np.sqrt(rows)
        self.intercept_ = level - float(means[self.predictors_] @ self.coef_)
        return self

    def predict(self, X: Floats, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return the mean of each row under the draw, and sigma for each if asked for."""
        mean = self.intercept_ + X[:, self.predictors_] @ self.coef_
        return (mean, np.full(len(X), self.sigma_)) if return_std else mean


def _chosen(Z: Floats, target: Floats, n_responses: int) -> Array:
    """Return which columns to predict from: the response, then what adds most to it."""
    count = Z.shape[1]
    most = min(_MOST_PREDICTORS, len(target) // _ROWS_FOR_EACH)
    first = np.arange(count - n_responses, count)
    if n_responses > most:  # labels of many classes: those that tell most
        first = first[np.argsort(-_correlations(Z[:, first], target), kind="stable")]
    responses, basis = _independent(Z, first, most, np.empty((len(target), 0)))
    others = Z[:, : count - n_responses]
    order = np.argsort(-_correlations(others, target, basis), kind="stable")
    added, _ = _independent(Z, order, most - len(responses), basis)
    return np.array(responses + added, dtype=np.intp)


def _correlations(Z: Floats, target: Floats, basis: Floats | None = None) -> Floats:
    """Return how strongly centred columns correlate with a target, both adjusted for a basis."""
    variance = np.einsum("ij,ij->j", Z, Z)
    left = variance
    if basis is not None:
        target = target - basis @ (basis.T @ target)
        left = variance - ((basis.T @ Z) ** 2).sum(axis=0)
    varies = left > _LEAST_LEFT * variance
    return np.where(varies, np.abs(target @ Z) / np.sqrt(np.where(varies, left, 1.0)), 0.0)


def _independent(Z: Floats, order: Array, most: int, basis: Floats) -> tuple[list[int], Floats]:
    """Return the first columns in an order that are no sums of those before, and the basis with them."""
    found: list[int] = []
    for column in order.tolist():
        if len(found) >= most:
            break
        direction = Z[:, column]
        left = direction - basis @ (basis.T @ direction)
        size = left @ left
        if size > _LEAST_LEFT * (direction @ direction) and size > np.finfo(np.float64).eps:
            found.append(column)
            basis = np.column_stack([basis, left / np.sqrt(size)])
    return found, basis
