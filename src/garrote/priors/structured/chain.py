"""A Markov chain of switches along an order: neighbours are in together, in stretches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors.inclusion import Inclusion
from garrote.priors.structured.base import TiedInclusion, nobody, number_of, places_of
from garrote.priors.structured.ties import Ties
from garrote.proximal.labels import is_list
from garrote.settings import is_number


@dataclass(frozen=True)
class ChainInclusion(TiedInclusion):
    """Variables lie in an order, and each depends on the one before: what is in comes in stretches.

    After a variable that is out the next is in with probability ``come``, after one that is in with
    probability ``stay``; the first comes as after one that is out. Variables without content are passed
    over: those beside them become neighbours.

    Parameters
    ----------
    order : sequence of names or numbers, list of such sequences or None
        The order, or several chains that are independent given the probabilities, such as chromosomes;
        by default that of the columns. Every variable is on one chain.
    come : float or pair (a, b), optional
        A known probability, or the Beta law of an unknown one, which the data tell; by default
        Beta(1, sqrt(D)).
    stay : float or pair (a, b), default=(1, 1)

    References
    ----------
    Li, F. and Zhang, N. R. (2010). Bayesian variable selection in structured high-dimensional covariate
    spaces with applications in genomics. Journal of the American Statistical Association 105, 1202-1214.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.priors import ChainInclusion
    >>> law = ChainInclusion(come=0.1, stay=0.8).over(np.arange(3), 3)
    >>> np.exp(law.log_prior([[True, True, False], [True, False, True]])).round(4)
    array([0.016, 0.002])
    """

    order: Any = None
    come: Any = None
    stay: Any = (1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse what are no probabilities and no Beta laws."""
        for name in ("come", "stay"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _as_law(name, value))
        if (self.come is not None) and is_number(self.come) != is_number(self.stay):
            raise ValueError(
                "come and stay of a ChainInclusion must both be probabilities, or both pairs (a, b) of "
                f"Beta laws, got {self.come!r} and {self.stay!r}"
            )
        if self.come is None and is_number(self.stay):
            raise ValueError(f"stay={self.stay!r} of a ChainInclusion is known: give come as well")
        if self.order is not None:
            object.__setattr__(self, "order", [_entry(part) for part in self.order])

    def found_among(self, names: Sequence[str], resolve: Callable[[Any], Any]) -> "ChainInclusion":
        """Return the law with the variables of its chains by their numbers."""
        if self.order is None:
            return self
        place = places_of(names)
        lists = self.order if any(map(is_list, self.order)) else [self.order]
        chains = [
            [number_of(entry, place, "order of a ChainInclusion") for entry in chain]
            for chain in lists
        ]
        listed = [j for chain in chains for j in chain]
        twice = [j for j in listed if listed.count(j) > 1] if len(set(listed)) < len(listed) else []
        missing = sorted(set(range(len(names))) - set(listed))
        if twice or missing:
            said = f"{names[twice[0]]!r} twice" if twice else f"nothing of {names[missing[0]]!r}"
            raise ValueError(
                f"order of a ChainInclusion has {said}: every variable is on one chain, once"
            )
        return replace(self, order=chains)

    def parts(
        self, present: Array, count: int, offsets: Floats
    ) -> tuple[Inclusion, tuple[Array, ...], Ties]:
        """Return size and odds, parents and ties of the variables present, by their places."""
        before = self._before(present, count)
        D = len(present)
        chains = int(np.count_nonzero(before < 0))
        along = f"along {chains} chains" if chains > 1 else "along a chain"
        if not is_number(self.stay):
            come = (1.0, float(np.sqrt(max(D, 1)))) if self.come is None else self.come
            words = f"neighbours {along} are in together as often as the data tell"
            ties = Ties(D, before=before, transitions=(*come, *self.stay), words=words)
            return Inclusion(np.zeros(D + 1), offsets), nobody(D), ties
        come, stay = float(self.come), float(self.stay)
        links = np.column_stack([before, np.arange(D)])[before >= 0]
        odds = np.full(D, np.log(come) - np.log1p(-come))
        odds[links[:, 0]] += np.log1p(-stay) - np.log1p(-come)
        coupling = np.full(len(links), np.log(stay / (1 - stay)) - np.log(come / (1 - come)))
        total = _log_sum(odds + offsets, coupling, before, links)
        words = f"{along} a variable is in with probability {come:g}, or {stay:g} after one that is"
        return (
            Inclusion(np.full(D + 1, -total), odds + offsets),
            nobody(D),
            Ties(D, links=links, coupling=coupling, words=words),
        )

    def _before(self, present: Array, count: int) -> Array:
        """Return the variable before each one that is present, by places; -1 of the first ones."""
        chains = [list(range(count))] if self.order is None else self.order
        if not all(map(is_list, chains)):
            chains = [chains]
        place = np.full(count, -1)
        place[present] = np.arange(len(present))
        before = np.full(len(present), -1)
        for chain in chains:
            kept = place[np.asarray(chain, dtype=np.intp)]
            kept = kept[kept >= 0]
            before[kept[1:]] = kept[:-1]
        return before


def _log_sum(odds: Floats, coupling: Floats, before: Array, links: Array) -> float:
    """Return the log of the sum over all sets, by passing messages along the chains."""
    after = {int(a): (int(b), w) for (a, b), w in zip(links, coupling, strict=True)}
    total = 0.0
    for first in np.flatnonzero(before < 0):
        there, out, inside = int(first), 0.0, float(odds[first])
        while there in after:
            there, w = after[there]
            here = float(np.logaddexp(out, inside)), float(odds[there])
            out, inside = here[0], here[1] + float(np.logaddexp(out, inside + w))
        total += float(np.logaddexp(out, inside))
    return total


def _as_law(name: str, value: Any) -> Any:
    if is_number(value) and 0 < value < 1:
        return float(value)
    pair = tuple(value) if isinstance(value, tuple | list) else ()
    if len(pair) == 2 and all(is_number(part) and part > 0 for part in pair):
        return tuple(map(float, pair))
    raise ValueError(
        f"{name} of a ChainInclusion must be a probability between 0 and 1, or the pair (a, b) of a "
        f"Beta law, got {value!r}"
    )


def _entry(part: Any) -> Any:
    if is_list(part):
        return [_entry(entry) for entry in part]
    return part.item() if isinstance(part, np.generic) else part
