"""Support vector machines of section 3.2: their data, and the ways to train them that the text compares.

All see the matrix of products K, as in Eq. 28, and minimise w'w + C sum of hinges. Labels stand in the
coefficients here, a_n = beta_n y_n, which changes none of the steps. A way ends where the objective,
kinks and all, is within 0.1 % of the least one.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.svm import SVC

from garrote.arrays import Floats
from garrote.experiments.variational_optimization.dual_programme import solve_dual
from garrote.solvers.margins.duality import Gap, allowed, gap
from garrote.solvers.margins.losses import Margins
from garrote.solvers.margins.narrowing import Narrowing, train
from garrote.solvers.margins.spaces import FeatureSpace, KernelSpace, Space
from garrote.solvers.smoothing.kinks import KINKS

# Section 3.2: the length of the separation, C, and what is near enough.
_LENGTH, COST, NEAR = 3.5, 10.0, 1e-3
# Variances shrink by 10 every 250 steps from 0.001, h from 10; so often at most.
_EVERY, _LESS, _STAGES = 250, 0.1, 12
_VARIANCE, _HUBER = 1e-3, 10.0
# The text does not say which h stays: the quickest of these counts.
_FIXED = (0.1, 0.01, 0.001)
# minFunc, which the text used, keeps so many corrections; and trials along a line.
_KEPT, _TRIALS = 100, 50
# Tolerances of libsvm that are tried, the loosest first.
_TOLERANCES = 10.0 ** -np.arange(1.0, 9.0)


class Machines(NamedTuple):
    """A problem of section 3.2, and of the quadratic programme its gap, rows on the wrong side, time."""

    X: Floats
    y: Floats
    kernel: Floats
    best: Gap
    wrong: int
    seconds: float

    @property
    def margins(self) -> Margins:
        """Its loss."""
        return Margins.hinge(self.y, np.full(len(self.y), COST))

    @property
    def separated(self) -> bool:
        """Whether the best machine has every row on its side."""
        return self.wrong == 0


class Run(NamedTuple):
    """Processor time until the objective is near enough, NaN if it never is, and steps made."""

    seconds: float
    steps: int


def draw_machines(rng: np.random.Generator, rows: int, columns: int) -> Machines:
    """Return rows of two normal laws whose means are 3.5 apart, solved as a quadratic programme."""
    away = rng.standard_normal(columns)
    away *= _LENGTH / np.linalg.norm(away)
    y = np.where(np.arange(rows) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((rows, columns)) + np.outer(y > 0, away)
    kernel = X @ X.T
    begin = time.process_time()
    alpha = solve_dual(kernel, y, COST)
    seconds = time.process_time() - begin
    space, margins = KernelSpace(kernel), Margins.hinge(y, np.full(rows, COST))
    pull = allowed(margins, alpha * y)
    point = space.at(0.5 * pull, 0.0)
    point = point._replace(intercept=margins.best_intercept(point.fitted))
    wrong = int((y * point.f <= 0).sum())
    return Machines(X, y, kernel, gap(space, margins, point, pull), wrong, seconds)


class _Near(Exception):
    """Raised where the objective is near enough."""


class _Followed:
    """A smooth objective in coefficients and intercept, which ends where the hinges' is near enough."""

    def __init__(self, machines: Machines, loss: str, enough: float):
        self.machines, self.kink, self.margins = machines, KINKS[loss], machines.margins
        self.enough, self.steps = enough, 0
        squares = (machines.kernel**2).sum(axis=1) if loss == "gaussian" else 0.0
        self.scales = np.sqrt(1.0 + squares) * np.ones(len(machines.y))

    def at(self, numbers: Floats, width: float) -> tuple[float, Floats]:
        """Return the smooth objective and its gradient (Eqs. 29 and 31-32, as derived)."""
        coef, intercept = numbers[:-1], float(numbers[-1])
        fitted = self.machines.kernel @ coef
        norm, f = float(coef @ fitted), fitted + intercept
        if norm + self.margins.value(f) <= self.enough:
            raise _Near
        widths = width * self.scales
        pull = self.margins.pull(f, self.kink, widths)
        slope = 2.0 * fitted - self.machines.kernel @ pull
        value = norm + self.margins.smooth_value(f, self.kink, widths)
        return value, np.append(slope, -pull.sum())

    def count(self, numbers: Floats) -> None:
        """Count a step of L-BFGS."""
        self.steps += 1


