"""Murphy's chapter 13: every printed number comes out again, and what figures claim holds."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression, lars_path
from sklearn.linear_model import Ridge as SklearnRidge

from garrote.datasets import load_prostate
from garrote.experiments.murphy.lasso_path import published_listing
from garrote.experiments.murphy.methods import (
    all_subsets,
    fit_lasso,
    fit_ridge,
    fit_subsets,
    lasso_knots,
)
from garrote.experiments.murphy.sparse_priors import local_maxima, log_prior
from garrote.experiments.murphy.thresholding import (
    hierarchical_penalty,
    hierarchical_threshold,
    search_minimum,
)
from studies import quick_study

pytestmark = pytest.mark.study


# --- the data and the methods


def test_the_two_prostate_tables_differ_in_one_cell_of_a_test_row():
    right, murphys = load_prostate(), load_prostate(corrected=False)
    assert right.X.shape == (97, 8)
    assert right.train.sum() == 67
    (row,), (column,) = np.nonzero(right.X != murphys.X)
    assert (row, right.names[column]) == (31, "lweight")
    assert not right.train[row]


def test_methods_minimise_the_objectives_that_the_text_states():
    X, y = load_prostate().standardised_on_training()
    n, strength = len(y), 5.0
    lasso = Lasso(alpha=strength / (2 * n), fit_intercept=False, tol=1e-12).fit(X, y)
    ridge = SklearnRidge(alpha=strength, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(fit_lasso(X, y, [strength])[0], lasso.coef_, atol=1e-8)
    np.testing.assert_allclose(fit_ridge(X, y, [strength])[0], ridge.coef_, atol=1e-8)
    subset = fit_subsets(X, y, [(), (0, 3)])
    assert not subset[0].any()
    expected = LinearRegression(fit_intercept=False).fit(X[:, [0, 3]], y).coef_
    np.testing.assert_allclose(subset[1, [0, 3]], expected)


def test_all_subsets_are_there_once():
    subsets = all_subsets(5)
    assert len(set(subsets)) == len(subsets) == 32
    assert subsets[0] == ()
    assert subsets[-1] == (0, 1, 2, 3, 4)


# --- printed numbers


def test_all_forty_numbers_of_table_13_1_agree_to_three_decimals():
    numbers = quick_study("murphy-table-13.1").numbers
    assert numbers["equal"] == 40
    for name, published in numbers["published"].items():
        np.testing.assert_allclose(numbers["numbers"][name], published, atol=5.01e-4)


def test_cross_validation_chooses_what_the_text_does():
    chosen = quick_study("murphy-table-13.1").numbers["chosen"]
    lambdas = np.logspace(2, 0, 30)
    assert all_subsets(8)[chosen["best subset"]] == (0, 1, 7)
    assert lambdas[chosen["ridge"]] == pytest.approx(1.0)
    assert lambdas[chosen["lasso"]] == pytest.approx(1.1721, abs=1e-4)


def test_every_digit_of_listing_13_1_is_reproduced():
    numbers = quick_study("murphy-listing-13.1").numbers
    assert numbers["equal"] == published_listing().size == 72
    assert numbers["path"].certificate.max() < 1e-10


def test_knots_on_the_prostate_data_are_those_of_scikit_learn():
    X, y = load_prostate().standardised_on_training()
    path = lasso_knots(X, y)
    alphas, _, coefs = lars_path(X, y, method="lasso")
    np.testing.assert_allclose(path.strengths, alphas, atol=1e-12)
    np.testing.assert_allclose(path.coefficients().toarray(), coefs.T, atol=1e-12)


def test_best_subsets_have_the_known_residual_sums_of_squares():
    known = [96.2814, 44.5286, 37.0918, 34.9077, 32.8150, 32.0694, 30.5398, 29.4373, 29.4264]
    numbers = quick_study("murphy-figure-13.2b").numbers
    np.testing.assert_allclose(numbers["best"], known, atol=5e-5)
    assert len(numbers["squares"]) == 256
    np.testing.assert_allclose(numbers["searched"], numbers["best"], rtol=1e-12)
    assert (np.diff(numbers["best"]) < 0).all()


# --- what figures claim


def test_soft_and_hard_thresholding_are_minima():
    numbers = quick_study("murphy-figure-13.5").numbers
    np.testing.assert_allclose(numbers["soft"], numbers["search"]["soft"], atol=3e-4)
    decided = np.abs(numbers["values"]) != 1.0  # where both answers cost the same
    np.testing.assert_allclose(
        numbers["hard"][decided], numbers["search"]["hard"][decided], atol=3e-4
    )


def test_the_lasso_on_a_polynomial_does_as_well_as_the_best_degree():
    numbers = quick_study("murphy-figure-13.6").numbers
    best = numbers["best"]
    ratio = np.median(best["lasso, best lambda"] / best["best degree"])
    assert 0.9 < ratio < 1.2
    assert np.median(best["degree 14"]) > 1.5 * np.median(best["lasso, best lambda"])
    assert (np.diff(numbers["lasso"][:, 0], axis=1) <= 1e-9).all()


def test_norms_of_groups_find_the_true_groups_and_single_sizes_do_not():
    normal, constant = (
        quick_study(f"murphy-figure-{name}").numbers["estimates"][0] for name in ("13.13", "13.14")
    )
    for found in (normal, constant):
        assert found["group lasso, length"].groups == 8
        assert found["group lasso, length"].error < 3e-4 < found["lasso"].error
    # The largest size suits coefficients of equal size only.
    assert constant["group lasso, largest size"].error < 3e-3
    assert normal["group lasso, largest size"].error > 3e-2


def test_ridge_keeps_all_variables_and_the_lasso_lets_them_in_one_by_one():
    profiles = quick_study("murphy-figure-13.7").numbers["profiles"]
    assert (profiles["ridge"].coef != 0).all()
    sizes = np.count_nonzero(profiles["lasso"].coef, axis=1)
    assert sizes[0] == 0
    assert sizes[-1] == 8
    assert (np.diff(sizes) >= 0).all()
    for profile in profiles.values():
        assert (np.diff(profile.bound) > -1e-12).all()
        least = np.argmin(profile.error)
        assert profile.chosen <= least
        assert profile.error[profile.chosen] <= profile.error[least] + profile.deviation[least]


def test_the_lasso_is_piecewise_linear_in_its_bound():
    numbers = quick_study("murphy-figure-13.8").numbers
    published = np.abs(published_listing()).sum(axis=1)
    np.testing.assert_allclose(numbers["bounds"], published, atol=4e-4)


@pytest.mark.parametrize("b", [2.0, 1.0, 0.4])
def test_exponential_power_priors_are_densities_of_unit_variance(b):
    w = np.concatenate([[0.0], np.geomspace(1e-9, 1e3, 200_001)])
    density = np.exp(log_prior(w, b))
    steps, middle = np.diff(w), (w[1:] + w[:-1]) / 2
    mass = (density[1:] + density[:-1]) * steps
    assert mass.sum() == pytest.approx(1.0, abs=1e-4)
    assert mass @ middle**2 == pytest.approx(1.0, abs=1e-3)


def test_modes_of_figure_13_17_lie_where_the_text_says():
    surfaces = quick_study("murphy-figure-13.17").numbers["surfaces"]
    gaussian, laplace, power = (surfaces[b].modes for b in (2.0, 1.0, 0.4))
    assert gaussian.shape == laplace.shape == (1, 2)
    assert (gaussian != 0).all()
    assert laplace[0, 0] == 0.0
    assert laplace[0, 1] != 0.0
    assert sorted((power == 0).sum(axis=1)) == [1, 1, 2]  # one on each axis, and 0 itself
    assert not power[-1].any()
    # A Gaussian posterior has its mode in closed form.
    x = np.array([1.0, 2.0])
    expected = np.linalg.solve(np.outer(x, x) / 0.09 + np.eye(2), 1.5 * x / 0.09)
    np.testing.assert_allclose(gaussian[0], expected, atol=1e-3)


def test_local_maxima_are_higher_than_all_neighbours():
    values = np.array([[0.0, 0, 0, 3], [0, 2, 1, 0], [0, 0, 0, 0]])
    assert local_maxima(values).tolist() == [[0, 3], [1, 1]]


def test_contours_of_the_hierarchical_penalty_bend_inwards():
    diagonal = quick_study("murphy-figure-13.18b").numbers["diagonal"]
    for b, place in diagonal.items():
        level = hierarchical_penalty(1.0, 1.0, b)
        assert 2 * hierarchical_penalty(place, 1.0, b) == pytest.approx(level)
        assert place < 0.5


def test_the_hierarchical_model_draws_from_the_density_of_its_penalty():
    numbers = quick_study("murphy-figure-13.18").numbers
    np.testing.assert_allclose(numbers["drawn"], numbers["expected"], rtol=0.06)
    penalty = hierarchical_penalty(numbers["expected"], 1.0, 0.1)
    # With a = 1 a density proportional to exp(-penalty) leaves exp(-penalty / 2) beyond.
    np.testing.assert_allclose(1 - np.exp(-penalty / 2), [0.1, 0.25, 0.5, 0.75, 0.9])


@pytest.mark.parametrize(("a", "b"), [(1.0, 0.01), (1.0, 1.0), (0.0, 3.0), (3.0, 0.5)])
def test_the_hierarchical_threshold_is_the_minimum(a, b):
    values = np.linspace(-9, 9, 73)
    found = search_minimum(values, lambda w: hierarchical_penalty(w, a, b))
    np.testing.assert_allclose(hierarchical_threshold(values, a, b), found, atol=3e-4)


def test_the_hierarchical_prior_hardly_shrinks_large_coefficients():
    numbers = quick_study("murphy-figure-13.19").numbers
    assert numbers["worst"] < 5e-4
    assert max(numbers["bias"].values()) < 0.3


def test_the_debiased_estimate_of_figure_13_9_has_the_spikes():
    for draw in quick_study("murphy-figure-13.9").numbers["draws"]:
        assert draw.missed == 0
        assert draw.exact
        assert draw.gap <= 1e-8
        assert (
            draw.error("debiased") < 0.1 * draw.error("lasso") < 0.1 * draw.error("least squares")
        )


def test_the_lecture_s_soft_thresholding_ends_in_the_optimum_once_it_is_put_right():
    numbers = quick_study("lecture-ista").numbers
    above, start = numbers["above"], numbers["start"]
    for name, alpha in (("lasso", 1.0), ("elastic net", 0.5)):
        assert (np.diff(above[name]) <= 1e-12).all()
        assert abs(above[name][-1]) < 1e-9 * start[alpha]
    assert above["lasso, as printed"][-1] > start[1.0]
    # Half of the ridge is another problem.
    assert above["elastic net, as printed but for the sign"][-1] > 1e-4 * start[0.5]


def test_a_column_that_points_away_from_y_is_best_without_variance():
    numbers = quick_study("murphy-figure-13.20").numbers
    away, towards = numbers["best"]
    assert away == 0.0
    assert 0.2 < towards < 2.0
    assert (np.diff(numbers["nearly orthogonal to y"]) < 0).all()


def test_the_bolasso_finds_the_true_set_over_a_range_where_the_lasso_never_does():
    numbers = quick_study("murphy-figure-13.10").numbers
    law, correct = numbers["law"], numbers["correct"]
    assert law.irrepresentable > 1
    assert correct[0].max() < 0.5
    assert np.count_nonzero(correct[32] > 0.9) >= 2
    # Fewer samples leave more in their intersection.
    true = law.coef != 0
    false = {m: found[..., ~true].mean() for m, found in numbers["chosen"].items()}
    assert false[32] < false[8] < false[2]
