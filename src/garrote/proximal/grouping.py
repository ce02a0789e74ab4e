"""Which coefficients belong together: checked once, for operators that are called many times."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.proximal.inputs import like, namespace, unit_of
from garrote.proximal.labels import group_numbers
from garrote.summaries import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Groups(Shown):
    """A partition of the coefficients into groups of any sizes, whose members may lie anywhere.

    Parameters
    ----------
    labels : array of labels, or list of lists of positions
        The group of each coefficient, by a number or a text; or the coefficients of each group. Groups
        are numbered from 0 in the order of their labels, or of the lists; afterwards ``labels`` has
        these numbers.

    Attributes
    ----------
    sizes : array of int
        The number of members of each group.
    order : array of int
        The coefficients, group by group.

    Examples
    --------
    >>> from garrote.proximal import Groups
    >>> Groups(["a", "a", "b", "a"]).sizes.tolist()
    [3, 1]
    >>> Groups([[0, 1, 3], [2]]).labels.tolist()
    [0, 0, 1, 0]
    """

    labels: Any
    sizes: Array = field(init=False, repr=False)
    order: Array = field(init=False, repr=False)
    _placed: dict[str, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        labels = group_numbers(self.labels)
        sizes = np.bincount(labels)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "order", np.argsort(labels, kind="stable"))

    def __len__(self) -> int:
        return len(self.sizes)

    def lengths(self, x: Any) -> Any:
        """Return the Euclidean length of each group, in the library of ``x``."""
        if namespace(x) is np:
            unit = unit_of(x)
            return unit * np.sqrt(
                np.bincount(self.labels, (x.astype(np.float64) / unit) ** 2, len(self))
            )
        xp = namespace(x)
        _, members, present = self._on_device_of(x)
        table = xp.reshape(xp.take(x, members), present.shape) * present
        return xp.sqrt(xp.sum(table * table, axis=1))

    def spread(self, values: Any, x: Any) -> Any:
        """Return each coefficient's share of ``values``, which has one number for each group."""
        if namespace(x) is np:
            return values[self.labels].astype(x.dtype)
        labels, _, _ = self._on_device_of(x)
        return namespace(x).take(values, labels)

    def _on_device_of(self, x: Any) -> tuple[Any, Any, Any]:
        """Return labels, a table of members (padded) and which of its places are taken.

        The array API has no sums by label; a table has sums by row. It is kept, since a copy to a
        device at every call would cost more than the operator.
        """
        xp = namespace(x)
        where = f"{xp.__name__} {x.device} {x.dtype}"
        if where not in self._placed:
            within = np.arange(int(self.sizes.max(initial=0))) < self.sizes[:, None]
            members = np.zeros(within.shape, dtype=np.int64)
            members[within] = self.order
            place = [xp.asarray(a, device=x.device) for a in (self.labels, members.ravel())]
            self._placed[where] = (*place, like(x, within))
        found: tuple[Any, Any, Any] = self._placed[where]
        return found


def as_groups(groups: Any, x: Any) -> Groups:
    """Return the groups of the coefficients of ``x``, or say why they are not."""
    known = groups if isinstance(groups, Groups) else Groups(groups)
    if tuple(x.shape) != known.labels.shape:
        raise ValueError(
            f"x and groups must be vectors of one length, got shapes {tuple(x.shape)} and "
            f"{known.labels.shape}"
        )
    return known
