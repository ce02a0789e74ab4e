"""Resamples of rows: pairs have nothing in common, classes give their share, groups stay whole."""

import numpy as np
import pytest

from garrote.selecting.control.resampling import RowUnits, draw_resamples


def drawn(scheme, count, weights, strata=None, groups=None, seed=0):
    streams = np.random.SeedSequence(seed).spawn(count)
    return draw_resamples(scheme, count, streams, RowUnits.of(weights, strata, groups))


@pytest.mark.parametrize("rows", [20, 21])
def test_halves_of_a_pair_have_no_row_in_common(rows):
    parts = drawn("pairs", 6, np.ones(rows))
    assert len(parts) == 6
    for first, second in zip(parts[::2], parts[1::2], strict=True):
        assert not (first * second).any()
        assert first.sum() == second.sum() == rows // 2


def test_rows_without_weight_are_in_no_resample():
    weights = np.r_[np.zeros(5), np.full(10, 2.0)]
    for scheme in ("pairs", "half", "bootstrap"):
        for part in drawn(scheme, 4, weights):
            assert not part[:5].any()
            assert set(part[5:] % 2) == {0.0}


def test_every_class_gives_half_of_its_rows():
    strata = np.repeat([0, 1, 2], [10, 6, 3])
    for part in drawn("pairs", 4, np.ones(19), strata):
        assert [part[strata == k].sum() for k in range(3)] == [5, 3, 1]
    for part in drawn("bootstrap", 4, np.ones(19), strata):
        assert [part[strata == k].sum() for k in range(3)] == [10, 6, 3]


def test_rows_of_a_group_are_drawn_together():
    groups = np.repeat(np.arange(8), 4)
    for scheme in ("pairs", "half", "bootstrap"):
        for part in drawn(scheme, 4, np.ones(32), groups=groups):
            assert all(len(set(part[groups == g])) == 1 for g in range(8))
    for part in drawn("half", 4, np.ones(32), groups=groups):
        assert part.sum() == 16


def test_each_resample_has_a_stream_of_its_own():
    few, many = drawn("pairs", 4, np.ones(30)), drawn("pairs", 8, np.ones(30))
    for one, other in zip(few, many, strict=False):
        np.testing.assert_array_equal(one, other)
