"""Laws by blocks of variables: a group is in and then its members, and categories with their own rates.

In both the prior of a set has, for every block, a function of how many of its variables are in.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors.column_groups import ColumnGroups
from garrote.priors.inclusion import Inclusion, as_inclusion
from garrote.priors.structured.base import TiedInclusion, nobody
from garrote.priors.structured.ties import Ties
from garrote.proximal.given_groups import storable_groups
from garrote.proximal.labels import group_numbers


@dataclass(frozen=True)
class _InBlocks(TiedInclusion):
    """A law over blocks of variables, which ``groups`` tells as `GroupedInclusion` takes it."""

    groups: Any = "factors"

    def __post_init__(self) -> None:
        """Refuse what could not be groups of any table."""
        if not isinstance(self.groups, ColumnGroups):
            kept = storable_groups(self.groups)
            kept = kept.tolist() if isinstance(kept, np.ndarray) else kept
            object.__setattr__(self, "groups", kept)

    def found_among(
        self, names: Sequence[str], resolve: Callable[[Any], ColumnGroups]
    ) -> "_InBlocks":
        """Return the law with its groups found among the columns of a table."""
        if isinstance(self.groups, ColumnGroups):
            return self
        return replace(self, groups=resolve(self.groups))

    def _blocks(self, present: Array, count: int) -> tuple[Array, list[str]]:
        """Return the block of each variable present, and what the blocks are called."""
        found = self.groups
        if isinstance(found, str | Mapping):
            raise ValueError(
                f"{type(self).__name__}({found!r}) needs the names of the columns: an estimator finds "
                "its groups among them; give labels, one a column"
            )
        if not isinstance(found, ColumnGroups):
            found = ColumnGroups.of_numbers(group_numbers(found, count, "column"))
        if len(found.numbers) != count:
            raise ValueError(f"groups has {len(found.numbers)} labels for {count} columns")
        there, block = np.unique(found.numbers[present], return_inverse=True)
        return block.ravel(), [found.labels[k] for k in there]


@dataclass(frozen=True)
class TwoLevelInclusion(_InBlocks):
    """A group is in, and then some of its members, one at least.

    Which groups are in has one law, which members of a group that is in another: it is that of all
    subsets of the group but the empty one. Genes of a pathway are such variables (Stingo & Vannucci
    2011), variants of a gene, or measurements of an instrument; in a `GroupedInclusion` all members of a
    group are in with it.

    Parameters
    ----------
    groups : array of shape (D,), list of lists, mapping, Series or "factors", default="factors"
        What each column belongs to, as in `GroupedInclusion`.
    law : as ``inclusion`` of `garrote.SpikeSlabRegressor`, optional
        The law over groups, by default `BetaInclusion`: Beta(1, sqrt(number of groups)).
    within : number, pair (a, b) or law, default=(1, 1)
        The law over the members of each group that is in; by default each group has a probability of its
        own, about which nothing is known.

    References
    ----------
    Stingo, F. C., Chen, Y. A., Tadesse, M. G. and Vannucci, M. (2011). Incorporating biological
    information into linear models: a Bayesian approach to the selection of pathways and genes. Annals
    of Applied Statistics 5, 1978-2002.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.priors import TwoLevelInclusion
    >>> law = TwoLevelInclusion([0, 0, 1, 1], law=0.5, within=0.5).over(np.arange(4), 4)
    >>> np.exp(law.log_prior([[True, False, False, False], [True, True, False, False]])).round(4)
    array([0.0833, 0.0833])
    """

    law: Any = None
    within: Any = (1.0, 1.0)

    def parts(
        self, present: Array, count: int, offsets: Floats
    ) -> tuple[Inclusion, tuple[Array, ...], Ties]:
        """Return size and odds, parents and ties of the variables present, by their places."""
        block, labels = self._blocks(present, count)
        over = _plain(as_inclusion(self.law, len(labels)), np.arange(len(labels)), len(labels))
        own = np.zeros(len(block))
        rates = []
        for b in range(len(labels)):
            members = np.flatnonzero(block == b)
            law = as_inclusion(self.within)
            inner = _plain(law, np.arange(len(members)), len(members), offsets[members])
            own[members] = inner.log_odds
            some = inner.by_size - np.log(-np.expm1(inner.by_size[0])) + over.log_odds[b]
            rates.append(np.append(0.0, some[1:]))
        flat = Inclusion(np.zeros(len(block) + 1), own)
        words = (
            f"{len(labels)} groups are in or out, and members of those in have a law of their own"
        )
        ties = Ties(
            len(block), block=block, rates=tuple(rates), by_active=over.by_size, words=words
        )
        return flat, nobody(len(block)), ties


@dataclass(frozen=True)
class CategoryInclusion(_InBlocks):
    """Categories of variables have probabilities of inclusion of their own, which the data tell.

    Each category's is Beta(a, b), independent of the others': variables of a category of which many are
    in are likelier to be in too, whatever happens elsewhere.

    Parameters
    ----------
    groups : array of shape (D,), list of lists, mapping, Series or "factors"
        The category of each column, as in `GroupedInclusion`.
    laws : law, number, pair (a, b), mapping from labels to such, optional
        The law of each category, by default `BetaInclusion`: Beta(1, sqrt(its size)). A number is a
        known probability.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.priors import CategoryInclusion
    >>> law = CategoryInclusion([0, 0, 1, 1], laws=(1, 1)).over(np.arange(4), 4)
    >>> np.exp(law.log_prior([[True, False, False, False], [True, True, False, False]])).round(4)
    array([0.0556, 0.1111])
    """

    laws: Any = None

    def parts(
        self, present: Array, count: int, offsets: Floats
    ) -> tuple[Inclusion, tuple[Array, ...], Ties]:
        """Return size and odds, parents and ties of the variables present, by their places."""
        block, labels = self._blocks(present, count)
        own, rates = np.zeros(len(block)), []
        for b, label in enumerate(labels):
            members = np.flatnonzero(block == b)
            law = as_inclusion(self._law_of(label))
            inner = _plain(law, np.arange(len(members)), len(members), offsets[members])
            own[members] = inner.log_odds
            rates.append(inner.by_size)
        flat = Inclusion(np.zeros(len(block) + 1), own)
        words = f"{len(labels)} categories of variables have probabilities of their own"
        return flat, nobody(len(block)), Ties(len(block), block, tuple(rates), words=words)

    def _law_of(self, label: str) -> Any:
        if not isinstance(self.laws, Mapping):
            return self.laws
        laws = {str(key): law for key, law in self.laws.items()}
        if label not in laws:
            raise ValueError(
                f"laws of a CategoryInclusion has none for category {label!r}; it has {sorted(laws)}"
            )
        return laws[label]

    def found_among(
        self, names: Sequence[str], resolve: Callable[[Any], ColumnGroups]
    ) -> "CategoryInclusion":
        """Return the law with its categories found; refuse laws of categories that there are not."""
        found: Any = super().found_among(names, resolve)
        if isinstance(found.laws, Mapping) and isinstance(found.groups, ColumnGroups):
            unknown = [key for key in map(str, found.laws) if key not in found.groups.labels]
            if unknown:
                raise ValueError(
                    f"laws of a CategoryInclusion has {unknown[0]!r}, but no category is called so; "
                    f"known are {sorted(found.groups.labels)}"
                )
        return found


def _plain(law: Any, columns: Array, count: int, offsets: Floats | None = None) -> Inclusion:
    """Return a law by size and odds; others cannot be a part of a law by blocks."""
    made = law.over(columns, count, offsets)
    if not isinstance(made, Inclusion) or made.learned:
        raise ValueError(
            "the law of a part must be a probability, a pair (a, b), BetaInclusion or ExpectedSize, got "
            f"{law!r}"
        )
    return made
