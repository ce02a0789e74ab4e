"""A matrix with gaps as the product of two sparse ones, as a scikit-learn transformer."""

import warnings
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Floats
from garrote.coding.atoms import atoms_to_begin_with
from garrote.coding.codes import Codes
from garrote.coding.incomplete.certifying import factors_certificate
from garrote.coding.incomplete.factorising import (
    Before,
    Factorised,
    FactorisingMethod,
    Remembered,
    Work,
)
from garrote.coding.incomplete.lasso import encoded_at_price
from garrote.coding.incomplete.mean_field import (
    SlabLaws,
    coded_by_mean_field,
    encoded_by_mean_field,
)
from garrote.coding.incomplete.penalised_factors import PenalisedFactors
from garrote.coding.incomplete.signals import Incomplete, check_incomplete, seen_weights
from garrote.coding.incomplete.spike_slab_factors import SpikeSlabFactors
from garrote.coding.incomplete.transformer import IncompleteTransformer
from garrote.coding.signals import count_distinct
from garrote.estimators.shared.named_settings import NamedSettings, Objects
from garrote.estimators.shared.posterior_settings import seed_of
from garrote.results.certificates import Certificate
from garrote.settings import as_settings, check_count, check_positive
from garrote.solvers.coding.code_sums import CodeSums
from garrote.solvers.coding.factor_moments import Side, log_odds
from garrote.solvers.control import Callback, Control

# By the name that stands for the default settings.
FACTORISERS = {method.name: method for method in (PenalisedFactors, SpikeSlabFactors)}


