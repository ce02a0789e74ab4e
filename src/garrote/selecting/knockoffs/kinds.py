"""The kinds of knockoffs with their settings: drawn from a law of the columns, or built from these."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.selecting.knockoffs.column_law import COVARIANCES, law_of_columns
from garrote.selecting.knockoffs.copied_rows import BuiltCopies, CopiedRows, DrawnCopies
from garrote.selecting.knockoffs.copies import CopyLaw, FixedTable, law_of_copies
from garrote.settings import Settings, as_settings


class ToCopy(NamedTuple):
    """Rows of positive weight, the group of each column, and whether a base has an intercept."""

    X: Floats
    weights: Floats
    groups: Array
    intercept: bool


class KnockoffKind(Settings):
    """How copies of columns are made, and for which rows and responses.

    A kind is a frozen dataclass that says in `make` how rows become a `CopiedRows`.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    # Whether the base is fitted to rows as they were given, with their weights, offset and groups.
    keeps_rows: ClassVar[bool] = True

    def check(self, likelihood: Any, groups: Any) -> None:
        """Refuse responses, and groups of rows, that such copies are not for."""

    def make(self, table: ToCopy, aim: str, rng: np.random.Generator) -> CopiedRows:
        """Find the law of the copies, separated by the name of an aim, and make a first one."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ModelX(KnockoffKind):
    """Copies drawn from a Gaussian law of the columns, for any response and any number of rows.

    Parameters
    ----------
    covariance : {"shrunk", "empirical"} or array of shape (D, D), default="shrunk"
        As estimated from the rows, by Ledoit and Wolf's share shrunk to no correlations, or as known.
    mean : array of shape (D,), optional
        As known; by default the means of the rows.

    References
    ----------
    Candes, E., Fan, Y., Janson, L. & Lv, J. (2018). Panning for gold: model-X knockoffs for high
    dimensional controlled variable selection. JRSS B 80, 551-577.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import Knockoffs
    >>> from garrote.knockoffs import ModelX
    >>> known = Knockoffs(knockoffs=ModelX(np.eye(30), np.zeros(30)))
    """

    covariance: Any = "shrunk"
    mean: Any = None

    name: ClassVar[str] = "model-x"
    reference: ClassVar[str] = (
        "Candes, Fan, Janson & Lv (2018), Panning for gold: model-X knockoffs for high dimensional "
        "controlled variable selection. JRSS B 80, 551-577"
    )

    def __post_init__(self) -> None:
        """Refuse a name that no estimate has; take what is known as arrays."""
        if not isinstance(self.covariance, str):
            object.__setattr__(self, "covariance", np.asarray(self.covariance, dtype=np.float64))
        elif self.covariance not in COVARIANCES:
            raise ValueError(
                f"covariance must be one of {COVARIANCES}, or a matrix, got {self.covariance!r}"
            )
        if self.mean is not None:
            object.__setattr__(self, "mean", np.asarray(self.mean, dtype=np.float64))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            np.array_equal(mine, vars(other)[name]) for name, mine in vars(self).items()
        )

    def __hash__(self) -> int:
        return hash(type(self))

    def make(self, table: ToCopy, aim: str, rng: np.random.Generator) -> CopiedRows:
        """Estimate the law of the columns where it is not known, and draw copies."""
        columns = law_of_columns(table.X, table.weights, self.covariance, self.mean)
        law = law_of_copies(columns, table.groups, aim)
        return DrawnCopies(table.X, table.weights, law, law.draw(table.X, rng), columns)


@dataclass(frozen=True)
class FixedX(KnockoffKind):
    """Copies built from the columns as they are, for numbers with Gaussian noise and enough rows.

    There have to be more rows than columns; with fewer than twice as many, rows of estimated noise are
    added. The base is fitted to rows after a turn at random, weights and offset in them: it then sees
    cross products alone, as it has to.

    References
    ----------
    Barber, R. F. & Candes, E. J. (2015). Controlling the false discovery rate via knockoffs. Annals of
    Statistics 43, 2055-2085.

    Examples
    --------
    >>> from garrote.knockoffs import FixedX
    >>> FixedX().keeps_rows
    False
    """

    name: ClassVar[str] = "fixed"
    reference: ClassVar[str] = (
        "Barber & Candes (2015), Controlling the false discovery rate via knockoffs. Annals of "
        "Statistics 43, 2055-2085"
    )
    keeps_rows: ClassVar[bool] = False

    def check(self, likelihood: Any, groups: Any) -> None:
        """Refuse labels and counts, and rows that belong together."""
        if not likelihood.least_squares:
            raise ValueError(
                "fixed-X knockoffs are for numbers with Gaussian noise: take knockoffs='model-x' for "
                "labels, counts and other responses"
            )
        if groups is not None:
            raise ValueError(
                "fixed-X knockoffs take the noise of all rows for independent, and have no folds of "
                "rows that belong together: leave groups out, or take knockoffs='model-x'"
            )

    def make(self, table: ToCopy, aim: str, rng: np.random.Generator) -> CopiedRows:
        """Add rows where there are few, and build copies."""
        fixed = FixedTable.of(table.X, table.weights, table.intercept)
        law = CopyLaw.of(fixed.mean, fixed.covariance, table.groups, aim)
        rows, roots = fixed.longer()
        return BuiltCopies(rows, roots**2, law, fixed.copies(law, rng), fixed)


KINDS: dict[str, Callable[[], KnockoffKind]] = {"model-x": ModelX, "fixed": FixedX}


def as_kind(knockoffs: Any) -> KnockoffKind:
    """Return a kind of knockoffs, given it or its name."""
    return as_settings(
        "knockoffs", knockoffs, KnockoffKind, KINDS, "an object of garrote.knockoffs"
    )
