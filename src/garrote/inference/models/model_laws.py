"""The law of the coefficients in a model, with the slab's variance integrated out.

An unknown slab variance makes it a mixture of Student's laws; it is described by its first two moments.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import pinvh
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.inference.models.signed_laws import signed_evidences, signed_moments
from garrote.priors.evidence import add_evidences, fill_moments, has_signs
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.inclusion import Inclusion
from garrote.problem import Problem
from garrote.results.laws import Models

# Cross products of a model alone cost as much as so many entries of those of all models together.
_ALONE = 1000
# Models of one size that are described together, times that.
_TOGETHER = 20_000
# Up to so many models compiled code is not worth waiting for.
_FEW = 50


class Law(NamedTuple):
    """Covariates and members of a model, mean and covariance (over the noise) of their coefficients."""

    members: Array
    mean: Floats
    spread: Floats
    noise: float


class _Moments(NamedTuple):
    """Means and covariances of models' coefficients in the problem's units, and means of the noise."""

    mean: Floats
    covariance: Floats
    noise: Floats


class Spectra(NamedTuple):
    """Cross products of models of one size by their eigenvectors, so that a ridge costs next to nothing.

    The first axis is that of the models; what is asked of ridges has theirs next.
    """

    values: Floats
    vectors: Floats
    products: Floats
    yty: float

    @property
    def size(self) -> int:
        """How many variables each model has."""
        return self.products.shape[1]

    def left(self, inverse: Floats) -> Floats:
        """Return what models leave of y'y."""
        explained = inverse @ (self.products**2)[:, :, None]
        return np.maximum(self.yty - explained[:, :, 0], 0.0)

    def log_det(self, ridges: Floats) -> Floats:
        """Return the log determinants of cross products and a ridge."""
        shifted = self.values[:, None, :] + ridges[:, None]
        return np.asarray(np.log(np.maximum(shifted, 1e-300)).sum(axis=2))

    def inverse(self, ridges: Floats) -> Floats:
        """Return the inverse eigenvalues for each ridge; 0 for directions that have no content.

        Beside a slab they have its own: columns that equal each other are apart by it alone.
        """
        shifted = self.values[:, None, :] + ridges[:, None]
        dependent = shifted <= 1e-12 * shifted.max(axis=2, initial=0.0, keepdims=True)
        dependent &= ridges[:, None] == 0.0
        return np.where(dependent, 0.0, 1.0 / np.where(dependent, 1.0, shifted))


class _Stack(NamedTuple):
    """Models of one size: their places among all, their members, and their cross products."""

    places: Array
    members: Array
    blocks: Floats


def spectra(problem: Problem, members: Array, blocks: Floats) -> Spectra:
    """Decompose the cross products of models of one size."""
    values, vectors = np.linalg.eigh(blocks)
    products = vectors.transpose(0, 2, 1) @ problem.xty[members][:, :, None]
    return Spectra(np.maximum(values, 0.0), vectors, products[:, :, 0], problem.yty)


def log_evidences(found: Spectra, rules: Sequence[tuple[float, Any]], every: bool = True) -> Floats:
    """Return the log evidence of models under each rule, its log weight added.

    ``every`` tells whether all signs are summed over, under slabs of two humps.
    """
    first = _first_with_signs(rules)
    unsigned, signed = [rule for _, rule in rules[:first]], [rule for _, rule in rules[first:]]
    logs = np.tile([weight for weight, _ in rules], (len(found.values), 1))
    ridges = np.array([rule.ridge for rule in unsigned])
    log_dets, lefts = found.log_det(ridges), found.left(found.inverse(ridges))
    weigh = _chosen(add_evidences, len(logs))
    for r, rule in enumerate(unsigned):
        weigh(rule, found.size, log_dets[:, r], lefts[:, r], logs[:, r])
    if signed:
        for m, log in enumerate(logs):
            log[first:] += signed_evidences(found, m, signed, every)
    return logs


def _first_with_signs(rules: Sequence[tuple[float, Any]]) -> int:
    """Return where rules with signs begin, which come last."""
    return bisect_left(rules, True, key=lambda entry: has_signs(entry[1]))


def _chosen(compiled: Any, count: int) -> Any:
    """Return a kernel, or the same in plain Python where there is little to do."""
    return compiled if count > _FEW else getattr(compiled, "py_func", compiled)


