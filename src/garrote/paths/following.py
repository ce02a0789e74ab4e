"""Ways along a path, as objects with the settings that each has: grid, solver, and when to stop.

They are the ``method`` of estimators that fit a path; the name of a solver stands for a way with default
settings. Settings are checked when a way is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from garrote.arrays import Floats
from garrote.paths.annealed import EPS, GAMMAS, SOLVERS
from garrote.paths.combinations import solvers
from garrote.paths.penalised import ALPHAS
from garrote.settings import Settings, as_settings, check_count, check_positive, is_number
from garrote.solvers.classical.path import CLASSICAL_SOLVERS
from garrote.solvers.control import ORDERS


class PathMethod(Settings):
    """A way along a path of fits."""

    eps: float | None
    tol: float
    max_iter: int

    @classmethod
    def named(cls) -> dict[str, Callable[[], Self]]:
        """Return the solvers whose names stand for this way, each with what makes it."""
        raise NotImplementedError(f"{cls.__name__} does not say which solvers it has")

    @classmethod
    def of(cls, given: Any) -> Self:
        """Return a way by itself or, with its default settings, by its solver's name; it is checked."""
        otherwise = f"garrote.paths.{cls.__name__}(...) with settings of its own"
        way = as_settings("method", given, cls, cls.named(), otherwise)
        way.check()
        return way

    def check(self) -> None:
        """Refuse settings that cannot be meant; the error says what is allowed."""
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter, 1)


@dataclass(frozen=True)
class OnPath(Settings):
    """A gamma of the path that something else has chosen, such as validation on other rows.

    It says where on the path to be, as a number does, but not how probable variables are: what corrects
    inclusion probabilities of labels averages over gamma then.
    """

    gamma: float

    def __post_init__(self) -> None:
        """Refuse what is no finite number."""
        if not is_number(self.gamma):
            raise ValueError(f"gamma of OnPath must be a finite number, got {self.gamma!r}")


@dataclass(frozen=True)
class Anneal(PathMethod):
    """Anneal and reheat the Variational Garrote of numbers over gamma.

    Parameters
    ----------
    solver : {"coordinate", "primal", "dual"}, default="coordinate"
        Three ways to solve the same equations: sequential updates on a working set, or the paper's
        damped parallel iteration with D x D ("primal") or N x N ("dual") systems, for small problems.
        Folds of a cross-validation are always solved by the first, so that gamma does not depend on it.
    gammas : int or array, default=50
        The path: how many gammas to place (the first by Eq. 13 and ``eps``), or the gammas themselves.
    eps : float, default=1e-3
        Largest inclusion probability at the first gamma of a placed grid.
    reheat : {"cut", "dense"}, default="cut"
        From where the path returns to the sparse end: from its last solution before more than half of
        the variables that would interpolate are in; or from beyond, where gamma is annealed on to even
        odds and solutions that nearly interpolate are passed through, but not kept. That finds better
        solutions where columns are correlated and rows are few, and costs several times as much.
    start : array of shape (D,), optional
        Inclusion probabilities for an additional start at the chosen gamma.
    n_starts : int, default=0
        Additional random starts at the chosen gamma. The best solution is used; all distinct ones
        are kept in ``posterior_.optima``, and listed by ``posterior_.local_optima()``.
    tol : float, default=1e-4
        What the certificate of every point of the path has to reach. Folds of a cross-validation,
        which only serve to choose gamma, are solved to 0.01 standard errors.
    max_iter : int, default=10,000
        Sweeps (or iterations) allowed at each gamma.
    """

    solver: str = "coordinate"
    gammas: Any = GAMMAS
    eps: float = EPS
    reheat: str = "cut"
    start: Any = None
    n_starts: int = 0
    tol: float = 1e-4
    max_iter: int = 10_000

    @classmethod
    def named(cls) -> dict[str, Callable[[], Self]]:
        """Return a way for every solver of a prior's path."""
        return {name: partial(cls, name) for name in SOLVERS}

    def check(self) -> None:
        """Refuse an unknown solver or end, and grids and starts that are none."""
        super().check()
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {tuple(SOLVERS)}, got {self.solver!r}")
        _check_share("eps", self.eps, 0.5)
        if self.reheat not in ("cut", "dense"):
            raise ValueError(f"reheat must be 'cut' or 'dense', got {self.reheat!r}")
        check_count("n_starts", self.n_starts, 0)

    def starts(self, count: int) -> list[Floats]:
        """Return the start that was given, if there is one, for so many columns."""
        if self.start is None:
            return []
        m = np.asarray(self.start, dtype=np.float64)
        if m.shape != (count,) or not ((m >= 0) & (m <= 1)).all():
            raise ValueError(
                f"start must be {count} probabilities between 0 and 1, one a column, got shape {m.shape}"
            )
        return [m]


