"""The factor of models with signs, kept up to date while columns come and go."""

import numpy as np
import pytest

from garrote.solvers.algebra.factor_updates import invert_root
from garrote.solvers.algebra.signed_factor import (
    add_signed,
    empty_signed_factor,
    fill_signed,
    remove_signed,
    turn_sign,
)


def test_a_signed_factor_that_was_walked_is_the_one_made_anew():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 9)), rng.standard_normal(40)
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
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
