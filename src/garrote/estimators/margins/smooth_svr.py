"""Support vector regression, trained in the primal by smoothing."""

from typing import Any, Self

from sklearn.base import RegressorMixin

from garrote.arrays import Floats
from garrote.estimators.given.inputs import check_rows, check_weights
from garrote.estimators.margins.machine import SmoothMachine
from garrote.settings import is_number
from garrote.solvers.margins.losses import Margins


class SmoothSVR(RegressorMixin, SmoothMachine):
    """Support vector regression, trained in the primal, with a duality gap.

    Minimises w'w + C sum of max(0, |y_n - w'phi(x_n) - b| - epsilon) over w and b: rows inside a tube
    of half width epsilon around the curve cost nothing. Both kinks are made smooth over a width that
    shrinks, and the steps are Newton's, as for `SmoothSVC`. The norm is not halved: the machine is that
    of ``sklearn.svm.SVR(C=C / 2)``, and the default that of ``SVR()``.

    Parameters
    ----------
    kernel, C, loss, shrinking, sigma, gamma, degree, coef0, landmarks, tol, max_iter : see `SmoothSVC`
    random_state, callback
        As in `SmoothSVC`; C is what a row costs for each unit that it is outside the tube.
    epsilon : float
        Half the width of the tube, in units of y.

    Attributes
    ----------
    support_, basis_, basis_vectors_, dual_coef_, coef_, intercept_, objective_, sigma_, n_iter_
        As in `SmoothSVC`, of one machine.
    certificate_ : Certificate
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SmoothSVR
    >>> x = np.linspace(-5, 5, 100)[:, None]
    >>> machine = SmoothSVR(C=20, gamma=1.0, epsilon=0.02).fit(x, np.sinc(x[:, 0]))
    >>> machine.score(x, np.sinc(x[:, 0])) > 0.99, machine.certificate_.value <= 1e-4
    (True, True)
    """

    def __init__(
        self,
        kernel: str = "rbf",
        C: float = 2.0,
        loss: str = "gaussian",
        *,
        epsilon: float = 0.1,
        shrinking: Any = True,
        sigma: float | None = None,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        landmarks: int | None = None,
        tol: float = 1e-4,
        max_iter: int = 300,
        random_state: Any = None,
        callback: Any = None,
    ):
        self.kernel = kernel
        self.C = C
        self.loss = loss
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.sigma = sigma
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.landmarks = landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the machine.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (N, D); of shape (N, N) if precomputed
        y : array of shape (N,)
            Numbers.
        sample_weight : array of shape (N,), optional
            Multiplies C; a weight of k counts as k repeats of a row.
        """
        self._check_settings()
        if not (is_number(self.epsilon) and self.epsilon >= 0):
            raise ValueError(f"epsilon must be >= 0 and finite, got {self.epsilon!r}")
        X, y = check_rows(self, X, y)
        X = self._numbers(X)
        weights = check_weights(sample_weight, X)
        rows, kept = self._rows(X, weights)
        margins = Margins.tube(y[kept], self.epsilon, self.C * weights[kept])
        self._keep(X, rows, kept, [self._solve(rows, margins, weights[kept])])
        return self

    def predict(self, X: Any) -> Floats:
        """Return the number that the machine says of every row."""
        return self._decisions(X)[:, 0]
