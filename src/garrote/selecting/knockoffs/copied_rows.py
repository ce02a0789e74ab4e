"""Rows and copies of their columns: how more copies are made, and what those rest on."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.certificates import Certificate, of_knockoffs
from garrote.selecting.knockoffs.column_law import ColumnLaw
from garrote.selecting.knockoffs.copies import CopyLaw, FixedTable
from garrote.selecting.knockoffs.exchangeability import largest_difference
from garrote.selecting.knockoffs.separation import AIMS, smallest_joint_variance


@dataclass(frozen=True)
class CopiedRows:
    """The rows that copies are made of, and the law of these copies; ``sample`` is one of them."""

    rows: Floats
    weights: Floats
    law: CopyLaw
    sample: Floats

    # Whether an exchange of columns and copies leaves all cross products as they are, to the last digit.
    exact: ClassVar[bool]
    # Whether the columns are taken for draws of a Gaussian law.
    gaussian_columns: ClassVar[bool]

    @property
    def assumption(self) -> str:
        """What the control of the false discovery rate rests on, in words."""
        raise NotImplementedError

    def draw(
        self, y: Array, told: dict[str, Any], rng: np.random.Generator
    ) -> tuple[Floats, Floats, Array, dict[str, Any]]:
        """Return columns, copies that are made anew, responses, and what `fit` is told beside these."""
        raise NotImplementedError

    def certificate(self) -> Certificate:
        """Return whether such copies exist, how good the separation is, and what an exchange changes."""
        law, center = self.law, self.law.mean
        smallest = smallest_joint_variance(law.coordinates.correlation, law.separation.each)
        differ = largest_difference(
            self.rows - center, self.sample - center, self.weights, law.coordinates.groups
        )
        left = AIMS[law.separation.aim].left
        return of_knockoffs(smallest, left, law.separation.optimality, differ, exact=self.exact)


@dataclass(frozen=True)
class DrawnCopies(CopiedRows):
    """Copies that are drawn given the columns' law (model-X)."""

    columns: ColumnLaw
    exact: ClassVar[bool] = False
    gaussian_columns: ClassVar[bool] = True

    @property
    def assumption(self) -> str:
        """What the control of the false discovery rate rests on, in words."""
        if self.columns.known:
            return "rows are independent draws of the Gaussian law that was given"
        said = "rows are independent draws of a Gaussian law, whose covariance"
        if self.columns.shrinkage:
            by = f"{100 * self.columns.shrinkage:.2g} %"
            return f"{said} was estimated from them, correlations shrunk by {by}"
        return f"{said} or mean was estimated from them, or given, without an allowance for that"

    def draw(
        self, y: Array, told: dict[str, Any], rng: np.random.Generator
    ) -> tuple[Floats, Floats, Array, dict[str, Any]]:
        """Return the rows as they are, with new copies."""
        return self.rows, self.law.draw(self.rows, rng), y, told


@dataclass(frozen=True)
class BuiltCopies(CopiedRows):
    """Copies that are built from the columns alone (fixed-X)."""

    table: FixedTable
    exact: ClassVar[bool] = True
    gaussian_columns: ClassVar[bool] = False

    @property
    def assumption(self) -> str:
        """What the control of the false discovery rate rests on, in words."""
        said = (
            "the response is linear in the columns, with independent Gaussian noise of one variance"
        )
        if self.table.extra:
            return f"{said}, which was estimated for {self.table.extra} rows that were added"
        return said

    def draw(
        self, y: Array, told: dict[str, Any], rng: np.random.Generator
    ) -> tuple[Floats, Floats, Array, dict[str, Any]]:
        """Return all rows after a turn at random, weights and offset in them."""
        copies = self.table.copies(self.law, rng)
        longer = self.table.longer_response(y - told.get("offset", 0.0), rng)
        return *self.table.turned(copies, longer, rng), {}
