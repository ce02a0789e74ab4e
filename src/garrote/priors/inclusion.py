"""Priors on which variables are in the model: independent odds, or one shared unknown probability.

Laws of inclusion are settings (`BetaInclusion`, `ExpectedSize`, `IndependentInclusion`). Over the
columns of one problem each becomes an `Inclusion`: numbers for every size of a model and every column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import betaln, log_expit, logsumexp

from garrote.arrays import Array, Floats
from garrote.settings import Settings

# Up to so many variables models are summed size by size, which costs the square of their number.
_SUMMED = 2000
# Beyond, places at which the integrand over a shared probability is looked at, how far they go in log
# odds beyond the largest offset, how often they close in on its peak, and what is negligible beside it.
_PLACES, _BEYOND, _CLOSER, _NEGLIGIBLE = 801, 60.0, 4, 45.0


@dataclass(frozen=True)
class Inclusion:
    """A prior on models: by their size, and by the odds of each variable.

    Attributes
    ----------
    by_size : array of shape (D + 1,)
        Log prior of any one model of each size, before the variables' own odds. With these the
        probabilities of all models add up to 1.
    log_odds : array of shape (D,)
        Added for each variable that is in.
    shared : (float, float) or None
        The Beta law of a shared inclusion probability, where there is one.

    ``learned`` tells that its odds are to be learned with the posterior, see `AnnotatedOdds`.
    """

    learned: ClassVar[bool] = False

    by_size: Floats
    log_odds: Floats
    shared: tuple[float, float] | None = None

    @classmethod
    def independent(cls, probability: Floats, offsets: Floats) -> "Inclusion":
        """Give each variable its own probability (Murphy 2012, Eq. 13.6)."""
        log_odds = np.log(probability) - np.log1p(-probability) + offsets
        nothing = -float(np.logaddexp(0.0, log_odds).sum())
        return cls(np.full(len(probability) + 1, nothing), log_odds)

    @classmethod
    def beta(cls, a: float, b: float, offsets: Floats) -> "Inclusion":
        """Give all variables one probability ~ Beta(a, b), integrated out (exercise 13.7).

        ``offsets`` multiply the odds of all models that have the variable.
        """
        D = len(offsets)
        sizes = np.arange(D + 1)
        by_size = betaln(a + sizes, b + D - sizes) - betaln(a, b)
        return cls(by_size - _log_sum(by_size, offsets, a, b), offsets, (a, b))

    def over(self, columns: Array, count: int, offsets: Floats | None = None) -> "Inclusion":
        """Return itself: the columns were known when it was made."""
        return self

    def of_models(self, members: Array, usable: Array) -> Floats:
        """Return the log prior of models of one size, by rows of their columns."""
        odds = self.log_odds[np.searchsorted(usable, members)].sum(axis=1)
        return np.asarray(self.by_size[members.shape[1]] + odds)

    def odds_of_one_more(self, size: int) -> float:
        """Return the prior log odds of one more variable in a model of some size."""
        return float(self.by_size[size + 1] - self.by_size[size])


class InclusionLaw(Settings):
    """What is believed of inclusion before the columns are known.

    ``ties_switches`` tells whether it makes some variables depend on others, beyond their number.
    """

    ties_switches: ClassVar[bool] = False

    def found_among(self, names: Sequence[str], resolve: Callable[[Any], Any]) -> Self:
        """Return the law with what it says of columns by name found among those of a table.

        ``resolve`` makes `ColumnGroups` of groups as users give them.
        """
        return self

    def over(self, columns: Array, count: int, offsets: Floats | None = None) -> Inclusion:
        """Return the law over some of ``count`` columns: those that may be in or out.

        ``offsets`` are added to the log odds, a number for each of these.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say which variables are in")


@dataclass(frozen=True)
class BetaInclusion(InclusionLaw):
    """All variables are in with one unknown probability ~ Beta(a, b); by default b is sqrt(D).

    D are the columns that may be in or out. The default, Beta(1, sqrt(D)), expects few variables and
    assumes little on how few.
    """

    a: float = 1.0
    b: float | None = None

    def over(self, columns: Array, count: int, offsets: Floats | None = None) -> Inclusion:
        """Return the law over some of ``count`` columns."""
        a, b = self.a, float(np.sqrt(max(len(columns), 1))) if self.b is None else self.b
        if not (_is_positive(a) and _is_positive(b)):
            raise ValueError(f"a and b of a BetaInclusion must be positive, got {a!r} and {b!r}")
        return Inclusion.beta(float(a), float(b), _offsets(columns, offsets))


