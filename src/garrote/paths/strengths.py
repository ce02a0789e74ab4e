"""Strengths that are said in other words: by a bound on the penalty, or by a prior and learned noise.

They stand in the place of alpha, as ``ExpectedSize`` does of gamma. Settings are checked when made.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq

from garrote.arrays import Floats
from garrote.paths.annealed import fit_path
from garrote.paths.combinations import is_possible
from garrote.paths.penalised import adapted, resolve_alphas, run_alone
from garrote.penalties.base import Penalty, Terms
from garrote.problem import Problem
from garrote.results.certificates import constrained, with_noise
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.rules import total_cost
from garrote.settings import Settings, check_positive, is_number
from garrote.solvers.classical.learned_noise import NoiseLaw, learn_noise
from garrote.solvers.control import Control

# The paths on which a bound is first looked for: points, first and last strength as shares of the
# largest. At the end of the second one squares are matched as far as they can be; labels that are nearly
# separated go on.
_PATHS = ((30, 1.0, 1e-2), (10, 1e-2, 1e-4), (6, 1e-4, 1e-6))
# How exactly they are solved: they only tell between which of their points the bound is reached.
_LOOSE = 1e-6
# How exactly fits are solved while a strength is looked for.
_TOLERANCE = 1e-11


class Strength(Settings):
    """What stands in the place of a strength, until there are data."""

    strength: ClassVar[str] = "alpha"

    def find(self, problem: Problem, penalty: Penalty, terms: Terms, solver: str) -> float:
        """Return the strength that is meant, for a problem in the units of its response."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is found")

    def certified(
        self, problem: Problem, penalty: Penalty, terms: Terms, path: Path[PenaltyFit]
    ) -> Path[PenaltyFit]:
        """Return a path whose last fit, at the strength found, tells how well it is what was meant."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is certified")

    def implied(self, alpha: float, n: float) -> dict[str, float]:
        """Return what else an estimator states of a strength that was found, by attribute."""
        return {}

    @property
    def reason(self) -> str:
        """How the strength was chosen, in words."""
        raise NotImplementedError(f"{type(self).__name__} has no words for what it is")


@dataclass(frozen=True)
class Bound(Strength):
    """The best fit whose penalty is at most ``size``: the constrained form of a convex penalty.

    Minimise F(w) subject to sum_j factor_j p(w_j) <= size. For the lasso the penalty is the l1 norm of
    the coefficients of standardised columns (of the columns themselves with ``standardize=False``):
    Murphy 2012, Eq. 13.38. For `Ridge` it is ||w||^2 / 2, so that Eq. 13.40 with its bound B has
    ``size = B / 2``.

    To a bound belongs the strength alpha at which the penalised fit reaches it. The penalty falls as
    alpha grows, and for the lasso it is linear between two knots of the homotopy: there the root is
    exact. A size beyond that of least squares gives least squares, with alpha = 0; 0 gives the empty
    model. The certificate is that of the constrained problem: its duality gap, which is that of the
    penalised fit and alpha (size - penalty), or the loss where that is less, and by which share of it
    the penalty is beyond the size.

    Parameters
    ----------
    size : float
        At least 0.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SparseRegressor
    >>> from garrote.datasets import make_sparse_regression
    >>> from garrote.paths import Bound
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> model = SparseRegressor("lasso", alpha=Bound(1.5), standardize=False).fit(data.X, data.y)
    >>> print(f"{np.abs(model.coef_).sum():.6f}")
    1.500000
    """

    size: float

    def __post_init__(self) -> None:
        if not (is_number(self.size) and self.size >= 0):
            raise ValueError(f"the size of a Bound must be a number >= 0, got {self.size!r}")

    @property
    def reason(self) -> str:
        """The bound."""
        return f"such that the penalty is at most {self.size:g}"

    def find(self, problem: Problem, penalty: Penalty, terms: Terms, solver: str) -> float:
        """Return the strength at which the penalty is the bound, or 0 where it is less without any."""
        self._check(penalty, solver)
        problem = problem.compressed()
        exact = run_alone(problem, adapted(problem, penalty, terms, Control(_TOLERANCE)))
        largest = float(resolve_alphas(problem, penalty, terms, 1, None)[0])
        if self.size == 0:
            return largest
        fits = _Fits(problem, penalty, terms, exact)
        above, below = self._between(fits, largest)
        if below is None:
            return above
        on_knots = self._by_knots(fits, below)
        if on_knots is not None:
            return on_knots

        def beyond(alpha: float) -> float:
            return fits.charged(alpha) - self.size

        if beyond(below) <= 0.0:  # as far as looser fits could tell it was beyond
            return below
        if beyond(above) >= 0.0:
            return above
        return float(brentq(beyond, below, above, xtol=1e-300))

    def _check(self, penalty: Penalty, solver: str) -> None:
        """Refuse penalties and ways that have no constrained form."""
        if not (penalty.convex and penalty.charges) or penalty.matches:
            raise ValueError(
                f"a Bound is for convex penalties, such as 'lasso', 'elastic-net', 'ridge' and "
                f"'group-lasso', whose constrained and penalised fits are the same; {penalty.name!r} is "
                "none: give alpha"
            )
        if penalty.corrected:
            raise ValueError(
                "corrected=True multiplies coefficients after the fit, beyond any Bound: take "
                "corrected=False"
            )
        if solver == "least-angle":
            raise ValueError(
                "method='least-angle' follows another path than that of the penalty, on which no Bound "
                "is known: take method='homotopy'"
            )
        if penalty.quadratic and self.size == 0:
            raise ValueError(
                "a ridge is 0 at no finite alpha: give Bound a size above 0, or take penalty='lasso'"
            )

    def _between(self, fits: "_Fits", largest: float) -> tuple[float, float | None]:
        """Return two strengths between which the bound is reached; or one, if it is held from there."""
        while fits.charged(largest) > self.size:  # a ridge is never 0
            largest *= 10.0
        above = largest
        problem = fits.problem
        # What is called the largest of a ridge is a thousand times where it begins to matter.
        further = 1e-3 if fits.penalty.quadratic else 1.0
        for points, first, last in _PATHS[: 2 if problem.likelihood.least_squares else 3]:
            begin = first if first == 1.0 else first * further
            grid = largest * np.geomspace(begin, last * further, points)
            for alpha, charged in zip(grid, fits.along(grid, _LOOSE), strict=True):
                if charged >= self.size:
                    return above, float(alpha)
                above = float(alpha)
        if not problem.likelihood.least_squares or problem.max_rank < len(problem.usable):
            # Without a penalty there are many fits, or none.
            return above, None
        return (above, 0.0) if fits.charged(0.0) > self.size else (0.0, None)

    def _by_knots(self, fits: "_Fits", below: float) -> float | None:
        """Return the strength from the segment of the homotopy; None where there is no such path."""
        if not is_possible(fits.penalty, fits.problem.likelihood, "homotopy"):
            return None
        terms, (one, two) = fits.terms, (fits.penalty.at(s, fits.terms) for s in (1.0, 2.0))
        if not np.array_equal(one.ridge, two.ridge):
            return None  # with another ridge at each strength, segments are curves
        signs = np.isin(terms.lower, [0.0, -np.inf]) & np.isin(terms.upper, [0.0, np.inf])
        if not (signs.all() and (terms.factor > 0).all()):
            return None
        path = fits.solve(None, solver="homotopy", eps=0.999 * below / fits.largest)
        charged = np.array([fits.of(fit) for fit in path.fits])
        after = int(np.searchsorted(charged, self.size))
        if path.cut or not 0 < after < len(charged):
            return None
        share = (self.size - charged[after - 1]) / (charged[after] - charged[after - 1])
        first, last = path.strengths[after - 1], path.strengths[after]
        return float(first + share * (last - first))

    def certified(
        self, problem: Problem, penalty: Penalty, terms: Terms, path: Path[PenaltyFit]
    ) -> Path[PenaltyFit]:
        """Return the path with the certificate of the constrained problem for its last fit."""
        fit, given = path.fits[-1], problem.compressed()
        exact = run_alone(given, adapted(given, penalty, terms, Control(_TOLERANCE)))
        charged = charge(penalty, exact, fit)
        slack = fit.strength * (self.size - charged) / (path.null_loss or 1.0)
        parts = fit.certificate.parts
        # No loss is below 0, which is the better bound where the data are matched.
        gap = max(min(parts["duality gap"] + slack, fit.loss / (path.null_loss or 1.0)), 0.0)
        excess = max(charged - self.size, 0.0) / (self.size or 1.0)
        certificate = constrained(float(gap), parts["violation"], float(excess))
        return replace(path, fits=(*path.fits[:-1], replace(fit, certificate=certificate)))


@dataclass(frozen=True)
class PriorRate(Strength):
    """The rate of a Laplace prior beside noise that is learned by EM (Murphy 2012, section 13.4.4).

    The prior is exp(-rate sum_j factor_j p(w_j)), which for the lasso is that of Eq. 13.86, of the
    coefficients of standardised columns; the noise variance is inverse Gamma(shape, scale). The E step
    expects 1 / sigma^2 = a_N / b_N, with a_N = shape + N / 2 and b_N = scale + ||y - Xw||^2 / 2 (Eqs.
    13.92 and 13.93). An intercept, and columns without a penalty, have flat priors and are integrated
    out: N is less by one for each. The M step is that of Eq. 13.96 with alpha = rate b_N / (a_N N). The
    log posterior, -a_N log b_N - rate sum_j factor_j p(w_j), never falls; it may have several
    maxima, of which that below the noise of the null model is found.

    The certificate is that of the penalised fit at this alpha, and "noise", by how much the fit's own
    b_N / a_N differs from the one stated.

    Parameters
    ----------
    rate : float
        gamma of the text, in one over the units of y.
    shape, scale : float, default=0
        Those of the noise variance's prior; 0 is Jeffreys' prior.
    """

    rate: float
    shape: float = 0.0
    scale: float = 0.0

    def __post_init__(self) -> None:
        check_positive("the rate of a PriorRate", self.rate)
        for name in ("shape", "scale"):
            value = getattr(self, name)
            if not (is_number(value) and value >= 0):
                raise ValueError(f"{name} of a PriorRate must be a number >= 0, got {value!r}")

    @property
    def reason(self) -> str:
        """The rate."""
        return f"from rate = {self.rate:g}, the noise being learned by EM"

    def find(self, problem: Problem, penalty: Penalty, terms: Terms, solver: str) -> float:
        """Return the strength that belongs to the rate and the noise that EM learns."""
        normal = problem.likelihood.least_squares and is_possible(penalty, problem.likelihood, "em")
        if not normal or penalty.first is not None:
            raise ValueError(
                "noise is learned for a Gaussian response under 'lasso', 'elastic-net' or "
                f"'group-lasso', not for {penalty.name!r} with a {problem.likelihood.name} response: "
                "give alpha"
            )
        law = NoiseLaw(self.rate, self.shape, self.scale)
        learning = learn_noise(problem.compressed(), penalty, terms, law, Control(_TOLERANCE))
        return float(run_alone(problem.compressed(), learning).alpha)

    def certified(
        self, problem: Problem, penalty: Penalty, terms: Terms, path: Path[PenaltyFit]
    ) -> Path[PenaltyFit]:
        """Return the path with the equation of the noise beside the certificate of its last fit."""
        fit = path.fits[-1]
        law = NoiseLaw(self.rate, self.shape, self.scale)
        stated = fit.strength * problem.n / self.rate
        off = abs(law.variance(problem, 2.0 * fit.loss * problem.n) / stated - 1.0)
        certificate = with_noise(fit.certificate, float(off))
        return replace(path, fits=(*path.fits[:-1], replace(fit, certificate=certificate)))

    def implied(self, alpha: float, n: float) -> dict[str, float]:
        """Return the noise variance, one over what 1 / sigma^2 is expected to be."""
        return {"noise_variance_": alpha * n / self.rate}


def charge(penalty: Penalty, terms: Terms, fit: PenaltyFit) -> float:
    """Return what of a fit's objective is in proportion to the strength: its penalty."""
    one, two = (total_cost(penalty.at(s, terms), fit.columns, fit.coef) for s in (1.0, 2.0))
    return float(two - one)


class _Fits:
    """Fits of one problem at strengths that are asked for, and what their penalty is.

    ``exact`` are the terms with the factors of a first fit, where the penalty has one.
    """

    def __init__(self, problem: Problem, penalty: Penalty, terms: Terms, exact: Terms):
        self.problem, self.penalty, self.terms, self.exact = problem, penalty, terms, exact
        self.largest = float(resolve_alphas(problem, penalty, terms, 1, None)[0])
        self.solve = partial(
            fit_path, problem, penalty, terms=terms, control=Control(_TOLERANCE)
        )  # fmt: skip

    def of(self, fit: PenaltyFit) -> float:
        """Return the penalty of a fit."""
        return charge(self.penalty, self.exact, fit)

    def charged(self, alpha: float) -> float:
        """Return the penalty at a strength."""
        return float(self.along(np.array([alpha]))[0])

    def along(self, alphas: Floats, tol: float = _TOLERANCE) -> Floats:
        """Return the penalty at descending strengths, each fitted from the one before."""
        found: Path[Any] = self.solve(alphas, control=Control(tol))
        return np.array([self.of(fit) for fit in found.fits])
