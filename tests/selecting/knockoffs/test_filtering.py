"""Thresholds, q-values and e-values are those of plain loops."""

import numpy as np
import pytest

from garrote.selecting.knockoffs.filtering import (
    e_q_values,
    e_values,
    q_values,
    select_by_e_values,
    threshold,
)

TABLES = [np.random.default_rng(seed) for seed in range(8)]


def statistics(rng, count=40):
    """Return statistics of which some are 0, and some have equal sizes."""
    found = rng.standard_normal(count) + 1.5 * (rng.random(count) < 0.4)
    found[:3] = 0.0
    return found.round(1)


def plain_threshold(found, q, plus):
    for t in sorted(set(np.abs(found[found != 0]))):
        false = int(plus) + sum(w <= -t for w in found)
        if false / max(1, sum(w >= t for w in found)) <= q and any(w >= t for w in found):
            return t
    return np.inf


@pytest.mark.parametrize("rng", TABLES)
@pytest.mark.parametrize("plus", [True, False])
def test_the_threshold_is_that_of_a_plain_loop(rng, plus):
    found = statistics(rng)
    for q in (0.05, 0.1, 0.2, 0.5):
        assert (found >= threshold(found, q, plus)).tolist() == (
            found >= plain_threshold(found, q, plus)
        ).tolist()


@pytest.mark.parametrize("rng", TABLES)
@pytest.mark.parametrize("plus", [True, False])
def test_a_q_value_is_the_least_rate_at_which_a_group_is_selected(rng, plus):
    found = statistics(rng)
    values = q_values(found, plus)
    for q in np.linspace(0.01, 0.99, 99):
        assert ((values <= q) == (found >= threshold(found, q, plus))).all()


@pytest.mark.parametrize("rng", TABLES)
def test_e_values_are_those_of_the_definition(rng):
    found = statistics(rng)
    t = plain_threshold(found, 0.3, True)
    expected = [len(found) * (w >= t) / (1 + sum(v <= -t for v in found)) for w in found]
    np.testing.assert_allclose(e_values(found, 0.3), expected)


@pytest.mark.parametrize("rng", TABLES)
def test_e_bh_is_a_plain_loop(rng):
    values = np.where(rng.random(30) < 0.5, 0.0, 40 * rng.random(30))
    for q in (0.05, 0.1, 0.3, 0.7):
        most = 0
        for k in range(1, 31):
            if np.sort(values)[-k] >= 30 / (q * k):
                most = k
        expected = np.zeros(30, dtype=bool)
        if most:
            expected = values >= np.sort(values)[-most]
        assert select_by_e_values(values, q).tolist() == expected.tolist()
        assert ((e_q_values(values) <= q) == expected).all()


@pytest.mark.parametrize("rng", TABLES)
def test_one_copy_is_selected_from_by_e_values_as_by_the_filter(rng):
    found = statistics(rng)
    for q in (0.1, 0.2, 0.4):
        assert (select_by_e_values(e_values(found, q), q) == (found >= threshold(found, q))).all()


def test_nothing_is_selected_where_all_statistics_are_zero_or_negative():
    for found in (np.zeros(5), -np.ones(5), np.zeros(0)):
        assert threshold(found, 0.5) == np.inf
        assert (q_values(found) == 1).all()
        assert not e_values(found, 0.5).any()
