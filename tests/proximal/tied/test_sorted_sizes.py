"""The operator of the sorted l1 norm: by its optimality, by brute force, by isotonic regression."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from garrote.proximal import soft_threshold, sorted_l1

numbers = st.lists(st.floats(-5, 5).map(lambda v: round(v, 1)), min_size=1, max_size=6)


def charge(z, sequence):
    return float(np.sort(np.abs(z))[::-1] @ sequence)


@settings(max_examples=60, deadline=None)
@given(x=numbers, seed=st.integers(0, 1000))
def test_nothing_near_or_far_is_better(x, seed):
    rng = np.random.default_rng(seed)
    sequence = np.sort(rng.uniform(0, 2, len(x)).round(1))[::-1]
    z = sorted_l1(x, 0.7, sequence)

    def objective(at):
        return 0.5 * np.sum((at - x) ** 2) + 0.7 * charge(at, sequence)

    for size in (1e-3, 0.1, 1.0):
        for other in z + size * rng.standard_normal((50, len(x))):
            assert objective(z) <= objective(other) + 1e-12
    # The rest is a subgradient: its k largest entries sum to no more than the first k numbers.
    rest = np.asarray(x) - z
    assert (np.cumsum(np.sort(np.abs(rest))[::-1]) <= 0.7 * np.cumsum(sequence) + 1e-9).all()
    assert rest @ z == pytest.approx(0.7 * charge(z, sequence), abs=1e-9)


def test_it_is_isotonic_regression_of_sorted_sizes():
    x = np.random.default_rng(1).standard_normal(200)
    sequence = np.linspace(1.0, 0.0, 200)
    order = np.argsort(-np.abs(x))
    expected = np.zeros(200)
    fitted = isotonic_regression(np.abs(x)[order] - sequence, increasing=False)
    expected[order] = np.sign(x[order]) * np.maximum(fitted, 0)
    np.testing.assert_allclose(sorted_l1(x, 1.0, sequence), expected, atol=1e-13)


def test_a_constant_sequence_is_soft_thresholding_and_types_stay():
    x = np.array([3.0, -0.2, 1.0], dtype=np.float32)
    z = sorted_l1(x, 0.5, np.ones(3))
    assert z.dtype == np.float32
    np.testing.assert_allclose(z, soft_threshold(x, 0.5))


@pytest.mark.parametrize(
    ("sequence", "said"),
    [
        ([1.0, 2.0], "must not rise, got 1 and then 2 at position 1"),
        ([1.0, -2.0], "got -2.0 at position 1"),
        ([np.nan, 1.0], "got nan at position 0"),
        ([1.0], "a number for each of 2 coefficients"),
        ("bh", "a number for each of 2 coefficients"),
    ],
)
def test_sequences_that_cannot_be_are_refused(sequence, said):
    with pytest.raises(ValueError, match=said):
        sorted_l1([1.0, 2.0], 1.0, sequence)
