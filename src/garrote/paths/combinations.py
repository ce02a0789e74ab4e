"""Which penalty goes with which family and solver: one table, for fits, errors and the manual."""

from typing import Any

from garrote.likelihoods import FAMILIES, Likelihood, Multinomial, as_likelihood
from garrote.penalties import PENALTIES
from garrote.penalties.base import Penalty, Terms
from garrote.solvers.classical.path import CLASSICAL_SOLVERS

# What to call the two walks of LARS: with variables that leave (the lasso), and without (LAR).
HOMOTOPIES = ("homotopy", "least-angle")
ALL_FAMILIES: dict[str, Likelihood] = {**FAMILIES, "multinomial": Multinomial(3)}


def solvers() -> tuple[str, ...]:
    """Return the names of all solvers of penalised problems."""
    return ("coordinate", *HOMOTOPIES, *CLASSICAL_SOLVERS)


def by_latent_responses(solver: str, squares: bool) -> bool:
    """Tell whether a solver fits expected latent responses: EM, of all that is not Gaussian."""
    return solver == "em" and not squares


def is_possible(penalty: Penalty, family: Any, solver: str) -> bool:
    """Tell whether a penalty can be fitted to a likelihood, or the one of a name, by a solver.

    Coordinates take everything but what has a closed form for squares only: best subsets, and what
    undoes a ridge or begins with one; and L0, whose tangents tell nothing. The walks need paths that are
    piecewise linear. A classical solver says itself what it suits (``ClassicalSolver.suits``); EM is by
    the scales of coefficients for a Gaussian response, and by latent variables for a probit one.

    Examples
    --------
    >>> from garrote.paths.combinations import is_possible
    >>> from garrote.penalties import L1, MCP
    >>> is_possible(MCP(), "poisson", "coordinate"), is_possible(L1(), "poisson", "homotopy")
    (True, False)
    """
    likelihood = as_likelihood(family, ALL_FAMILIES)
    squares = likelihood.least_squares
    if not squares and penalty.for_squares:
        return False
    if penalty.matches:
        return solver == "coordinate"
    if likelihood.kinked:  # linear programmes, of single coefficients
        alone = not (penalty.structured or penalty.compares or penalty.of_subsets)
        return solver == "coordinate" and alone and penalty.has_slope
    if solver in HOMOTOPIES:
        return squares and not penalty.bounded and _is_piecewise_linear(penalty)
    if solver == "coordinate" or (
        likelihood.latent_normal and by_latent_responses(solver, squares)
    ):
        return squares or penalty.has_slope
    chosen = CLASSICAL_SOLVERS[solver]
    special = penalty.of_subsets or penalty.by_tangents
    special |= penalty.bounded and not chosen.has_bounds
    return not special and chosen.suits(penalty, squares)


def check_combination(penalty: Penalty, likelihood: Any, solver: str) -> None:
    """Refuse what is impossible, and name what is possible in its place."""
    if solver not in solvers():
        raise ValueError(f"solver must be one of {solvers()}, got {solver!r}")
    if is_possible(penalty, likelihood, solver):
        return
    others = {
        "solver": [s for s in solvers() if is_possible(penalty, likelihood, s)],
        "family": [f for f in ALL_FAMILIES if is_possible(penalty, f, solver)],
        "penalty": [
            name for name, make in PENALTIES.items() if is_possible(make(), likelihood, solver)
        ],
    }
    said = "; or ".join(
        f"{what} {' or '.join(map(repr, found))}" for what, found in others.items() if found
    )
    setting = f" ({penalty.for_squares})" if penalty.for_squares else ""
    raise ValueError(
        f"solver {solver!r} cannot fit penalty {penalty.name!r}{setting} with a "
        f"{likelihood.name} response: change one of the three, to {said}"
    )


def _is_piecewise_linear(penalty: Penalty) -> bool:
    """Tell whether paths are linear between knots: an l1 penalty in proportion to the strength."""
    if not penalty.is_elastic_net:
        return False
    one, two = (penalty.at(strength, Terms.equal(1)) for strength in (1.0, 2.0))
    return bool(one.threshold[0] > 0 and 2 * one.threshold[0] == two.threshold[0])
