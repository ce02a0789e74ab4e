"""Linear regressions whose coefficients and noise are known: y = X coef + noise."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import lfilter

from garrote.arrays import Floats
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class Regression(Shown):
    """Simulated data and the truth behind them.

    Attributes
    ----------
    X : array of shape (N, D)
    y : array of shape (N,)
    coef : array of shape (D,)
        The true coefficients; the true intercept is 0.
    noise_variance : float
        The variance of y given X.

    Examples
    --------
    >>> from garrote.datasets import make_kappen_gomez_1
    >>> train, validation, test = make_kappen_gomez_1(random_state=0).split(50, 50, 400)
    >>> train.X.shape
    (50, 100)
    """

    X: Floats
    y: Floats
    coef: Floats
    noise_variance: float

    def split(self, *sizes: int) -> tuple["Regression", ...]:
        """Cut the rows into consecutive parts, such as training, validation and test set."""
        if sum(sizes) != len(self.y) or min(sizes, default=0) < 1:
            raise ValueError(f"sizes must be positive and add up to {len(self.y)}, got {sizes}")
        ends = np.cumsum(sizes)
        return tuple(
            Regression(self.X[end - n : end], self.y[end - n : end], self.coef, self.noise_variance)
            for n, end in zip(sizes, ends, strict=True)
        )


def make_kappen_gomez_1(
    n_samples: int = 500,
    n_features: int = 100,
    noise_variance: float = 1.0,
    random_state: Any = None,
) -> Regression:
    """Independent columns, of which only the first matters, with coefficient 1.

    Example 1 of Kappen & Gomez (2014), section 5.1; they take 50 rows each for training and
    validation, and 400 for testing.

    Examples
    --------
    >>> from garrote.datasets import make_kappen_gomez_1
    >>> make_kappen_gomez_1(random_state=0).coef[:3]
    array([1., 0., 0.])
    """
    coef = np.zeros(n_features)
    coef[0] = 1.0
    return _draw(n_samples, coef, 0.0, noise_variance, random_state)


def make_kappen_gomez_2(
    n_samples: int = 500,
    n_features: int = 100,
    noise_variance: float = 1.0,
    correlation: float = 0.5,
    random_state: Any = None,
) -> Regression:
    """Columns i and j correlated by correlation^|i - j|; the 1st, 2nd, 5th, 10th and 50th matter.

    Example 2 of Kappen & Gomez (2014), section 5.2, and with ``correlation=0`` the data of their
    section 5.7. The true coefficients are 1.

    Examples
    --------
    >>> from garrote.datasets import make_kappen_gomez_2
    >>> make_kappen_gomez_2(random_state=0).coef.nonzero()[0]
    array([ 0,  1,  4,  9, 49])
    """
    if n_features < 50:
        raise ValueError(f"n_features must be at least 50, the last that matters, got {n_features}")
    coef = np.zeros(n_features)
    coef[[0, 1, 4, 9, 49]] = 1.0
    return _draw(n_samples, coef, correlation, noise_variance, random_state)


def make_zhao_yu(
    n_samples: int = 1000,
    consistent: bool = False,
    noise_variance: float = 1.0,
    random_state: Any = None,
) -> Regression:
    """Three columns, of which the third copies the other two: x3 = 2/3 x1 + 2/3 x2 + 1/3 e.

    Example 1 of Zhao & Yu (2006). With coefficients (2, 3, 0) (a) the lasso finds the right signs
    for no penalty, however many the rows; with (-2, 3, 0) (b, ``consistent=True``) it does. All
    columns have variance 1. Kappen & Gomez (2014), section 5.3, print it without the factor 1/3.

    Examples
    --------
    >>> from garrote.datasets import make_zhao_yu
    >>> make_zhao_yu(random_state=0).coef
    array([2., 3., 0.])
    """
    rng = _generator(random_state)
    X = rng.standard_normal((n_samples, 3))
    X[:, 2] = (2 * X[:, 0] + 2 * X[:, 1] + X[:, 2]) / 3
    coef = np.array([-2.0 if consistent else 2.0, 3.0, 0.0])
    return _respond(X, coef, noise_variance, rng)


def make_sparse_regression(
    n_samples: int = 100,
    n_features: int = 200,
    n_informative: int = 10,
    correlation: float = 0.0,
    snr: float = 5.0,
    random_state: Any = None,
) -> Regression:
    """Coefficients of 1 or -1 at random columns, among columns that resemble their neighbours.

    Parameters
    ----------
    n_samples, n_features : int
    n_informative : int
        How many coefficients are not 0.
    correlation : float
        Columns i and j, of variance 1, are correlated by correlation^|i - j|.
    snr : float
        Variance of X coef divided by that of the noise.
    random_state : int, SeedSequence, Generator, RandomState or None

    Examples
    --------
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=50, n_features=30, n_informative=4, random_state=0)
    >>> int((data.coef != 0).sum())
    4
    """
    if not 0 <= n_informative <= n_features:
        raise ValueError(
            f"n_informative must be between 0 and n_features = {n_features}, got {n_informative}"
        )
    if not snr > 0:
        raise ValueError(f"snr must be positive, got {snr}")
    rng = _generator(random_state)
    where = np.sort(rng.choice(n_features, n_informative, replace=False))
    coef = np.zeros(n_features)
    coef[where] = rng.choice([-1.0, 1.0], n_informative)
    covariance = float(correlation) ** np.abs(where[:, None] - where)
    signal = float(coef[where] @ covariance @ coef[where])
    return _draw(n_samples, coef, correlation, signal / snr if n_informative else 1.0, rng)


def _draw(
    n_samples: int, coef: Floats, correlation: float, noise_variance: float, random_state: Any
) -> Regression:
    """Draw Gaussian columns of variance 1, each a step of an autoregression on the one before."""
    if not -1 < correlation < 1:
        raise ValueError(f"correlation must be between -1 and 1, got {correlation}")
    rng = _generator(random_state)
    X = rng.standard_normal((n_samples, len(coef)))
    if correlation:
        X[:, 1:] *= np.sqrt(1 - correlation**2)
        X = lfilter([1.0], [1.0, -correlation], X, axis=1)
    return _respond(X, coef, noise_variance, rng)


def _respond(X: Floats, coef: Floats, variance: float, rng: np.random.Generator) -> Regression:
    if not variance >= 0:
        raise ValueError(f"noise_variance must be >= 0, got {variance}")
    y = X @ coef + np.sqrt(variance) * rng.standard_normal(len(X))
    return Regression(X, y, coef, float(variance))


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31, size=4)
    return np.random.default_rng(random_state)
