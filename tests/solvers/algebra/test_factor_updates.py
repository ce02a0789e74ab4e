"""Triangular systems in kernels, against their definition."""

import numpy as np
import pytest

from garrote.solvers.algebra.factor_updates import solve_transposed, solve_upper


@pytest.mark.parametrize("size", [1, 3, 4, 5, 8, 11])
def test_triangular_systems_are_solved_whatever_their_size(size):
    rng = np.random.default_rng(size)
    root = np.zeros((size + 2, size + 3))  # room to grow
    root[:size, :size] = np.triu(rng.standard_normal((size, size))) + 3 * np.eye(size)
    right, triangle = rng.standard_normal((2, size)), root[:size, :size]
    transposed, upper = right.copy(), right[0].copy()
    solve_transposed(root, transposed, size)
    solve_upper(root, upper, size)
    np.testing.assert_allclose(transposed @ triangle, right, atol=1e-13)
    np.testing.assert_allclose(triangle @ upper, right[0], atol=1e-13)