def log_posteriors(
    problem: Problem,
    prior: Inclusion | InclusionOfGroups,
    rules: Sequence[tuple[float, Any]],
    models: Sequence[tuple[int, ...]],
    every: bool = True,
) -> Floats:
    """Return the log evidence of models summed over rules, and their log prior added; from scratch.

    ``every`` as in `log_evidences`.
    """
    logs = np.zeros(len(models))
    for stack in _stacks(problem, models, alone=True):
        found = spectra(problem, stack.members, stack.blocks)
        evidences = logsumexp(log_evidences(found, rules, every), axis=1)
        logs[stack.places] = evidences + prior.of_models(stack.members, problem.usable)
    return logs


def make_laws(
    problem: Problem, rules: Sequence[tuple[float, Any]], models: Sequence[tuple[int, ...]]
) -> list[Law]:
    """Return the laws of models: their coefficients, covariates included; ``rules`` have log weights."""
    fixed_inverse, laws = inverse_of_fixed(problem), {}
    for stack in _stacks(problem, models):
        moments = _moments(spectra(problem, stack.members, stack.blocks), rules)
        each = zip(stack.places, stack.members, *moments, strict=True)
        for place, members, mean, covariance, noise in each:
            law = in_user_units(problem, members, mean, covariance, float(noise), fixed_inverse)
            laws[int(place)] = law
    return [laws[place] for place in range(len(models))]


def averaged_moments(
    problem: Problem,
    rules: Sequence[tuple[float, Any]],
    models: Sequence[tuple[int, ...]],
    share: Floats,
) -> tuple[Floats, Floats, float]:
    """Return first and second moments of all coefficients over models, and the mean of the noise."""
    mean, square = np.zeros((2, problem.n_features))
    noise = 0.0
    for stack in _stacks(problem, models):
        moments, weight = (
            _moments(spectra(problem, stack.members, stack.blocks), rules),
            share[stack.places],
        )
        variance = np.diagonal(moments.covariance, axis1=1, axis2=2)
        np.add.at(mean, stack.members, weight[:, None] * moments.mean)
        np.add.at(square, stack.members, weight[:, None] * (moments.mean**2 + variance))
        noise += float(weight @ moments.noise)
    return mean, square, noise


