"""Variational Optimization: what its figures and tables state comes out again."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.svm import SVC

from garrote.experiments.variational_optimization.lassos import draw_lasso
from garrote.experiments.variational_optimization.machines import COST, draw_machines
from studies import quick_study

pytestmark = pytest.mark.study


def test_the_average_lasso_has_its_least_beside_zero_and_close_to_any_other_optimum():
    optima = quick_study("vo-figure-1").numbers["optima"]
    zero, beside = optima["(b)"]
    assert zero == 0.0
    assert (np.diff(beside) > 0).all()
    assert 0 < beside[0] < 0.03
    far, close = optima["(c)"]
    assert far == 0.75
    assert abs(close[0] - far) < 1e-10


def test_the_average_adds_most_at_zero():
    numbers = quick_study("vo-figure-2").numbers
    np.testing.assert_allclose(numbers["ours"], numbers["printed"], atol=1e-14)
    assert numbers["ours"].argmax() == 0
    assert numbers["ours"][0] == pytest.approx(np.sqrt(2 / np.pi))
    by_hand = quad(lambda w: abs(w) * norm.pdf(w, 1.0), -9, 11, points=[0.0])[0] - 1.0
    assert numbers["ours"][2] == pytest.approx(by_hand, abs=1e-9)


def test_all_solvers_of_table_1_end_where_the_text_s_do():
    numbers = quick_study("vo-table-1").numbers
    for errors in numbers["errors"].values():
        worst = dict(zip(numbers["names"], errors.max(axis=0), strict=True))
        assert worst.pop("subgradients") < 1e-2
        assert max(worst.values()) <= 1e-12
        assert errors.min() >= 0.0


def test_fused_lassos_by_smoothing_are_optimal_and_by_the_text_s_steps_as_near_as_it_says():
    numbers = quick_study("vo-fused").numbers
    printed, other, ours = numbers["error"].values()
    assert np.abs(ours).max() <= 1e-12
    assert 0 < other.mean() <= 2e-4
    # As printed, widths outrun the steps.
    assert printed.mean() > 5 * other.mean()
    assert numbers["distance"]['method="smoothing"'].max() <= 1e-9


def test_smooth_hinges_are_farthest_above_at_their_kinks_and_narrow_ones_change_more_quickly():
    numbers = quick_study("vo-figure-3").numbers
    averaged, huber = numbers["most"]["gaussian"], numbers["most"]["huber"]
    for width, (least, most, bend, third) in zip((0.1, 0.5, 1.0), averaged, strict=True):
        assert least >= 0
        assert most == pytest.approx(width * norm.pdf(0), rel=1e-6)
        assert bend == pytest.approx(norm.pdf(0) / width, rel=1e-6)
        assert third == pytest.approx(norm.pdf(1) / width**2, rel=1e-4)
    for width, (least, most, bend, _) in zip((0.1, 0.5, 1.0), huber, strict=True):
        assert (least, most, bend) == pytest.approx((0.0, width / 4, 0.5 / width))
    # Eq. 38 as printed meets the hinge for h = 1 alone.
    assert [*numbers["printed"].values()] == pytest.approx([2.45025, 0.28125, 0.0])


def test_all_ways_to_train_the_machines_of_section_3_2_come_near_the_least():
    for one in quick_study("vo-figure-4").numbers["found"].values():
        for name, seconds in one.seconds.items():
            assert np.isfinite(seconds).all(), name
        # Newton's steps are few beside those of L-BFGS.
        assert (one.steps["SmoothSVC, products"] < one.steps["VO"] / 3).all()
        assert not one.separated.any()


def test_the_quadratic_programme_is_solved_to_its_end_and_the_data_lie_3_5_apart():
    machines = draw_machines(np.random.default_rng(0), 120, 6)
    assert machines.best.relative < 1e-6
    theirs = SVC(C=COST / 2, kernel="precomputed", tol=1e-9).fit(machines.kernel, machines.y)
    alpha, coef = 2 * np.abs(theirs.dual_coef_[0]), np.zeros(120)
    coef[theirs.support_] = theirs.dual_coef_[0]
    most = alpha.sum() - coef @ machines.kernel @ coef  # of libsvm's dual, whose norm is halved
    assert machines.best.objective == pytest.approx(most, rel=1e-7)
    wide = draw_machines(np.random.default_rng(1), 600, 2)
    above, below = (wide.X[wide.y == side].mean(axis=0) for side in (1, -1))
    assert np.linalg.norm(above - below) == pytest.approx(3.5, abs=0.3)
    assert np.linalg.norm(below) < 0.3


def test_data_are_those_of_equations_19_and_23():
    rng = np.random.default_rng(0)
    truth = np.concatenate([draw_lasso(rng, 100).truth for _ in range(30)])
    assert np.mean(truth == 0) == pytest.approx(0.5, abs=0.04)
    assert np.abs(truth[truth != 0]).mean() == pytest.approx(5.0, abs=0.1)
    assert np.abs(truth[truth != 0]).std() == pytest.approx(1.0, abs=0.1)
    lassos = [draw_lasso(rng, 100, fused=True) for _ in range(30)]
    equal = [np.mean(np.diff(lasso.truth) == 0) for lasso in lassos]
    # Half are the one before, and a quarter of two in a row are 0 anew: 0.5 + 0.25 P(0).
    assert np.mean(equal) == pytest.approx(0.5 + 0.25 * 0.5, abs=0.04)
    assert lassos[0].X.shape == (1000, 100)


def test_annealed_switches_reach_the_maximum_between_their_bounds():
    numbers = quick_study("vo-binary").numbers
    for small in numbers["small"].values():
        assert small.hits["annealing"] >= 7  # of 8
        assert (small.means <= 1).all()
        assert (small.bounds >= 1 - 1e-9).all()
    assert numbers["small"]["sparse"].bounds[:, 0].mean() < 1.05
    for large in numbers["large"]:
        assert large.found["annealing"] >= 0.99
        assert 1.0 < large.bound < 1.15
