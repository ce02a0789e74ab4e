"""Coefficients that are a sum of single effects, each of which one variable has."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.credible_sets import (
    MOST_COMPARED,
    ROUNDING,
    CredibleSet,
    Substitutes,
    describe_set,
)
from garrote.results.laws.covariates import CovariatesLaw, FactorisedPredictor
from garrote.results.laws.factorised import Factorised

# Single effects are kept on columns that have more than this of their probability.
MOST_COVERED = 0.999
# They are compared on as many of their columns as have this share of the probability.
_SHARE = 0.99


@dataclass(frozen=True, repr=False)
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

    @property
    def compared_columns(self) -> Array:
        """The most probable columns of each effect, those of the strongest first."""
        wanted: dict[int, None] = {}
        for k in self._strongest_first:
            order = np.argsort(-self.probability[k], kind="stable")[:MOST_COMPARED]
            reached = np.cumsum(self.probability[k][order])
            count = int(np.searchsorted(reached, _SHARE * self.present[k])) + 1
            wanted |= dict.fromkeys(self.columns[order[:count]].tolist())
        return np.array(list(wanted), dtype=np.intp)

    @property
    def _strongest_first(self) -> Array:
        return np.argsort(-self.log_bayes_factor, kind="stable")

    def credible_sets(
        self, substitutes: Substitutes, names: Sequence[str], coverage: float, min_purity: float
    ) -> tuple[CredibleSet, ...]:
        """Return the sets of single effects, those of the strongest first; no set twice."""
        if coverage > MOST_COVERED:
            raise ValueError(
                f"coverage of single effects' sets can be at most {MOST_COVERED}, got {coverage}: the "
                "least probable columns are not kept"
            )
        found: dict[tuple[int, ...], CredibleSet] = {}
        for k in self._strongest_first:
            a = self.probability[k]
            order = np.argsort(-a, kind="stable")
            reached = np.cumsum(a[order])
            if reached[-1] < coverage - ROUNDING:
                continue  # not as probable as that to be there at all
            size = int(np.searchsorted(reached, coverage - ROUNDING)) + 1
            variables = self.columns[order[:size]]
            one = describe_set(
                variables, a[order[:size]], float(reached[size - 1]), substitutes.likeness, names,
                float(self.log_bayes_factor[k]),
            )  # fmt: skip
            if one.purity >= min_purity:
                found.setdefault(tuple(sorted(variables.tolist())), one)
        return tuple(found.values())

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