def _stacks(
    problem: Problem, models: Sequence[tuple[int, ...]], alone: bool = False
) -> Iterator[_Stack]:
    """Yield models of one size together; rows are gone through once, unless ``alone`` takes less."""
    sizes = np.array([len(model) for model in models])
    columns = np.unique(np.concatenate([np.array(model, dtype=np.intp) for model in models]))
    alone |= len(columns) ** 2 > np.sum(sizes**2 + _ALONE)
    gram = None if alone else problem.known_block(columns)
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        for places in np.array_split(same, 1 + len(same) * int(size) // _TOGETHER):
            members = np.array([models[k] for k in places], dtype=np.intp)
            members = members.reshape(len(places), int(size))  # of no variables too
            if gram is None:
                blocks = np.array([problem.known_block(model) for model in members])
            else:
                at = np.searchsorted(columns, members)
                blocks = gram[at[:, :, None], at[:, None, :]]
            yield _Stack(places, members, blocks)


def inverse_of_fixed(problem: Problem) -> Floats:
    """Return the inverse of the covariates' cross products."""
    fixed = problem.scale.covariates
    return np.asarray(pinvh(problem.raw_gram(fixed))) if len(fixed) else np.zeros((0, 0))


def _moments(found: Spectra, rules: Sequence[tuple[float, Any]]) -> _Moments:
    """Return the moments of models' coefficients over rules, by the evidence they have under each."""
    logs = log_evidences(found, rules, every=False)
    share = np.exp(logs - logs.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    share[share <= 1e-9] = 0.0
    first, each = _first_with_signs(rules), [rule for _, rule in rules]
    mean, second, noise = _unsigned_moments(found, each[:first], share[:, :first])
    for m, weights in enumerate(share[:, first:]):
        used = np.flatnonzero(weights)
        if len(used):
            signed = [each[first + r] for r in used]
            parts = signed_moments(found, m, signed, weights[used])
            mean[m], second[m], noise[m] = (
                mean[m] + parts[0], second[m] + parts[1], noise[m] + parts[2],
            )  # fmt: skip
    return _Moments(mean, second - mean[:, :, None] * mean[:, None, :], noise)


def _unsigned_moments(
    found: Spectra, rules: Sequence[Any], weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return weighted sums over rules without signs: coefficients, their products, and the noise."""
    count, size = len(weights), found.size
    inverse = found.inverse(np.array([rule.ridge for rule in rules]))
    lefts, factors = found.left(inverse), np.zeros((4, count, len(rules)))
    describe = _chosen(fill_moments, count)
    for r, rule in enumerate(rules):
        describe(rule, size, lefts[:, r], factors[:, :, r])
    f1, f2, f3, noise = np.where(weights > 0.0, weights * factors, 0.0)
    # All ridges have the same eigenvectors, by which the moments are taken.
    along = inverse * found.products[:, None, :]
    second = (along * f2[:, :, None]).transpose(0, 2, 1) @ along
    diagonal = np.maximum(f3, 0.0)[:, None, :] @ inverse  # tables are interpolated
    second[:, np.arange(size), np.arange(size)] += diagonal[:, 0]
    vectors = found.vectors
    mean = vectors @ (f1[:, None, :] @ along).transpose(0, 2, 1)
    return mean[:, :, 0], vectors @ second @ vectors.transpose(0, 2, 1), noise.sum(axis=1)


def in_user_units(
    problem: Problem,
    members: Array,
    mean: Floats,
    covariance: Floats,
    noise: float,
    fixed_inverse: Floats,
) -> Law:
    """Return coefficients in the units of the user, those of the covariates before them."""
    scale, fixed = problem.scale, problem.scale.covariates
    everyone = np.concatenate([fixed, members])
    units = scale.response_scale / scale.column_scale[everyone]
    coef = np.concatenate([scale.covariate_coefficients(members, mean), mean * units[len(fixed) :]])
    # Covariates move with the others: those take back what they explain of them.
    back = np.vstack([-scale.covariate_columns[:, members], np.eye(len(members))])
    alone = np.zeros((len(everyone), len(everyone)))
    alone[: len(fixed), : len(fixed)] = fixed_inverse
    spread = back @ covariance @ back.T / (noise or 1.0) + alone
    spread *= np.outer(units, units) / scale.response_scale**2
    return Law(everyone, coef, spread, noise)


def first_variances(models: Models, count: int) -> Floats:
    """Return the variances of the first few coefficients, which all models have, over the models."""
    share = models.probability / models.probability.sum()
    first = np.array([mean[:count] for mean in models.mean])
    within = np.array(
        [
            noise * np.diag(spread)[:count]
            for spread, noise in zip(models.spread, models.noise_means, strict=True)
        ]
    )
    centre = share @ first
    return np.asarray(share @ (within + (first - centre) ** 2))


def joint_covariance(problem: Problem, columns: Array, covariance: Floats, noise: float) -> Law:
    """Return coefficients with their covariance over all models, as the spread, in the user's units.

    Given are that of some columns and the mean noise variance over all models, in those of the problem.
    """
    law = in_user_units(
        problem, columns, np.zeros(len(columns)), covariance, noise, inverse_of_fixed(problem)
    )
    size = (law.noise or 1.0) * problem.scale.response_scale**2
    return law._replace(spread=size * law.spread)


def as_correlation(covariance: Floats) -> Floats:
    """Return correlations; 1 with itself and 0 with others for what does not vary."""
    size = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = covariance / np.outer(size, size)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(np.clip(correlation, -1.0, 1.0))


def model_correlation(models: Models, support: Array) -> Floats:
    """Return the correlations of some coefficients over the models kept."""
    place = {int(j): k for k, j in enumerate(support)}
    mean, square = np.zeros(len(support)), np.zeros((len(support), len(support)))
    share = models.probability / models.probability.sum()
    laws = zip(share, models.members, models.mean, models.spread, models.noise_means, strict=True)
    for weight, members, centre, spread, noise in laws:
        kept = [k for k, j in enumerate(members) if int(j) in place]
        to = [place[int(members[k])] for k in kept]
        mean[to] += weight * centre[kept]
        inside = np.outer(centre[kept], centre[kept]) + noise * spread[np.ix_(kept, kept)]
        square[np.ix_(to, to)] += weight * inside
    return as_correlation(square - np.outer(mean, mean))
