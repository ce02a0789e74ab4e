"""SLOPE: its sequences, its share of false discoveries, and what it refuses."""

import numpy as np
import pytest
from scipy.stats import norm

from garrote import SparseRegressor
from garrote.penalties import L1, Slope, Terms
from garrote.penalties.sorting.sequences import bh_sequence, gaussian_sequence
from garrote.proximal import sorted_l1
from garrote.rules import dual_bound, proximal_point, restricted, total_cost, violation


def test_sequences_are_quantiles_and_do_not_rise():
    np.testing.assert_allclose(bh_sequence(5, 0.2), norm.isf(0.2 * np.arange(1, 6) / 10))
    few, many = gaussian_sequence(100, 0.1, 60), gaussian_sequence(100, 0.1, 1e9)
    np.testing.assert_allclose(many, bh_sequence(100, 0.1), rtol=1e-6)
    assert (np.diff(few) <= 0).all()
    assert few[-1] > many[-1]
    # By the definition: w(k) = 1 / (n - k - 1).
    by_hand = norm.isf(0.1 * 3 / 200) * np.sqrt(1 + (few[0] ** 2 + few[1] ** 2) / (60 - 2 - 1))
    assert few[2] == pytest.approx(min(by_hand, few[1]))


@pytest.mark.parametrize("signals", [0, 10, 40])
def test_the_share_of_false_discoveries_on_orthogonal_designs_is_that_of_benjamini_hochberg(
    signals,
):
    """Theorem 1.1 of Bogdan et al. (2015): at most q times the share of columns without an effect."""
    rng, q, count, trials = np.random.default_rng(signals), 0.2, 200, 300
    means = np.where(np.arange(count) < signals, 4.0, 0.0)
    shares = []
    for noise in rng.standard_normal((trials, count)):
        found = np.flatnonzero(sorted_l1(means + noise, 1.0, bh_sequence(count, q)))
        shares.append(np.mean(found >= signals) if len(found) else 0.0)
    error = np.std(shares) / np.sqrt(trials)
    bound = q * (count - signals) / count
    assert np.mean(shares) <= bound + 3 * error
    assert np.mean(shares) >= 0.5 * bound - 3 * error  # the aim is not missed by a long way


def test_a_fit_to_an_orthogonal_design_is_the_operator():
    rng = np.random.default_rng(0)
    X = np.sqrt(64) * np.linalg.qr(rng.standard_normal((64, 32)))[0]
    y = X[:, 0] - X[:, 1] + rng.standard_normal(64)
    model = SparseRegressor(Slope(q=0.2), 1 / 8, fit_intercept=False, standardize=False).fit(X, y)
    expected = sorted_l1(X.T @ y / 64, 1 / 8, bh_sequence(32, 0.2))
    np.testing.assert_allclose(model.coef_, expected, atol=1e-12)


def test_one_number_for_all_ranks_is_the_lasso():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 8)), rng.standard_normal(50)
    slope = SparseRegressor(Slope(np.ones(8)), 0.05).fit(X, y)
    lasso = SparseRegressor(L1(), 0.05).fit(X, y)
    np.testing.assert_allclose(slope.coef_, lasso.coef_, atol=1e-10)


def test_the_rule_knows_its_own_subgradients():
    rng = np.random.default_rng(0)
    terms = Terms.equal(7)._replace(factor=np.array([1.0, 1, 0, 1, 1, 1, 1]))
    rule = Slope(np.linspace(2, 0.5, 7)).at(0.5, terms)
    z = rng.standard_normal(7) * 2
    point = proximal_point(rule, z, 0.8)
    assert point[2] == z[2]
    off = violation(rule, (z - point) / 0.8, point, np.ones(7))
    np.testing.assert_allclose(np.delete(off, 2), 0.0, atol=1e-12)
    inside = np.flatnonzero(point)
    part = restricted(rule, inside)
    expected = total_cost(rule, np.arange(7), point)
    assert total_cost(part, np.arange(len(inside)), point[inside]) == pytest.approx(expected)
    assert dual_bound.dispatch(type(rule)) is not dual_bound.dispatch(object)


def test_signs_are_kept():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 5)) + rng.standard_normal((60, 1))
    y = X @ [1.0, -1.0, 0.5, 0.0, -0.5] + rng.standard_normal(60)
    model = SparseRegressor(Slope(), 0.02, bounds=(0, None)).fit(X, y)
    assert model.coef_.min() == 0
    assert model.certificate_["duality gap"] < 1e-8
    with pytest.raises(ValueError, match="bounds of 0 only"):
        SparseRegressor(Slope(), 0.02, bounds=(-1, 1)).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sequence": [1.0, 2.0, 0.5]}, "must not rise"),
        ({"sequence": [0.0, 0.0, 0.0]}, "charge nothing"),
        ({"sequence": "fdr"}, "sequence must be one of"),
        ({"sequence": [2.0, 1.0]}, "a number for each of 3 coefficients"),
        ({"q": 0.0}, "q must be a number between 0 and 1"),
        ({"sequence": "gaussian", "n_samples": 1}, "at least 2"),
    ],
)
def test_what_cannot_be_is_refused(settings, said):
    X, y = np.random.default_rng(0).standard_normal((2, 20, 3))
    with pytest.raises(ValueError, match=said):
        SparseRegressor(Slope(**settings), 0.1).fit(X, y[:, 0])


def test_factors_that_differ_are_refused():
    X, y = np.random.default_rng(0).standard_normal((2, 20, 3))
    with pytest.raises(ValueError, match="by their ranks"):
        SparseRegressor(Slope(), 0.1, penalty_factor=[1, 2, 1]).fit(X, y[:, 0])
