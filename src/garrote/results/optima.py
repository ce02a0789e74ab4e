"""Distinct solutions of one problem: how each was reached, and what it weighs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.results.fit import Fit
from garrote.summaries import Shown, Table


@dataclass(frozen=True, repr=False)
class Optima(Shown):
    """Different solutions, lowest free energy first, and all the ways that led to each.

    ``share`` are their weights in a mixture of them, where these are not by free energy alone.
    """

    fits: tuple[Fit, ...] = ()
    reached: tuple[str, ...] = ()
    share: Floats | None = None

    def __len__(self) -> int:
        return len(self.fits)

    def __iter__(self) -> Iterator[Fit]:
        return iter(self.fits)

    def __getitem__(self, place: int) -> Fit:
        return self.fits[place]

    @property
    def weights(self) -> Floats:
        """Weights of the optima in a mixture of them.

        In proportion to exp(-free energy); where the mixture is the posterior, those of its bound on the
        evidence, in which optima that share their models share their weight.
        """
        if self.share is not None:
            return self.share
        energies = np.array([fit.free_energy for fit in self.fits])
        weights = np.exp(energies.min(initial=np.inf) - energies)
        return np.asarray(weights / weights.sum()) if len(weights) else weights

    def probabilities(self, count: int) -> Floats:
        """Return the inclusion probabilities of so many columns, a row for each optimum."""
        rows = np.zeros((len(self.fits), count))
        for row, fit in zip(rows, self.fits, strict=True):
            row[fit.columns] = fit.probability
        return rows

    def disagreement(self, count: int) -> float:
        """Return the largest difference in one of so many inclusion probabilities between two optima."""
        return (
            float(np.ptp(self.probabilities(count), axis=0).max(initial=0.0)) if self.fits else 0.0
        )

    def table(self, names: Sequence[str]) -> Table:
        """Return free energy, weight, size, how each was reached, and its variables."""
        members = [fit.columns[fit.probability > 0.5] for fit in self.fits]
        return Table(
            {
                "free energy": [float(fit.free_energy) for fit in self.fits],
                "weight": [float(weight) for weight in self.weights],
                "size": [float(fit.expected_size) for fit in self.fits],
                "reached": list(self.reached) or ["" for _ in self.fits],
                "variables": [" + ".join(names[j] for j in model) or "(none)" for model in members],
            }
        )
