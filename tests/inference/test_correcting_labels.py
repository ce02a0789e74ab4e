"""The label garrote's probabilities, corrected by sums over models: against a plain sum of them."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csc_array
from scipy.special import betaln, expit

import garrote
from garrote import VariationalGarroteClassifier
from garrote.inference import correcting
from garrote.paths import OnPath
from garrote.priors import ExpectedSize, GroupedInclusion


def laplace(A, y, weights, offset, precisions):
    """Return the log evidence of one logistic model by Laplace, and the maximum."""

    def objective(b):
        eta = A @ b + offset
        value = weights @ (np.logaddexp(0, eta) - y * eta) + 0.5 * precisions @ b**2
        return value, A.T @ (weights * (expit(eta) - y)) + precisions * b

    best = minimize(objective, np.zeros(A.shape[1]), jac=True, method="BFGS", tol=1e-10).x
    p = expit(A @ best + offset)
    hessian = (A.T * (weights * p * (1 - p))) @ A + np.diag(precisions)
    held = precisions[precisions > 0]
    log = -objective(best)[0] + 0.5 * np.log(held).sum() - 0.5 * np.linalg.slogdet(hessian)[1]
    return log, best


def plain_sum(X, y, variance, log_prior, weights=None, offset=None, always=()):
    """Sum over all models by Laplace's evidence: inclusion probabilities and mean coefficients.

    ``log_prior`` is a function of the columns that are in.
    """
    n, D = X.shape
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    offset = np.zeros(n) if offset is None else offset
    center = np.average(X, axis=0, weights=weights)
    scale = np.sqrt(np.average((X - center) ** 2, axis=0, weights=weights))
    Z = (X - center) / scale
    free, logs, inside, means = np.setdiff1d(np.arange(D), always), [], [], []
    for size in range(len(free) + 1):
        for model in combinations(free, size):
            columns = [*always, *model]
            precisions = np.array([0.0, *[0.01] * len(always), *[1 / variance] * size])
            A = np.column_stack([np.ones(n), Z[:, columns]])
            log, best = laplace(A, y, weights, offset, precisions)
            logs.append(log + log_prior(model))
            inside.append(np.isin(np.arange(D), columns))
            mean = np.zeros(D)
            mean[columns] = best[1:] / scale[columns]
            means.append(mean)
    share = np.exp(np.array(logs) - max(logs))
    share /= share.sum()
    return share @ np.array(inside), share @ np.array(means)


@pytest.fixture
def table():
    """Five columns of which the first three resemble each other."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((120, 5))
    X[:, 1] = X[:, 0] + 0.4 * rng.standard_normal(120)
    X[:, 2] = X[:, 0] + 0.6 * rng.standard_normal(120)
    y = X[:, 0] + 0.8 * X[:, 4] + rng.logistic(size=120) > 0
    return X * np.arange(1, 6), y.astype(int)


