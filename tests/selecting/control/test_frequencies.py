"""Counts of what resamples select, along paths of unequal lengths."""

import numpy as np

from garrote.selecting.control.frequencies import Frequencies, Trace, order_of_entry


def test_paths_that_begin_later_or_end_earlier_are_counted_where_they_are():
    free = np.ones(3, dtype=bool)
    long = Trace(
        np.array([1, 1, 0], bool), [np.array([0]), np.array([0]), np.array([0, 1])], above=1
    )
    short = Trace(np.array([0, 0, 1], bool), [np.array([2])], above=0)
    found = Frequencies.of([long, short], free, np.array([3.0, 2.0, 1.0]))
    np.testing.assert_array_equal(found.along.toarray(), [[1, 0, 0], [1, 0, 1], [1, 1, 1]])
    np.testing.assert_array_equal(found.hits, [1, 1, 1])
    np.testing.assert_array_equal(found.sizes, [2, 1])


def test_variables_are_ordered_by_entry_and_then_by_size():
    inside = [np.array([4]), np.array([1, 2, 4]), np.array([0, 1])]
    sizes = [np.array([0.1]), np.array([0.2, 0.5, 0.1]), np.array([9.0, 9.0])]
    assert order_of_entry(inside, sizes, 6).tolist() == [4, 2, 1, 0]


def test_strengths_after_which_nothing_comes_in_are_left_out():
    free = np.ones(2, dtype=bool)
    inside = [np.array([0]), np.array([0, 1]), np.array([0, 1]), np.array([0, 1])]
    trace = Trace(np.array([1, 1], bool), inside)
    found = Frequencies.of([trace], free, np.array([4.0, 3.0, 2.0, 1.0])).until_complete()
    assert found.strengths.tolist() == [4.0, 3.0]
