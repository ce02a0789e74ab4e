"""A solution for labels whose groups share switches: from coordinates of groups to the columns."""

from dataclasses import replace

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.covariates import with_covariates_of_labels
from garrote.inference.mean_field.label_posterior import factorised_predictor, soft_covariance
from garrote.priors.column_groups import ColumnGroups
from garrote.results.laws import FactorisedPredictor, SoftSupport, Spread
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.solvers.algebra.group_coordinates import GroupCoordinates
from garrote.solvers.labels.label_regression import LabelColumns
from garrote.solvers.labels.logistic_bound import LabelFit, LogisticBound
from garrote.solvers.labels.shared_switches import StatedGroups


def posterior_of_columns(
    posterior: Posterior,
    bound: LogisticBound,
    best: LabelFit,
    coordinates: GroupCoordinates,
    groups: ColumnGroups | None,
) -> Posterior:
    """Return what is believed of columns, given what is of coordinates; the same without groups.

    Coefficients of a group are in together, and Gaussian given that, as those of its coordinates are.
    """
    if coordinates.rotation is None:
        return replace(posterior, groups=groups)
    inside = best.columns[best.probability > IN_SUPPORT]
    support, turn = coordinates.turn(inside)
    unit = 1.0 / coordinates.given.scale.column_scale[support]
    turn = turn * unit[:, None]
    probability = coordinates.equal_within(posterior.inclusion_probability)
    mean = coordinates.coefficients(posterior.mean)
    soft, within = soft_covariance(bound, best), _given_inclusion(bound, best, inside)
    spread = Spread.of(support, turn @ soft @ turn.T)
    inward = _reshaped(soft, within, coordinates.rotation.groups[inside])
    given_inclusion = Spread.of(support, turn @ inward @ turn.T)
    law = SoftSupport(
        columns=support,
        probability=probability[support],
        mean=mean[support] / probability[support],
        deviation=given_inclusion.standard_error,
        correlation=given_inclusion.correlation,
        predictor=_predictor(bound, best, coordinates, mean, support),
        switch=np.unique(coordinates.rotation.groups[support], return_inverse=True)[1],
    )
    made = replace(
        posterior,
        mean=mean,
        inclusion_probability=probability,
        spread=spread,
        law=law,
        optima=coordinates.optima(posterior.optima),
        groups=groups,
    )
    return with_covariates_of_labels(made)


def _reshaped(covariance: Floats, within: Floats, groups: Array) -> Floats:
    """Return a covariance whose blocks within groups are those of another; correlations stay.

    Single variables are scaled to other variances. Of groups that is the same with square roots of
    blocks, which do not depend on how coordinates of a group were rotated.
    """
    change = np.zeros_like(covariance)
    for number in np.unique(groups):
        here = np.ix_(groups == number, groups == number)
        change[here] = _root(within[here]) @ np.linalg.pinv(_root(covariance[here]))
    return np.asarray(change @ covariance @ change.T)


def _root(block: Floats) -> Floats:
    """Return the symmetric square root of a covariance."""
    values, vectors = np.linalg.eigh(block)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _given_inclusion(bound: LogisticBound, best: LabelFit, inside: Array) -> Floats:
    """Return the covariance of coordinates given that they are in, by the likelihood's own curvature."""
    columns = bound.at_hand
    under = columns.under(bound.curvature_of(best))
    m, w = np.zeros((2, len(columns.columns)))
    places = columns.places(best.columns)
    m[places], w[places] = best.probability, best.weight
    stated = StatedGroups.of(columns, under, bound.switched, m, w, 1.0 / best.variance)
    spreads = bound.widened(best).spread[np.searchsorted(best.columns, inside)]
    return stated.covariance(columns.places(inside), spreads)


def _predictor(
    bound: LogisticBound,
    best: LabelFit,
    coordinates: GroupCoordinates,
    mean: Floats,
    support: Array,
) -> FactorisedPredictor:
    """Describe how sure linear predictors are; groups are left to the law, which knows them."""
    given, fitted = coordinates.given, coordinates.fit(best)
    listed = np.union1d(fitted.columns, support)
    columns = LabelColumns(given)
    columns.add(listed)
    beside = columns.fixed_shares(bound.curvature_of(best), listed)
    variance = np.zeros(given.n_features)
    m, w, spread = best.probability, best.weight, bound.widened(best).spread
    variance[best.columns] = np.maximum(m * (w**2 + spread) - (m * w) ** 2, 0.0)
    assert coordinates.rotation is not None
    # Groups outside of the support are hardly in, and what they vary by is next to nothing.
    variance[coordinates.rotation.rotated] = 0.0
    return factorised_predictor(given, listed, beside, best.fixed, mean, variance)
