"""Coefficients of one model under slabs of two humps, signs summed over."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.models.signed.sign_sums import describe_over_slabs


def signed_evidences(found: Any, m: int, rules: Sequence[Any], every: bool) -> Floats:
    """Return the log evidence of the m-th model, by its spectrum, under each of some rules.

    With ``every`` all signs are summed over, and else those of larger models are independent.
    """
    logs, weights = np.zeros(len(rules)), np.zeros(len(rules))
    empty = np.zeros(0), np.zeros((0, 0)), np.zeros(1)
    describe_over_slabs(rules[0], _slabs(rules), *_parts(found, m), every, weights, logs, *empty)
    return logs


def signed_moments(
    found: Any, m: int, rules: Sequence[Any], weights: Floats
) -> tuple[Floats, Floats, float]:
    """Return weighted sums over rules: coefficients, their products, and the noise variance."""
    k = found.size
    mean, second, noise = np.zeros(k), np.zeros((k, k)), np.zeros(1)
    logs = np.zeros(len(rules))
    describe_over_slabs(
        rules[0], _slabs(rules), *_parts(found, m), False, weights, logs, mean, second, noise
    )
    return mean, second, float(noise[0])


def _slabs(rules: Sequence[Any]) -> Floats:
    return np.array([(rule.ridge, rule.lift, rule.height) for rule in rules])


def _parts(found: Any, m: int) -> tuple[Floats, Floats, Floats, float]:
    values, vectors, products = found.values[m], found.vectors[m], found.products[m]
    return values, np.ascontiguousarray(vectors), np.ascontiguousarray(products), float(found.yty)
