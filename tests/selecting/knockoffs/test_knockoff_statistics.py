"""Statistics of columns against their copies change sign with an exchange, and grow with evidence."""

import numpy as np
import pytest

from garrote.selecting.knockoffs.statistics import differences, log_odds_ratios, signed_maxima

GROUPS = np.array([0, 0, 1, 2])


@pytest.mark.parametrize("statistic", [differences, signed_maxima, log_odds_ratios])
def test_an_exchange_of_a_group_and_its_copy_changes_the_sign_of_its_statistic_alone(statistic):
    rng = np.random.default_rng(0)
    one, other = rng.random(4), rng.random(4)
    turned = GROUPS == 0
    before = statistic(one, other, GROUPS)
    after = statistic(np.where(turned, other, one), np.where(turned, one, other), GROUPS)
    np.testing.assert_allclose(after, before * [-1, 1, 1])


def test_statistics_of_single_columns_are_those_of_the_papers():
    one, other, each = np.array([2.0, -1.0, 0.0]), np.array([-0.5, 3.0, 0.0]), np.arange(3)
    np.testing.assert_allclose(differences(one, other, each), [1.5, -2.0, 0.0])
    np.testing.assert_allclose(signed_maxima(np.abs(one), np.abs(other), each), [2.0, -3.0, 0.0])
    found = log_odds_ratios(np.array([0.9, 0.5, 1.0]), np.array([0.5, 0.9, 1.0]), each)
    np.testing.assert_allclose(found, [np.log(9), -np.log(9), 0.0])


def test_a_group_has_the_length_of_its_coefficients():
    found = differences(np.array([3.0, 4.0, 1.0, 0.0]), np.zeros(4), GROUPS)
    np.testing.assert_allclose(found, [5.0, 1.0, 0.0])
    several = differences(np.array([[3.0, 0, 0, 0], [4.0, 0, 0, 0]]), np.zeros((2, 4)), GROUPS)
    np.testing.assert_allclose(several, [5.0, 0.0, 0.0])
