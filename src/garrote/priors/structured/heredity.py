"""Heredity: an interaction is in where its parents are, or the likelier the more of them are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors.grouped_inclusion import among, parents_by_number, storable_parents
from garrote.priors.inclusion import Inclusion, as_inclusion
from garrote.priors.structured.base import TiedInclusion, number_of, places_of
from garrote.priors.structured.ties import Ties, strong, weak
from garrote.settings import is_number

_KINDS = {"strong": strong, "weak": weak}
_SAID = {
    "strong": "only where all its parents are",
    "weak": "only where one of its parents at least is",
}


@dataclass(frozen=True)
class HeredityInclusion(TiedInclusion):
    """Interactions and powers are in by how many of their parents are (Chipman 1996).

    Under strong heredity an interaction may be in only where all its parents are, under weak heredity
    where one of them is; or its probability is given for each number of parents that are in. Parents
    without content, and covariates, are in.

    Parameters
    ----------
    parents : mapping from variables to lists of variables
        By name or number. Parents may have parents of their own; no variable can be its own ancestor.
    kind : "strong", "weak" or sequence of probabilities, default="strong"
        Probabilities of a child with 0, 1, ... of its parents in, as many as that takes.
    law : as ``inclusion`` of `garrote.SpikeSlabRegressor`, optional
        With "strong" and "weak" the law over all variables, of which sets that are not allowed have no
        part; with probabilities that over variables without parents. By default `BetaInclusion`.

    References
    ----------
    Chipman, H. (1996). Bayesian variable selection with related predictors. Canadian Journal of
    Statistics 24, 17-36.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.priors import HeredityInclusion
    >>> parents = {2: [0, 1]}
    >>> law = HeredityInclusion(parents, kind=(0.01, 0.1, 0.5), law=0.5).over(np.arange(3), 3)
    >>> np.exp(law.log_prior([[True, True, True], [True, False, True]])).round(4)
    array([0.125, 0.025])
    """

    parents: Any = None
    kind: Any = "strong"
    law: Any = None

    def __post_init__(self) -> None:
        """Refuse what is no mapping of parents, and no heredity."""
        if not isinstance(self.parents, Mapping):
            raise ValueError(
                "parents of a HeredityInclusion must be a mapping from variables to those that have to "
                f"be in with them, got {self.parents!r}"
            )
        object.__setattr__(self, "parents", storable_parents(self.parents))
        if isinstance(self.kind, str):
            if self.kind not in _KINDS:
                raise ValueError(
                    f"kind must be one of {tuple(_KINDS)} or probabilities, got {self.kind!r}"
                )
            return
        kind = tuple(self.kind) if hasattr(self.kind, "__iter__") else ()
        if not kind or not all(is_number(p) and 0 <= p < 1 for p in kind):
            raise ValueError(
                "kind of a HeredityInclusion must be 'strong', 'weak' or probabilities of 0 or more, "
                f"all below 1, got {self.kind!r}"
            )
        if not kind[-1] > 0:
            raise ValueError("kind of a HeredityInclusion has no probability with all parents in")
        object.__setattr__(self, "kind", tuple(map(float, kind)))

    def found_among(
        self, names: Sequence[str], resolve: Callable[[Any], Any]
    ) -> "HeredityInclusion":
        """Return the law with names of variables for numbers, those unknown and circles refused."""
        place, what = places_of(names), "parents of a HeredityInclusion"

        def name_of(entry: str) -> str:
            number = entry if entry in place or not entry.isdigit() else int(entry)
            return str(number_of(number, place, what))

        numbered = {name_of(c): [name_of(p) for p in above] for c, above in self.parents.items()}
        parents_by_number(numbered, tuple(str(j) for j in range(len(names))))  # refuses circles
        return replace(self, parents=numbered)

    def parts(
        self, present: Array, count: int, offsets: Floats
    ) -> tuple[Inclusion, tuple[Array, ...], Ties]:
        """Return size and odds, parents and ties of the variables present, by their places."""
        every = parents_by_number(self.parents, tuple(str(j) for j in range(count)))
        parents = among(every, present)
        if isinstance(self.kind, str):
            over: Any = as_inclusion(self.law, count).over(present, count, offsets)
            _refuse_ties(over, self.law)
            tables = tuple(_KINDS[self.kind](above) for above in parents)
            words = f"a variable with parents may be in {_SAID[self.kind]}"
            return over, parents, Ties(len(present), heredity=tables, words=words)
        return self._by_probabilities(present, count, offsets, every, parents)

    def _by_probabilities(
        self, present: Array, count: int, offsets: Floats, every: Any, parents: tuple[Array, ...]
    ) -> tuple[Inclusion, tuple[Array, ...], Ties]:
        roots = np.array([k for k, j in enumerate(present) if not every[j]], dtype=np.intp)
        over: Any = as_inclusion(self.law, count).over(present[roots], count, offsets[roots])
        _refuse_ties(over, self.law)
        own, block = offsets.copy(), np.full(len(present), -1)
        own[roots], block[roots] = over.log_odds, 0
        tables = []
        for k, j in enumerate(present):
            known = np.array(self.kind)
            if every[j] and len(known) <= len(every[j]):
                raise ValueError(
                    f"kind of a HeredityInclusion has {len(known)} probabilities, but a variable has "
                    f"{len(every[j])} parents: give one for each number of them, from 0 on"
                )
            # Parents that are not there count as in.
            absent = len(every[j]) - len(parents[k])
            p = known[absent : len(every[j]) + 1] if every[j] else np.array([0.5])
            with np.errstate(divide="ignore"):
                tables.append((np.log(p), np.log1p(-p)) if every[j] else (np.zeros(1), np.zeros(1)))
        said = ", ".join(f"{p:g}" for p in self.kind)
        words = f"a variable with 0, 1, ... parents in is in with probability {said}"
        ties = Ties(len(present), block, (over.by_size,), heredity=tuple(tables), words=words)
        return Inclusion(np.zeros(len(present) + 1), own), parents, ties


def _refuse_ties(over: Any, law: Any) -> None:
    if not isinstance(over, Inclusion) or over.learned:
        raise ValueError(
            "law of a HeredityInclusion must be a probability, a pair (a, b), BetaInclusion or "
            f"ExpectedSize, got {law!r}"
        )
