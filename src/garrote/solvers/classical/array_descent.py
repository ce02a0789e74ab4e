"""Proximal gradient descent on arrays of any library, where they are: PyTorch on a GPU, for one.

The steps are those of `garrote.solvers.classical.fista`, which ask two products with X of the loss and
the proximal operator of the penalty. Here both are made of functions of the array's own library;
nothing is copied to another device, and float32 stays float32.
"""

import warnings
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from garrote.limits.magnitudes import refuse_large
from garrote.penalties.array_rule import array_rule
from garrote.proximal.inputs import as_floats, as_strength, like, namespace
from garrote.results.certificates import Certificate, optimality
from garrote.rules import Evaluated, proximal_point
from garrote.rules.optimality import REACH
from garrote.solvers.algebra.steepness import lanczos
from garrote.solvers.classical.first_order import Goal, Steps
from garrote.solvers.classical.fista import Fista
from garrote.solvers.lockstep import run_together
from garrote.solvers.losses.whole_loss import WholeLoss

# Changes of coefficients below so many roundings tell nothing of the loss's steepness.
_DIGITS = 1e4


@dataclass(frozen=True)
class ArrayFit:
    """What `proximal_gradient` found.

    Attributes
    ----------
    coef : array
        Of the library, type and device of X.
    objective : float
    certificate : Certificate
        The duality gap as a share of the objective at 0 (NaN for `L0`), and how far a proximal step
        would go, as a share of the largest gradient at 0.
    n_iter : int
    """

    coef: Any
    objective: float
    certificate: Certificate
    n_iter: int


