"""How often variables were selected again, by the same method on random parts of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.results.credible_sets import CredibleSet
from garrote.summaries import Shown, listing

# Variables that a sentence names, at most.
_MOST_NAMED = 12
# A variable that comes back in fewer refits than this share of them is not a finding to rely on ...
_OFTEN = 0.5
# ... and one that comes back in this share of them, or more, bears out a probability near 1.
NEARLY_ALWAYS = 0.9


@dataclass(frozen=True, repr=False)
class Stability(Shown):
    """In how many of so many refits each variable was selected again.

    Attributes
    ----------
    refits : int
    share : float
        What each refit had of the rows, drawn without replacement.
    found : array of shape (D,)
        In how many refits each variable was selected.
    """

    refits: int
    share: float
    found: Array

    def in_words(self, j: int) -> str:
        """Return how often one variable came back: "14 of 20"."""
        return f"{int(self.found[j])} of {self.refits}"

    def rare(self, selected: Array, sets: Sequence[CredibleSet] = ()) -> Array:
        """Return the selected variables that came back in fewer than half of the refits.

        Members of a credible set are left out where others of it came back in their place.
        """
        least = _OFTEN * self.refits
        alone = selected & (self.found < least)
        for one in sets:
            if self.found[one.variables].sum() >= least:
                alone[one.variables] = False
        return np.flatnonzero(alone)

    def sentence(
        self, names: Sequence[str], selected: Array, sets: Sequence[CredibleSet] = ()
    ) -> str:
        """Say whether the selected variables came back, and which did not."""
        fits = f"{self.refits} fits to random {100 * self.share:g} % of the rows"
        rare = self.rare(selected, sets)
        if not len(rare):
            instead = ", or another of its set," if sets else ""
            return f"{fits}: every selected variable{instead} came back in at least half of them"
        told = [f"{names[j]} ({self.in_words(j)})" for j in rare]
        return f"{fits}: not found again in most of them: {listing(told, str, _MOST_NAMED)}"

    def to_dict(
        self, names: Sequence[str], selected: Array, sets: Sequence[CredibleSet] = ()
    ) -> dict[str, Any]:
        """Return the number and size of the refits, and who rarely came back, as plain values."""
        return {
            "refits": self.refits,
            "share": self.share,
            "rare": [
                {"name": names[j], "position": int(j), "found_again": int(self.found[j])}
                for j in self.rare(selected, sets)
            ],
        }
