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
    most_probable,
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

    Where effects are of groups of columns, ``group`` (K) numbers these: their columns have the effect
    together, each with the probability of the group, and ``roots`` (L x K x S) make up their covariance,
    which is roots[j] . roots[k] for two columns of a group.
    """

    columns: Array
    probability: Floats
    mean: Floats
    deviation: Floats
    present: Floats
    log_bayes_factor: Floats
    beside: CovariatesLaw | None = None
    predictor: FactorisedPredictor | None = None
    group: Array | None = None
    roots: Floats | None = None

    def __len__(self) -> int:
        return len(self.probability)

    @property
    def compared_columns(self) -> Array:
        """The most probable columns of each effect, those of the strongest first."""
        wanted: dict[int, None] = {}
        first = self._first
        for k in self._strongest_first:
            p = self.probability[k, first]
            likely = most_probable(p, _SHARE * self.present[k])[:MOST_COMPARED]
            wanted |= dict.fromkeys(self.columns[first[likely]].tolist())
        return np.array(list(wanted), dtype=np.intp)

    @property
    def _first(self) -> Array:
        """One of the columns for each variable: all, or the first of each group."""
        if self.group is None:
            return np.arange(len(self.columns))
        return np.unique(self.group, return_index=True)[1]

    @property
    def _strongest_first(self) -> Array:
        return np.argsort(-self.log_bayes_factor, kind="stable")

    def credible_sets(
        self, substitutes: Substitutes, names: Sequence[str], coverage: float, min_purity: float
    ) -> tuple[CredibleSet, ...]:
        """Return the sets of single effects, those of the strongest first; no set twice.

        A group is in them by the first of its columns, for all.
        """
        if coverage > MOST_COVERED:
            raise ValueError(
                f"coverage of single effects' sets can be at most {MOST_COVERED}, got {coverage}: the "
                "least probable columns are not kept"
            )
        found: dict[tuple[int, ...], CredibleSet] = {}
        first = self._first
        for k in self._strongest_first:
            a = self.probability[k, first]
            if a.sum() < coverage - ROUNDING:
                continue  # not as probable as that to be there at all
            likely = most_probable(a, coverage - ROUNDING)
            variables = self.columns[first[likely]]
            one = describe_set(
                variables, a[likely], float(np.cumsum(a[likely])[-1]), substitutes.likeness, names,
                float(self.log_bayes_factor[k]),
            )  # fmt: skip
            if one.purity >= min_purity:
                found.setdefault(tuple(sorted(variables.tolist())), one)
        return tuple(found.values())

    def fill(self, draws: Floats, rng: np.random.Generator) -> None:
        """Add up draws of all effects."""
        count = len(draws)
        if self.group is not None:
            self._fill_groups(draws, rng)
            return
        for k, a in enumerate(self.probability):
            which = rng.choice(len(a), size=count, p=a / a.sum())
            there = rng.random(count) < self.present[k]
            sizes = self.mean[k, which] + self.deviation[k, which] * rng.standard_normal(count)
            draws[np.arange(count), self.columns[which]] += sizes * there

    def _fill_groups(self, draws: Floats, rng: np.random.Generator) -> None:
        """Add up draws of effects of groups."""
        assert self.group is not None
        assert self.roots is not None
        first = self._first
        for k in range(len(self)):
            a = self.probability[k, first]
            which = rng.choice(len(a), size=len(draws), p=a / a.sum())
            there = rng.random(len(draws)) < self.present[k]
            for g in np.unique(which[there]):
                here, rows = np.flatnonzero(self.group == g), np.flatnonzero(there & (which == g))
                unit = rng.standard_normal((len(rows), self.roots.shape[2]))
                sizes = self.mean[k, here] + unit @ self.roots[k, here].T
                draws[np.ix_(rows, self.columns[here])] += sizes

    def _variance_of_groups(self, away: Floats) -> Floats:
        """Return the variance of the sum of all effects, which are of groups."""
        assert self.group is not None
        assert self.roots is not None
        variance = np.zeros(len(away))
        groups = [np.flatnonzero(self.group == g) for g in range(int(self.group.max()) + 1)]
        for p, mean, roots in zip(self.probability, self.mean, self.roots, strict=True):
            square = np.zeros(len(away))
            for here in groups:
                along = away[:, here] @ np.column_stack([roots[here], mean[here]])
                square += p[here[0]] * np.sum(along**2, axis=1)
            variance += np.maximum(square - (away @ (p * mean)) ** 2, 0.0)
        return variance

    def variance_beyond(self, columns: Array, away: Floats) -> Floats:
        """Return the effects' variance: near copies, of which one has each effect, add little."""
        if self.group is not None and len(self):
            return self._variance_of_groups(away)
        variance = np.zeros(len(away))
        for p, mean, deviation in zip(self.probability, self.mean, self.deviation, strict=True):
            square = away**2 @ (p * (mean**2 + deviation**2))
            variance += np.maximum(square - (away @ (p * mean)) ** 2, 0.0)
        return variance