class SparseMatrixFactorization(NamedSettings, IncompleteTransformer):
    """Signals as sums of a few components, each in few signals and of few columns.

    Minimises the mean over signals x of 1/2 |x - z W|^2 + alpha |z|_1 over codes z and components w_k,
    the rows of W, with |w_k|^2 + gamma |w_k|_1 <= 1 (Murphy 2012, Eq. 13.179); or finds both factors
    under a spike and a slab. Only entries that were seen count: those that are missing are what codes
    make of them (`inverse_transform`). There are many optima, of which one is found. Signals are not
    centred.

    Parameters
    ----------
    n_components : int, optional
        By default as many as columns, or signals if these are fewer.
    method : {"l1", "spike-slab"} or factorising method, default="l1"
        `PenalisedFactors` or `SpikeSlabFactors`; a name stands for the default settings.
    dictionary : array of shape (n_components, D), optional
        Components to begin with; by default random ones.
    max_rounds : int, default=500
    tol : float, default=1e-6
        A round by which the objective falls by no more than this share of it is the last.
    warm_start : bool, default=False
        Whether `fit` goes on from the components of the fit before.
    sparse_output : bool, default=False
        Whether `transform` returns a sparse array.
    random_state : int, RandomState or None
    callback : callable, optional
        Told of each round, as `Progress`.

    Attributes
    ----------
    components_ : array of shape (n_components, D)
        Of a spike and slab posterior means, those of most variance first; entries that are in with a
        probability below 1/2 are not 0, but `inclusion_` says so.
    inclusion_ : array of shape (n_components, D)
        The probability that an entry is not 0: 0 or 1 where entries have a price.
    components_variance_ : array of shape (n_components, D)
        The posterior variances of entries, 0 where they have a price.
    codes_ : sparse array of shape (n_signals, n_components)
        Of the signals of the fit.
    code_inclusion_ : array of shape (n_components,)
        In which share of signals each component is; of a spike and slab as its probability was learned.
    noise_variance_ : float
        What is left of an entry, squared, on average; of a spike and slab as it was learned.
    method_ : factorising method
        With the numbers that were left to the signals.
    record_ : LearningRecord
        The objective along rounds, which never rises; of a spike and slab minus the lower bound of the
        log probability, a signal, of the start that ends best, once noise has fallen.
    certificate_ : Certificate
        At a price, the worst code's duality gap, and what more updates of components would gain; of a
        spike and slab the largest distance of a probability, or a mean in standard errors, from its
        equation, of codes and of components, and what noise would change by, as a share of it.
    n_iter_ : int
    memory_ : tuple
        What `partial_fit` remembers: sums over codes.
    n_features_in_, feature_names_in_

    References
    ----------
    Broderick, T., Boyd, N., Wibisono, A., Wilson, A. C. & Jordan, M. I. (2013). Streaming variational
    Bayes. NeurIPS 26, 1727-1735.

    Mairal, J., Bach, F., Ponce, J. & Sapiro, G. (2010). Online learning for matrix factorization and
    sparse coding. JMLR 11, 19-60.

    Titsias, M. & Lazaro-Gredilla, M. (2011). Spike and slab variational inference for multi-task and
    multiple kernel learning. NeurIPS 24, 2339-2347.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.coding import SparseMatrixFactorization
    >>> rng = np.random.default_rng(0)
    >>> parts = rng.standard_normal((3, 20)) * (rng.random((3, 20)) < 0.3)
    >>> truth = rng.standard_normal((200, 3)) * (rng.random((200, 3)) < 0.4) @ parts
    >>> signals = truth + 0.05 * rng.standard_normal(truth.shape)
    >>> signals[rng.random(truth.shape) < 0.4] = np.nan
    >>> model = SparseMatrixFactorization(5, "spike-slab", random_state=0).fit(signals)
    >>> (model.inclusion_ > 0.5).any(axis=1).tolist()
    [True, True, True, False, False]
    >>> filled = model.inverse_transform(model.transform(signals))
    >>> bool(np.mean((filled - truth) ** 2) < 0.01 * np.mean(truth**2))
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        method: str | FactorisingMethod = "l1",
        *,
        dictionary: Any = None,
        max_rounds: int = 500,
        tol: float = 1e-6,
        warm_start: bool = False,
        sparse_output: bool = False,
        random_state: Any = None,
        callback: Callback | None = None,
    ):
        self.n_components = n_components
        self.method = method
        self.dictionary = dictionary
        self.max_rounds = max_rounds
        self.tol = tol
        self.warm_start = warm_start
        self.sparse_output = sparse_output
        self.random_state = random_state
        self.callback = callback

    @property
    def _objects(self) -> dict[str, Objects]:
        return {"method": FACTORISERS}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find components.

        Parameters
        ----------
        X : array of shape (n_signals, D)
            NaN where an entry is missing.
        y : ignored
        sample_weight : array of shape (n_signals,), optional
            A weight is as good as repeats.
        """
        method = self._check_settings()
        signals = check_incomplete(self, X, reset=True)
        weights = seen_weights(sample_weight, signals)
        method = method.for_signals(signals, weights)
        work = self._work(method, signals, weights)
        found = method.factorise(work)
        self._keep(method, found, signals, weights)
        self.certificate_: Certificate = factors_certificate(method, found, signals, weights)
        if not found.settled:
            warnings.warn(
                f"the objective still fell by more than a share of tol = {self.tol:g} in the last of "
                f"max_rounds = {self.max_rounds} rounds (certificate {self.certificate_}): raise either",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on from one more batch of signals, with what is remembered of earlier ones.

        What is said of signals, `codes_` and the certificate, is then of this batch. At a price the
        atoms change once. Of a spike and slab the first batch is fitted as `fit` does it; then the
        factors of each batch's codes and of all components are made to agree, while codes of earlier
        batches stay as they were (Broderick et al. 2013). A component that no signal has asked for so
        far becomes what is left of the worst signal, if that raises the bound.

        Parameters
        ----------
        X : array of shape (n_signals, D)
            NaN where an entry is missing.
        y : ignored
        sample_weight : array of shape (n_signals,), optional
        """
        method, first = self._check_settings(), not hasattr(self, "components_")
        signals = check_incomplete(self, X, reset=first)
        weights = seen_weights(sample_weight, signals)
        method = method.for_signals(signals, weights) if first else self.method_
        work = self._work(method, signals, weights, whole=False)
        found = method.begin(work) if first else method.go_on(self._before, work)
        if not first:
            found = found._replace(record=self.record_.followed_by(found.record))
        self._keep(method, found, signals, weights)
        self.certificate_ = factors_certificate(method, found, signals, weights)
        return self

    @property
    def _before(self) -> Before:
        """Where the next batch goes on."""
        mean, inside = self.components_, self.inclusion_
        side = Side.of_moments(mean, inside, self.components_variance_)
        *sums, parts = self.memory_
        known = Remembered(CodeSums(*sums), parts)
        return Before(side, self.code_inclusion_, self.noise_variance_, known)

    def encode(self, X: Any) -> Codes:
        """Return the codes of signals with what is left of each, and how good each code is.

        Parameters
        ----------
        X : array of shape (n_signals, D)
            NaN where an entry is missing.
        """
        check_is_fitted(self, "components_")
        signals = check_incomplete(self, X, reset=False)
        if isinstance(self.method_, PenalisedFactors):
            assert self.method_.alpha is not None
            return encoded_at_price(self.components_, self.method_.alpha, signals)
        return encoded_by_mean_field(self._slab_laws, signals)

    def _coded(self, signals: Incomplete) -> scipy.sparse.csr_array:
        if isinstance(self.method_, PenalisedFactors):
            assert self.method_.alpha is not None
            return encoded_at_price(self.components_, self.method_.alpha, signals).values
        return coded_by_mean_field(self._slab_laws, signals)[0]

    @property
    def _slab_laws(self) -> SlabLaws:
        """What new signals are coded by."""
        ones = np.ones(len(self.components_))
        return SlabLaws(
            self.components_, self.components_variance_, log_odds(self.code_inclusion_), ones,
            1.0 / self.noise_variance_,
        )  # fmt: skip

    def _work(
        self,
        method: FactorisingMethod,
        signals: Incomplete,
        weights: Floats,
        *,
        whole: bool = True,
    ) -> Work:
        """Return what there is to do; refuse components that do not fit, or too many of them."""
        width, count = signals.values.shape[1], self.n_components
        given = self.dictionary
        if given is None and self.warm_start:
            given = getattr(self, "components_", None)
        atoms = None if given is None else atoms_to_begin_with(given, width, count)
        distinct = count_distinct(signals.values, weights)
        if count is None:
            count = min(width, distinct) if atoms is None else len(atoms)
        if whole and count > distinct:
            raise ValueError(
                f"n_components={count} components cannot be found in {distinct} distinct signals, each "
                f"of which could be one by itself: give at most {distinct}, or more signals"
            )
        report = partial(Control(callback=self.callback).report, method.name)
        rng = np.random.default_rng(seed_of(self.random_state))
        return Work(signals, weights, atoms, count, self.max_rounds, self.tol, rng, report)

    def _keep(
        self, method: FactorisingMethod, found: Factorised, signals: Incomplete, weights: Floats
    ) -> None:
        """Store what was found; components of most variance come first."""
        self.method_, self.record_ = method, found.record
        self.n_iter_ = len(found.record)
        sizes = np.sum(found.atoms**2, axis=1) * (weights @ found.codes**2)
        order = np.argsort(-sizes, kind="stable")
        self.components_ = found.atoms[order]
        self.codes_ = scipy.sparse.csr_array(found.codes[:, order])
        known = found.memory
        self.memory_: tuple[Any, ...] = (*known.sums.ordered(order), known.parts)
        if found.factors is None:
            left = (signals.values - found.codes @ found.atoms) * signals.seen
            count = float(weights @ signals.seen.sum(axis=1))
            self.noise_variance_ = float(weights @ np.sum(left**2, axis=1)) / count
            self.inclusion_ = (self.components_ != 0).astype(np.float64)
            inside = weights @ (found.codes[:, order] != 0)
            self.code_inclusion_ = inside / weights.sum()
            self.components_variance_ = np.zeros_like(self.components_)
            return
        _, loadings, numbers = found.factors
        self.noise_variance_ = numbers.noise
        self.inclusion_ = loadings.probability[order]
        self.components_variance_ = loadings.variance[order]
        self.code_inclusion_ = numbers.of_codes[order]

    def _check_settings(self) -> FactorisingMethod:
        """Return how components are found, or refuse settings before any work."""
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1)
        check_count("max_rounds", self.max_rounds, 1)
        check_positive("tol", self.tol)
        otherwise = "a factorising method of garrote.coding"
        return as_settings("method", self.method, FactorisingMethod, FACTORISERS, otherwise)
