"""Models with signs: their sums against plain NumPy, and their factor against one made anew."""

import numpy as np
import pytest

from garrote.priors import TwoHumpedSlab
from garrote.solvers.models.signed.signed_enumeration import enumerate_signed
from reference_humps import all_models


def _data(n=25, D=4, size=0.7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    signs = np.where(np.arange(D) % 2, -1.0, 1.0)
    return X, X @ (size * signs * (np.arange(D) % 3 != 1)) + 0.8 * rng.standard_normal(n)


@pytest.mark.parametrize("noise", [None, 0.6])
@pytest.mark.parametrize("separation", [0.5, 0.98])
def test_sums_over_models_and_signs_are_those_of_the_reference(noise, separation):
    X, y = _data()
    by_size, log_odds = -np.log(np.arange(1.0, 6.0)), np.array([-0.3, 0.2, 0.0, 0.1])
    exact = all_models(
        X, y, lambda own: by_size[len(own)] + log_odds[own].sum(), [(0.0, 1.7, separation)], noise
    )
    rule = TwoHumpedSlab(1.7, noise, separation=separation).rule(len(y), y @ y, 4)
    found = enumerate_signed(rule, X.T @ X, X.T @ y, y @ y, by_size, log_odds)
    np.testing.assert_allclose(found.inclusion, exact[0], atol=1e-8)
    np.testing.assert_allclose(found.mean, exact[1], atol=1e-8)
    np.testing.assert_allclose(found.second_moment, exact[2], atol=1e-8)
    assert found.noise == pytest.approx(exact[3], rel=1e-7)
    # In log odds, which strong effects have far beyond what probabilities can tell.
    stated = np.empty(16)
    order = [sum(2**j for j in range(4) if m >> (3 - j) & 1) for m in range(16)]
    for bits, log in zip(found.models, found.log_weights, strict=True):
        stated[order.index(int(bits))] = log
    logs = exact[6][0]
    np.testing.assert_allclose(stated - stated[0], logs - logs[0], atol=1e-7)


def test_log_odds_of_strong_effects_are_right():
    rng = np.random.default_rng(3)
    n = 10_000
    X = rng.standard_normal((n, 2))
    y = X @ [1.0, -1.0] + 0.05 * rng.standard_normal(n)
    slab = TwoHumpedSlab(100.0, 0.0025, separation=0.9)
    found = enumerate_signed(
        slab.rule(n, y @ y, 2), X.T @ X, X.T @ y, y @ y, np.zeros(3), np.zeros(2)
    )
    logs = dict(zip(found.models.tolist(), found.log_weights, strict=True))
    m2, s2 = 0.9 * 100 * 0.0025, 0.1 * 100 * 0.0025
    # One column beside none, by the scalar integral over its coefficient.
    a, b = X[:, 0] @ X[:, 0] / 0.0025, X[:, 0] @ y / 0.0025
    parts = []
    for mean in (np.sqrt(m2), -np.sqrt(m2)):
        precision, shift = a + 1 / s2, b + mean / s2
        parts.append(shift**2 / precision / 2 - mean**2 / s2 / 2 - np.log(s2 * precision) / 2)
    exact = np.logaddexp(*parts) - np.log(2)
    assert exact > 1e5
    assert logs[1] - logs[0] == pytest.approx(exact, rel=1e-12)
