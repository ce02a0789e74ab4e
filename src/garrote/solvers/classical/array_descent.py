"""Proximal gradient descent on arrays of any library, where they are: PyTorch on a GPU, for one.

The steps are those of `garrote.solvers.classical.fista`, which ask two products with X of the loss and
the proximal operator of the penalty. Here both are made of functions of the array's own library;
nothing is copied to another device, and float32 stays float32.
"""

import warnings
from collections.abc import Generator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from garrote.limits.magnitudes import refuse_large
from garrote.penalties import L0, ElasticNet, GroupLasso
from garrote.penalties.base import Terms
from garrote.penalties.grouping import resolve_groups
from garrote.proximal import Groups, elastic_net, group_l2, hard_threshold
from garrote.proximal.inputs import as_floats, as_strength, like, namespace
from garrote.results.certificates import Certificate, optimality
from garrote.solvers.classical.first_order import Steps, Task
from garrote.solvers.classical.fista import Fista
from garrote.solvers.descent.optimality import REACH, Evaluated
from garrote.solvers.descent.proximal_point import proximal_point
from garrote.solvers.lockstep import run_together
from garrote.solvers.losses.whole_loss import WholeLoss

FAMILIES = ("gaussian", "binomial")
# Power iterations for the first step, which is corrected on the way; and a margin.
_POWERS, _MARGIN = 15, 1.05
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
    if not tol >= 0 or max_iter < 1:
        raise ValueError(f"tol must be >= 0 and max_iter at least 1, got {tol} and {max_iter}")
    xp = namespace(X)
    at_zero = xp.zeros_like(X[0, :])
    data = ArrayLoss(X, y, family, at_zero)
    rule = array_rule(penalty, as_strength(strength), at_zero)
    steepness = _MARGIN * data.bend * _largest_eigenvalue(X)
    rounding = _DIGITS * float(xp.finfo(X.dtype).eps)
    steps = Steps(cast(WholeLoss, data), steepness, rounding=rounding)
    task = ArrayTask(rule, tol, max_iter)
    if start is not None:
        data.place(start, data.product(start))
    method = Fista(cast(WholeLoss, data), steps)
    (solved,) = run_together([method.solve(cast(Task, task))], None)
    seen, made = solved
    objective = seen.loss + rule.charge(data.coef)
    certificate = task.certificate(data, seen, steps.steepness)
    if tol > 0 and not certificate.value <= tol:
        warnings.warn(
            f"the certificate reached {certificate.value:.2e}, not {tol:.2e}: raise max_iter "
            f"({max_iter}) or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    return ArrayFit(data.coef, objective, certificate, made)


def _check(X: Any, y: Any, family: str, start: Any) -> None:
    if family not in FAMILIES:
        raise ValueError(f"family must be one of {FAMILIES}, got {family!r}")
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
    if family == "binomial" and not bool(xp.all((y == 0) | (y == 1))):
        raise ValueError("family='binomial' needs labels 0 and 1 in y, and there are others")


class ArrayLoss:
    """The mean loss at some coefficients; see `garrote.solvers.losses.whole_loss.WholeLoss`."""

    def __init__(self, X: Any, y: Any, family: str, coef: Any):
        self.X, self.y, self.family, self.xp = X, y, family, namespace(X)
        self.n = X.shape[0]
        self.bend = 1.0 if family == "gaussian" else 0.25
        self.coef, self.image = coef, self.xp.zeros_like(y)
        (self.null,) = run_together([self.evaluate()], None)
        self.largest = float(self.xp.max(self.xp.abs(self.null.gradient))) or 1.0
        # As far as the steepest column alone would go, were all of them as short as the shortest.
        squares = self.xp.sum(X * X, axis=0) / self.n
        shortest = float(self.xp.min(self.xp.where(squares > 0, squares, self.xp.max(squares))))
        self.reach = self.largest / (self.bend * shortest or 1.0)

    def product(self, coef: Any) -> Any:
        """Return the linear predictors of coefficients."""
        return self.X @ coef

    def place(self, coef: Any, image: Any) -> None:
        """Go to coefficients whose image is known."""
        self.coef, self.image = coef, image

    def value(self) -> float:
        """Return the loss at the present coefficients."""
        xp, eta = self.xp, self.image
        if self.family == "gaussian":
            left = self.y - eta
            return 0.5 * float(left @ left) / self.n
        losses = xp.clip(eta, 0.0, None) + xp.log1p(xp.exp(-xp.abs(eta))) - self.y * eta
        return float(xp.sum(losses)) / self.n

    def evaluate(self) -> Generator[Any, Any, Evaluated]:
        """Look at the present coefficients; there is no one to share the product with."""
        yield from ()
        left = self._left()
        return Evaluated(
            self.value(), (left @ self.X) / self.n, lambda share: self._dual(share, left)
        )

    def bending(self, change: Any, before: Any, after: Any) -> float:
        """Return a bound of the second derivative along a change of coefficients, and its images."""
        along = after - before
        return self.bend * float(along @ along) / self.n

    def _left(self) -> Any:
        """Return what is left of y after its mean."""
        if self.family == "gaussian":
            return self.y - self.image
        small = self.xp.exp(-self.xp.abs(self.image))
        positive = self.xp.where(self.image >= 0, self.xp.ones_like(small), small)
        return self.y - positive / (1.0 + small)

    def _dual(self, share: float, left: Any) -> float:
        if self.family == "gaussian":
            return share * float(left @ (self.y - 0.5 * share * left)) / self.n
        xp, mean = self.xp, self.y - share * left
        least = 1e-30
        entropy = mean * xp.log(xp.clip(mean, least, None))
        entropy = entropy + (1.0 - mean) * xp.log(xp.clip(1.0 - mean, least, None))
        return -float(xp.sum(entropy)) / self.n


class ArrayRule(NamedTuple):
    """threshold |w|_1 + ridge |w|^2 / 2, or prices, or lengths of groups, on arrays of any library.

    ``prices`` tells that the threshold is what each coefficient costs that is not 0.
    """

    threshold: float
    ridge: float = 0.0
    prices: bool = False
    groups: Groups | None = None
    weights: Any = None

    def charge(self, coef: Any) -> float:
        """Return the penalty of coefficients."""
        xp = namespace(coef)
        if self.prices:
            return self.threshold * float(xp.sum(like(coef, coef != 0)))
        if self.groups is not None:
            lengths = self.groups.lengths(coef)
            return self.threshold * float(xp.sum(like(coef, self.weights) * lengths))
        squares = 0.5 * self.ridge * float(coef @ coef) if self.ridge else 0.0
        return self.threshold * float(xp.sum(xp.abs(coef))) + squares

    def dual_bound(self, seen: Evaluated, reach: float) -> float:
        """Return a value that no coefficients can go below; NaN where duality gives none.

        Coefficients that nothing penalises are taken to lie within ``reach`` of 0.
        """
        if self.prices:
            return np.nan
        xp, gradient = namespace(seen.gradient), seen.gradient
        if self.ridge:
            beyond = xp.clip(xp.abs(gradient) - self.threshold, 0.0, None)
            return seen.dual(1.0) - float(beyond @ beyond) / (2.0 * self.ridge)
        if self.groups is None:
            size, limits = xp.abs(gradient), self.threshold * xp.ones_like(gradient)
        else:
            size = self.groups.lengths(gradient)
            limits = self.threshold * like(gradient, self.weights)
        held = limits > 0
        shares = xp.where(held & (size > limits), limits / xp.where(size > 0, size, 1.0), 1.0)
        share = float(xp.min(shares))
        free = xp.where(held, xp.zeros_like(size), size)
        return seen.dual(share) - share * reach * float(xp.sum(free))


@proximal_point.register
def _(rule: ArrayRule, z: Any, step: float) -> Any:
    if rule.prices:
        return hard_threshold(z, step * rule.threshold)
    if rule.groups is not None:
        return group_l2(z, step * rule.threshold, rule.groups, rule.weights)
    whole = rule.threshold + rule.ridge
    return elastic_net(z, step * whole, rule.threshold / whole if whole else 1.0)


class ArrayTask(NamedTuple):
    """A rule, and when to stop; see `garrote.solvers.classical.first_order.Task`."""

    rule: ArrayRule
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


@singledispatch
def array_rule(penalty: Any, strength: float, coef: Any) -> ArrayRule:
    """Return what a penalty charges for arrays like some coefficients."""
    raise ValueError(
        f"penalty {getattr(penalty, 'name', penalty)!r} has no operator for arrays of any library: take "
        "L1, Ridge, ElasticNet, L0 or GroupLasso with norm=2 and l1_ratio=0"
    )


@array_rule.register
def _(penalty: ElasticNet, strength: float, coef: Any) -> ArrayRule:
    if penalty.corrected:
        raise ValueError(
            "corrected=True is for SparseRegressor: multiply the coefficients found with "
            "corrected=False by 1 + ridge / mean(x_j^2) instead"
        )
    return ArrayRule(penalty.l1_ratio * strength, (1.0 - penalty.l1_ratio) * strength)


@array_rule.register
def _(penalty: L0, strength: float, coef: Any) -> ArrayRule:
    return ArrayRule(strength, prices=True)


@array_rule.register
def _(penalty: GroupLasso, strength: float, coef: Any) -> ArrayRule:
    if penalty.flat or penalty.l1_ratio:
        return array_rule(penalty.name, strength, coef)
    count = coef.shape[0]
    groups = resolve_groups(penalty.groups, count)
    rule = penalty.resolved(count).at(1.0, Terms.equal(count))
    return ArrayRule(strength, groups=Groups(groups), weights=rule.weight)


def _largest_eigenvalue(X: Any) -> float:
    """Return the largest eigenvalue of X'X / N, from below, by power iteration."""
    vector = like(X, np.random.default_rng(0).standard_normal(X.shape[1]))
    largest = 0.0
    for _ in range(_POWERS):
        vector = vector / max(float(vector @ vector) ** 0.5, 1e-30)
        vector = ((X @ vector) @ X) / X.shape[0]
        largest = float(vector @ vector) ** 0.5
    return largest or 1.0
