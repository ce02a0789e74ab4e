"""What transformers of signals with missing entries share: codes, the way back, scores, files."""

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.coding.incomplete.signals import Incomplete, check_incomplete
from garrote.coding.signals import check_codes
from garrote.estimators.shared.saving import SaveMixin


class IncompleteTransformer(
    SaveMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """The base of transformers whose ``components_`` are atoms, of signals that may have gaps."""

    components_: Floats
    sparse_output: bool

    @abstractmethod
    def _coded(self, signals: Incomplete) -> scipy.sparse.csr_array:
        """Return the codes of signals."""

    def transform(self, X: Any) -> Any:
        """Return the codes of signals.

        Parameters
        ----------
        X : array of shape (n_signals, D)
            NaN where an entry is missing.

        Returns
        -------
        codes : array of shape (n_signals, n_components)
            Sparse (CSR) with ``sparse_output``; in single precision where X is.
        """
        check_is_fitted(self, "components_")
        signals = check_incomplete(self, X, reset=False)
        codes = self._coded(signals).astype(_precision(X), copy=False)
        return codes if self.sparse_output else codes.toarray()

    def inverse_transform(self, X: Any) -> Array:
        """Return the whole signals that codes stand for.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_signals, n_components)
        """
        check_is_fitted(self, "components_")
        codes = check_codes(X, len(self.components_))
        return np.asarray(codes @ self.components_.astype(codes.dtype, copy=False))

    def score(self, X: Any, y: Any = None) -> float:
        """Return which share of the squares of the entries that were seen codes explain.

        Parameters
        ----------
        X : array of shape (n_signals, D)
        y : ignored
        """
        check_is_fitted(self, "components_")
        signals = check_incomplete(self, X, reset=False)
        left = (signals.values - self._coded(signals) @ self.components_) * signals.seen
        whole = float(np.sum(signals.values**2))
        lost = float(np.sum(left**2))
        return 1.0 - lost / whole if whole > 0 else float(lost == 0.0)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _precision(X: Any) -> Any:
    """Return the type of codes of X."""
    single = getattr(X, "dtype", None) == np.float32
    return np.float32 if single else np.float64
