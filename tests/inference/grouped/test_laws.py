"""Groups of a law are found among the columns of a table, by names and values."""

import numpy as np

from garrote.inference.grouped.laws import groups_of, resolve_law
from garrote.priors import BetaInclusion, GroupedInclusion


def test_indicators_of_one_variable_are_one_group_with_its_name():
    X = np.array([[1, 0, 0.5], [0, 1, 0.2], [0, 0, 0.1]])
    law = resolve_law(GroupedInclusion(), 3, np.array(["site_a", "site_b", "age"]), X)
    found = groups_of(law)
    assert found.labels == ("site", "age")
    assert found.numbers.tolist() == [0, 0, 1]


def test_other_laws_have_no_groups():
    assert resolve_law(None, 3) == BetaInclusion()
    assert groups_of(resolve_law(0.5, 3)) is None
