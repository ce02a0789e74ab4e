"""The law of the coefficients in a model, with the slab's variance integrated out.

An unknown slab variance makes it a mixture of Student's laws; it is described by its first two moments.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import pinvh
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.coefficient_laws import Models
from garrote.priors.evidence import log_evidence, noise_mean, slab_moments
from garrote.problem import Problem


class Law(NamedTuple):
    """Covariates and members of a model, mean and covariance (over the noise) of their coefficients."""

    members: Array
    mean: Floats
    spread: Floats
    noise: float


class _Spectrum(NamedTuple):
    """A model's cross products by their eigenvectors, so that every ridge costs next to nothing."""

    values: Floats
    vectors: Floats
    products: Floats
    yty: float

    def left(self, ridge: float) -> float:
        return max(self.yty - float(self.products**2 @ self.inverse(ridge)), 0.0)

    def log_det(self, ridge: float) -> float:
        return float(np.log(np.maximum(self.values + ridge, 1e-300)).sum())

    def inverse(self, ridge: float) -> Floats:
        shifted = self.values + ridge
        dependent = shifted <= 1e-12 * shifted.max(initial=0.0)
        return np.where(dependent, 0.0, 1.0 / np.where(dependent, 1.0, shifted))


def spectrum(problem: Problem, members: Array) -> _Spectrum:
    """Decompose the cross products of a model."""
    values, vectors = np.linalg.eigh(problem.known_block(members))
    return _Spectrum(
        np.maximum(values, 0.0), vectors, vectors.T @ problem.xty[members], problem.yty
    )


def log_evidences(found: _Spectrum, rules: Sequence[tuple[float, Any]], members: Array) -> Floats:
    """Return the log evidence of a model under each rule, its log weight added."""
    return np.array(
        [
            weight
            + log_evidence(rule, len(members), found.log_det(rule.ridge), found.left(rule.ridge))
            for weight, rule in rules
        ]
    )


def make_law(problem: Problem, rules: Sequence[tuple[float, Any]], members: Array) -> Law:
    """Return a model's coefficients, covariates included; ``rules`` have log weights."""
    found, size = spectrum(problem, members), len(members)
    logs = log_evidences(found, rules, members)
    share = np.exp(logs - logsumexp(logs))
    first, second, noise = np.zeros(size), np.zeros((size, size)), 0.0
    for weight, (_, rule) in zip(share, rules, strict=True):
        if weight < 1e-9:
            continue
        inverse = found.inverse(rule.ridge)
        v = found.vectors @ (inverse * found.products)
        f1, f2, f3 = slab_moments(rule, size, found.left(rule.ridge))
        first += weight * f1 * v
        spread = (found.vectors * inverse) @ found.vectors.T
        second += weight * (f2 * np.outer(v, v) + max(f3, 0.0) * spread)  # tables are interpolated
        noise += weight * noise_mean(rule, size, found.left(rule.ridge))
    covariance = second - np.outer(first, first)
    return _in_user_units(problem, members, first, covariance, float(noise))


def _in_user_units(
    problem: Problem, members: Array, mean: Floats, covariance: Floats, noise: float
) -> Law:
    scale, fixed = problem.scale, problem.scale.covariates
    everyone = np.concatenate([fixed, members])
    units = scale.response_scale / scale.column_scale[everyone]
    coef = np.concatenate([scale.covariate_coefficients(members, mean), mean * units[len(fixed) :]])
    # Covariates move with the others: those take back what they explain of them.
    back = np.vstack([-scale.covariate_columns[:, members], np.eye(len(members))])
    own = np.zeros((len(everyone), len(everyone)))
    if len(fixed):
        own[: len(fixed), : len(fixed)] = pinvh(problem.raw_gram(fixed))
    spread = back @ covariance @ back.T / (noise or 1.0) + own
    spread *= np.outer(units, units) / scale.response_scale**2
    return Law(everyone, coef, spread, noise)


def first_variances(models: Models, count: int) -> Floats:
    """Return the variances of the first few coefficients, which all models have, over the models."""
    share = models.probability / models.probability.sum()
    first = np.array([mean[:count] for mean in models.mean])
    own = np.array(
        [
            noise * np.diag(spread)[:count]
            for spread, noise in zip(models.spread, models.noise_means, strict=True)
        ]
    )
    centre = share @ first
    return np.asarray(share @ (own + (first - centre) ** 2))


def model_correlation(models: Models, support: Array) -> Floats:
    """Return the correlations of some coefficients over the models kept."""
    place = {int(j): k for k, j in enumerate(support)}
    mean, square = np.zeros(len(support)), np.zeros((len(support), len(support)))
    share = models.probability / models.probability.sum()
    laws = zip(share, models.members, models.mean, models.spread, models.noise_means, strict=True)
    for weight, members, centre, spread, noise in laws:
        own = [k for k, j in enumerate(members) if int(j) in place]
        to = [place[int(members[k])] for k in own]
        mean[to] += weight * centre[own]
        inside = np.outer(centre[own], centre[own]) + noise * spread[np.ix_(own, own)]
        square[np.ix_(to, to)] += weight * inside
    covariance = square - np.outer(mean, mean)
    size = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    return covariance / np.outer(size, size)
