"""Posteriors whose variables are independent of each other, and mixtures of such."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.covariates import with_covariates
from garrote.problem import Problem
from garrote.results.accuracy import Audit
from garrote.results.fit import Fit
from garrote.results.laws import Mixture, Spread
from garrote.results.optima import Optima
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.results.shapes import SlabShapes

# Components of less weight in the mixture are left out of it.
_LEAST = 1e-8


# A solution of a mixture, and the variances of its weights given inclusion.
Component = tuple[Fit, Floats]


class Average:
    """A mixture of solutions, by the logarithms of their weights, in the units of the problem."""

    def __init__(
        self, count: int, log_weights: Sequence[float] | Floats, components: Sequence[Component]
    ):
        logs = np.asarray(log_weights, dtype=np.float64)
        weight = np.exp(logs - logs.max())
        weight /= weight.sum()
        kept = np.flatnonzero(weight > _LEAST)
        self.weight = weight[kept] / weight[kept].sum()
        self.components = [components[int(k)] for k in kept]
        self.inclusion, self.mean, self.square = np.zeros((3, count))
        self.noise = 0.0
        for share, (fit, spread) in zip(self.weight, self.components, strict=True):
            m, w = fit.probability, fit.weight
            self.inclusion[fit.columns] += share * m
            self.mean[fit.columns] += share * m * w
            self.square[fit.columns] += share * m * (w**2 + spread)
            self.noise += share * fit.noise_variance

    @cached_property
    def variance(self) -> Floats:
        """Variances of the coefficients."""
        return np.maximum(self.square - self.mean**2, 0.0)

    def law(self, columns: Array, unit: Floats) -> Mixture:
        """Return the law of some coefficients; ``unit`` is that of every column's."""
        m, w, spread = np.zeros((3, len(self.weight), len(columns)))
        place = np.full(len(unit), -1)
        place[columns] = np.arange(len(columns))
        for k, (fit, spreads) in enumerate(self.components):
            there = place[fit.columns]
            listed = there >= 0
            m[k, there[listed]] = fit.probability[listed]
            w[k, there[listed]] = fit.weight[listed]
            spread[k, there[listed]] = spreads[listed]
        units = unit[columns]
        return Mixture(columns, self.weight, m, w * units, np.sqrt(spread) * units)


class Described(NamedTuple):
    """What a mixture of solutions says of the coefficients, in the user's units."""

    mean: Floats
    inclusion_probability: Floats
    spread: Spread
    law: Mixture


def describe_average(
    average: Average, unit: Floats, covariates: Array, coefficients: Floats
) -> Described:
    """Describe a mixture of solutions in the user's units.

    ``unit`` is that of every column's coefficient, ``coefficients`` are the covariates' in these units.
    """
    support = np.flatnonzero(average.inclusion > IN_SUPPORT)
    law = average.law(support, unit)
    mean = average.mean * unit
    mean[covariates] = coefficients
    inclusion = np.minimum(average.inclusion, 1.0)  # weights may sum to a little more
    inclusion[covariates] = 1.0
    return Described(mean, inclusion, Spread.of(support, law.covariance), law)


def factorised_posterior(
    problem: Problem,
    beliefs: Beliefs,
    average: Average,
    optima: Optima,
    optima_weights: Floats,
    names: tuple[str, ...],
    checked: Audit | None,
    log_evidence: float | None,
    shapes: SlabShapes | None = None,
) -> Posterior[Mixture]:
    """Describe a mixture of solutions for numbers in the user's units."""
    scale = problem.scale
    columns: Array = np.flatnonzero(average.mean)
    described = describe_average(
        average,
        scale.response_scale / scale.column_scale,
        scale.covariates,
        scale.covariate_coefficients(columns, average.mean[columns]),
    )
    posterior = Posterior(
        described.mean,
        described.inclusion_probability,
        described.spread,
        law=described.law,
        covariates=scale.covariates,
        noise_variance=float(average.noise * scale.response_scale**2),
        degrees_of_freedom=max(beliefs.n, 1.0),
        free_energy=float("nan") if log_evidence is None else -log_evidence,
        optima=replace(optima, share=optima_weights),
        names=names,
        log_evidence=log_evidence,
        checked=checked,
        shapes=shapes,
    )
    return with_covariates(problem, posterior)
