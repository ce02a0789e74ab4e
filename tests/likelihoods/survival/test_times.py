"""Times as they come: arrays, records and data frames, and what is refused with its row."""

import numpy as np
import pandas as pd
import pytest

from garrote.likelihoods import survival_times
from garrote.likelihoods.survival.times import read_times

TIME, EVENT = [3.0, 1.0, 2.0], [1, 0, 1]


@pytest.mark.parametrize(
    "y",
    [
        survival_times(TIME, EVENT),
        survival_times(TIME, np.array(EVENT, bool)),
        np.column_stack([TIME, EVENT]),
        np.column_stack([[0.0, 0.0, 0.0], TIME, EVENT])[:, 1:],
        pd.DataFrame({"status": EVENT, "Time": TIME}),
        np.array(
            list(zip([True, False, True], TIME, strict=True)), [("cens", bool), ("days", float)]
        ),
    ],
    ids=["records", "truths", "two columns", "a view", "data frame", "scikit-survival"],
)
def test_every_form_is_read_alike(y):
    found = read_times(y)
    assert found.stop.tolist() == TIME
    assert found.event.tolist() == EVENT
    assert np.isneginf(found.start).all()


def test_start_and_strata_are_read():
    found = read_times(survival_times(TIME, EVENT, start=[0, 0.5, 1], strata=["b", "a", "b"]))
    assert found.start.tolist() == [0, 0.5, 1]
    assert found.stratum.tolist() == [1, 0, 1]
    assert found.strata == ("a", "b")
    assert read_times(np.column_stack([[0, 0.5, 1], TIME, EVENT])).start.tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"time": [3, -1, 2], "event": EVENT}, "must not be negative, got -1 at row 1"),
        ({"time": TIME, "event": [0, 0, 0]}, "all 3 rows are censored"),
        ({"time": TIME, "event": EVENT, "start": [0, 1, 0]}, "start 1 and stop 1 at row 1"),
        ({"time": TIME, "event": [1, 2, 1]}, "subtract 1"),
        ({"time": TIME, "event": [0, 1, 2]}, "competing risks"),
        ({"time": TIME, "event": [0, 1, 7]}, "got 0, 1, 7: make it 1"),
        ({"time": [3, np.nan, 2], "event": EVENT}, "time is missing or not finite at row 1"),
        ({"time": TIME, "event": [1, np.nan, 0]}, "event is missing or not finite at row 1"),
        (
            {"time": ["3", "soon", "2"], "event": EVENT},
            "time must hold numbers, got 'soon' at row 1",
        ),
        ({"time": TIME, "event": EVENT, "strata": ["a", None, "b"]}, "stratum is missing at row 1"),
    ],
)
def test_bad_times_are_refused_with_their_row_and_the_remedy(parts, said):
    with pytest.raises(ValueError, match=said):
        read_times(survival_times(**parts))


def test_other_responses_are_refused():
    with pytest.raises(ValueError, match=r"needs a time and an event for each row.*shape \(3,\)"):
        read_times(np.array(TIME))
    with pytest.raises(ValueError, match=r"'weeks'"):
        read_times(pd.DataFrame({"weeks": TIME, "arrest": EVENT}))
    with pytest.raises(ValueError, match="differ in length"):
        survival_times(TIME, EVENT[:2])
