"""Murphy's drawings: the points in them are where they should be."""

import numpy as np
import pytest
from scipy.optimize import minimize

from garrote.experiments.murphy.sketches.balls import in_l1_ball, in_l2_ball
from studies import quick_study

pytestmark = pytest.mark.study


def test_the_l1_ball_of_figure_13_3_is_met_in_a_corner_and_the_l2_ball_is_not():
    numbers = quick_study("murphy-figure-13.3").numbers
    found, searched = numbers["drawing"].found, numbers["drawing"].searched
    np.testing.assert_allclose(found["l1"], [0.0, 1.0], atol=1e-12)
    assert (found["l2"] != 0).all()
    for name, coef in found.items():
        np.testing.assert_allclose(coef, searched[name], atol=1e-4)
    few, many = numbers["zeros"][2], numbers["zeros"][8]
    assert many[:, 1].mean() > few[:, 1].mean() > 0
    assert not few[:, 2].any()
    assert not many[:, 2].any()


@pytest.mark.parametrize("bound", [0.3, 1.0, 100.0])
def test_coefficients_in_a_ball_have_the_least_error_there(bound):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 4)), rng.standard_normal(20)

    def squares(coef):
        return np.sum((y - X @ coef) ** 2)

    for order, solve in ((1, in_l1_ball), (2, in_l2_ball)):
        coef = solve(X, y, bound)
        assert np.linalg.norm(coef, order) <= bound * (1 + 1e-9)
        # In positive and negative parts both constraints are smooth.
        inside = {
            "type": "ineq",
            "fun": lambda parts, order=order: (
                bound - parts.sum()
                if order == 1
                else bound**2 - np.sum((parts[:4] - parts[4:]) ** 2)
            ),
        }
        expected = minimize(
            lambda parts: squares(parts[:4] - parts[4:]),
            np.full(8, 0.01), bounds=[(0, None)] * 8, constraints=inside,
            options={"ftol": 1e-14, "maxiter": 1000},
        )  # fmt: skip
        assert squares(coef) <= expected.fun * (1 + 1e-6)


def test_the_lasso_is_0_where_0_is_a_subderivative():
    numbers = quick_study("murphy-figure-13.4").numbers
    for kink in numbers["kinks"]:
        np.testing.assert_allclose(kink.limits, kink.printed, atol=1e-6)
        assert (kink.answer == 0) == (kink.printed[0] <= 0 <= kink.printed[1])
        assert kink.below >= -1e-12
        assert kink.crosses
    assert numbers["begins"] == pytest.approx(2 * numbers["printed"])


def test_a_projected_step_is_the_nearest_point_and_leads_downhill_to_the_minimum():
    numbers = quick_study("murphy-figure-13.11").numbers
    for one in numbers["steps"].values():
        np.testing.assert_allclose(one.projected, one.nearest, atol=0.02)
        # Along a round border the grid's best point may lie some steps of 0.01 aside.
        np.testing.assert_allclose(one.path[-1], one.best, atol=0.05)
        assert numbers["gradient"] @ one.direction < 0
    assert numbers["steps"]["l1 ball, Eq. 13.75"].path[-1].tolist() == [1.0, 0.0]


def test_both_lambdas_can_be_read_off_the_lines_of_figure_13_24():
    numbers = quick_study("murphy-figure-13.24").numbers
    assert max(numbers["apart"].values()) < 1e-12
    assert numbers["read"]["lambda_1"] == pytest.approx(1.0)
    assert numbers["read"]["lambda_2"] == pytest.approx(1.0)
