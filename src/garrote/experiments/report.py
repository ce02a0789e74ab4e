"""What a study is told, and what it hands back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.summaries import Table

_WIDTH = 96


@dataclass(frozen=True)
class StudySettings:
    """How to run a study.

    Attributes
    ----------
    seed : int
        Every instance draws from its own stream spawned from this seed.
    instances : int, optional
        How many data sets to draw; by default as many as the text.
    quick : bool
        A small version of the study, in seconds.
    """

    seed: int = 0
    instances: int | None = None
    quick: bool = False

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed must be >= 0, got {self.seed}")
        if self.instances is not None and self.instances < 1:
            raise ValueError(f"instances must be at least 1, got {self.instances}")

    def count(self, published: int, quick: int) -> int:
        """Return how many instances to draw."""
        return self.instances or (quick if self.quick else published)

    def streams(self, count: int) -> list[np.random.SeedSequence]:
        """Return one random stream an instance; the first ones do not depend on the count."""
        return np.random.SeedSequence(self.seed).spawn(count)


@dataclass(frozen=True)
class Report:
    """Tables that print, remarks on them, the numbers behind them and the figure.

    Attributes
    ----------
    title : str
    tables : tuple of Table
    remarks : tuple of str
        Among them, why a published number is not reproduced.
    numbers : mapping
        What was computed, unrounded.
    draw : callable, optional
        Returns the matplotlib figure; None for a study that is a table.
    """

    title: str
    tables: tuple[Table, ...]
    remarks: tuple[str, ...] = ()
    numbers: Mapping[Any, Any] = field(default_factory=dict, repr=False)
    draw: Callable[[], Any] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        remarks = [
            "\n".join(wrap(remark, _WIDTH, initial_indent="- ", subsequent_indent="  "))
            for remark in self.remarks
        ]
        blocks = [self.title + "\n" + "=" * len(self.title), *map(str, self.tables)]
        return "\n\n".join([*blocks, *(["\n".join(remarks)] if remarks else [])])


def spread(values: Array, digits: int = 2) -> str:
    """Return "mean ± standard deviation" of one number an instance."""
    deviation = np.std(values, ddof=1) if len(values) > 1 else np.nan
    return f"{np.mean(values):.{digits}f} ± {deviation:.{digits}f}"


def distance(values: Array, published: str, count: int) -> float:
    """Return how far a mean lies from a published "mean ± std" over ``count``, in standard errors."""
    mean, deviation = (float(part) for part in published.split(" ± "))
    error = np.hypot(np.std(values, ddof=1) / np.sqrt(len(values)), deviation / np.sqrt(count))
    return float(abs(np.mean(values) - mean) / error) if error > 0 else 0.0


def quantiles(values: Array, digits: int = 1) -> str:
    """Return "median (10% to 90%)" of one number an instance; NaN where there is none."""
    values = np.asarray(values)[~np.isnan(values)]
    if not len(values):
        return "-"
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
