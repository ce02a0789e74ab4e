"""Which penalty goes with which family and solver: one table, for fits, errors and the manual."""

from typing import Any

from garrote.likelihoods import FAMILIES
from garrote.penalties import PENALTIES
from garrote.penalties.adaptive import AdaptiveLasso
from garrote.penalties.base import Penalty, Terms
from garrote.penalties.elastic_net import ElasticNet
from garrote.penalties.fusion.fused import FusedLasso
from garrote.penalties.group import GroupLasso
from garrote.penalties.l0 import L0
from garrote.penalties.mixtures import Mixture
from garrote.penalties.subset import BestSubset, NoPenalty
from garrote.rules import is_elastic_net

# What to call the two walks of LARS: with variables that leave (the lasso), and without (LAR).
HOMOTOPIES = ("homotopy", "least-angle")
# Those that know a penalty by its proximal operator.
PROXIMAL = ("ista", "fista", "sparsa")
# All that move every coefficient at once; see `garrote.solvers.classical.path`.
CLASSICAL = (*PROXIMAL, "projected_gradient", "em", "iterated_ridge", "subgradient")
SOLVERS = ("coordinate", *HOMOTOPIES, *CLASSICAL)
ALL_FAMILIES = (*FAMILIES, "multinomial")
_FIRST = "gaussian"


def is_possible(penalty: Penalty, family: str, solver: str) -> bool:
    """Tell whether a penalty can be fitted to a family of responses by a solver.

    Coordinates take everything but what has a closed form for squares only: best subsets, and what
    undoes a ridge or begins with one; and L0, whose tangents tell nothing. The walks need paths that are
    piecewise linear, proximal steps a penalty's own operator, split coefficients and subgradients the
    lasso or the elastic net, parabolas a slope; EM is by the scales of coefficients for a Gaussian
    response, and by latent variables for a probit one.

    Examples
    --------
    >>> from garrote.paths.combinations import is_possible
    >>> from garrote.penalties import L1, MCP
    >>> is_possible(MCP(), "poisson", "coordinate"), is_possible(L1(), "poisson", "homotopy")
    (True, False)
    """
    squares = family == _FIRST
    if not squares and _setting_for_squares(penalty):
        return False
    if solver in HOMOTOPIES:
        return squares and _is_piecewise_linear(penalty)
    if solver == "coordinate" or (solver == "em" and family == "probit"):
        return squares or not isinstance(penalty, L0)
    if isinstance(penalty, Mixture | BestSubset):
        return False
    if solver in PROXIMAL:
        return True
    if solver in ("projected_gradient", "subgradient"):
        # Steps of a length set in advance take too long where nothing holds coefficients back.
        endless = solver == "subgradient" and isinstance(penalty, NoPenalty)
        return _is_elastic_net(penalty) and not endless
    if not squares or isinstance(penalty, L0 | NoPenalty):
        return False
    if hasattr(penalty, "resolved"):  # norms of groups, or differences
        fused = isinstance(penalty, FusedLasso) and solver == "em"
        return fused or (isinstance(penalty, GroupLasso) and not penalty.flat)
    return solver == "iterated_ridge" or _is_elastic_net(penalty)


def check_combination(penalty: Penalty, likelihood: Any, solver: str) -> None:
    """Refuse what is impossible, and name what is possible in its place."""
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {SOLVERS}, got {solver!r}")
    family = likelihood.name
    if is_possible(penalty, family, solver):
        return
    others = {
        "solver": [s for s in SOLVERS if is_possible(penalty, family, s)],
        "family": [f for f in ALL_FAMILIES if is_possible(penalty, f, solver)],
        "penalty": [
            name for name, make in PENALTIES.items() if is_possible(make(), family, solver)
        ],
    }
    said = "; or ".join(
        f"{what}={' or '.join(map(repr, found))}" for what, found in others.items() if found
    )
    raise ValueError(
        f"solver {solver!r} cannot fit penalty {penalty.name!r}{_setting_for_squares(penalty)} with a "
        f"{family} response: change one of the three, to {said}"
    )


def _setting_for_squares(penalty: Penalty) -> str:
    """Return what of a penalty needs a Gaussian response, to follow its name; "" if nothing does."""
    if isinstance(penalty, BestSubset):
        return " (all subsets)"
    if isinstance(penalty, ElasticNet) and penalty.corrected:
        return " (corrected=True)"
    if isinstance(penalty, AdaptiveLasso) and penalty.first == "ridge":
        return " (first='ridge')"
    return ""


def _is_piecewise_linear(penalty: Penalty) -> bool:
    """Tell whether paths have knots: thresholds are proportional to the strength, and nothing bends."""
    if not _is_elastic_net(penalty):
        return False
    one, two = (penalty.at(strength, Terms.equal(1)) for strength in (1.0, 2.0))
    return bool(one.threshold[0] > 0 and 2 * one.threshold[0] == two.threshold[0])


def _is_elastic_net(penalty: Penalty) -> bool:
    """Tell whether a penalty is a case of the elastic net, of single coefficients."""
    structured = hasattr(penalty, "resolved")
    return not structured and is_elastic_net(penalty.at(1.0, Terms.equal(1)))
