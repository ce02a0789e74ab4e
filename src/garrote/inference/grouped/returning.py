"""Posteriors in rotated coordinates, as they read in the user's columns."""

from dataclasses import replace

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.grouped.rotation import RotatedGroups
from garrote.inference.models.representative_models import Components
from garrote.inference.resemblance import correlations_of_groups
from garrote.inference.substitutes import keep_inclusions
from garrote.results.accuracy import Audit, SamplingAccuracy
from garrote.results.credible_sets import Likeness, Substitutes
from garrote.results.laws import Spread
from garrote.results.posterior import IN_SUPPORT, Posterior

# Groups whose likeness is kept, at most.
_MOST = 500


def return_posterior(
    rotation: RotatedGroups, posterior: Posterior, components: Components
) -> Posterior:
    """Return a posterior of rotated columns in the user's, with what credible sets are made of."""
    first = _first_columns(rotation)
    inclusion = _of_groups(rotation, posterior.inclusion_probability, first)
    inclusion[posterior.covariates] = 1.0
    made = replace(
        posterior,
        inclusion_probability=inclusion,
        mean=rotation.coefficients(posterior.mean),
        spread=_spread(rotation, posterior.spread),
        law=posterior.law.of_columns(rotation),
        accuracy=_accuracy(rotation, posterior.accuracy, first),
        # Variables that are one column each keep their names.
        groups=None if rotation.before.ties_columns else rotation.before.groups,
    )
    return replace(made, substitutes=_substitutes(rotation, inclusion, components, first))


def audit_itself(posterior: Posterior) -> Posterior:
    """Return a posterior whose sums are exact, and need no other check."""
    columns = np.flatnonzero(posterior.inclusion_probability > IN_SUPPORT)
    columns = np.setdiff1d(columns, posterior.covariates)
    same = posterior.inclusion_probability[columns]
    return replace(
        posterior, checked=Audit(columns, same, same, "themselves, which are exact sums")
    )


def _first_columns(rotation: RotatedGroups) -> Array:
    """Return a column for each group, which it has before and after the rotation."""
    numbers, first = np.unique(rotation.after.of_column, return_index=True)
    return np.asarray(first[numbers >= 0])


def _of_groups(rotation: RotatedGroups, values: Floats, first: Array) -> Floats:
    """Return what every group has, for all columns of it."""
    everyone = rotation.before.everyone
    return np.where(everyone >= 0, values[first][everyone] if len(first) else 0.0, values)


def _spread(rotation: RotatedGroups, spread: Spread) -> Spread:
    columns = rotation.expanded(spread.columns)
    turn = rotation.block(columns, spread.columns)
    return Spread.of(columns, turn @ spread.covariance @ turn.T)


def _accuracy(
    rotation: RotatedGroups, accuracy: SamplingAccuracy | None, first: Array
) -> SamplingAccuracy | None:
    if accuracy is None:
        return None
    size, r_hat = (
        None if values is None else _of_groups(rotation, values, first)
        for values in (accuracy.effective_sample_size, accuracy.split_r_hat)
    )
    return SamplingAccuracy(_of_groups(rotation, accuracy.monte_carlo_error, first), size, r_hat)


def _substitutes(
    rotation: RotatedGroups, inclusion: Floats, components: Components, first: Array
) -> Substitutes:
    """Return how alike groups are, each by its first column, and in which models they are."""
    order = np.argsort(-inclusion[first], kind="stable")[:_MOST]
    kept = np.sort(order[inclusion[first[order]] > IN_SUPPORT])
    kept = kept[np.argsort(first[kept])]
    groups = [rotation.after.columns(int(g)) for g in kept]
    likeness = Likeness(first[kept], correlations_of_groups(rotation.problem, groups))
    return Substitutes(likeness, keep_inclusions(first[kept], components))
