"""What all transformers into codes share: names, the way back, files, and how much is explained."""

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.coding.coders import CodingMethod
from garrote.coding.codes import Codes, encoded
from garrote.coding.signals import (
    check_codes,
    check_signals,
    signal_weights,
    squared_errors,
    squared_norms,
)
from garrote.estimators.shared.named_settings import NamedSettings
from garrote.estimators.shared.saving import SaveMixin


class CodingTransformer(
    SaveMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, NamedSettings, BaseEstimator
):
    """The base of transformers whose ``components_`` are atoms, one a row.

    What they have found out is how to code: ``method_``.
    """

    components_: Floats
    method_: CodingMethod
    sparse_output: bool
    n_jobs: int | None
    # Whether signals have to be non-negative.
    _positive = False

    def transform(self, X: Any) -> Any:
        """Return the codes of signals.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_signals, D)

        Returns
        -------
        codes : array of shape (n_signals, n_atoms)
            Sparse (CSR) with ``sparse_output``; in single precision where X is.
        """
        check_is_fitted(self, "components_")
        X = check_signals(self, X, reset=False, positive=self._positive)
        codes = self._coded(X).astype(X.dtype, copy=False)
        return codes if self.sparse_output else codes.toarray()

    def _coded(self, X: Any) -> scipy.sparse.csr_array:
        return self.method_.code(self.components_, X, self.n_jobs).codes

    def encode(self, X: Any) -> Codes:
        """Return the codes of signals with what is left of each, and how good each code is.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_signals, D)
        """
        check_is_fitted(self, "components_")
        X = check_signals(self, X, reset=False, positive=self._positive)
        return encoded(self.method_, self.components_, X, self.n_jobs)

    def inverse_transform(self, X: Any) -> Array:
        """Return the signals that codes stand for.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_signals, n_atoms)
        """
        check_is_fitted(self, "components_")
        codes = check_codes(X, len(self.components_))
        return np.asarray(codes @ self.components_.astype(codes.dtype, copy=False))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return which share of the squared lengths of signals their codes explain.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_signals, D)
        y : ignored
        sample_weight : array of shape (n_signals,), optional
        """
        check_is_fitted(self, "components_")
        X = check_signals(self, X, reset=False, positive=self._positive)
        weights = signal_weights(sample_weight, X)
        left = float(weights @ squared_errors(X, self._coded(X), self.components_))
        whole = float(weights @ squared_norms(X))
        return 1.0 - left / whole if whole > 0 else float(left == 0.0)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._positive
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