def by_lbfgs(machines: Machines, loss: str, widths: Floats, start: Floats) -> Run:
    """Make the text's steps: SciPy's L-BFGS, 250 at each width."""
    begin = time.process_time()
    followed = _Followed(machines, loss, machines.best.bound * (1.0 + NEAR))
    try:
        for width in widths:
            start = minimize(
                followed.at, start, args=(width,), jac=True, method="L-BFGS-B",
                callback=followed.count,
                options={
                    "maxiter": _EVERY, "ftol": 0.0, "gtol": 0.0, "maxcor": _KEPT, "maxls": _TRIALS,
                },
            ).x  # fmt: skip
    except _Near:
        return Run(time.process_time() - begin, followed.steps)
    return Run(np.nan, followed.steps)


def shrinking(first: float, factor: float) -> Floats:
    """Return widths that shrink."""
    return np.asarray(first * factor ** np.arange(float(_STAGES)))


def by_smo(machines: Machines, start: Floats) -> Run:
    """Train scikit-learn's SVC at the loosest tolerance whose objective is near enough."""
    enough = machines.best.bound * (1.0 + NEAR)
    for tol in _TOLERANCES:
        begin = time.process_time()
        model = SVC(C=COST / 2, kernel="linear", tol=tol).fit(machines.X, machines.y)
        seconds = time.process_time() - begin
        f = model.decision_function(machines.X)
        fitted = (f - model.intercept_)[model.support_]
        if float(model.dual_coef_[0] @ fitted) + machines.margins.value(f) <= enough:
            return Run(seconds, int(model.n_iter_[0]))
    return Run(np.nan, 0)


def by_newton(machines: Machines, columns: bool) -> Run:
    """Train as `SmoothSVC` does, by columns or by products, to a certified gap of 0.1 %."""
    begin = time.process_time()
    space: Space = FeatureSpace(machines.X) if columns else KernelSpace(machines.kernel)
    margins, everyone = machines.margins, np.ones(len(machines.y))
    scales = np.sqrt(space.squared_rows(everyone))
    found = train(space, margins, KINKS["gaussian"], scales, Narrowing(tol=NEAR))
    near = found.gap.objective <= machines.best.bound * (1.0 + NEAR)
    return Run(time.process_time() - begin if near else np.nan, found.steps)


def _by_averages(machines: Machines, start: Floats) -> Run:
    return by_lbfgs(machines, "gaussian", shrinking(_VARIANCE**0.5, _LESS**0.5), start)


def _by_huber(machines: Machines, start: Floats) -> Run:
    return by_lbfgs(machines, "huber", shrinking(_HUBER, _LESS), start)


def _by_one_huber(machines: Machines, start: Floats) -> Run:
    """Keep one h, of several the quickest."""
    runs = [by_lbfgs(machines, "huber", np.full(_STAGES, h), start) for h in _FIXED]
    return min(runs, key=lambda run: np.inf if np.isnan(run.seconds) else run.seconds)


def _by_programme(machines: Machines, start: Floats) -> Run:
    return Run(machines.seconds, 0)


WAYS: dict[str, Callable[[Machines, Floats], Run]] = {
    "VO": _by_averages,
    "Chapelle, h shrinks": _by_huber,
    "Chapelle, one h": _by_one_huber,
    "SMO": by_smo,
    "quadratic programme": _by_programme,
    "SmoothSVC, products": lambda machines, start: by_newton(machines, False),
    "SmoothSVC, columns": lambda machines, start: by_newton(machines, True),
}
