"""Support vector machines for labels, trained in the primal by smoothing."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from garrote.arrays import Array, Floats
from garrote.estimators.given.inputs import check_labelled_rows, check_weights
from garrote.estimators.margins.calibration import fold_decisions, logistic_curves
from garrote.estimators.margins.machine import SmoothMachine
from garrote.estimators.margins.pairs import coupled, pairs_of, scores
from garrote.settings import check_count
from garrote.solvers.margins.losses import Margins


def _is_calibrated(machine: Any) -> bool:
    if machine.calibration is None:
        raise AttributeError("probabilities need calibration=5, or another number of folds")
    return True


class SmoothSVC(ClassifierMixin, SmoothMachine):
    """The soft margin support vector machine, trained in the primal, with a duality gap.

    Minimises w'w + C sum of max(0, 1 - y_n (w'phi(x_n) + b)) over w and b, for labels y_n of -1 and 1.
    The kink of the loss is made smooth over a width that shrinks: by averaging over Gaussian
    coefficients (variational optimization), or by Huber's parabola (Chapelle 2007). The steps are
    Newton's, on the rows near the margin. `certificate_` says by how much any other machine's objective,
    kinks and all, could be lower at most, as a share of this one's.

    The norm is not halved: the machine is that of ``sklearn.svm.SVC(C=C / 2)``, and the default that of
    ``SVC()``. Of several classes every two have a machine, and the class that wins most duels is
    predicted.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "polynomial", "laplacian", "sigmoid", "cosine", "precomputed"}
        Of "precomputed" X is the matrix of kernel values, new rows with the training rows in columns.
        One that is not positive semidefinite is refused.
    C : float
        What a row costs for each unit that it is on the wrong side of its margin.
    loss : {"gaussian", "huber"}
    shrinking : bool or float
        Whether widths shrink until the gap is small, or by which factor (True is 0.2). With False the
        machine is the best of a loss that is smooth over ``sigma``, to which wider ones lead.
    sigma : float, optional
        The first width, or with ``shrinking=False`` the last one: the standard deviation of every
        coefficient, or half of the parabola's width. None takes as first width about that of the
        margins, as last one that which is guaranteed to reach ``tol`` of the null model's objective.
    gamma : {"scale", "auto"} or float
    degree, coef0 : float
        Of the kernel, as in `KernelFeatures`.
    class_weight : dict or "balanced", optional
    calibration : int, optional
        So many folds make decisions probabilities (`predict_proba`): a logistic curve is fitted to what
        machines say of rows that they were not trained on (Platt 1999), at that many times the cost.
    landmarks : int, optional
        So many rows, drawn at random, span the kernel for all (Nystroem): for more rows than a kernel
        matrix has room for. The gap is then that among machines they span.
    tol : float
        The gap, as a share of the objective, at which to stop.
    max_iter : int
        Newton steps at most, for each machine; as many again where C is too large for them, to look for
        a machine with no row on the wrong side.
    random_state : int, Generator or RandomState, optional
        Draws the landmarks.
    callback : callable, optional
        Called with a `Progress` (stage, done, total).

    Attributes
    ----------
    classes_ : array of shape (K,)
    support_ : array of int
        The rows that pull at a margin.
    basis_, basis_vectors_ : arrays
        The rows that new ones are compared with: those of the support, or the landmarks.
    dual_coef_ : array of shape (M, r)
        Coefficients of these, for each of the M = K (K - 1) / 2 machines. Of a linear machine they are
        what rows pull at the margins, halved.
    coef_ : array of shape (M, D)
        Of a linear kernel with no more columns than rows.
    intercept_ : array of shape (M,)
    slopes_, offsets_ : arrays of shape (M,)
        Of the log odds of each machine's second class, where ``calibration`` is set.
    objective_, sigma_, n_iter_ : arrays of shape (M,)
        Objectives, last widths, and numbers of Newton steps.
    certificate_ : Certificate
    n_features_in_, feature_names_in_

    References
    ----------
    Staines, J. and Barber, D. (2012). Variational Optimization. arXiv:1212.4507, section 3.
    Chapelle, O. (2007). Training a support vector machine in the primal. Neural Computation 19,
    1155-1178.

    Platt, J. (1999). Probabilistic outputs for support vector machines. Advances in Large Margin
    Classifiers, 61-74.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SmoothSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = np.where((X**2).sum(axis=1) > 1.5, "out", "in")
    >>> machine = SmoothSVC(C=20).fit(X, y)
    >>> machine.score(X, y) > 0.95, machine.certificate_.value < 1e-4
    (True, True)
    """

    _kind: ClassVar[str] = "margins"
    classes_: Array

    def __init__(
        self,
        kernel: str = "rbf",
        C: float = 2.0,
        loss: str = "gaussian",
        *,
        shrinking: Any = True,
        sigma: float | None = None,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        class_weight: Any = None,
        calibration: int | None = None,
        landmarks: int | None = None,
        tol: float = 1e-4,
        max_iter: int = 300,
        random_state: Any = None,
        callback: Any = None,
    ):
        self.kernel = kernel
        self.C = C
        self.loss = loss
        self.shrinking = shrinking
        self.sigma = sigma
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.calibration = calibration
        self.landmarks = landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train one machine, or one for each of more than two classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (N, D); of shape (N, N) if precomputed
        y : array of shape (N,)
            Labels of two classes or more.
        sample_weight : array of shape (N,), optional
            Multiplies C; a weight of k counts as k repeats of a row.
        """
        self._check_settings()
        if self.calibration is not None:
            check_count("calibration", self.calibration, 2)
        X, y = check_labelled_rows(self, X, y)
        X = self._numbers(X)
        check_classification_targets(y)
        given = check_weights(sample_weight, X)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        weights = given * self._of_classes(y, numbers, given)
        self.classes_ = np.unique(y[weights > 0])
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class only among rows of positive weight, {self.classes_[0]}: rows of two "
                "classes are needed"
            )
        self._train(X, y, weights)
        if self.calibration is not None:
            told = fold_decisions(self, X, y, given, self.calibration)
            self.slopes_, self.offsets_ = logistic_curves(told, y, given, self.classes_)
        return self

    def _train(self, X: Any, y: Array, weights: Floats) -> None:
        """Train a machine for every two classes."""
        rows, kept = self._rows(X, weights)
        weights, y = weights[kept], y[kept]
        machines = []
        for first, second in pairs_of(len(self.classes_)):
            members = np.flatnonzero((y == self.classes_[first]) | (y == self.classes_[second]))
            signs = np.where(y[members] == self.classes_[second], 1.0, -1.0)
            margins = Margins.hinge(signs, self.C * weights[members])
            machines.append(self._solve(rows, margins, weights, members))
        self._keep(X, rows, kept, machines)

    def _of_classes(self, y: Array, numbers: Array, weights: Floats) -> Floats:
        """Return what each row's class multiplies its weight by."""
        if self.class_weight is None:
            return np.ones(len(y))
        found = compute_class_weight(
            self.class_weight, classes=self.classes_, y=y, sample_weight=weights
        )
        if not (np.isfinite(found) & (found >= 0)).all():
            wrong = int(np.argmin(np.isfinite(found) & (found >= 0)))
            raise ValueError(
                f"class_weight must be >= 0 and finite, got {found[wrong]:g} for class "
                f"{self.classes_[wrong]}"
            )
        return np.asarray(found, dtype=np.float64)[numbers]

    def decision_function(self, X: Any) -> Floats:
        """Return how far rows are from the boundary: for two classes positive on the second's side.

        Of several classes each has a score: the number of duels that it wins, and between such that win
        as many what their decisions add up to.
        """
        found = self._decisions(X)
        count = len(self.classes_)
        return found[:, 0] if count == 2 else scores(found, count)

    @available_if(_is_calibrated)
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, where ``calibration`` is set.

        Near the boundary the likelier class need not be the one that `predict` names.
        """
        chances = expit(self._decisions(X) * self.slopes_ + self.offsets_)
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - chances[:, 0], chances[:, 0]])
        return coupled(chances, len(self.classes_))

    def predict(self, X: Any) -> Array:
        """Return the class of every row."""
        found = self.decision_function(X)
        best = (found > 0).astype(np.intp) if found.ndim == 1 else found.argmax(axis=1)
        return self.classes_[best]