@dataclass(frozen=True)
class ExpectedSize(InclusionLaw):
    """So many variables are expected: all are in with one probability ~ Beta(1, D / size - 1)."""

    size: float = 1.0

    def odds_against(self, columns: int) -> float:
        """Return the odds against one of so many columns that may be in or out."""
        D = max(columns, 1)
        if not _is_positive(self.size):
            raise ValueError(f"expected_size must be positive and finite, got {self.size!r}")
        if self.size >= D:
            raise ValueError(
                f"expected_size = {self.size} must be below the number of columns that may be in "
                f"or out, {D}"
            )
        return D / self.size - 1.0

    def over(self, columns: Array, count: int, offsets: Floats | None = None) -> Inclusion:
        """Return the law over some of ``count`` columns."""
        return Inclusion.beta(1.0, self.odds_against(len(columns)), _offsets(columns, offsets))


@dataclass(frozen=True)
class IndependentInclusion(InclusionLaw):
    """Each variable is in with a known probability: one for all, or one for every column."""

    probability: Any = 0.5

    def over(self, columns: Array, count: int, offsets: Floats | None = None) -> Inclusion:
        """Return the law over some of ``count`` columns."""
        probability = np.asarray(self.probability, dtype=np.float64)
        if probability.ndim and probability.shape != (count,):
            raise ValueError(
                f"inclusion must have {count} entries, one a column, got shape {probability.shape}"
            )
        probability = np.broadcast_to(probability, (count,))[columns]
        if not ((probability > 0) & (probability < 1)).all():
            raise ValueError(
                "inclusion must lie between 0 and 1; name certain columns as covariates"
            )
        return Inclusion.independent(probability, _offsets(columns, offsets))


def as_inclusion(given: Any, count: int | None = None) -> InclusionLaw | Inclusion:
    """Return the law that a shorthand stands for.

    None is `BetaInclusion`; a number, or one for each of ``count`` columns, `IndependentInclusion`; a
    pair (a, b), also as text, `BetaInclusion(a, b)`.
    """
    if given is None:
        return BetaInclusion()
    if isinstance(given, type):
        raise ValueError(
            f"inclusion takes a law of garrote.priors, not its class: {given.__name__}(...)"
        )
    if hasattr(given, "over"):
        law: InclusionLaw | Inclusion = given
        return law
    if isinstance(given, str):  # as the command line has it
        given = tuple(_as_number(part) for part in given.strip("()[] ").split(","))
    if isinstance(given, tuple) or (isinstance(given, list) and len(given) == 2 != count):
        if len(given) != 2 or not all(map(_is_positive, given)):
            raise ValueError(
                "inclusion must be a probability, one for each column, or the pair (a, b) of a Beta "
                f"law, both positive; got {given!r}"
            )
        return BetaInclusion(float(given[0]), float(given[1]))
    return IndependentInclusion(given)


def _offsets(columns: Array, offsets: Floats | None) -> Floats:
    return np.zeros(len(columns)) if offsets is None else offsets


def _as_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _is_positive(value: Any) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and bool(0 < value < np.inf)


def _log_sum(by_size: Floats, offsets: Floats, a: float, b: float) -> float:
    """Return the log of the sum over all models of what they have by their size and by their odds."""
    if not np.any(offsets):
        return 0.0
    if len(offsets) > _SUMMED:
        return _log_mean(offsets, a, b)
    total = np.full(len(by_size), -np.inf)
    total[0] = 0.0
    for k, offset in enumerate(
        offsets
    ):  # the odds of all models of each size of the first variables
        total[1 : k + 2] = np.logaddexp(total[1 : k + 2], total[: k + 1] + offset)
    return float(logsumexp(by_size + total))


def _log_mean(offsets: Floats, a: float, b: float) -> float:
    """Return the same sum as the mean over p ~ Beta(a, b) of the product of 1 - p + p exp(offset).

    Of many variables it has a peak in log odds of p for which the trapezoidal rule does.
    """
    distinct, count = np.unique(offsets, return_counts=True)
    end = _BEYOND / min(a, b, 1.0) + float(np.abs(distinct).max())
    places = np.linspace(-end, end, _PLACES)
    for _ in range(_CLOSER + 1):
        inside, outside, step = log_expit(places), log_expit(-places), places[1] - places[0]
        logs = a * inside + b * outside - betaln(a, b)
        for offset, times in zip(distinct, count, strict=True):
            logs += times * np.logaddexp(outside, inside + offset)
        near = np.flatnonzero(logs > logs.max() - _NEGLIGIBLE)
        places = np.linspace(places[near[0]] - step, places[near[-1]] + step, _PLACES)
    return float(logsumexp(logs) + np.log(step))
