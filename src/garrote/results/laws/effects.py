"""Coefficients that are a sum of single effects, each of which one variable has."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.laws.beside import CovariatesLaw, FactorisedPredictor
from garrote.results.laws.factorised import Factorised


@dataclass(frozen=True)
class EffectsLaw(Factorised):
    """Single effects, in the user's units, on the columns that matter to any of them.

    ``probability`` (L x K) is that of each column to be the one, ``mean`` and ``deviation`` are those of
    its coefficient given that. ``present`` is the probability that there is such an effect.
    """

    columns: Array
    probability: Floats
    mean: Floats
    deviation: Floats
    present: Floats
    log_bayes_factor: Floats
    beside: CovariatesLaw | None = None
    predictor: FactorisedPredictor | None = None

    def __len__(self) -> int:
        return len(self.probability)

    def fill(self, draws: Floats, rng: np.random.Generator) -> None:
        """Add up draws of all effects."""
        count = len(draws)
        for k, a in enumerate(self.probability):
            which = rng.choice(len(a), size=count, p=a / a.sum())
            there = rng.random(count) < self.present[k]
            sizes = self.mean[k, which] + self.deviation[k, which] * rng.standard_normal(count)
            draws[np.arange(count), self.columns[which]] += sizes * there

    def variance_beyond(self, columns: Array, away: Floats) -> Floats:
        """Return the effects' variance: near copies, of which one has each effect, add little."""
        variance = np.zeros(len(away))
        for p, mean, deviation in zip(self.probability, self.mean, self.deviation, strict=True):
            square = away**2 @ (p * (mean**2 + deviation**2))
            variance += np.maximum(square - (away @ (p * mean)) ** 2, 0.0)
        return variance
