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
from garrote.priors.evidence import has_signs, log_evidence, noise_mean, slab_moments
from garrote.priors.inclusion import Inclusion
from garrote.problem import Problem
from garrote.results.laws import Models

# Cross products of a model alone cost as much as so many entries of those of all models together.
_ALONE = 1000


class Law(NamedTuple):
    """Covariates and members of a model, mean and covariance (over the noise) of their coefficients."""

    members: Array
    mean: Floats
    spread: Floats
    noise: float


class _Moments(NamedTuple):
    """Mean and covariance of a model's coefficients in the problem's units, and the noise's mean."""

    mean: Floats
    covariance: Floats
    noise: float


class _Spectrum(NamedTuple):
    """A model's cross products by their eigenvectors, so that every ridge costs next to nothing."""

    values: Floats
    vectors: Floats
    products: Floats
    yty: float

    def left(self, inverse: Floats) -> Floats:
        return np.maximum(self.yty - inverse @ self.products**2, 0.0)

    def log_det(self, ridges: Floats) -> Floats:
        return np.asarray(np.log(np.maximum(self.values + ridges[:, None], 1e-300)).sum(axis=1))

    def inverse(self, ridges: Floats) -> Floats:
        """Return the inverse eigenvalues, a row for each ridge; 0 for directions that have no content.

        Beside a slab they have its own: columns that equal each other are apart by it alone.
        """
        shifted = self.values + ridges[:, None]
        dependent = shifted <= 1e-12 * shifted.max(axis=1, initial=0.0)[:, None]
        dependent &= ridges[:, None] == 0.0
        return np.where(dependent, 0.0, 1.0 / np.where(dependent, 1.0, shifted))


def spectrum(problem: Problem, members: Array, block: Floats | None = None) -> _Spectrum:
    """Decompose the cross products of a model, from the data where they are not given."""
    block = problem.known_block(members) if block is None else block
    values, vectors = np.linalg.eigh(block)
    return _Spectrum(
        np.maximum(values, 0.0), vectors, vectors.T @ problem.xty[members], problem.yty
    )


def log_evidences(
    found: _Spectrum, rules: Sequence[tuple[float, Any]], members: Array, every: bool = True
) -> Floats:
    """Return the log evidence of a model under each rule, its log weight added.

    ``every`` tells whether all signs are summed over, under slabs of two humps.
    """
    first = _first_with_signs(rules)
    unsigned, signed = [rule for _, rule in rules[:first]], [rule for _, rule in rules[first:]]
    logs = np.array([weight for weight, _ in rules])
    if unsigned:
        ridges = np.array([rule.ridge for rule in unsigned])
        lefts = found.left(found.inverse(ridges)).tolist()
        each = zip(unsigned, found.log_det(ridges).tolist(), lefts, strict=True)
        evidence = body_for(log_evidence, unsigned)
        logs[:first] += [evidence(rule, len(members), *terms) for rule, *terms in each]
    if signed:
        logs[first:] += signed_evidences(found, signed, every)
    return logs


def _first_with_signs(rules: Sequence[tuple[float, Any]]) -> int:
    """Return where rules with signs begin, which come last."""
    return bisect_left(rules, True, key=lambda entry: has_signs(entry[1]))


def body_for(generic: Any, rules: Sequence[Any]) -> Any:
    """Return the body of a generic function for rules of one class, which is looked up only once."""
    kinds = {type(rule) for rule in rules}
    return generic.dispatch(kinds.pop()) if len(kinds) == 1 else generic


def log_posteriors(
    problem: Problem,
    prior: Inclusion,
    rules: Sequence[tuple[float, Any]],
    members: Sequence[tuple[int, ...]],
    every: bool = True,
) -> Floats:
    """Return the log evidence of models summed over rules, and their log prior added; from scratch.

    ``every`` as in `log_evidences`.
    """
    logs = []
    for model in members:
        variables = np.array(model, np.intp)
        odds = prior.log_odds[np.searchsorted(problem.usable, variables)].sum()
        evidences = log_evidences(spectrum(problem, variables), rules, variables, every)
        logs.append(logsumexp(evidences) + prior.by_size[len(variables)] + odds)
    return np.array(logs)


