"""What a reader is told of how the strength was chosen."""

import numpy as np
import pytest

from garrote import SparseClassifier, SparseRegressor, VariationalGarrote
from garrote.paths import FollowPath
from garrote.paths.annealed import flat_prior, resolve_gammas
from garrote.problem import Problem

STILL_FALLING = "least at the last strength of the path"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 10))
    return X, X[:, :3].sum(axis=1) + rng.standard_normal(80)


@pytest.mark.parametrize("labels", [False, True])
def test_a_path_that_ends_too_early_says_so(data, labels):
    X, y = data
    kind, y = (SparseClassifier, y > 0) if labels else (SparseRegressor, y)
    strong = kind().fit(X, y).path_.strengths[0]
    early = kind(method=FollowPath(alphas=[0.6 * strong, 0.8 * strong])).fit(X, y)
    assert any(STILL_FALLING in said for said in early.selection_.warnings)


def test_a_path_that_passes_the_least_error_says_nothing(data):
    rng = np.random.default_rng(1)
    X = np.hstack([data[0], rng.standard_normal((80, 60))])
    for model in (SparseRegressor(), VariationalGarrote(correct=False)):
        assert not any(STILL_FALLING in said for said in model.fit(X, data[1]).selection_.warnings)


def test_even_odds_are_zero_and_not_minus_zero(data):
    problem = Problem.from_rows(*data)
    grid = resolve_gammas(problem, flat_prior(10), np.array([-5.0, -1e-17, 2.0]), 1e-3)
    assert [f"{gamma:.4g}" for gamma in grid] == ["-5", "0", "2"]
