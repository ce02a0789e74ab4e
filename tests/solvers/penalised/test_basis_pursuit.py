"""Basis pursuit: the least norm of all that matches, against the linear programme written plainly."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import linprog

from garrote import Problem, SparseClassifier, SparseRegressor, fit_path
from garrote.penalties import BasisPursuit
from garrote.solvers.penalised.basis_pursuit import _certified
from pairwise import pairwise

PURSUIT = {"penalty": "basis-pursuit", "alpha": None}


def signal(n=40, d=100, k=5, seed=0):
    """Measurements without noise of a signal of a few spikes."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.5, rng.standard_normal((n, d)), 0.0)
    coef = np.zeros(d)
    coef[rng.choice(d, k, replace=False)] = rng.choice([-1, 1], k) * (0.5 + rng.random(k))
    return X, coef


def least_norm(X, y, factor, lower, upper, intercept):
    """min factor'|w| with y = b + Xw, for raw columns: p, m >= 0 and a free intercept."""
    d, always = X.shape[1], np.full((len(y), 1), float(intercept))
    limits = [(0, u) for u in upper] + [(0, -u) for u in lower] + [(None, None)]
    found = linprog([*factor, *factor, 0.0], A_eq=np.hstack([X, -X, always]), b_eq=y, bounds=limits)
    assert found.status == 0
    return found.fun, found.x[:d] - found.x[d : 2 * d]


def test_a_sparse_signal_is_found_again_from_fewer_rows_than_columns():
    for seed in range(5):
        X, coef = signal(seed=seed)
        model = SparseRegressor(**PURSUIT, standardize=False).fit(X, 3.0 + X @ coef)
        np.testing.assert_allclose(model.coef_, coef, atol=1e-12)
        assert model.intercept_ == pytest.approx(3.0, abs=1e-12)
        assert model.certificate_["norm gap"] < 1e-12
        assert model.certificate_["misfit"] < 1e-12
        assert model.alpha_ == 0.0


SETTINGS = {
    "intercept": [True, False],
    "standardize": [True, False],
    "weights": [None, "some"],
    "factors": [False, True],
    "bounds": [None, "signs", "box"],
    "offset": [False, True],
    "storage": [np.asarray, scipy.sparse.csc_array, scipy.sparse.csr_array],
}


@pytest.mark.parametrize("row", pairwise(SETTINGS), ids=str)
def test_every_pair_of_settings_has_the_norm_of_the_plain_programme(row):
    rng = np.random.default_rng(3)
    X, coef = signal(n=30, d=50, k=20, seed=1)
    X = X * (1 + rng.random(50))
    coef = np.abs(coef) if row["bounds"] == "signs" else coef
    known = rng.standard_normal(30) * row["offset"]
    y = 2.0 * row["intercept"] + X @ coef + known
    weights = rng.integers(0, 3, 30) * 1.0 if row["weights"] else np.ones(30)
    y[weights == 0] += 7.0  # rows that need not be matched
    factor = np.where(np.arange(50) < 2, 0.0, 1 + rng.random(50)) if row["factors"] else np.ones(50)
    low = {"signs": 0.0, "box": -1.2}.get(row["bounds"], -np.inf)
    high = {"box": 1.6}.get(row["bounds"], np.inf)
    model = SparseRegressor(
        **PURSUIT,
        fit_intercept=row["intercept"],
        standardize=row["standardize"],
        penalty_factor=factor,
        bounds=None if row["bounds"] is None else (low, high),
    ).fit(row["storage"](X), y, sample_weight=weights, offset=known if row["offset"] else None)
    used = weights > 0
    mean = np.average(X, axis=0, weights=weights) if row["intercept"] else 0.0
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    unit = deviation if row["standardize"] else np.ones(50)
    least, _ = least_norm(
        X[used],
        (y - known)[used],
        factor * unit,
        np.full(50, low),
        np.full(50, high),
        row["intercept"],
    )
    np.testing.assert_allclose(
        model.predict(X, offset=known if row["offset"] else None)[used], y[used], atol=1e-9
    )
    assert np.sum(factor * unit * np.abs(model.coef_)) == pytest.approx(least, rel=1e-7)
    assert (model.coef_ >= low - 1e-12).all()
    assert (model.coef_ <= high + 1e-12).all()
    assert model.certificate_.value < 1e-9