def make_laws(
    problem: Problem, rules: Sequence[tuple[float, Any]], models: Sequence[tuple[int, ...]]
) -> list[Law]:
    """Return the laws of models."""
    fixed_inverse = inverse_of_fixed(problem)
    return [
        make_law(problem, rules, columns, block, fixed_inverse)
        for columns, block in _blocks(problem, models)
    ]


def averaged_moments(
    problem: Problem,
    rules: Sequence[tuple[float, Any]],
    models: Sequence[tuple[int, ...]],
    share: Floats,
) -> tuple[Floats, Floats, float]:
    """Return first and second moments of all coefficients over models, and the mean of the noise."""
    mean, square = np.zeros((2, problem.n_features))
    noise = 0.0
    for weight, (columns, block) in zip(share, _blocks(problem, models), strict=True):
        moments = _moments(spectrum(problem, columns, block), rules, columns)
        mean[columns] += weight * moments.mean
        square[columns] += weight * (moments.mean**2 + np.diag(moments.covariance))
        noise += weight * moments.noise
    return mean, square, float(noise)


def _blocks(problem: Problem, models: Sequence[tuple[int, ...]]) -> Iterator[tuple[Array, Floats]]:
    """Yield models and their cross products; rows are gone through once where that takes less."""
    members = [np.array(each, dtype=np.intp) for each in models]
    columns = np.unique(np.concatenate(members))
    together = len(columns) ** 2 <= sum(len(model) ** 2 + _ALONE for model in members)
    gram = problem.known_block(columns) if together else None
    for model in members:
        place = np.searchsorted(columns, model)
        yield model, problem.known_block(model) if gram is None else gram[np.ix_(place, place)]


def inverse_of_fixed(problem: Problem) -> Floats:
    """Return the inverse of the covariates' cross products."""
    fixed = problem.scale.covariates
    return np.asarray(pinvh(problem.raw_gram(fixed))) if len(fixed) else np.zeros((0, 0))


def make_law(
    problem: Problem, rules: Sequence[tuple[float, Any]], members: Array, block: Floats,
    fixed_inverse: Floats,
) -> Law:  # fmt: skip
    """Return a model's coefficients, covariates included, from the cross products of its members.

    ``rules`` have log weights.
    """
    moments = _moments(spectrum(problem, members, block), rules, members)
    return in_user_units(problem, members, *moments, fixed_inverse)


def _moments(found: _Spectrum, rules: Sequence[tuple[float, Any]], members: Array) -> _Moments:
    """Return the moments of a model's coefficients over rules, by the evidence it has under each."""
    size = len(members)
    logs = log_evidences(found, rules, members, every=False)
    share = np.exp(logs - logs.max())
    share /= share.sum()
    kept = [(weight, rule) for weight, (_, rule) in zip(share, rules, strict=True) if weight > 1e-9]
    first = _first_with_signs(kept)
    mean, second, noise = _unsigned_moments(found, kept[:first], size)
    signed = kept[first:]
    if signed:
        weights = np.array([weight for weight, _ in signed])
        parts = signed_moments(found, [rule for _, rule in signed], weights)
        mean, second, noise = mean + parts[0], second + parts[1], noise + parts[2]
    return _Moments(mean, second - np.outer(mean, mean), noise)


def _unsigned_moments(
    found: _Spectrum, used: Sequence[tuple[float, Any]], size: int
) -> tuple[Floats, Floats, float]:
    """Return weighted sums over rules without signs: coefficients, their products, and the noise."""
    if not used:
        return np.zeros(size), np.zeros((size, size)), 0.0
    weights = np.array([weight for weight, _ in used])
    inverse = found.inverse(np.array([rule.ridge for _, rule in used]))
    lefts = found.left(inverse).tolist()
    rules = [rule for _, rule in used]
    both = body_for(slab_moments, rules), body_for(noise_mean, rules)
    each = [
        [f(rule, size, left) for f in both] for (_, rule), left in zip(used, lefts, strict=True)
    ]
    moments, noises = zip(*each, strict=True)
    f1, f2, f3 = (weights * values for values in np.array(moments).T)
    # All ridges have the same eigenvectors, by which the moments are taken.
    along = inverse * found.products
    second = (along.T * f2) @ along
    second[np.diag_indices(size)] += np.maximum(f3, 0.0) @ inverse  # tables are interpolated
    vectors = found.vectors
    return vectors @ (f1 @ along), vectors @ second @ vectors.T, float(weights @ noises)


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
