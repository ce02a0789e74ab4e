"""Signals as codes over atoms that are given, as a scikit-learn transformer."""

from typing import Any, Self

from garrote.arrays import Floats
from garrote.coding.atoms import given_atoms
from garrote.coding.coders import CODERS, CodingMethod
from garrote.coding.dictionaries import dct_dictionary
from garrote.coding.signals import check_signals, signal_weights
from garrote.coding.transformer import CodingTransformer
from garrote.estimators.shared.named_settings import Objects
from garrote.settings import as_settings


class SparseCoder(CodingTransformer):
    """Few atoms of a dictionary that together make up a signal, for many signals at once.

    Every signal x is approximated by z W, W being the dictionary with an atom a row and z a sparse code
    (Murphy 2012, section 13.8). `transform` gives the codes, `encode` also says how good each one is.

    Parameters
    ----------
    dictionary : array of shape (n_atoms, D) or "dct", default="dct"
        Atoms, which keep their lengths; those of zeros are in no code. "dct" are cosines, for signals
        whose columns have an order; `garrote.coding.dct_dictionary` makes those of patches.
    method : {"omp", "lasso", "non-negative", "threshold", "spike-slab"} or coding method, default="omp"
        How signals are coded: `PursuitCoding`, `LassoCoding`, `NonNegativeCoding`, `ThresholdCoding` or
        `SpikeSlabCoding`.
        A name stands for the default settings of each.
    sparse_output : bool, default=False
        Whether `transform` returns a sparse array.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    components_ : array of shape (n_atoms, D)
        The dictionary.
    method_ : coding method
        With the numbers that were left to the signals of the fit.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.coding import PursuitCoding, SparseCoder
    >>> rng = np.random.default_rng(0)
    >>> atoms = rng.standard_normal((50, 20))
    >>> signals = 2.0 * atoms[[3, 7]] - atoms[[10, 11]]
    >>> coder = SparseCoder(atoms, PursuitCoding(n_nonzero=2)).fit(signals)
    >>> codes = coder.encode(signals)
    >>> codes.values.indices.tolist(), codes.values.data.round(6).tolist()
    ([3, 10, 7, 11], [2.0, -1.0, 2.0, -1.0])
    >>> bool(codes.certificate.value < 1e-12)
    True
    """

    def __init__(
        self,
        dictionary: Any = "dct",
        method: str | CodingMethod = "omp",
        *,
        sparse_output: bool = False,
        n_jobs: int | None = None,
    ):
        self.dictionary = dictionary
        self.method = method
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs

    @property
    def _objects(self) -> dict[str, Objects]:
        return {"method": CODERS}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take over the dictionary, and decide what the method leaves to the signals.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_signals, D)
        y : ignored
        sample_weight : array of shape (n_signals,), optional
            How much each signal counts where numbers are learned.
        """
        method = coding_method(self.method)
        X = check_signals(self, X, reset=True)
        weights = signal_weights(sample_weight, X)
        self.components_ = self._dictionary(X.shape[1])
        self.method_ = method.for_signals(self.components_, X, weights)
        return self

    def _dictionary(self, width: int) -> Floats:
        if isinstance(self.dictionary, str):
            if self.dictionary != "dct":
                raise ValueError(
                    f"dictionary must be an array of atoms or 'dct', got {self.dictionary!r}"
                )
            return dct_dictionary(width)
        return given_atoms(self.dictionary, width)


def coding_method(given: Any) -> CodingMethod:
    """Return a method that is given, or that a name stands for."""
    return as_settings("method", given, CodingMethod, CODERS, "a coding method of garrote.coding")
