"""Signals as sums of parts, non-negative codes over non-negative atoms, as a transformer."""

from typing import Any, Self

import numpy as np

from garrote.arrays import Floats
from garrote.coding.coders import NonNegativeCoding
from garrote.coding.learners import Online
from garrote.coding.learners.factors import factorise, first_parts
from garrote.coding.learning_transformer import LearningTransformer
from garrote.coding.signals import check_signals, signal_weights
from garrote.settings import check_count, check_positive
from garrote.solvers.control import Callback


class NonNegativeFactorization(LearningTransformer):
    """Signals as sums of a few non-negative parts, none of which is ever taken away.

    Minimises the mean over signals x >= 0 of 1/2 |x - z W|^2 + alpha sum z over codes z >= 0 and a
    dictionary W >= 0 whose atoms, its rows, have length 1 at most (Murphy 2012, Eq. 13.178; with a price
    of codes this is non-negative sparse coding, Hoyer 2004). There are many optima; one is found.

    Parameters
    ----------
    n_components : int, optional
        Atoms; by default as many as columns, or signals if these are fewer.
    alpha : float, default=0.0
        The price of codes: the larger, the sparser they are.
    dictionary : array of shape (n_components, D), optional
        Atoms to begin with; by default parts of one sign of the signals' singular vectors.
    max_rounds : int, default=500
    tol : float, default=1e-5
        A round by which the objective falls by no more than this share of it is the last.
    warm_start : bool, default=False
        Whether `fit` goes on from the atoms of the fit before.
    forgetting : float, default=5.0
        Of `partial_fit`: how what it remembers fades, as in `Online`.
    sparse_output : bool, default=False
        Whether `transform` returns a sparse array.
    random_state : int, RandomState or None
        Of atoms beyond the number of singular vectors.
    n_jobs : int, optional
        Threads.
    callback : callable, optional
        Told of each round, as `Progress`.

    Attributes
    ----------
    components_ : array of shape (n_components, D)
        The atoms, of length 1 unless they are in no code.
    method_ : NonNegativeCoding
        How signals are coded: exactly.
    record_ : LearningRecord
        The objective along rounds, which never rises.
    certificate_ : Certificate
        How far the conditions of Karush, Kuhn and Tucker are from holding: "violation" is the largest of
        a code, as a share of the largest product of its signal with an atom; "atoms" is what twenty more
        updates of all atoms would lower the objective by, as a share of that without atoms.
    n_iter_ : int
    memory_ : tuple
        What `partial_fit` remembers.
    n_features_in_, feature_names_in_

    References
    ----------
    Ang, A. M. S. & Gillis, N. (2019). Accelerating nonnegative matrix factorization algorithms using
    extrapolation. Neural Computation 31, 417-439.

    Cichocki, A. & Phan, A.-H. (2009). Fast local algorithms for large scale nonnegative matrix and
    tensor factorizations. IEICE Transactions E92-A, 708-721.

    Gillis, N. & Glineur, F. (2012). Accelerated multiplicative updates and hierarchical ALS algorithms
    for nonnegative matrix factorization. Neural Computation 24, 1085-1105.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.coding import NonNegativeFactorization
    >>> rng = np.random.default_rng(0)
    >>> parts = (rng.random((3, 12)) < 0.4).astype(float)
    >>> signals = rng.exponential(size=(60, 3)) @ parts
    >>> model = NonNegativeFactorization(3, tol=1e-9).fit(signals)
    >>> bool(model.score(signals) > 0.999)
    True
    """

    _positive = True

    def __init__(
        self,
        n_components: int | None = None,
        alpha: float = 0.0,
        *,
        dictionary: Any = None,
        max_rounds: int = 500,
        tol: float = 1e-5,
        warm_start: bool = False,
        forgetting: float = 5.0,
        sparse_output: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.dictionary = dictionary
        self.max_rounds = max_rounds
        self.tol = tol
        self.warm_start = warm_start
        self.forgetting = forgetting
        self.sparse_output = sparse_output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn atoms.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_signals, D)
            Without negative entries.
        y : ignored
        sample_weight : array of shape (n_signals,), optional
            A weight is as good as repeats.
        """
        coder = self._settings()
        X = check_signals(self, X, reset=True, positive=True)
        weights = signal_weights(sample_weight, X)
        task = self._task(X, weights, coder, "factors")
        learned = factorise(task, self.max_rounds, self.tol)
        self._keep(learned, task.coder)
        self._certify(X, weights, X.shape[0])
        if not learned.settled:
            self._warn(self)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning from one more batch of signals, with what is remembered of earlier ones.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_signals, D)
            Without negative entries.
        y : ignored
        sample_weight : array of shape (n_signals,), optional
        """
        self._learn_batch(X, sample_weight, self._settings(), Online(forgetting=self.forgetting))
        return self

    def _settings(self) -> NonNegativeCoding:
        """Return how signals are coded, or refuse settings before any work."""
        self._check_count()
        check_count("max_rounds", self.max_rounds, 1)
        check_positive("tol", self.tol)
        return NonNegativeCoding(self.alpha)

    def _first_atoms(self, count: int, X: Any, weights: Floats, rng: np.random.Generator) -> Floats:
        return first_parts(count, X, weights, rng)
