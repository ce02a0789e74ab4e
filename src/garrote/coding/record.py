"""What became of the objective while something was learned, round by round."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.summaries import Shown, Summary, Table

# Rounds that a summary shows.
_SHOWN = 12


@dataclass(frozen=True, repr=False)
class LearningRecord(Shown):
    """The objective along rounds of learning.

    Attributes
    ----------
    objective : array of shape (n_rounds,)
        A signal, on average: of all signals, or of the ones that a round saw, before it learned of them.
    left : array of shape (n_rounds,)
        Which share of the squared lengths of these is left.
    size : array of shape (n_rounds,)
        How many atoms a signal has, on average.
    replaced : array of int of shape (n_rounds,)
        How many atoms that were in no code were replaced after it.
    whole : bool
        Whether a round sees all signals.
    """

    objective: Floats
    left: Floats
    size: Floats
    replaced: Array
    whole: bool = True

    @classmethod
    def of(cls, rounds: Sequence[tuple[float, float, float, int]], whole: bool) -> "LearningRecord":
        """Put rounds together."""
        objective, left, size, replaced = (np.array(each) for each in zip(*rounds, strict=True))
        return cls(objective.astype(float), left.astype(float), size.astype(float), replaced, whole)

    def followed_by(self, other: "LearningRecord") -> "LearningRecord":
        """Return a record that goes on with the rounds of another one."""
        both = zip(self._curves, other._curves, strict=True)
        objective, left, size, replaced = (np.concatenate(each) for each in both)
        return LearningRecord(objective, left, size, replaced, self.whole)

    @property
    def _curves(self) -> tuple[Floats, Floats, Floats, Array]:
        return self.objective, self.left, self.size, self.replaced

    def last(self) -> "LearningRecord":
        """Return its last round as that of one batch."""
        objective, left, size, replaced = (each[-1:] for each in self._curves)
        return LearningRecord(objective, left, size, replaced, False)

    def __len__(self) -> int:
        return len(self.objective)

    def summary(self) -> Summary:
        """Return some of the rounds, from the first to the last."""
        some = np.unique(np.linspace(0, len(self) - 1, _SHOWN).round().astype(int))
        seen = "all signals" if self.whole else "those of a round, before it"
        facts = (
            f"{len(self)} rounds; the objective of {seen}: {self.objective[0]:.6g} to "
            f"{self.objective[-1]:.6g} a signal",
            f"left of squared lengths in the last: {self.left[-1]:.3g}; "
            f"atoms a signal: {self.size[-1]:.3g}",
            f"atoms that were replaced: {int(self.replaced.sum())}",
        )
        columns: dict[str, list[Any]] = {
            "round": (some + 1).tolist(),
            "objective": self.objective[some].tolist(),
            "left": self.left[some].tolist(),
            "atoms": self.size[some].tolist(),
        }
        return Summary(facts, Table(columns))
