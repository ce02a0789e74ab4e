"""Atoms learned from signals, so that a few of them make up each, as a scikit-learn transformer."""

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from garrote.arrays import Floats
from garrote.coding.atoms import random_atoms
from garrote.coding.coders import CodingMethod
from garrote.coding.coders.base import some_rows
from garrote.coding.learners import LEARNERS, LearningMethod, Online
from garrote.coding.learning_transformer import LearningTransformer
from garrote.coding.signals import check_signals, signal_weights
from garrote.estimators.shared.named_settings import Objects
from garrote.settings import as_settings
from garrote.solvers.control import Callback

# Signals on which a dictionary is measured that was learned from batches.
_MEASURED = 2000


def _learns_online(estimator: Any) -> bool:
    return isinstance(learning_method(estimator.method), Online)


class DictionaryLearning(LearningTransformer):
    """A dictionary of which every signal needs a few atoms only.

    Minimises the mean over signals x of 1/2 |x - z W|^2 + alpha |z|_1 over codes z and a dictionary W
    whose atoms, its rows, have length 1 at most (Murphy 2012, Eqs. 13.176 and 13.177); K-SVD bounds the
    number of atoms in a code instead. There are many optima, of which one is found.

    Parameters
    ----------
    n_components : int, optional
        Atoms; by default as many as columns, or signals if these are fewer. A dictionary of more atoms
        than columns is overcomplete, which is common.
    method : {"alternating", "online", "ksvd"} or learning method, default="alternating"
        `Alternating`, `Online` (for many signals) or `KSVD`; a name stands for the default settings.
    alpha : float, optional
        The price of codes; by default 1.2 / sqrt(D) times the root mean square of the signals' norms.
    positive : bool, default=False
        Whether codes are not negative.
    dictionary : array of shape (n_components, D), optional
        Atoms to begin with; by default random directions with the second moments of the signals.
    warm_start : bool, default=False
        Whether `fit` goes on from the atoms of the fit before.
    sparse_output : bool, default=False
        Whether `transform` returns a sparse array.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads.
    callback : callable, optional
        Told of each round, as `Progress`.

    Attributes
    ----------
    components_ : array of shape (n_components, D)
        The dictionary, an atom a row.
    method_ : coding method
        How signals are coded, with its numbers.
    record_ : LearningRecord
        The objective along rounds. Alternating and K-SVD (of so many atoms a signal) never raise it.
    certificate_ : Certificate
        The worst code of the signals, and what another update of all atoms would lower the objective by,
        as a share of that without atoms; on 2,000 of the signals if learned from batches.
    n_iter_ : int
    memory_ : tuple
        What learning from batches remembers, for `partial_fit`.
    n_features_in_, feature_names_in_

    References
    ----------
    Mairal, J., Bach, F., Ponce, J. & Sapiro, G. (2010). Online learning for matrix factorization and
    sparse coding. JMLR 11, 19-60.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.coding import DictionaryLearning
    >>> rng = np.random.default_rng(0)
    >>> atoms = rng.standard_normal((12, 8))
    >>> codes = rng.standard_normal((400, 12)) * (rng.random((400, 12)) < 0.15)
    >>> model = DictionaryLearning(12, random_state=0).fit(codes @ atoms)
    >>> model.components_.shape
    (12, 8)
    >>> bool(np.all(np.diff(model.record_.objective) <= 0))
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        method: str | LearningMethod = "alternating",
        *,
        alpha: float | None = None,
        positive: bool = False,
        dictionary: Any = None,
        warm_start: bool = False,
        sparse_output: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ):
        self.n_components = n_components
        self.method = method
        self.alpha = alpha
        self.positive = positive
        self.dictionary = dictionary
        self.warm_start = warm_start
        self.sparse_output = sparse_output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    @property
    def _objects(self) -> dict[str, Objects]:
        return {"method": LEARNERS}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn a dictionary.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_signals, D)
            K-SVD makes a dense copy of sparse ones.
        y : ignored
        sample_weight : array of shape (n_signals,), optional
            A weight is as good as repeats.
        """
        learner, coder = self._settings()
        X = check_signals(self, X, reset=True)
        weights = signal_weights(sample_weight, X)
        task = self._task(X, weights, coder, learner.name)
        learned = learner.learn(task)
        self._keep(learned, task.coder)
        rows, share = (X, weights) if learner.whole else some_rows(X, weights, _MEASURED)
        self._certify(rows, share, X.shape[0])
        if not learned.settled:
            self._warn(learner)
        return self

    @available_if(_learns_online)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning from one more batch of signals, with what is remembered of earlier ones.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_signals, D)
        y : ignored
        sample_weight : array of shape (n_signals,), optional
        """
        learner, coder = self._settings()
        assert isinstance(learner, Online)
        self._learn_batch(X, sample_weight, coder, learner)
        return self

    def _settings(self) -> tuple[LearningMethod, CodingMethod]:
        """Return how to learn and how to code, or refuse settings before any work."""
        learner = learning_method(self.method)
        self._check_count()
        return learner, learner.coder(self.alpha, self.positive)

    def _first_atoms(self, count: int, X: Any, weights: Floats, rng: np.random.Generator) -> Floats:
        return random_atoms(count, X, weights, rng)


def learning_method(given: Any) -> LearningMethod:
    """Return a method that is given, or that a name stands for."""
    otherwise = "a learning method of garrote.coding"
    return as_settings("method", given, LearningMethod, LEARNERS, otherwise)