CASES = {
    "plain": {},
    "prior odds": {"offsets": np.linspace(-1, 1, 5)},
    "covariate": {"always": (3,)},
    "weights": {"weights": np.arange(120) % 3.0},
    "offset": {"offset": np.linspace(-1, 1, 120)},
    "all": {
        "weights": 1.0 + np.arange(120) % 2,
        "always": (3,),
        "offsets": np.linspace(1, -1, 5),
        "offset": np.linspace(1, -1, 120),
    },
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sparse", [False, True])
def test_probabilities_are_those_of_a_plain_sum_over_models(table, case, sparse):
    X, y = table
    more = dict(CASES[case])
    odds = more.pop("offsets", np.zeros(5))
    always = more.get("always", ())
    model = VariationalGarroteClassifier(
        -1.0, prior_log_odds=odds, covariates=list(always) or None, slab_variance=2.0
    )
    given = csc_array(X) if sparse else X
    model.fit(given, y, more.get("weights"), offset=more.get("offset"))
    inclusion, mean = plain_sum(X, y, 2.0, lambda model: sum(-1.0 + odds[j] for j in model), **more)
    np.testing.assert_allclose(model.inclusion_probability_, inclusion, atol=1e-6)
    np.testing.assert_allclose(model.coef_[0], mean, atol=1e-5)
    assert "fitting all models" in model.selection_.rule


@pytest.mark.parametrize("gamma", ["free_energy", OnPath(-1.0)])
def test_a_gamma_that_was_not_given_is_averaged_over(table, gamma):
    X, y = table
    model = VariationalGarroteClassifier(gamma).fit(X, y)
    b = np.sqrt(5)
    inclusion, _ = plain_sum(X, y, 1.5625, lambda model: betaln(1 + len(model), b + 5 - len(model)))
    np.testing.assert_allclose(model.inclusion_probability_, inclusion, atol=1e-6)


def test_variables_that_are_left_out_count_in_the_law_of_the_others(table):
    X, y = table
    rng = np.random.default_rng(0)
    wide = np.column_stack([X, rng.standard_normal((120, 40))])
    stated = VariationalGarroteClassifier(OnPath(-5.5), correct=False).fit(wide, y)
    chosen = np.flatnonzero(stated.inclusion_probability_ > 0.01)
    chosen = np.union1d(chosen, [0, 1, 2])  # near copies of a selected one
    model = VariationalGarroteClassifier(OnPath(-5.5)).fit(wide, y)
    assert len(chosen) <= 10
    inclusion, _ = plain_sum(
        wide[:, chosen], y, 1.5625,
        lambda model: betaln(1 + len(model), np.sqrt(45) + 45 - len(model)),
    )  # fmt: skip
    np.testing.assert_allclose(model.inclusion_probability_[chosen], inclusion, atol=1e-6)
    others = np.setdiff1d(np.arange(45), chosen)
    np.testing.assert_array_equal(
        model.inclusion_probability_[others], stated.inclusion_probability_[others]
    )


def test_one_of_several_resembling_columns_is_no_longer_certain_and_the_path_stays():
    rng = np.random.default_rng(1)
    cause = rng.standard_normal(150)
    X = rng.standard_normal((150, 30))
    X[:, :12] = cause[:, None] + 0.3 * X[:, :12]
    y = (1.5 * cause + rng.logistic(size=150) > 0).astype(int)
    stated = VariationalGarroteClassifier(correct=False).fit(X, y)
    model = VariationalGarroteClassifier().fit(X, y)
    assert stated.inclusion_probability_.max() > 0.99
    assert model.inclusion_probability_.max() < 0.9
    assert "sampling models of" in model.selection_.rule
    np.testing.assert_array_equal(
        model.path_.inclusion_probability().toarray(),
        stated.path_.inclusion_probability().toarray(),
    )
    again = VariationalGarroteClassifier().fit(X, y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    other = VariationalGarroteClassifier(random_state=1, n_jobs=2).fit(X, y)
    same = VariationalGarroteClassifier(random_state=1, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(other.coef_, same.coef_)
    assert (other.coef_ != model.coef_).any()


def test_refits_are_at_the_chosen_gamma_without_believing_it(table):
    X, y = table
    model = VariationalGarroteClassifier(stability=4).fit(X, y)
    refit = model._refit_settings()["gamma"]
    assert refit == OnPath(model.gamma_)
    assert VariationalGarroteClassifier(-2.0)._refit_settings()["gamma"] == -2.0
    assert VariationalGarroteClassifier(ExpectedSize(2))._refit_settings()["gamma"].size == 2
    assert model.selection_.stability.refits == 4


@pytest.mark.parametrize("believed", [-1.0, OnPath(-1.0)])
def test_groups_are_corrected_whatever_their_coding(believed):
    rng = np.random.default_rng(2)
    word = rng.integers(0, 3, 200)
    other = rng.standard_normal((200, 3))
    y = (np.array([1.0, 0.0, -1.0])[word] + other[:, 0] + rng.logistic(size=200) > 0).astype(int)
    found = []
    for reference in (0, 2):
        levels = np.delete(np.eye(3)[word], reference, axis=1)
        law = GroupedInclusion([0, 0, 1, 2, 3])
        model = VariationalGarroteClassifier(believed, inclusion=law)
        found.append(model.fit(np.column_stack([levels, other]), y))
    one, two = (model.inclusion_probability_ for model in found)
    np.testing.assert_allclose(one, two, atol=1e-6)
    assert one[0] == one[1]
    np.testing.assert_allclose(
        found[0].predict_proba(np.column_stack([np.eye(3)[word][:, 1:], other])),
        found[1].predict_proba(np.column_stack([np.eye(3)[word][:, :2], other])),
        atol=1e-5,
    )


def test_too_many_columns_are_left_alone_and_it_is_said(table, monkeypatch):
    monkeypatch.setattr(correcting, "_MOST", 3)
    model = VariationalGarroteClassifier(-1.0).fit(*table)
    assert any("more variables correlate" in text for text in model.selection_.warnings)


def test_a_corrected_model_is_saved_and_predicts_the_same(table, tmp_path):
    X, y = table
    model = VariationalGarroteClassifier(-1.0).fit(X, y)
    model.save(tmp_path / "model.garrote")
    same = garrote.load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
    chances = model.predict_proba(X)
    assert np.isfinite(chances).all()
    assert np.mean((chances[:, 1] > 0.5) == y) > 0.6


def test_a_gamma_on_the_path_must_be_a_number():
    with pytest.raises(ValueError, match="gamma of OnPath must be a finite number, got 'cv'"):
        OnPath("cv")