def proximal_gradient(
    X: Any,
    y: Any,
    penalty: Any,
    strength: float,
    *,
    family: str = "gaussian",
    start: Any = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> ArrayFit:
    """Minimise a loss plus a penalty on arrays of any library, by FISTA with restarts.

    ::

        min_w  ||y - Xw||^2 / (2 N) + strength * penalty(w)                   family="gaussian"
        min_w  mean(log(1 + exp(Xw)) - y Xw) + strength * penalty(w)          family="binomial"

    There is no intercept and columns are taken as they are: centre and scale them first, where that is
    meant. In float32 gaps below some 1e-6 cannot be told.

    Parameters
    ----------
    X : array of shape (N, D)
        Of NumPy, PyTorch or another library of the array API, on any device, float32 or float64.
    y : array of shape (N,)
        Like X; labels 0 and 1 for ``family="binomial"``.
    penalty : L1, Ridge, ElasticNet, L0 or GroupLasso (of lengths)
        Of `garrote.penalties`.
    strength : float
    family : {"gaussian", "binomial"}
    start : array of shape (D,), optional
        Where to start; 0 by default.
    tol : float
        The certificate's value at which to stop; with 0 all rounds are made.
    max_iter : int

    Returns
    -------
    ArrayFit

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import proximal_gradient
    >>> from garrote.penalties import L1
    >>> X = np.array([[2.0, 0.0], [0.0, 2.0]])
    >>> fit = proximal_gradient(X, np.array([4.0, 0.5]), L1(), strength=1.0)
    >>> fit.coef.round(6).tolist()
    [1.5, 0.0]
    """
    X, y = as_floats(X), as_floats(y)
    _check(X, y, family, start)
    at_zero = namespace(X).zeros_like(X[0, :])
    data = _LOSSES[family](X, y, at_zero)
    goal = ArrayGoal(array_rule(penalty, as_strength(strength), at_zero), tol, max_iter)
    return _descend(data, goal, start)


def _descend(data: "ArrayLoss", goal: "ArrayGoal", start: Any) -> ArrayFit:
    """Minimise from the start, by steps as long as the loss allows everywhere."""
    if not goal.tol >= 0 or goal.max_iter < 1:
        raise ValueError(
            f"tol must be >= 0 and max_iter at least 1, got {goal.tol} and {goal.max_iter}"
        )
    if start is not None:
        data.place(start, data.product(start))
    begin = like(data.X, np.random.default_rng(0).standard_normal(data.X.shape[1]))
    (largest,) = run_together([lanczos(data.squared, begin)], None)
    steepness = data.row_curvature * largest or 1.0
    rounding = _DIGITS * float(data.xp.finfo(data.X.dtype).eps)
    steps = Steps(cast(WholeLoss, data), steepness, rounding=rounding)
    method = Fista(cast(WholeLoss, data), steps)
    (solved,) = run_together([method.solve(cast(Goal, goal))], None)
    seen, made = solved
    certificate = goal.certificate(data, seen, steps.steepness)
    if goal.tol > 0 and not certificate.value <= goal.tol:
        warnings.warn(
            f"the certificate reached {certificate.value:.2e}, not {goal.tol:.2e}: raise max_iter "
            f"({goal.max_iter}) or tol",
            ConvergenceWarning,
            stacklevel=3,
        )
    return ArrayFit(data.coef, seen.loss + goal.charge(data, data.coef), certificate, made)


def _check(X: Any, y: Any, family: str, start: Any) -> None:
    if family not in _LOSSES:
        raise ValueError(f"family must be one of {tuple(_LOSSES)}, got {family!r}")
    if len(X.shape) != 2 or 0 in X.shape:
        raise ValueError(f"X must be a matrix with rows and columns, got shape {tuple(X.shape)}")
    for name, vector, size in (("y", y, X.shape[0]), ("start", start, X.shape[1])):
        if vector is None:
            continue
        if tuple(vector.shape) != (size,) or vector.dtype != X.dtype:
            raise ValueError(
                f"{name} must have {size} entries of type {X.dtype} like X, got shape "
                f"{tuple(vector.shape)} of type {vector.dtype}"
            )
    xp = namespace(X)
    for name, values in (("X", X), ("y", y)):
        if not bool(xp.all(xp.isfinite(values))):
            raise ValueError(
                f"{name} has entries that are NaN or infinite: fill or drop them first"
            )
        refuse_large(values if xp is np else float(xp.max(xp.abs(values))), name)
    _LOSSES[family].check_response(y)


class ArrayLoss:
    """Half the mean squared residual; see `garrote.solvers.losses.whole_loss.WholeLoss`.

    ``row_curvature`` is the largest second derivative that a row may have.
    """

    row_curvature = 1.0

    def __init__(self, X: Any, y: Any, coef: Any):
        self.X, self.y, self.xp = X, y, namespace(X)
        self.n = X.shape[0]
        self.coef, self.image = coef, self.xp.zeros_like(y)
        (self.null,) = run_together([self.evaluate()], None)
        self.largest = float(self.xp.max(self.xp.abs(self.null.gradient))) or 1.0
        # As far as the steepest column alone would go, were all of them as short as the shortest.
        squares = self.xp.sum(X * X, axis=0) / self.n
        shortest = float(self.xp.min(self.xp.where(squares > 0, squares, self.xp.max(squares))))
        self.reach = self.largest / (self.row_curvature * shortest or 1.0)

    @classmethod
    def check_response(cls, y: Any) -> None:
        """Refuse responses that the loss does not know."""

    def product(self, coef: Any) -> Any:
        """Return the linear predictors of coefficients."""
        return self.X @ coef

    def squared(self, direction: Any) -> Generator[Any, Any, Any]:
        """Return X'X / N times a vector; there is no one to share the product with."""
        yield from ()
        return (self.product(direction) @ self.X) / self.n

    def place(self, coef: Any, image: Any) -> None:
        """Go to coefficients whose image is known."""
        self.coef, self.image = coef, image

    def value(self) -> float:
        """Return the loss at the present coefficients."""
        left = self._left()
        return 0.5 * float(left @ left) / self.n

    def evaluate(self) -> Generator[Any, Any, Evaluated]:
        """Look at the present coefficients; there is no one to share the product with."""
        yield from ()
        left = self._left()
        return Evaluated(
            self.value(), (left @ self.X) / self.n, lambda share: self._dual(share, left)
        )

    def curvature_along(self, change: Any, before: Any, after: Any) -> float:
        """Return a bound of the second derivative along a change of coefficients, and its images."""
        along = after - before
        return self.row_curvature * float(along @ along) / self.n

    def _left(self) -> Any:
        """Return what is left of y after its mean."""
        return self.y - self.image

    def _dual(self, share: float, left: Any) -> float:
        """Return the dual objective at a share of what is left."""
        return share * float(left @ (self.y - 0.5 * share * left)) / self.n


class ArrayLogOdds(ArrayLoss):
    """Minus the mean log likelihood of labels 0 and 1, whose log odds are linear."""

    row_curvature = 0.25

    @classmethod
    def check_response(cls, y: Any) -> None:
        """Refuse labels other than 0 and 1."""
        if not bool(namespace(y).all((y == 0) | (y == 1))):
            raise ValueError("family='binomial' needs labels 0 and 1 in y, and there are others")

    def value(self) -> float:
        """Return the loss at the present coefficients."""
        xp, eta = self.xp, self.image
        losses = xp.clip(eta, 0.0, None) + xp.log1p(xp.exp(-xp.abs(eta))) - self.y * eta
        return float(xp.sum(losses)) / self.n

    def _left(self) -> Any:
        small = self.xp.exp(-self.xp.abs(self.image))
        positive = self.xp.where(self.image >= 0, self.xp.ones_like(small), small)
        return self.y - positive / (1.0 + small)

    def _dual(self, share: float, left: Any) -> float:
        xp, mean = self.xp, self.y - share * left
        least = 1e-30
        entropy = mean * xp.log(xp.clip(mean, least, None))
        entropy = entropy + (1.0 - mean) * xp.log(xp.clip(1.0 - mean, least, None))
        return -float(xp.sum(entropy)) / self.n


_LOSSES: dict[str, type[ArrayLoss]] = {"gaussian": ArrayLoss, "binomial": ArrayLogOdds}


class ArrayGoal(NamedTuple):
    """A rule, and when to stop; see `garrote.solvers.classical.first_order.Goal`."""

    rule: Any
    tol: float
    max_iter: int

    def charge(self, loss: Any, coef: Any) -> float:
        """Return what the penalty charges for all coefficients."""
        return self.rule.charge(coef)

    def certificate(self, loss: Any, seen: Evaluated, steepness: float) -> Certificate:
        """Return how far the loss's present coefficients are from the optimum."""
        near = proximal_point(self.rule, loss.coef + seen.gradient / steepness, 1.0 / steepness)
        far = float(loss.xp.max(loss.xp.abs(near - loss.coef))) * steepness
        reach = REACH * max(loss.reach, float(loss.xp.max(loss.xp.abs(loss.coef))))
        gap = seen.loss + self.rule.charge(loss.coef) - self.rule.dual_bound(seen, reach)
        return optimality(max(gap, 0.0) / (loss.null.loss or 1.0), far / loss.largest)

    def reached(self, loss: Any, seen: Evaluated, steepness: float) -> bool:
        """Tell whether the present coefficients are good enough."""
        return self.certificate(loss, seen, steepness).value <= self.tol
