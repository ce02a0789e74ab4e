"""What a penalty is: settings that do not change along a path, from which a scalar rule is made."""

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.rules import Evaluated, cost, is_elastic_net, reach
from garrote.settings import Settings

# Scalar objectives that differ by less than this share are the same.
_TIE = 1e-12


class Terms(NamedTuple):
    """What each variable has of its own: a factor of the penalty (0: always in) and bounds."""

    factor: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def equal(cls, count: int) -> "Terms":
        """Return factors of 1 and no bounds."""
        return cls(np.ones(count), np.full(count, -np.inf), np.full(count, np.inf))

    def repeated(self, times: int) -> "Terms":
        """Return the same for several coefficients of every variable."""
        return Terms(*(np.tile(part, times) for part in self))


class Penalty(Settings):
    """The settings of a penalty, and what paths and solvers ask of it beside its rule.

    Objectives are F(w) + strength * sum of factor_j times the penalty of w_j, F being the mean of the
    samples' losses (half their squared error for a Gaussian response). A penalty has a ``name``, ``at``
    and ``largest_strength``; the rest has a default, which is that of a penalty of single coefficients.
    """

    @property
    def name(self) -> str:
        """What messages call it."""
        raise NotImplementedError

    @property
    def reference(self) -> str | None:
        """The source to cite, if it has one."""
        return None

    @property
    def convex(self) -> bool:
        """Whether a local optimum is the optimum. One that is not is concave in |w|."""
        return False

    @property
    def singular(self) -> bool:
        """Whether it is infinitely steep at 0."""
        return False

    @property
    def charges(self) -> bool:
        """Whether it charges anything at all; a path without has one strength, 0."""
        return True

    @property
    def matches(self) -> bool:
        """Whether the response has to be matched exactly, so that rows cannot stand in by moments."""
        return False

    @property
    def has_slope(self) -> bool:
        """Whether its slope describes it, so that tangents and parabolas can stand for it.

        Not that of a price of variables, which is the same for every coefficient but 0.
        """
        return True

    @property
    def quadratic(self) -> bool:
        """Whether it is a ridge, or nothing: fits to a Gaussian response have a closed form then."""
        return False

    @property
    def strengths(self) -> str:
        """What its strengths are called, by which `fit_path` knows how to follow them."""
        return "alphas"

    @property
    def of_subsets(self) -> bool:
        """Whether all subsets of the columns have to be compared."""
        return False

    @property
    def by_tangents(self) -> bool:
        """Whether its tangents stand for it always: its rule is not for compiled loops."""
        return False

    @property
    def candidates(self) -> "tuple[Penalty, ...]":
        """The penalties among which the data choose, where a setting lists several; else itself."""
        return (self,)

    @property
    def structured(self) -> bool:
        """Whether it ties coefficients together, in groups or as neighbours."""
        return False

    @property
    def compares(self) -> bool:
        """Whether it compares coefficients with each other, so that columns have to keep their units."""
        return False

    @property
    def first(self) -> str | None:
        """The first fit that gives each variable its factor (see ``weighted``): "lasso" or "ridge"."""
        return None

    @property
    def bounded(self) -> bool:
        """Whether it keeps coefficients within bounds of its own, by the first fit."""
        return False

    @property
    def corrected(self) -> bool:
        """Whether the shrinkage by its ridge is undone after the fit."""
        return False

    @property
    def for_squares(self) -> str:
        """What of it needs a Gaussian response, in words; "" if nothing does."""
        return ""

    @property
    def parabolas(self) -> tuple[str, ...]:
        """The solvers "em" and "iterated_ridge", as far as parabolas that touch it suit them."""
        return ("em", "iterated_ridge") if self.is_elastic_net else ("iterated_ridge",)

    @property
    def is_elastic_net(self) -> bool:
        """Whether it is a case of the elastic net, of single coefficients."""
        return not self.structured and is_elastic_net(self.at(1.0, Terms.equal(1)))

    @property
    def sums_absolute_values(self) -> bool:
        """Whether its rule has `absolute_parts`, so that smooth curves can stand for it."""
        return self.is_elastic_net

    def at(self, strength: float, terms: Terms) -> Any:
        """Return the scalar rule at one strength."""
        raise NotImplementedError

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient.

        ``curvature`` is that of each column's loss; taken for 1 where it is not given.
        """
        raise NotImplementedError

    def weighted(self, terms: Terms, first: Floats) -> Terms:
        """Return terms with the factors that a first estimate gives."""
        return terms

    def resolved(self, count: int, names: Array | None = None, X: Any = None) -> Self:
        """Return the same for a table of so many columns, with positions in place of names."""
        return self

    def with_factors(self, factor: Floats, names: Array | None = None) -> Self:
        """Return the same for columns with these factors of the penalty; refuse what it has not."""
        return self


def check_share(share: Any, of_all: bool = False) -> float:
    """Return ``l1_ratio``, a number from 0 to 1; 1 itself only ``of_all``."""
    number = isinstance(share, Real) and not isinstance(share, bool | np.bool_)
    if number and (0.0 <= share < 1.0 or (of_all and share == 1.0)):
        return float(share)
    if of_all:
        raise ValueError(f"l1_ratio must be a number between 0 and 1, got {share!r}")
    raise ValueError(
        f"l1_ratio must be a number of at least 0 and below 1, got {share!r}: 1 is the lasso, L1()"
    )


def steepest(gradient: Floats, terms: Terms, share: Floats | float = 1.0) -> float:
    """Return the largest gradient of a penalised variable, by its factor and a share of its own.

    What bounds forbid does not count.
    """
    shares = np.broadcast_to(share, gradient.shape)
    return first_strength(lambda size, _, some: size / shares[some], gradient, terms)


def first_strength(
    wanted: Callable[[Floats, Floats, Array], Floats],
    gradient: Floats,
    terms: Terms,
    curvature: Floats | None = None,
) -> float:
    """Return the largest strength at which a variable alone comes in, by its factor.

    ``wanted(size, curvature, columns)`` gives that of some columns with a factor of 1, from the sizes of
    their gradients and their curvatures (1 where none are given). What bounds forbid does not count,
    nor does a column without curvature: it is constant, and its gradient is what rounding left.
    """
    some = np.where(gradient > 0, terms.upper > 0, terms.lower < 0) & (terms.factor > 0)
    some &= gradient != 0
    if curvature is not None:
        some &= curvature > 0
    columns = np.flatnonzero(some)
    each = np.ones(len(columns)) if curvature is None else curvature[columns]
    strengths = wanted(np.abs(gradient[columns]), each, columns) / terms.factor[columns]
    return float(strengths.max(initial=0.0))


def within_reach(rule: Any, free: Array, coef: Floats, curvature: Floats, null: Evaluated) -> Any:
    """Return the rule with bounds for coefficients that have neither a penalty nor bounds."""
    free = free & (curvature > 0)
    if not free.any():
        return rule
    most = reach(coef, free, curvature, null)
    return rule._replace(
        lower=np.where(free, np.maximum(rule.lower, -most), rule.lower),
        upper=np.where(free, np.minimum(rule.upper, most), rule.upper),
    )


@kernel(inline=True)
def cheaper(rule, j, z, curvature, one, other):
    """Return one of two coefficients, each moved between the bounds: the other if it costs less."""
    one = min(max(one, rule.lower[j]), rule.upper[j])
    other = min(max(other, rule.lower[j]), rule.upper[j])
    gain = cost(rule, j, one) - cost(rule, j, other)
    gain += 0.5 * curvature * ((one - z) ** 2 - (other - z) ** 2)
    # Where both cost the same, as at the largest strength of a path, rounding must not decide.
    return other if gain > _TIE * curvature * z * z else one