@dataclass(frozen=True)
class AnnealBound(PathMethod):
    """Anneal and reheat the Variational Garrote of labels over gamma, by a bound on their likelihood.

    Its defaults are those of `Anneal` but for two. Every round moves the bound, and with it the weights
    of all rows: a gamma costs 6 to 16 times what it costs `Anneal` (at 200 x 100 and 300 x 1000).
    Therefore there are 30 gammas in place of 50, and 1000 rounds in place of 10,000 sweeps.

    Parameters
    ----------
    gammas : int or array, default=30
        The path: how many gammas to place, or the gammas themselves.
    eps : float, default=1e-3
        Largest inclusion probability at the first gamma of a placed grid, about.
    tol : float, default=1e-4
        What the certificate of every point of the path has to reach; folds are solved to 0.002.
    max_iter : int, default=1000
        Rounds of the bound allowed at each gamma.
    """

    gammas: Any = 30
    eps: float = EPS
    tol: float = 1e-4
    max_iter: int = 1000

    @classmethod
    def named(cls) -> dict[str, Callable[[], Self]]:
        """Return the one way there is: a bound is solved by coordinates."""
        return {"coordinate": cls}

    def check(self) -> None:
        """Refuse a grid that begins nowhere."""
        super().check()
        _check_share("eps", self.eps, 0.5)


@dataclass(frozen=True)
class FollowPath(PathMethod):
    """Relax a penalty from the strength that empties the model downwards, each fit from the one before.

    Parameters
    ----------
    solver : str, default="coordinate"
        Working sets with Newton steps, for every penalty and family; or, for the lasso and its kin with
        a Gaussian response, LARS: "homotopy" or "least-angle", from knot to knot; or a classical one:
        "ista", "fista", "sparsa", "projected_gradient", "em", "iterated_ridge", "subgradient",
        "shooting", or "smoothing" and its variants "sigmoid" and "root". Folds of a cross-validation
        with a convex penalty are solved by the first, but for "least-angle".
    alphas : int or array, default=100
        The grid: how many (more than a garrote has gammas, as each costs less), or which. A grid that
        is placed may end before, where 99.9 % of the deviance is explained, unless the response is
        Gaussian and the penalty convex; `path_.cut` says so.
    eps : float, optional
        The last alpha of a placed grid, as a share of the first; 1e-3, or 1e-2 with more columns than
        rows.
    tol : float, default=1e-6
        Relative duality gap that every point of the path has to reach; a violation of optimality where
        the penalty is not convex.
    max_iter : int, default=10,000
        Rounds of the solver at each alpha. ``path_.fits[k].n_iter`` tells how many there were: of
        solver "shooting", sweeps.
    order : {"cyclic", "random", "greedy"}, default="cyclic"
        Of solver "shooting" (Murphy 2012, Algorithm 13.1): coefficients in turn, in a new random order
        each sweep, or always the one that is farthest from its optimum. All end at the same optimum.
    random_state : int, default=0
        The seed of the random order.
    """

    solver: str = "coordinate"
    alphas: Any = ALPHAS
    eps: float | None = None
    tol: float = 1e-6
    max_iter: int = 10_000
    order: str = "cyclic"
    random_state: int = 0

    @classmethod
    def named(cls) -> dict[str, Callable[[], Self]]:
        """Return a way for every solver of penalised problems."""
        return {name: partial(cls, name) for name in solvers()}

    def check(self) -> None:
        """Refuse a grid that ends nowhere; what a solver suits is told with the penalty."""
        super().check()
        if self.eps is not None:
            _check_share("eps", self.eps, 1.0)
        if self.order not in ORDERS:
            raise ValueError(f"order must be one of {ORDERS}, got {self.order!r}")
        check_count("random_state", self.random_state, 0)
        kind = CLASSICAL_SOLVERS.get(self.solver)
        if self.order != "cyclic" and not (kind and kind.takes_order):
            raise ValueError(
                f"order={self.order!r} is of solver 'shooting', which takes coordinates one by one; "
                f"solver {self.solver!r} has ways of its own: take solver='shooting', or leave order out"
            )


def _check_share(name: str, value: Any, most: float) -> None:
    if not (is_number(value) and 0 < value < most):
        raise ValueError(f"{name} must be between 0 and {most:g}, got {value!r}")
