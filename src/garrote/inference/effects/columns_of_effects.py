"""Single effects of groups, from the coordinates that they were found in to the user's columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.inference.resemblance import correlations_of_groups
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.problem import Problem
from garrote.solvers.algebra.group_coordinates import GroupCoordinates
from garrote.solvers.effects.effect_groups import EffectGroups
from garrote.solvers.effects.single_effect_regression import SingleEffect

_HEREDITY = (
    "parents need a posterior over models, and single effects know none: take SpikeSlabRegressor, or "
    "SpikeSlabClassifier, with this inclusion"
)
_TIES = (
    "single effects are independent of each other, and this law of inclusion has variables depend on "
    "others: take SpikeSlabRegressor, or SpikeSlabClassifier, with it, or an AnnotatedInclusion"
)


@dataclass(frozen=True)
class EffectOfGroups:
    """One effect, by columns: each has the probability of its group to be the one with the effect.

    ``mean`` are coefficients given that, ``roots`` (D x S) make up their covariance: it is
    roots[j] . roots[k] within a group. ``first`` has a column of each group.
    """

    probability: Floats
    mean: Floats
    roots: Floats
    first: Array
    groups: Array
    log_bayes_factor: float
    prior_variance: float

    @property
    def present(self) -> float:
        """The probability that there is such an effect."""
        return float(self.probability[self.first].sum())

    @property
    def variance(self) -> Floats:
        """The variances of coefficients given that the effect is of their group."""
        return np.asarray(np.sum(self.roots**2, axis=1))

    @property
    def coef(self) -> Floats:
        """The coefficients averaged over which group it is."""
        return self.probability * self.mean

    @cached_property
    def second_moment(self) -> Floats:
        """The squares of the coefficients, averaged over which group it is."""
        return self.probability * (self.mean**2 + self.variance)

    def second_moments(self, columns: Array) -> Floats:
        """Return the expected products of some coefficients: of two groups one at least is 0."""
        same = self.groups[columns][:, None] == self.groups[columns]
        mean, roots = self.mean[columns], self.roots[columns]
        within = roots @ roots.T + np.outer(mean, mean)
        return np.where(same, self.probability[columns] * within, 0.0)

    def together_with(self, columns: Array) -> Array:
        """Return the columns of the variables that some columns are of: of whole groups."""
        return np.flatnonzero(np.isin(self.groups, self.groups[columns]))

    def roots_of(self, columns: Array, unit: Floats) -> Floats | None:
        """Return what makes up covariances within groups of some columns, times a unit of each."""
        return self.roots[columns] * unit[columns, None]


class GroupedColumns:
    """A problem in coordinates of its groups, and single effects of these groups.

    Parameters
    ----------
    problem : Problem
    law : InclusionOfGroups
        Which columns are of which group; prior probabilities are in proportion to its odds.
    projected : bool
        Whether covariates are projected out of coordinates; see `GroupCoordinates`.
    """

    def __init__(self, problem: Problem, law: InclusionOfGroups, projected: bool = True):
        if law.has_parents:
            raise ValueError(_HEREDITY)
        if law.ties is not None:
            raise ValueError(_TIES)
        self.found = law.groups
        self.groups = law.of_column.copy()
        outside = np.flatnonzero(self.groups < 0)
        self.groups[outside] = len(law) + np.arange(len(outside))
        self.coordinates = GroupCoordinates.of(problem, self.groups, projected)
        self.units = EffectGroups.of(self.groups, self.coordinates.problem.curvature)
        odds = law.over_groups.log_odds
        self.log_prior = np.full(len(self.units.rank), -np.inf)
        self.log_prior[: len(law)] = odds - logsumexp(odds)
        self.first = np.array([np.flatnonzero(self.groups == g)[0] for g in range(len(law))], int)

    def effects(
        self, effects: Sequence[SingleEffect], roots: Sequence[Floats] | None = None
    ) -> tuple[EffectOfGroups, ...]:
        """Return effects by columns; ``roots`` (D x S) are of coordinates, by default independent."""
        if roots is None:
            roots = [self._roots(effect) for effect in effects]
        return tuple(
            EffectOfGroups(
                probability=effect.by_column,
                mean=self._back(effect.mean),
                roots=self._back(root.T).T,
                first=self.first,
                groups=self.groups,
                log_bayes_factor=effect.log_bayes_factor,
                prior_variance=effect.prior_variance,
            )
            for effect, root in zip(effects, roots, strict=True)
        )

    def _back(self, values: Floats) -> Floats:
        rotation = self.coordinates.rotation
        return values if rotation is None else rotation.back(values)

    def _roots(self, effect: SingleEffect) -> Floats:
        """Return what makes up the covariance of independent coordinates: one each, side by side."""
        roots = np.zeros((len(effect.mean), int(self.units.rank.max(initial=1.0))))
        roots[np.arange(len(roots)), self.places] = np.sqrt(effect.variance)
        return roots

    @cached_property
    def places(self) -> Array:
        """Which of its group's coordinates each one is; empty ones come last, and count for nothing."""
        places = np.zeros(len(self.groups), dtype=np.intp)
        used = self.coordinates.problem.curvature > 0
        for number in np.flatnonzero(self.units.rank > 1):
            here = np.flatnonzero((self.units.of_column == number) & used)
            places[here] = np.arange(len(here))
        return places

    def likeness(self, columns: Array) -> Floats:
        """Return the largest canonical correlations of groups, each by one of its columns."""
        problem, used = self.coordinates.problem, self.coordinates.problem.curvature > 0
        parts = [np.flatnonzero((self.groups == self.groups[j]) & used) for j in columns]
        return correlations_of_groups(problem, parts)
