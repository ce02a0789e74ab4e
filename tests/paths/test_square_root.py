"""The square-root lasso: against skglm, its own objective, and the noise that it need not know."""

import json
from pathlib import Path

import numpy as np
import pytest

from garrote import SparseRegressor
from garrote.likelihoods import Quantile
from garrote.paths import SquareRoot

STORED = json.loads((Path(__file__).parents[1] / "data" / "multi_response.json").read_text())
X = np.array(STORED["table"]["X"])
Y = np.array(STORED["table"]["Y"])
y, N = Y[:, 0], len(Y)


@pytest.mark.parametrize("place", [0, 1])
def test_coefficients_are_those_of_skglm(place):
    # skglm has the length of the residual where we have the root of its mean square.
    level = STORED["levels"][place] / np.sqrt(N)
    model = SparseRegressor(alpha=SquareRoot(level), standardize=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, STORED["square root"][place], atol=1e-9)
    assert model.certificate_["duality gap"] < 1e-9


@pytest.mark.parametrize("level", [0.05, 0.3])
def test_no_other_coefficients_do_better_and_the_gap_says_so(level):
    weights, offset = np.array(STORED["table"]["weights"]), X[:, 2]
    model = SparseRegressor(alpha=SquareRoot(level)).fit(X, y, weights, offset=offset)
    share = weights / weights.sum()
    scale = np.sqrt(share @ (X - share @ X) ** 2)

    def objective(coef):
        left = y - offset - X @ coef
        left = left - share @ left
        return np.sqrt(share @ left**2) + level * np.abs(coef * scale).sum()

    best, rng = objective(model.coef_), np.random.default_rng(0)
    for size in (1e-1, 1e-3, 1e-5):
        others = model.coef_ + size * rng.standard_normal((100, X.shape[1]))
        assert min(map(objective, others)) >= best - 1e-12
    left = y - offset - model.intercept_ - X @ model.coef_
    assert model.alpha_ == pytest.approx(level * np.sqrt(share @ left**2), rel=1e-9)


def test_the_selection_does_not_change_with_the_unit_of_the_response():
    one, other = (SparseRegressor(alpha="square-root").fit(X, unit * y) for unit in (1.0, 1e3))
    np.testing.assert_allclose(other.coef_, 1e3 * one.coef_, rtol=1e-9)
    assert one.get_support().any()


def test_a_level_beyond_all_correlations_selects_nothing():
    model = SparseRegressor(alpha=SquareRoot(3.0)).fit(X, y)
    assert not model.coef_.any()
    assert model.certificate_.value < 1e-12


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"penalty": "ridge"}, "SquareRoot is for penalty='lasso' .* not for 'ridge'"),
        ({"family": Quantile()}, "with a quantile one"),
        ({"bounds": (0, 1)}, "no duality gap beside bounds"),
        ({"refit": True}, "leave refit at False"),
    ],
)
def test_what_has_no_square_root_is_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        SparseRegressor(**{"alpha": SquareRoot(), **settings}).fit(X, y)


def test_fits_that_match_and_levels_that_are_none_are_refused():
    wide = np.random.default_rng(0).standard_normal((N, 3 * N))
    with pytest.raises(ValueError, match="leave no noise to estimate: give SquareRoot a larger"):
        SparseRegressor(alpha=SquareRoot(1e-3)).fit(wide, y)
    with pytest.raises(ValueError, match="level of a SquareRoot must be positive"):
        SquareRoot(0.0)
