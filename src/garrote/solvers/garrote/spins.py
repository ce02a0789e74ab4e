"""Iba's mean field of variable selection, in spins of -1 (out) and +1 (in).

A variable is in with prior probability 1 / (1 + exp(2h)). Given the regression coefficients a, the
posterior of the spins is that of an Ising model with fields H and couplings J; its mean field has
magnetisations m_i in [-1, 1], p_i = (1 + m_i) / 2 being the inclusion probabilities (Eqs. 17-19). The
coefficients solve a "soft" normal equation (23), the noise variance maximises (22). In p and gamma = -2h
these are the Variational Garrote's equations, solved here as the paper does: all at once, with damping.
Its moments are products, V_xy = sum x y (the printed squares are slips).

Iba, Y. Mean field approximation in Bayesian variable selection.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from garrote.arrays import Floats
from garrote.problem import Problem
from garrote.solvers.garrote.parallel_updates import soft_solution


class Ising(NamedTuple):
    """The energy of the spins, given the coefficients: constant, fields, couplings (Eqs. 7-9)."""

    constant: float
    fields: Floats
    couplings: Floats


class Spins(NamedTuple):
    """A solution of the mean field, in the units of the standardised problem.

    ``log_partition`` is the bound (18) on log Z_S, ``log_likelihood`` the approximate marginal
    likelihood (22); ``change`` is how far the last iteration moved a magnetisation.
    """

    h: float
    magnetisation: Floats
    coefficients: Floats
    noise_variance: float
    log_partition: float
    log_likelihood: float
    n_iter: int
    change: float

    @property
    def probability(self) -> Floats:
        """Inclusion probabilities (19)."""
        return 0.5 * (1.0 + self.magnetisation)


def solve_spins(
    problem: Problem,
    h: float,
    start: Floats | None = None,
    *,
    damping: float = 0.5,
    noise_variance: float | None = None,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> Spins:
    """Iterate Eqs. 24 and 25, and the noise variance, from given magnetisations.

    Parameters
    ----------
    problem : Problem
    h : float
        Penalty for each variable that is in, minus half its prior log odds.
    start : array of shape (D,), optional
        Magnetisations in [-1, 1]; by default 0, all variables half in.
    damping : float
        The share, delta, of the way that an iteration goes.
    noise_variance : float, optional
        A known noise variance; by default it is updated once an iteration.
    tol, max_iter : float and int
        End when no magnetisation moves by more than ``tol``, or after so many iterations.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import Problem
    >>> from garrote.solvers.garrote.spins import solve_spins
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = X[:, 1] + rng.standard_normal(60)
    >>> solve_spins(Problem.from_rows(X, y), h=2.0).probability.round(2)
    array([0.03, 1.  , 0.03, 0.02, 0.03])
    """
    if not 0 < damping <= 1:
        raise ValueError(f"damping must be above 0 and at most 1, got {damping}")
    m, gram = _first_magnetisations(problem, start), problem.whole_gram()

    def given(m: Floats) -> tuple[Floats, Ising, float]:
        a = soft_coefficients(gram, problem.xty, m)
        ising = make_ising(problem, gram, a)
        return a, ising, noise_variance or best_noise(problem, ising, m)

    change, count = np.inf, 0
    while change > tol and count < max_iter:
        _, ising, noise = given(m)
        field = (ising.couplings @ m + ising.fields) / (2 * noise) - h
        moved = damping * (np.tanh(field) - m)
        m, change, count = m + moved, float(np.abs(moved).max()), count + 1
    a, ising, noise = given(m)
    bound = log_partition(ising, m, noise, h)
    likelihood = log_likelihood(bound, len(m), problem.n, noise, h)
    return Spins(h, m, a, noise, bound, likelihood, count, change)


def _first_magnetisations(problem: Problem, start: Floats | None) -> Floats:
    """Return the magnetisations to start from; refuse those, and columns, that cannot be used."""
    if not (problem.curvature > 0).all():
        raise ValueError("every column must have content of its own: drop constant ones")
    count = problem.n_features
    m = np.zeros(count) if start is None else np.array(start, dtype=np.float64)
    if m.shape != (count,) or not (np.abs(m) <= 1).all():
        raise ValueError(f"start must be {count} magnetisations between -1 and 1")
    return m


def soft_coefficients(gram: Floats, xty: Floats, m: Floats) -> Floats:
    """Solve the soft normal equation (24): V_ii a_i + sum over j != i of V_ij a_j p_j = V_iy."""
    return soft_solution(gram, xty, 0.5 * (1.0 + m))


def make_ising(problem: Problem, gram: Floats, a: Floats) -> Ising:
    """Return constant, fields and couplings of the energy in spins (Eqs. 7-9)."""
    pairs = np.outer(a, a) * gram
    squares = np.diag(pairs).copy()
    np.fill_diagonal(pairs, 0.0)
    fitted = float(a @ problem.xty)
    constant = -problem.yty + fitted - 0.25 * float(pairs.sum()) - 0.5 * float(squares.sum())
    fields = a * problem.xty - 0.5 * pairs.sum(axis=1) - 0.5 * squares
    return Ising(constant, fields, -0.5 * pairs)


def mean_energy(ising: Ising, m: Floats) -> float:
    """Return C + sum H m + sum over pairs of J m m: minus the expected squared residual."""
    return float(ising.constant + ising.fields @ m + 0.5 * m @ ising.couplings @ m)


def best_noise(problem: Problem, ising: Ising, m: Floats) -> float:
    """Return the noise variance that maximises (22), given coefficients and magnetisations."""
    return max(-mean_energy(ising, m) / problem.n, problem.smallest_noise)


def log_partition(ising: Ising, m: Floats, noise: float, h: float) -> float:
    """Return the bound (18) on log Z_S."""
    up, down = 0.5 * (1.0 + m), 0.5 * (1.0 - m)
    entropy = -float((xlogy(up, up) + xlogy(down, down)).sum())
    return mean_energy(ising, m) / (2 * noise) - h * float(m.sum()) + entropy


def log_likelihood(log_z: float, count: int, n: float, noise: float, h: float) -> float:
    """Return the marginal likelihood (21) or (22), given log Z or its bound."""
    return float(log_z - count * np.logaddexp(h, -h) - 0.5 * n * np.log(2 * np.pi * noise))
