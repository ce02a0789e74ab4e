"""Atoms learned from signals, so that a few of them make up each, as a scikit-learn transformer."""

import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from garrote.arrays import Floats
from garrote.coding.atoms import given_atoms, of_length_one, random_atoms
from garrote.coding.coders import CodingMethod
from garrote.coding.coders.base import some_rows
from garrote.coding.learners import LEARNERS, Learned, LearningMethod, Memory, Online, Task
from garrote.coding.learners.certifying import learned_certificate
from garrote.coding.record import LearningRecord
from garrote.coding.signals import check_signals, count_distinct, signal_weights
from garrote.coding.transformer import CodingTransformer
from garrote.estimators.shared.named_settings import Objects
from garrote.estimators.shared.posterior_settings import seed_of
from garrote.results.certificates import Certificate
from garrote.settings import check_count
from garrote.solvers.coding.dealing import dense_rows
from garrote.solvers.control import Callback, Control

# Signals on which a dictionary is measured that was learned from batches.
_MEASURED = 2000


def _learns_online(estimator: Any) -> bool:
    return isinstance(learning_method(estimator.method), Online)


class DictionaryLearning(CodingTransformer):
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
        The objective along rounds. Alternating and K-SVD never raise it.
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
        rng = np.random.default_rng(seed_of(self.random_state))
        atoms = self._start(X, weights, rng)
        coder = coder.settle(atoms, X, weights)
        report = partial(Control(callback=self.callback).report, learner.name)
        learned = learner.learn(Task(X, weights, atoms, coder, rng, self.n_jobs, report))
        self._keep(learned, coder)
        rows, share = (X, weights) if learner.whole else some_rows(X, weights, _MEASURED)
        self.certificate_: Certificate = learned_certificate(
            coder, self.components_, rows, share, self.n_jobs, X.shape[0]
        )
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
        first = not hasattr(self, "components_")
        X = check_signals(self, X, reset=first)
        weights = signal_weights(sample_weight, X)
        if first:
            rng = np.random.default_rng(seed_of(self.random_state))
            atoms, memory = self._start(X, weights, rng, whole=False), None
            coder = coder.settle(atoms, X, weights)
        else:
            atoms, memory = self.components_.copy(), Memory(*self.memory_)
            coder = self.method_
        rows = dense_rows(X, slice(None))
        memory, seen, replaced = learner.step(atoms, memory, coder, rows, weights, self.n_jobs)
        record = LearningRecord.of([seen.row(replaced)], False)
        if not first:
            record = self.record_.followed_by(record)
        self._keep(Learned(atoms, record, memory=memory), coder)
        self.certificate_ = learned_certificate(coder, atoms, rows, weights, None, len(rows))
        return self

    def _settings(self) -> tuple[LearningMethod, CodingMethod]:
        """Return how to learn and how to code, or refuse settings before any work."""
        learner = learning_method(self.method)
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1)
        return learner, learner.coder(self.alpha, self.positive)

    def _start(
        self, X: Any, weights: Floats, rng: np.random.Generator, whole: bool = True
    ) -> Floats:
        """Return atoms to begin with."""
        signals, width = count_distinct(X, weights), X.shape[1]
        given = self.dictionary
        if self.warm_start and given is None:
            given = getattr(self, "components_", None)
        count = self.n_components
        if count is None:
            count = min(width, signals) if given is None else len(given)
        if whole and count > signals:
            raise ValueError(
                f"n_components={count} atoms cannot be learned from {signals} distinct signals, each "
                f"of which could have one of its own: give at most {signals}, or more signals"
            )
        if given is None:
            return random_atoms(count, X, weights, rng)
        atoms = given_atoms(given, width)
        if len(atoms) != count:
            raise ValueError(
                f"the dictionary to begin with has {len(atoms)} atoms, n_components is {count}: give "
                "as many, or leave one of both out"
            )
        return of_length_one(atoms)

    def _keep(self, learned: Learned, coder: CodingMethod) -> None:
        """Store what was learned."""
        self.components_, self.method_ = learned.atoms, coder
        self.record_: LearningRecord = learned.record
        self.n_iter_ = len(learned.record)
        if learned.memory is not None:
            inner, outer, steps = learned.memory
            self.memory_: tuple[Floats, Floats, int] = (inner, outer, steps)

    def _warn(self, learner: Any) -> None:
        fell = self.record_.objective[-2:]
        warnings.warn(
            f"the objective still fell by a share of {1 - fell[-1] / fell[0]:.1e} in round "
            f"{self.n_iter_}, more than tol = {learner.tol:g}: raise max_rounds "
            f"({learner.max_rounds}) or tol of the method",
            ConvergenceWarning,
            stacklevel=3,
        )


def learning_method(given: Any) -> LearningMethod:
    """Return a method that is given, or that a name stands for."""
    if isinstance(given, LearningMethod):
        return given
    if not isinstance(given, str) or given not in LEARNERS:
        raise ValueError(
            f"method must be one of {tuple(LEARNERS)}, or a learning method of garrote.coding, got "
            f"{given!r}"
        )
    return LEARNERS[given]()
