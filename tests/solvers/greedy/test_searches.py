"""Greedy searches against the same searches written plainly, and against all subsets."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import orthogonal_mp

import reference_greedy
from garrote import GreedyRegressor, Problem
from garrote.datasets import load_prostate
from garrote.greedy import (
    SEARCHES,
    FoBa,
    LeapsAndBounds,
    MatchingPursuit,
    SingleBestReplacement,
    Splicing,
)
from garrote.paths.greedy import greedy_solver
from garrote.paths.penalised import run_alone
from garrote.solvers.control import Control
from garrote.solvers.greedy import Boosting, ColumnUnits

# Residual sums of squares of the prostate data's best subsets, sizes 0 to 8 (ESL, Figure 3.5).
PROSTATE = [96.2814, 44.5286, 37.0918, 34.9077, 32.8150, 32.0694, 30.5398, 29.4373, 29.4264]


def table(n=50, d=9, seed=0, correlated=0.7):
    """Return correlated columns, centred and of unit deviation, and a centred response."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + correlated * rng.standard_normal((n, 1))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X @ np.where(np.arange(d) % 3, 0, 1.0) + 1.5 * rng.standard_normal(n)
    return X, y - y.mean()


def path_of(search, X, y, most):
    problem = Problem.from_rows(X, y, scale_response=False)
    units = ColumnUnits(X.shape[1])
    limits = search.limits(problem, units, most, 0.0)
    return run_alone(problem, greedy_solver(problem, search, units, limits, Control()))


def models(path):
    return [tuple(fit.columns.tolist()) for fit in path.fits]


@pytest.mark.parametrize("seed", range(3))
def test_searches_find_the_models_of_their_plain_forms(seed):
    X, y = table(seed=seed)
    assert models(path_of(SEARCHES["omp"](), X, y, 6)) == reference_greedy.omp(X, y, 6)
    assert models(path_of(SEARCHES["forward"](), X, y, 6)) == reference_greedy.forward(X, y, 6)
    assert models(path_of(SEARCHES["backward"](), X, y, 9)) == reference_greedy.backward(X, y)
    assert models(path_of(FoBa(), X, y, 6)) == reference_greedy.foba(X, y, 6)


def test_omp_is_that_of_scikit_learn():
    X, y = table(n=40, d=100, seed=3)
    path = path_of(SEARCHES["omp"](), X, y, 8)
    for size in (1, 4, 8):
        expected = orthogonal_mp(X, y, n_nonzero_coefs=size)
        found = path.coefficients()[[size]].toarray()[0]
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_pursuits_move_as_their_plain_form(share):
    X, y = table()
    search = MatchingPursuit(30) if share == 1.0 else Boosting(share, 30)
    path = path_of(search, X, y, 9)
    expected = reference_greedy.matching_pursuit(X, y, 30, share)
    np.testing.assert_allclose(path.coefficients().toarray()[1:], expected, atol=1e-12)
    assert path.certificate.max() < 1e-12


def test_matching_pursuit_loses_exactly_the_squared_step():
    X, y = table(seed=1)
    path = path_of(MatchingPursuit(40), X, y, 9)
    coef = path.coefficients().toarray()
    squared = np.sum((y[:, None] - X @ coef.T) ** 2, axis=0)
    steps = np.diff(coef, axis=0) * np.sqrt(np.sum(X**2, axis=0))
    np.testing.assert_allclose(-np.diff(squared), np.sum(steps**2, axis=1), atol=1e-10)


def test_single_best_replacement_at_no_price_is_least_squares():
    X, y = table()
    model = GreedyRegressor(SingleBestReplacement(0.0)).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_single_best_replacement_ends_where_no_flip_helps(seed):
    X, y = table(seed=seed)
    price = 0.02 * y @ y / len(y)
    model = GreedyRegressor(SingleBestReplacement(price)).fit(X, y)
    inside = set(model.get_support(indices=True).tolist())

    def objective(columns):
        left = reference_greedy.least_squares(X, y, sorted(columns))[1]
        return 0.5 * left / len(y) + price * len(columns)

    now = objective(inside)
    assert all(objective(inside ^ {j}) >= now - 1e-12 for j in range(9))
    assert model.certificate_["best flip"] <= 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_splicing_finds_the_best_subsets_of_small_tables(seed):
    X, y = table(seed=seed, correlated=2.0)
    found = models(path_of(Splicing(), X, y, 9))
    assert found == reference_greedy.best_subsets(X, y)


@pytest.mark.parametrize("seed", range(3))
def test_the_exact_search_finds_the_best_subsets(seed):
    X, y = table(seed=seed, correlated=2.0)
    path = path_of(LeapsAndBounds(), X, y, 9)
    assert models(path) == reference_greedy.best_subsets(X, y)
    assert path.certificate.max() < 1e-12
    shorter = path_of(LeapsAndBounds(), X, y, 4)
    assert models(shorter) == models(path)[:5]


def test_an_exact_search_that_ends_early_says_how_much_better_others_could_be():
    X, y = table(n=120, d=45, seed=1, correlated=1.0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("garrote.solvers.penalised.best_subset.MODELS_PER_CALL", 500)
        early = path_of(LeapsAndBounds(nodes=500), X, y, 12)
    whole = path_of(LeapsAndBounds(), X, y, 12)
    gaps = np.array([fit.certificate["optimality gap"] for fit in early.fits])
    assert gaps[3:].max() > 1e-3
    assert whole.certificate.max() < 1e-12
    for fit, best, gap in zip(early.fits, whole.fits, gaps, strict=True):
        assert best.loss <= fit.loss * (1 + 1e-12)
        assert fit.loss - best.loss <= gap * early.null_loss + 1e-12
    with pytest.warns(ConvergenceWarning, match="optimality gap"):
        GreedyRegressor(LeapsAndBounds(1), 30).fit(*table(n=120, d=60, seed=1))


def test_the_exact_search_refuses_what_it_cannot_bound():
    X, y = table(n=20, d=30)
    with pytest.raises(ValueError, match="of which there may be 19 here and are 30: take"):
        GreedyRegressor("best-subset").fit(X, y)
    with pytest.raises(ValueError, match="takes single columns: leave column_groups out"):
        GreedyRegressor("best-subset", column_groups=[0, 0, *range(1, 8)]).fit(*table())


@pytest.mark.parametrize("search", ["forward", "backward", "splicing", "foba", "best-subset"])
def test_best_subsets_of_the_prostate_data_are_nested(search):
    data = load_prostate()
    X, y = data.X[data.train], data.y[data.train]
    path = GreedyRegressor(search, max_features=8).fit(X, y).path_
    squared = [2.0 * fit.loss * len(y) for fit in path.fits]
    np.testing.assert_allclose(squared, PROSTATE, atol=6e-5)


def test_searches_with_a_common_tie_break_find_noiseless_signals_exactly():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 200))
    coef = np.zeros(200)
    coef[[5, 77, 140]] = 1.0, -2.0, 1.5
    for name in ("omp", "forward", "foba", "splicing", "matching-pursuit"):
        model = GreedyRegressor(name, tol=1e-10).fit(X, X @ coef)
        np.testing.assert_allclose(model.coef_, coef, atol=1e-3)
    assert model.selection_.path.strength == "steps"
