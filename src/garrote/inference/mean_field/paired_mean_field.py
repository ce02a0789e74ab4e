"""One paired mean field with its hyperparameters by EM, or with pi annealed and reheated.

The E step finds the factors q(w_j, s_j) and the noise variance by the garrote's sweeps; the M step
moves the slab variance and the prior log odds (`Learning`). Neither lowers the bound on the evidence.
Kappen & Gomez (2014), section 5, let pi go from sparse to dense and back in place of its M step
(PMF-ANNEAL), because EM alone stays in the optimum that it starts in.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np
from scipy.special import logit

from garrote.arrays import Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.mean_field.hyperparameters import Hyperparameters, Learning, em_steps
from garrote.paths.annealed import fit_path, stored_design
from garrote.priors.garrote import SpikeTerms
from garrote.priors.slab import IndependentSlab
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.solvers.annealing import DENSE_STEP, Annealed, anneal, one_by_one
from garrote.solvers.control import Control, evaluate_solutions
from garrote.solvers.garrote.coordinate_annealing import Annealer
from garrote.solvers.garrote.starts import solve_from
from garrote.solvers.lockstep import run_together
from garrote.summaries import Shown

# Log odds that pi is annealed over, and those of an empty model that come before them.
_ODDS = 24
_APPROACH = 6
# The densest prior that is reheated from, where the rows allow it. The dense side decides: of 24
# problems with correlated columns (VG Figure 6b, c) reheating from as many variables as a quarter of the
# rows was stuck in 18, from here in none.
_DENSEST = 0.95
# With more columns a dense solution costs too much to begin with it.
_FEW = 1000


class PairedSetup(NamedTuple):
    """What stays the same through EM: the data (and their moments, if smaller), priors, tolerance."""

    problem: Problem
    compressed: Problem
    beliefs: Beliefs
    learning: Learning
    control: Control

    @classmethod
    def of(cls, problem: Problem, beliefs: Beliefs | None, control: Control) -> "PairedSetup":
        """Take the priors given, or the default ones."""
        beliefs = beliefs or Beliefs.about(problem)
        learning = Learning.under(beliefs, "mean-field")
        return cls(problem, problem.compressed(), beliefs, learning, control)


@dataclass(frozen=True, repr=False)
class Paired(Shown):
    """A solution with its hyperparameters.

    Attributes
    ----------
    fit : Fit
        Inclusion probabilities, means given inclusion, noise variance, free energy.
    at : Hyperparameters
    bound : float
        On the log evidence, given the hyperparameters.
    objective : float
        What EM maximises: the bound plus the log prior of the hyperparameters.
    trace : tuple of float
        The objective after each step.
    converged : bool
    """

    fit: Fit
    at: Hyperparameters
    bound: float
    objective: float
    trace: tuple[float, ...] = ()
    converged: bool = True

    @property
    def strength(self) -> float:
        """The log odds of inclusion."""
        return self.at.log_odds

    @property
    def expected_size(self) -> float:
        """The sum of inclusion probabilities."""
        return self.fit.expected_size

    @property
    def free_energy(self) -> float:
        """Minus the objective."""
        return -self.objective


def fit_paired(
    problem: Problem,
    beliefs: Beliefs | None = None,
    *,
    start: Floats | None = None,
    control: Control = Control(),  # noqa: B008 - frozen
) -> Paired:
    """Fit a paired mean field, its hyperparameters by EM where the beliefs leave them open.

    Parameters
    ----------
    problem : Problem
    beliefs : Beliefs, optional
        A slab without a variance and a Beta law of inclusion are learned; all else is fixed.
    start : array of shape (D,), optional
        Inclusion probabilities to begin with; by default those that annealing leads to at the first
        hyperparameters.
    control : Control

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import Problem
    >>> from garrote.inference import fit_paired
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 10))
    >>> y = X[:, 2] - X[:, 5] + rng.standard_normal(80)
    >>> found = fit_paired(Problem.from_rows(X, y))
    >>> found.fit.columns[found.fit.probability > 0.5]
    array([2, 5])
    """
    setup = PairedSetup.of(problem, beliefs, control)
    at = setup.learning.first()
    first = _anneal_to(setup, at) if start is None else _from_start(setup, at, start)
    return _learn(setup, first, at, odds=True)


def anneal_paired(
    problem: Problem,
    beliefs: Beliefs | None = None,
    *,
    log_odds: Floats | None = None,
    control: Control = Control(),  # noqa: B008 - frozen
) -> Annealed[Paired]:
    """Anneal pi from sparse to dense and reheat it, slab variance and noise by EM at each.

    Parameters
    ----------
    problem : Problem
    beliefs : Beliefs, optional
        As in `fit_paired`. Where each variable's own probability is given, gamma is added to its log
        odds.
    log_odds : array, optional
        The gammas to visit; by default up to pi = 0.95, or as far as the rows allow, and with more
        than 1000 columns up to as many variables as a quarter of the rows.
    control : Control

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import Problem
    >>> from garrote.inference import anneal_paired, paired_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 10))
    >>> y = X[:, 2] - X[:, 5] + rng.standard_normal(80)
    >>> problem = Problem.from_rows(X, y)
    >>> whole = anneal_paired(problem)
    >>> best = whole.best.fit
    >>> best.columns[best.probability > 0.5]
    array([2, 5])

    The empty model lasts longer on the way up than on the way down:

    >>> low, high = paired_path(problem, whole).hysteresis
    >>> low < high < whole.best.at.log_odds
    True
    """
    setup = PairedSetup.of(problem, beliefs, control)
    at = setup.learning.first()
    grid = annealed_odds(setup.learning, problem.n) if log_odds is None else np.unique(log_odds)
    nothing, noise = np.zeros(0), setup.learning.slab.known_noise
    empty = Fit.uncertified(
        grid[0], np.zeros(0, np.intp), nothing, nothing, noise or problem.response_variance
    )

    def solve(gamma: float, start: Paired) -> Paired:
        return _learn(setup, start.fit, replace(start.at, log_odds=gamma), odds=False)

    begin = Paired(empty, at, -np.inf, -np.inf)
    annealing = anneal(one_by_one(solve), grid, problem.most_variables, begin, control)
    (found,) = run_together([annealing], None)
    return cast(Annealed[Paired], found)


def paired_path(problem: Problem, annealed: Annealed[Paired]) -> Path[Fit]:
    """Return the solutions as a path over gamma; of two the one of the higher objective is kept."""
    return annealed.path(problem.scale, problem.n_features, lambda one: one.fit)


def slab_prior(problem: Problem, beliefs: Beliefs, slab: IndependentSlab) -> SpikeTerms:
    """Return the mean-field prior on all columns, for a slab of known variance."""
    lengths = np.where(problem.curvature > 0, problem.curvature, 1.0)
    variance = float(slab.variance or 1.0)
    return SpikeTerms.with_slab(
        variance, beliefs.offsets(problem), lengths, slab.known_noise, slab.known_separation
    )


def slab_factors(slab: IndependentSlab) -> SpikeTerms:
    """Return what tells moments of weights given inclusion, for a slab of known variance."""
    nothing = np.zeros(0)
    return SpikeTerms.with_slab(
        float(slab.variance or 1.0), nothing, nothing, separation=slab.known_separation
    )


def annealed_odds(learning: Learning, n: float) -> Floats:
    """Return log odds from the empty model to the densest that leaves rows enough."""
    if learning.shared is None:  # added to the variables' own odds: 0 is what they say
        return np.append(np.linspace(-15.0, 0.0, _ODDS), dense_side(0.0, learning.offsets))
    usable = max(len(learning.offsets), 1)
    low = float(logit(min(0.1 / usable, 0.4)))
    densest = _DENSEST if usable <= _FEW else min(n / 4 / usable, _DENSEST)
    approach = low - 3.0 * np.arange(_APPROACH, 0, -1)
    return np.append(approach, np.linspace(low, max(float(logit(densest)), low + 1.0), _ODDS))


def dense_side(log_odds: float, offsets: Floats) -> Floats:
    """Return log odds from which to reheat to those given: none where columns are many."""
    if not 0 < len(offsets) <= _FEW:
        return np.zeros(0)
    densest = float(logit(_DENSEST)) - float(np.median(offsets))
    return np.arange(log_odds, densest, DENSE_STEP)[1:]


def anneal_to_first(problem: Problem, beliefs: Beliefs, control: Control) -> Fit:
    """Return the annealed solution at the hyperparameters that EM begins with."""
    setup = PairedSetup.of(problem, beliefs, control)
    return _anneal_to(setup, setup.learning.first())


def odds_towards(there: float, offsets: Floats) -> tuple[Floats, int]:
    """Return log odds that lead to some from the empty model, and back from denser ones; and where."""
    gammas = np.append(np.linspace(there - 15.0, there, 11), dense_side(there, offsets))
    return gammas, 10


def _anneal_to(setup: PairedSetup, at: Hyperparameters) -> Fit:
    """Return the solution at some hyperparameters that gamma is annealed to and reheated from."""
    gammas, place = odds_towards(at.log_odds, setup.learning.offsets)
    path = fit_path(setup.problem, _prior(setup, at), gammas, control=setup.control)
    return path.fits[min(place, len(path) - 1)]


def _from_start(setup: PairedSetup, at: Hyperparameters, start: Floats) -> Fit:
    problem = setup.problem
    start = np.asarray(start, dtype=np.float64)
    if start.shape != (problem.n_features,) or not ((start >= 0) & (start <= 1)).all():
        raise ValueError(f"start must be {problem.n_features} probabilities, one a column")
    task = solve_from(problem, _prior(setup, at), at.log_odds, [start], setup.control)
    (found,) = run_together([task], stored_design(problem))
    if not found:
        raise ValueError("this start leads to a solution that interpolates; begin with fewer in")
    return cast(Fit, found["start 1"])


def _learn(setup: PairedSetup, begin: Fit, at: Hyperparameters, *, odds: bool) -> Paired:
    """Alternate E and M steps from a solution; with ``odds`` gamma is learned too."""

    def solve(found: Paired, after: Hyperparameters) -> Paired | None:
        again = solve_paired(setup, found.fit, after)
        most = max(setup.problem.most_variables, found.fit.expected_size)
        return again if again.fit.expected_size <= most else None

    steps, still = em_steps(
        solve_paired(setup, begin, at),
        lambda found: found.at,
        lambda found: _next(setup, found, odds),
        solve,
    )
    trace, last = tuple(one.objective for one in steps), steps[-1]
    return replace(last, trace=trace, converged=last.converged and still)


def _next(setup: PairedSetup, found: Paired, odds: bool) -> Hyperparameters:
    """Return the hyperparameters of the highest objective, given the factors."""
    fit, at = found.fit, found.at
    m, c = fit.probability, setup.problem.curvature[fit.columns]
    factors = slab_factors(setup.learning.slab.at(at.variance))
    stated = fit.weight, c, fit.precision
    squares = float(m @ (fit.weight**2 + factors.spreads(*stated))) * fit.precision
    along = float(m @ factors.signed(*stated).along) * float(np.sqrt(fit.precision))
    variance = setup.learning.next_variance(at.variance, squares, float(m.sum()), along)
    gamma = at.log_odds
    if odds:
        gamma = setup.learning.next_log_odds(gamma, fit.expected_size)
    return Hyperparameters(variance, gamma)


def solve_paired(setup: PairedSetup, begin: Fit, at: Hyperparameters) -> Paired:
    """Return what a solution becomes at other hyperparameters: factors and noise are solved for."""
    task = _certified_at(setup, replace(begin, strength=at.log_odds, n_iter=0), at)
    (fit,) = run_together([task], stored_design(setup.problem))
    bound = -fit.free_energy + setup.learning.never_in(at.log_odds)
    return Paired(
        fit, at, bound, bound + setup.learning.log_prior(at),
        converged=fit.certificate.value <= setup.control.tol,
    )  # fmt: skip


def _certified_at(
    setup: PairedSetup, begin: Fit, at: Hyperparameters
) -> Generator[Floats, Floats, Fit]:
    problem, control = setup.problem, setup.control
    annealer = Annealer(problem, _prior(setup, at), control, setup.compressed)
    _, _, rows = yield from evaluate_solutions(problem, [begin])
    point = annealer.solve_further(begin, rows[0], control.tol)
    fits = yield from annealer.certified([point])
    return fits[0]


def _prior(setup: PairedSetup, at: Hyperparameters) -> SpikeTerms:
    slab = setup.learning.slab.at(at.variance)
    return slab_prior(setup.problem, setup.beliefs, slab)
