"""A signal recovered from fewer measurements than it has entries, as it is sparse in some basis."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.coding.sensing.adapting import Adapted, measure_adaptively
from garrote.coding.sensing.bases import always_in, basis_operator, sensing_operator
from garrote.coding.sensing.recovering import RECOVERIES, Measured, as_recovery
from garrote.coding.sensing.signals import signal_deviation, without_rounding
from garrote.designs import OperatorDesign
from garrote.designs.operators.base import as_shape
from garrote.estimators.shared.named_settings import NamedSettings, Objects
from garrote.estimators.shared.saving import SaveMixin
from garrote.results.certificates import Certificate
from garrote.results.posterior import Posterior
from garrote.settings import check_count, is_number
from garrote.solvers.control import Progress


class CompressedSensing(SaveMixin, NamedSettings, BaseEstimator):
    r"""Signals from fewer measurements than they have entries: y = R x + noise, x = W z, z sparse.

    The rows of R are what is measured (``sensing``), the columns of W what signals are made of
    (``basis``). `recover` finds z by a sparse regression of y on R W, which is known by its products
    where it is large, and from it the signal (Murphy 2012, section 13.8.3).

    Parameters
    ----------
    shape : int or tuple of int
        The length of signals, or the sides of images. It has to be given.
    n_measurements : int, optional
        How many; needed unless ``sensing`` is given as a matrix.
    basis : str, array of shape (n, K), or operator, default="cosine"
        "identity", "cosine", "fourier", "steps" (constant but for jumps), a wavelet's name ("haar",
        "db4"; needs PyWavelets), or a matrix whose columns signals are made of, n being their entries.
    sensing : str, array of shape (M, n), operator or Adapted, default="gaussian"
        Random projections ("gaussian", "signs", "sparse"); random entries ("samples"), Fourier
        ("fourier") or cosine coefficients ("cosine"); "adapted" for measurements chosen one after the
        other, along what is most uncertain yet; or a matrix.
    recovery : {"lasso", "omp", "spike-slab", "relevance"} or recovery, default="lasso"
        `LassoRecovery`, `PursuitRecovery`, `SpikeSlabRecovery` or `RelevanceRecovery`; the last two
        say how uncertain the signal is.
    noise_deviation : float, optional
        The standard deviation of the noise of measurements, 0 if there is none. The lasso and the
        pursuit use it; the other two learn it.
    random_state : int, RandomState instance or None, default=None
        What random measurements are drawn by.
    callback : callable, optional
        Called with a `Progress`.

    Attributes
    ----------
    signal_ : array of shape ``shape``
    coefficients_ : array of shape (K,)
    deviation_ : array of shape ``shape`` or None
        Posterior standard deviations of the signal's entries, where the recovery has a posterior: 0
        where no coefficient reaches that is likely to be in.
    certificate_ : Certificate
        Of the recovery: a duality gap, or how far its equations are from holding.
    model_ : estimator
        The fitted regression, with its ``selection_`` and, where it has one, its ``posterior_``.
    rows_ : array of shape (M, n) or None
        The rows that were measured, if they were adapted.
    seed_ : int
        What random measurements are drawn by.
    n_features_in_ : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.coding import CompressedSensing
    >>> t = np.arange(256)
    >>> x = np.cos(np.pi * (2 * t + 1) * 20 / 512) - 0.5 * np.cos(np.pi * (2 * t + 1) * 33 / 512)
    >>> scanner = CompressedSensing(256, 40, noise_deviation=0.0, random_state=0)
    >>> y = scanner.measure(x)
    >>> y.shape, bool(np.allclose(scanner.recover(y), x, atol=1e-6))
    ((40,), True)
    """

    seed_: int
    signal_: np.ndarray
    coefficients_: np.ndarray
    deviation_: np.ndarray | None
    rows_: np.ndarray | None
    certificate_: Certificate

    def __init__(
        self,
        shape: Any = None,
        n_measurements: int | None = None,
        basis: Any = "cosine",
        sensing: Any = "gaussian",
        recovery: Any = "lasso",
        *,
        noise_deviation: float | None = None,
        random_state: Any = None,
        callback: Any = None,
    ):
        self.shape = shape
        self.n_measurements = n_measurements
        self.basis = basis
        self.sensing = sensing
        self.recovery = recovery
        self.noise_deviation = noise_deviation
        self.random_state = random_state
        self.callback = callback

    @property
    def _objects(self) -> dict[str, Objects]:
        return {"recovery": RECOVERIES, "sensing": {Adapted.name: Adapted}}

    @property
    def basis_operator(self) -> LinearOperator:
        """W: products with it are signals, row by row, given coefficients."""
        return basis_operator(self.basis, as_shape(self.shape))

    @property
    def sensing_operator(self) -> LinearOperator:
        """R: products with it are measurements, given signals."""
        if self._adapted is None:
            return sensing_operator(
                self.sensing, as_shape(self.shape), self.n_measurements, self._seed()
            )
        rows: Floats | None = getattr(self, "rows_", None)
        if rows is None:
            raise ValueError(
                "adapted rows depend on what is measured: call measure before, with the signal or a "
                "function that measures it"
            )
        return aslinearoperator(rows)

    def measure(self, x: Any) -> Floats:
        """Return the measurements of a signal, without noise.

        Parameters
        ----------
        x : array of shape ``shape``, or callable
            A function takes rows (k x n) and returns what is measured through them, with whatever noise
            there is: it stands for an instrument, of which adapted measurements ask one after the other.
        """
        settings, ask = self._check(), x
        if not callable(x):
            signal = _numbers(x, "the signal").reshape(-1)
            size = int(np.prod(settings.shape))
            if np.shape(x) != settings.shape and np.shape(x) != (size,):
                raise ValueError(
                    f"the signal has shape {np.shape(x)}, and shape is {settings.shape}"
                )
            if self._adapted is None:
                return np.asarray(self.sensing_operator @ signal)

            def ask(rows: Floats) -> Floats:
                return np.asarray(rows @ signal)

        if self._adapted is None:
            rows = OperatorDesign(self.sensing_operator)
            return _measurements(x, rows.some_rows(np.arange(rows.shape[0])))
        return self._measure_adaptively(lambda rows: _measurements(ask, rows))

    def fit(self, y: Any, unused: Any = None) -> Self:
        """Recover the signal behind measurements, and return this object; see `recover`.

        Parameters
        ----------
        y : array of shape (M,)
        unused : ignored
        """
        self.recover(y)
        return self

    def recover(self, y: Any) -> Floats:
        """Return the signal behind measurements.

        Parameters
        ----------
        y : array of shape (M,)
        """
        settings = self._check()
        sensing, basis = self.sensing_operator, self.basis_operator
        y = _numbers(y, "y")
        if y.shape != (sensing.shape[0],):
            raise ValueError(
                f"y must hold {sensing.shape[0]} measurements, as many as sensing has rows, got shape "
                f"{y.shape}"
            )
        if len(y) < 2:
            raise ValueError("y holds 1 measurement: 2 at least tell anything of a signal")
        model = self._fit(sensing, basis, y)
        self.model_ = model
        self.rows_ = getattr(self, "rows_", None)
        self.n_features_in_ = int(basis.shape[1])
        self.coefficients_ = np.asarray(model.coef_, dtype=np.float64)
        self.signal_ = np.asarray(basis @ self.coefficients_).reshape(settings.shape)
        posterior = getattr(model, "posterior_", None)
        spread = None if posterior is None else signal_deviation(posterior, basis)
        self.deviation_ = None if spread is None else spread.reshape(settings.shape)
        self.certificate_ = model.certificate_
        return self.signal_

    def sample(self, n: int, random_state: Any = None) -> Floats:
        """Draw n signals from the posterior, where the recovery has one.

        Parameters
        ----------
        n : int
        random_state : int, optional
        """
        check_is_fitted(self, "model_")
        if not hasattr(self.model_, "posterior_"):
            raise ValueError(
                f"recovery={self.recovery!r} has no posterior: recover by 'spike-slab' or 'relevance'"
            )
        draws = self.model_.posterior_.sample(n, random_state)
        return np.asarray(self.basis_operator.matmat(draws.T).T).reshape(n, *self.signal_.shape)

    @property
    def _adapted(self) -> Adapted | None:
        if isinstance(self.sensing, Adapted):
            return self.sensing
        return Adapted() if isinstance(self.sensing, str) and self.sensing == "adapted" else None

    def _check(self) -> "_Checked":
        """Refuse settings that are none before any work."""
        found = _Checked(as_shape(self.shape), as_recovery(self.recovery))
        if self.n_measurements is not None:
            check_count("n_measurements", self.n_measurements, 2)
        noise = self.noise_deviation
        if noise is not None and not (is_number(noise) and 0 <= noise < np.inf):
            raise ValueError(
                f"noise_deviation must be 0 or more, or None if unknown, got {noise!r}"
            )
        if self._adapted is not None:
            if not found.recovery.has_law:
                raise ValueError(
                    "sensing='adapted' asks for what is uncertain: recovery must be 'spike-slab' or "
                    f"'relevance', got {self.recovery!r}"
                )
            size = int(np.prod(found.shape))
            if self.n_measurements is None or self.n_measurements > size:
                raise ValueError(
                    f"sensing='adapted' needs n_measurements, up to the {size} entries of a signal, got "
                    f"{self.n_measurements}"
                )
        self._seed()
        return found

    def _seed(self) -> int:
        """Return what random measurements are drawn by: the same for all that this object measures."""
        known = getattr(self, "_seeded_by", None), getattr(self, "seed_", None)
        if known[1] is None or known[0] != repr(self.random_state):
            self._seeded_by = repr(self.random_state)
            self.seed_ = int(check_random_state(self.random_state).randint(2**31))
        return self.seed_

    def _fit(self, sensing: LinearOperator, basis: LinearOperator, y: Floats) -> Any:
        noise = None if self.noise_deviation is None else float(self.noise_deviation)
        X = without_rounding(OperatorDesign(sensing @ basis).in_columns())
        measured = Measured(X, y, always_in(self.basis), noise, self._seed(), self.callback)
        return as_recovery(self.recovery).fit(measured)

    def _measure_adaptively(self, ask: Callable[[Floats], Floats]) -> Floats:
        adapted, basis, count = self._adapted, self.basis_operator, self.n_measurements
        assert adapted is not None
        assert count is not None

        def recover(rows: Floats, y: Floats) -> Posterior:
            posterior: Posterior = self._fit(aslinearoperator(rows), basis, y).posterior_
            return posterior

        def told(done: int) -> None:
            if self.callback is not None:
                self.callback(Progress("measurements", done, count))

        rng = np.random.default_rng(self._seed())
        self.rows_, y = measure_adaptively(adapted, ask, basis, count, rng, recover, told)
        return y


class _Checked(NamedTuple):
    shape: tuple[int, ...]
    recovery: Any


def _measurements(ask: Callable[[Floats], Any], rows: Array) -> Floats:
    """Return what an instrument measures through rows, checked."""
    found = _numbers(ask(rows), "what was measured")
    if found.shape != (len(rows),):
        raise ValueError(
            f"{len(rows)} rows were to be measured, and {found.shape} numbers came: return one a row"
        )
    return found


def _numbers(given: Any, what: str) -> Floats:
    """Return finite numbers; refuse others."""
    if scipy.sparse.issparse(given):
        given = given.toarray()
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must hold numbers, got {type(given).__name__}") from None
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        at = place[0] if len(place) == 1 else place
        raise ValueError(f"{what} is not finite at {at} ({len(bad)} in all)")
    return values
