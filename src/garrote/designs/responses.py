"""A response beside a standardised design: in standard deviations, less what covariates explain."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.designs.standardized import StandardizedDesign
from garrote.limits.magnitudes import refuse_small_response

# What covariates leave of a response is rounding below this share of it.
_EXPLAINED = 1e-12


class Numbers(NamedTuple):
    """A response as numbers, in standard deviations from its mean; ``beside`` is less its covariates."""

    mean: float
    spread: float
    standardized: Floats
    beside: Floats


def as_numbers(design: StandardizedDesign, y: Floats, scaled: bool) -> Numbers:
    """Return a response, the first of several, as numbers of one regression."""
    first, weights = y if y.ndim == 1 else y[:, 0], design.weights
    mean = float(np.average(first, weights=weights)) if design.centered else 0.0
    centered = first - mean
    spread = _root_mean_square(centered, weights)
    if spread <= 1e-14 * abs(mean):
        spread, centered = 1.0, np.zeros_like(centered)
    refuse_small_response(spread)
    spread = spread if scaled else 1.0
    standardized = centered / spread
    beside = design.project(standardized[:, None])[:, 0]
    whole = _root_mean_square(standardized, weights)
    if _root_mean_square(beside, weights) <= _EXPLAINED * whole:
        beside = np.zeros_like(beside)
    return Numbers(mean, spread, standardized, beside)


def _root_mean_square(values: Floats, weights: Floats) -> float:
    largest = np.abs(values[weights > 0]).max(initial=0.0)
    if largest == 0.0:
        return 0.0
    return float(largest * np.sqrt(weights @ (values / largest) ** 2 / weights.sum()))


def covariate_maps(design: StandardizedDesign, response: Floats) -> tuple[Floats, Floats]:
    """Least-squares coefficients of the covariates for the response and for every column."""
    if not len(design.covariates):
        return np.zeros(0), np.zeros((0, design.shape[1]))
    root = np.sqrt(design.weights)
    weighted = np.linalg.pinv(root[:, None] * design._standardize(design.covariates))
    inverse = np.divide(weighted, root, out=np.zeros_like(weighted), where=root > 0)
    return (inverse * design.weights) @ response, design.tdot(inverse)