def test_it_is_the_limit_of_the_lasso():
    X, coef = signal()
    y = X @ coef
    limit = SparseRegressor(**PURSUIT).fit(X, y)
    near = SparseRegressor(alpha=1e-7, method="homotopy").fit(X, y)
    np.testing.assert_allclose(near.coef_, limit.coef_, atol=1e-5)


def test_all_coefficients_are_found_where_rows_are_many():
    rng = np.random.default_rng(0)
    X, coef = rng.standard_normal((60, 8)), rng.standard_normal(8)
    model = SparseRegressor(**PURSUIT).fit(X, 1.0 + X @ coef)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-12)
    path = fit_path(Problem.from_rows(X, 1.0 + X @ coef), BasisPursuit())
    np.testing.assert_allclose(path.coefficients().toarray()[0], coef, atol=1e-12)


def test_the_certificate_tells_of_answers_that_are_none():
    X, coef = signal()
    problem = Problem.from_rows(X, X @ coef, scale_response=False)
    path = fit_path(problem, BasisPursuit())
    rule = BasisPursuit().at(0.0, _terms(100))
    given = np.zeros(100)
    given[path.fits[0].columns] = path.fits[0].coef
    dense = np.linalg.pinv(problem.table.block(np.arange(100))) @ problem.response

    def certificate(answer, multipliers):
        task = _certified(problem, rule, answer, multipliers, 1)
        return _run(task, problem).certificate

    assert certificate(given * 1.01, np.zeros(40))["misfit"] == pytest.approx(0.01)
    assert certificate(given, np.zeros(40))["norm gap"] == 1.0
    wrong = certificate(dense, np.ones(40))
    assert wrong["misfit"] < 1e-10
    assert wrong["norm gap"] > 0.1


def _terms(count):
    from garrote.penalties import Terms

    return Terms.equal(count)


def _run(task, problem):
    from garrote.solvers.lockstep import run_together

    return run_together([task], problem.table.stored)[0]


def test_noise_is_refused_with_what_it_leaves_and_the_remedy():
    X, coef = signal(60, 20)
    y = X @ coef + 0.1 * np.random.default_rng(1).standard_normal(60)
    with pytest.raises(ValueError, match=r"20 columns .* leave \d+.* in 60 rows.*penalty='lasso'"):
        SparseRegressor(**PURSUIT).fit(X, y)
    with pytest.raises(ValueError, match="between the given bounds"):
        SparseRegressor(**PURSUIT, bounds=(0, 0.01)).fit(X, X @ coef)
    with pytest.raises(ValueError, match="refit has nothing to undo"):
        SparseRegressor(**PURSUIT, refit=True).fit(X, X @ coef)
    with pytest.raises(ValueError, match="cannot fit penalty 'basis pursuit'"):
        SparseClassifier("basis-pursuit").fit(X, y > 0)
    with pytest.raises(ValueError, match="cannot fit penalty 'basis pursuit'"):
        SparseRegressor(**PURSUIT, method="fista").fit(X, y)
    with pytest.raises(ValueError, match="have no rows"):
        fit_path(Problem.from_moments(X.T @ X, X.T @ y, y @ y, 60), BasisPursuit())


def test_folds_measure_it_on_rows_held_out():
    X, coef = signal()
    model = SparseRegressor("basis-pursuit", cv=4).fit(X, X @ coef)
    assert model.cv_results_["mean_error"][0] < 1e-20
    flat = SparseRegressor(**PURSUIT)
    with pytest.warns(UserWarning, match="y is constant"):
        flat.fit(X, np.ones(40))
    assert not flat.coef_.any()
    assert flat.certificate_.value == 0.0
