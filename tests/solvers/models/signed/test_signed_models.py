"""Models with signs: their sums against plain NumPy, and their factor against one made anew."""

import numpy as np
import pytest

from garrote.priors import TwoHumpedSlab
from garrote.solvers.algebra.factor_updates import invert_root
from garrote.solvers.algebra.signed_factor import (
    add_signed,
    empty_signed_factor,
    fill_signed,
    remove_signed,
    turn_sign,
)
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


def test_a_signed_factor_that_was_walked_is_the_one_made_anew():
    X, y = _data(40, 9)
    gram, xty, lengths = X.T @ X, X.T @ y, np.sum(X * X, axis=0)
    walked, anew = empty_signed_factor(9, 16), empty_signed_factor(9, 16)
    given = gram, np.arange(9), lengths, xty, y @ y, 0.7
    fill_signed(*given, np.zeros(0, np.int64), np.zeros(0), walked)
    for j, sign in ((3, 1.0), (0, -1.0), (7, 1.0), (5, -1.0), (1, 1.0)):
        add_signed(gram[j], j, sign, walked)
    remove_signed(0, walked)
    inverse = np.zeros((16, 16))
    invert_root(walked.root, inverse, 4)
    turn_sign(5, inverse, walked)
    add_signed(gram[2], 2, -1.0, walked)
    remove_signed(3, walked)
    fill_signed(*given, np.array([7, 5, 1, 2]), np.array([1.0, 1.0, 1.0, -1.0]), anew)
    for name in ("place", "sign", "pivot", "product", "left", "tilt", "cross", "lean"):
        np.testing.assert_allclose(getattr(walked, name), getattr(anew, name), atol=1e-9)
    own = [7, 5, 1, 2]
    block = np.linalg.inv(gram[np.ix_(own, own)] + 0.7 * np.eye(4))
    t = np.array([1.0, 1.0, 1.0, -1.0])
    assert anew.cross[0] == pytest.approx(t @ block @ xty[own])
    assert anew.lean[0] == pytest.approx(t @ block @ t)
    np.testing.assert_allclose(anew.tilt[[0, 8]], -gram[[0, 8]][:, own] @ block @ t)
