"""Kernel machines: regressions on how much a row resembles each of the training rows."""

from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted, validate_data

from garrote.arrays import Array, Floats
from garrote.estimators.shared.saving import SaveMixin
from garrote.settings import is_number

KERNELS = (
    "linear", "poly", "polynomial", "rbf", "laplacian", "sigmoid", "cosine", "precomputed",
)  # fmt: skip


class KernelSettings(BaseEstimator):
    """What estimators with a kernel share: its name, its parameters, and the rows to compare with."""

    kernel: str
    gamma: Any
    degree: float
    coef0: float

    def _check_kernel(self) -> None:
        """Refuse unknown kernels, and parameters that none could have."""
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {KERNELS}, got {self.kernel!r}")
        named = isinstance(self.gamma, str) and self.gamma in ("scale", "auto")
        if not named and not (is_number(self.gamma) and self.gamma > 0):
            raise ValueError(f"gamma must be 'scale', 'auto' or positive, got {self.gamma!r}")

    def _keep_rows(self, X: Any) -> None:
        """Keep the training rows, and what gamma is for them."""
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"a precomputed kernel has a row and a column for each sample, got shape {X.shape}"
            )
        self.X_fit_, self.n_samples_fit_ = X, X.shape[0]
        self.gamma_ = kernel_width(self.gamma, X)

    def _kernel(self, X: Any, rows: Any) -> Floats:
        """Return how much rows of X resemble given ones; of a precomputed kernel, their columns."""
        if self.kernel == "precomputed":
            return np.asarray(X[:, rows], dtype=np.float64)
        known = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        found = pairwise_kernels(X, rows, metric=self.kernel, filter_params=True, **known)
        return np.asarray(found, dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel not in ("precomputed", "laplacian")
        return tags


def kernel_width(gamma: Any, X: Any, weights: Floats | None = None) -> float:
    """Return a kernel's width: given, 1 / D, or that by the variance of all entries of weighted rows."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    shares = np.full(X.shape[0], 1.0) if weights is None else weights
    shares = shares / (shares.sum() * X.shape[1])
    if scipy.sparse.issparse(X):
        mean, square = (float((shares @ part).sum()) for part in (X, X.power(2)))
        spread = square - mean**2
    else:
        mean = float((shares @ X).sum())
        spread = float((shares @ (X - mean) ** 2).sum())
    return 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0


class KernelFeatures(SaveMixin, TransformerMixin, KernelSettings):
    """Columns that say how much a row resembles each training row, for any selector of columns.

    Before a lasso this makes an L1 vector machine, before a ridge a kernel ridge, before
    `RelevanceRegressor` a relevance vector machine (`RelevanceVectorRegressor`, which keeps but the rows
    that it needs).

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "polynomial", "laplacian", "sigmoid", "cosine", "precomputed"}
    gamma : {"scale", "auto"} or float
        As in scikit-learn's `SVC`.
    degree, coef0 : float
        Of "poly" and "sigmoid".

    Attributes
    ----------
    X_fit_ : array of shape (N, D)
    n_samples_fit_ : int
    gamma_ : float
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from garrote import KernelFeatures, SparseRegressor
    >>> x = np.linspace(-5, 5, 50)[:, None]
    >>> machine = make_pipeline(KernelFeatures(gamma=0.5), SparseRegressor("lasso"))
    >>> round(machine.fit(x, np.sinc(x[:, 0])).score(x, np.sinc(x[:, 0])), 1)
    1.0
    """

    def __init__(
        self, kernel: str = "rbf", *, gamma: Any = "scale", degree: float = 3, coef0: float = 1.0
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the rows."""
        self._check_kernel()
        sparse = ("csr",) if self.__sklearn_tags__().input_tags.sparse else False
        self._keep_rows(validate_data(self, X, accept_sparse=sparse, dtype=np.float64))
        return self

    def transform(self, X: Any) -> Floats:
        """Return how much each row resembles each of the training rows."""
        check_is_fitted(self, "X_fit_")
        sparse = ("csr",) if self.__sklearn_tags__().input_tags.sparse else False
        X = validate_data(self, X, accept_sparse=sparse, dtype=np.float64, reset=False)
        return self._kernel(X, slice(None) if self.kernel == "precomputed" else self.X_fit_)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_samples_fit_)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return names of the columns: of the training rows."""
        check_is_fitted(self, "X_fit_")
        return np.array([f"row {i}" for i in range(self.X_fit_.shape[0])], dtype=object)
