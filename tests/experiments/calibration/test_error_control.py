"""What the comparison of error control counts, against a plain count on the same tables."""

import numpy as np
import pytest

from garrote.experiments import StudySettings, run_study
from garrote.experiments.calibration.error_control import WAYS, tally


def test_false_and_found_are_counted_as_they_are():
    seen = []

    def first_ten(X, y, number):
        seen.append((X, y, number))
        return np.arange(10)

    found = tally(0.9, first_ten, StudySettings(seed=3), 4)
    assert [number for *_, number in seen] == [0, 1, 2, 3]
    assert seen[0][0].shape == (300, 100)
    assert np.corrcoef(seen[0][0][:, 4], seen[0][0][:, 5])[0, 1] == pytest.approx(0.9, abs=0.05)
    np.testing.assert_array_equal(found.selected, 10.0)
    # Of ten columns what is not false is true, and there are 20 true ones.
    np.testing.assert_allclose(found.found * 20, 10 * (1 - found.false_share))
    nothing = tally(0.0, lambda X, y, number: np.array([], dtype=int), StudySettings(), 2)
    np.testing.assert_array_equal(nothing.false_share, 0.0)


@pytest.mark.slow
def test_what_is_promised_is_kept_where_columns_are_independent():
    numbers = run_study("error-control", StudySettings(quick=True, instances=20)).numbers
    for name in WAYS:
        shares = numbers["independent columns", name].false_share
        if name == "lasso":
            assert shares.mean() > 0.3
        else:
            assert shares.mean() <= 0.1 + 2 * shares.std(ddof=1) / np.sqrt(len(shares))
