"""SLOPE, the sorted l1 penalty: the larger a coefficient is among all, the more it is charged."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms
from garrote.penalties.sorting.sequences import bh_sequence, gaussian_sequence
from garrote.penalties.sorting.sorted_rule import SortedRule, feasible_share
from garrote.proximal.tied.sorted_sizes import as_sequence, check_sequence
from garrote.settings import is_number

_NAMED = ("bh", "gaussian")


@dataclass(frozen=True, eq=False)
class Slope(Penalty):
    r"""sum_k lambda_k \|w\|_(k), the sorted l1 penalty, lambda_1 >= lambda_2 >= ... >= 0.

    \|w\|_(1) is the largest coefficient. A variable has to be the more convincing the fewer others are
    in, as in the procedure of Benjamini & Hochberg: with orthogonal columns of mean square 1 and noise
    of deviation sigma the strength sigma / sqrt(N) has an expected share of false discoveries of at most
    q. Coefficients of similar size, as those of correlated columns, become equal in size. A constant
    sequence is the lasso; one that falls linearly is OSCAR (Bondell & Reich 2008).

    Parameters
    ----------
    sequence : {"bh", "gaussian"} or array of shape (D,), default="bh"
        What the ranks are charged: critical values of Benjamini & Hochberg, the same with what variables
        that are in add to the noise where columns are random, or numbers that do not rise.
    q : float, default=0.1
        The share of false discoveries aimed at by a named sequence.
    n_samples : float, optional
        The rows that "gaussian" is for; those of X by default.

    Notes
    -----
    Columns have one factor of the penalty, or 0: they are then always in, and have no rank. Bounds may
    give coefficients a sign.

    References
    ----------
    Bogdan, M. et al. (2015). SLOPE - adaptive variable selection via convex optimization. Annals of
    Applied Statistics 9, 1103-1140.

    Examples
    --------
    >>> from garrote.penalties import Slope, Terms
    >>> rule = Slope([3.0, 2.0, 1.0]).at(0.5, Terms.equal(3))
    >>> rule.sequence.tolist()
    [1.5, 1.0, 0.5]
    """

    sequence: Any = "bh"
    q: float = 0.1
    n_samples: float | None = None
    name = "SLOPE"
    convex = True
    structured = True
    parabolas = ()
    reference = (
        "Bogdan, van den Berg, Sabatti, Su & Candes (2015), SLOPE - adaptive variable selection via "
        "convex optimization. Annals of Applied Statistics 9, 1103-1140"
    )

    def __post_init__(self) -> None:
        if not (is_number(self.q) and 0 < self.q < 1):
            raise ValueError(f"q must be a number between 0 and 1, got {self.q!r}")
        if self.n_samples is not None and not (is_number(self.n_samples) and self.n_samples >= 2):
            raise ValueError(f"n_samples must be a number of at least 2, got {self.n_samples!r}")
        if isinstance(self.sequence, str):
            if self.sequence not in _NAMED:
                raise ValueError(
                    f"sequence must be one of {_NAMED}, or an array of numbers that do not rise, got "
                    f"{self.sequence!r}"
                )
            return
        given = as_sequence(self.sequence, np.size(self.sequence))
        check_sequence(given)
        if not given.any():
            raise ValueError("sequence has no number above 0: it would charge nothing")
        object.__setattr__(self, "sequence", given)

    def resolved(self, count: int, names: Array | None = None, X: Any = None) -> "Slope":
        """Return the same with as many numbers as columns."""
        if not isinstance(self.sequence, str):
            as_sequence(self.sequence, count)
            return self
        if self.sequence == "bh":
            return replace(self, sequence=bh_sequence(count, self.q))
        rows = self.n_samples if X is None else self.n_samples or X.shape[0]
        if rows is None:
            raise ValueError(
                "sequence='gaussian' needs the number of rows: give n_samples, or take 'bh'"
            )
        return replace(self, sequence=gaussian_sequence(count, self.q, rows))

    def at(self, strength: float, terms: Terms) -> SortedRule:
        """Return the rule at one strength."""
        count = len(terms.factor)
        free = terms.factor == 0
        factor = _one_factor(terms.factor[~free])
        _check_signs(terms)
        return SortedRule(
            strength * factor * self._sequence(count), free, terms.upper > 0, terms.lower < 0
        )

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no charged variable is in, given the null gradient."""
        share = feasible_share(self.at(1.0, terms), gradient, np.inf)
        return 1.0 / share if share < np.inf else 0.0

    def _sequence(self, count: int) -> Floats:
        """Return the sequence for so many coefficients: each number as often as there are outputs."""
        known = self if not isinstance(self.sequence, str) else self.resolved(count)
        sequence: Floats = known.sequence
        if len(sequence) and count % len(sequence) == 0:
            return np.repeat(sequence, count // len(sequence))
        return as_sequence(sequence, count)


def _one_factor(factors: Floats) -> float:
    if not len(factors):
        return 1.0
    if factors.min() != factors.max():
        raise ValueError(
            f"SLOPE charges coefficients by their ranks, not their columns: penalty_factor must be one "
            f"number, or 0 (always in), got {factors.min():g} to {factors.max():g}; scale columns, or "
            "take the lasso, which has factors"
        )
    return float(factors[0])


def _check_signs(terms: Terms) -> None:
    for bound in (terms.lower, terms.upper):
        if (np.isfinite(bound) & (bound != 0)).any():
            raise ValueError(
                "SLOPE has bounds of 0 only: its proximal point keeps signs, but between other bounds "
                "ranks and bounds would have to be settled together; take the lasso"
            )
