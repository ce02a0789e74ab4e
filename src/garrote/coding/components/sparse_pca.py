"""Principal components that few columns have a part in, as a scikit-learn transformer."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.coding.atoms import of_length_one
from garrote.coding.components.certifying import components_certificate
from garrote.coding.components.moments import Moments, joined, moments_of
from garrote.coding.components.solving import Asked, in_turn, together
from garrote.coding.components.variance import variance_explained
from garrote.coding.record import LearningRecord
from garrote.coding.signals import check_codes, check_signals, count_distinct, signal_weights
from garrote.estimators.shared.saving import SaveMixin
from garrote.results.certificates import Certificate
from garrote.settings import check_count, check_positive, is_number
from garrote.solvers.coding.dealing import deal, dense_rows
from garrote.solvers.coding.sparse_components import Components
from garrote.solvers.control import Callback, Control

# Loadings below this share of the deviation of all columns are none.
_ROUNDING = 1e-13
METHODS = {"deflation": in_turn, "jointly": together}


class SparsePCA(SaveMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Directions in which rows vary much, each made of few columns.

    Minimises 1/2 |X - Z W|^2 / N + sum of alpha_k |w_k|_1 over loadings W, a component a row, and
    uncorrelated scores Z of variance 1, X being centred (Murphy 2012, section 13.8: a sparse prior of
    the weights, a Gaussian one of the factors). A loading is the covariance of its column with the
    score, moved by alpha towards 0: columns of lower covariance have no part. There are many optima, of
    which one is found.

    Parameters
    ----------
    n_components : int, optional
        By default as many as columns, or rows if these are fewer.
    alpha : float or array of shape (n_components,), optional
        The price of loadings, in the units of the columns; by default as high as ``variance`` allows.
    variance : float, default=0.9
        Where there is no ``alpha``: the share that is kept of the variance that components without a
        price would explain; of each in its turn, or of all together.
    method : {"deflation", "jointly"}, default="deflation"
        Whether components are found one after the other, from what scores of earlier ones leave, so that
        more of them change nothing in the first; or all together, which makes the objective lower.
    max_iter : int, default=2000
        Steps at most.
    tol : float, default=1e-6
        A step that changes no loading by more than this share of the largest standard deviation of a
        column is the last.
    callback : callable, optional
        Told of each component, or each strength tried, as `Progress`.

    Attributes
    ----------
    components_ : array of shape (n_components, D)
        Directions, of length 1; empty ones are zeros. Jointly found ones are in the order of their
        variances. The largest loading is positive.
    loadings_ : array of shape (n_components, D)
        W.
    alpha_ : array of shape (n_components,)
    explained_variance_ : array of shape (n_components,)
        By how much a component raises the variance of what it and those before it reproduce, so that
        nothing is counted twice where components are correlated. Variances are divided by N.
    explained_variance_ratio_ : array of shape (n_components,)
        As shares of the variance of all columns.
    mean_ : array of shape (D,)
    certificate_ : Certificate
        The largest distance of a loading from its equation, all scores found afresh, as a share of the
        largest standard deviation of a column.
    record_ : LearningRecord
        The objective along steps at the prices that were chosen, which never rises; where components are
        found one after the other, those of each in its turn. What is left of variance, and components.
    n_iter_ : int
        Steps; where components are found one after the other, of the one that took most.
    memory_ : tuple
        Moments of the rows seen, for `partial_fit`.
    n_features_in_, feature_names_in_

    References
    ----------
    Journee, M., Nesterov, Y., Richtarik, P. & Sepulchre, R. (2010). Generalized power method for sparse
    principal component analysis. JMLR 11, 517-553.

    Shen, H. & Huang, J. Z. (2008). Sparse principal component analysis via regularized low rank matrix
    approximation. Journal of Multivariate Analysis 99, 1015-1034.

    Witten, D. M., Tibshirani, R. & Hastie, T. (2009). A penalized matrix decomposition. Biostatistics
    10, 515-534.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.coding import SparsePCA
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.standard_normal((200, 2)) * [3.0, 2.0]
    >>> X = np.repeat(hidden, 4, axis=1) + rng.standard_normal((200, 8))
    >>> model = SparsePCA(2).fit(X)
    >>> (model.components_ != 0).astype(int).tolist()
    [[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1]]
    """

    def __init__(
        self,
        n_components: int | None = None,
        alpha: Any = None,
        *,
        variance: float = 0.9,
        method: str = "deflation",
        max_iter: int = 2000,
        tol: float = 1e-6,
        callback: Callback | None = None,
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.variance = variance
        self.method = method
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find components.

        Parameters
        ----------
        X : array or sparse matrix of shape (N, D)
            Blocks of a sparse one are made dense; all of it if it has more columns than rows.
        y : ignored
        sample_weight : array of shape (N,), optional
            A weight is as good as repeats.
        """
        self._check_settings()
        X = check_signals(self, X, reset=True, least=2)
        weights = signal_weights(sample_weight, X)
        most = min(X.shape)
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} components cannot be found in {X.shape[0]} rows of "
                f"{X.shape[1]} columns: give at most {most}"
            )
        # Repeats of rows are what weights stand for.
        self._find(moments_of(X, weights), min(most, count_distinct(X, weights)))
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find components of all rows so far: the answer is that of `fit` to all of them.

        Parameters
        ----------
        X : array or sparse matrix of shape (N, D)
        y : ignored
        sample_weight : array of shape (N,), optional
        """
        self._check_settings()
        first = not hasattr(self, "components_")
        X = check_signals(self, X, reset=first)
        moments = moments_of(X, signal_weights(sample_weight, X))
        if not first:
            moments = joined(Moments(*self.memory_), moments)
        self._find(moments, X.shape[1])
        return self

    def transform(self, X: Any) -> Array:
        """Return scores: the codes of rows whose sums of components are nearest to them.

        Parameters
        ----------
        X : array or sparse matrix of shape (N, D)

        Returns
        -------
        scores : array of shape (N, n_components)
            Of an empty component 0; in single precision where X is.
        """
        check_is_fitted(self, "components_")
        X = check_signals(self, X, reset=False)
        back = np.linalg.pinv(self.components_)
        parts = deal(X, lambda rows: (rows - self.mean_) @ back)
        return np.concatenate(parts).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows that scores stand for.

        Parameters
        ----------
        X : array of shape (N, n_components)
        """
        check_is_fitted(self, "components_")
        codes = check_codes(X, len(self.components_))
        rows = np.asarray(codes @ self.components_ + self.mean_)
        return rows.astype(codes.dtype, copy=False)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return which share of the squared distances of rows from the mean of the fit is explained.

        Parameters
        ----------
        X : array or sparse matrix of shape (N, D)
        y : ignored
        sample_weight : array of shape (N,), optional
        """
        check_is_fitted(self, "components_")
        X = check_signals(self, X, reset=False)
        weights = signal_weights(sample_weight, X)
        rows = dense_rows(X, slice(None)) - self.mean_
        left = rows - rows @ np.linalg.pinv(self.components_) @ self.components_
        sums = weights @ np.sum(left**2, axis=1), weights @ np.sum(rows**2, axis=1)
        return float(1.0 - sums[0] / sums[1]) if sums[1] > 0 else float(sums[0] == 0.0)

    def _find(self, moments: Moments, most: int) -> None:
        """Find the components of rows with these moments, by default so many, and keep them."""
        count = self.n_components or most
        control = Control(self.tol, self.max_iter, self.callback)
        missing = max(0, count - len(moments.root))
        root = np.pad(moments.root, ((0, missing), (0, 0)))
        asked = Asked(root, count, self._prices(count), self.variance, control)
        alpha, found = METHODS[self.method](asked)
        self._keep(moments, alpha, found)
        if not found.settled:
            warnings.warn(
                f"loadings still changed by more than tol = {self.tol:g} of a deviation after max_iter "
                f"= {self.max_iter} steps (certificate {self.certificate_}): raise either",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep(self, moments: Moments, alpha: Floats, found: Components) -> None:
        """Store what was found."""
        root, whole = moments.root, float(np.sum(moments.root**2))
        # What is left of columns after as many components as they have dimensions is rounding.
        some = np.abs(found.loadings) > _ROUNDING * np.sqrt(whole)
        found = found._replace(loadings=np.where(some, found.loadings, 0.0))
        largest = np.abs(found.loadings).argmax(axis=1)
        sign = np.sign(found.loadings[np.arange(len(largest)), largest])
        # No -0.
        self.loadings_ = found.loadings * np.where(sign == 0, 1.0, sign)[:, None] + 0.0
        self.components_, self.alpha_ = of_length_one(self.loadings_), alpha
        self.explained_variance_ = variance_explained(root, self.components_)
        self.explained_variance_ratio_ = self.explained_variance_ / (whole or 1.0)
        self.mean_ = moments.mean
        self.memory_: tuple[float, Floats, Floats] = (moments.total, moments.mean, root)
        self.n_iter_ = found.steps
        squares, paid, alive = found.rounds.T
        left = np.maximum(whole - squares - 2.0 * paid, 0.0) / (whole or 1.0)
        none = np.zeros(len(squares), dtype=int)
        self.record_ = LearningRecord(0.5 * (whole - squares), left, alive, none)
        self.certificate_: Certificate = components_certificate(
            root, self.loadings_, alpha, self.method == "jointly"
        )

    def _check_settings(self) -> None:
        """Refuse settings before any work."""
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1)
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {tuple(METHODS)}, got {self.method!r}")
        if not (is_number(self.variance) and 0 < self.variance <= 1):
            raise ValueError(
                f"variance is the share that is kept, above 0 and at most 1, got {self.variance!r}"
            )
        check_count("max_iter", self.max_iter, 1)
        check_positive("tol", self.tol)
        if self.alpha is not None:
            self._prices(np.size(self.alpha))

    def _prices(self, count: int) -> Floats | None:
        """Return the price of each component's loadings; None leaves it to the variance."""
        if self.alpha is None:
            return None
        given = np.asarray(self.alpha, dtype=np.float64)
        if given.ndim > 1 or not np.isfinite(given).all() or (given < 0).any():
            raise ValueError(
                f"alpha must be >= 0 and finite, one number or one a component, got {self.alpha!r}"
            )
        if given.ndim == 1 and len(given) != count:
            raise ValueError(
                f"alpha has {len(given)} numbers for {count} components: give one, or one for each"
            )
        return np.array(np.broadcast_to(given, (count,)))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
