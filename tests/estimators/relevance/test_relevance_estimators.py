"""Relevance determination as estimators: products of features, predictions, files, bad input."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import ARDRegression
from sklearn.pipeline import make_pipeline

import garrote
import reference_relevance as plain
from garrote import (
    KernelFeatures,
    RelevanceClassifier,
    RelevanceRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseRegressor,
)
from garrote.inference import EM
from garrote.priors import RelevancePrior
from pairwise import by_pairs

METHODS = ("sequential", "fixed-point", "em", "reweighted-l1")


def table(rows=80, columns=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    X[:, 1] += 0.5 * X[:, 0]
    return X, 2 * X[:, 0] - X[:, 3] + rng.standard_normal(rows), rng


FEATURES = {
    "method": METHODS,
    "kind": ("dense", "sparse", "float32"),
    "weighted": (False, True),
    "shifted": (False, True),
    "covariates": (None, (2, 5)),
}


@by_pairs(**FEATURES)
def test_products_of_features_give_the_posterior_of_plain_formulas(
    method, kind, weighted, shifted, covariates
):
    X, y, rng = table()
    if kind == "float32":
        X = X.astype(np.float32)
    weights = rng.integers(0, 3, len(y)).astype(float) if weighted else np.ones(len(y))
    offset = rng.standard_normal(len(y)) if shifted else None
    given = scipy.sparse.csc_array(X) if kind == "sparse" else X
    model = RelevanceRegressor(method=method, covariates=covariates and list(covariates))
    model.fit(given, y, weights if weighted else None, offset=offset)
    assert model.certificate_.value < 1e-3
    kept = np.flatnonzero(model.coef_)
    others = np.setdiff1d(kept, covariates or ())
    fixed = np.column_stack([np.ones(len(y)), X[:, list(covariates or ())].astype(float)])
    root = np.sqrt(weights)
    basis, _ = np.linalg.qr(root[:, None] * fixed)
    left = root * (y - (0 if offset is None else offset))
    left = left - basis @ (basis.T @ left)
    block = root[:, None] * X[:, others].astype(float)
    block = block - basis @ (basis.T @ block)
    rows = weights.sum() - fixed.shape[1]
    # Variances that are level given the stated noise, from a long run of plain EM near the answer.
    mean = model.coef_[others]
    deviation = np.sqrt(model.posterior_.variance[others])
    variance, noise, _ = plain.em(
        block, left, mean**2 + deviation**2, model.noise_variance_, rows, 3000
    )
    expected, covariance = plain.posterior(block, left, variance, noise)
    np.testing.assert_allclose(mean, expected, atol=2e-3)
    np.testing.assert_allclose(deviation, np.sqrt(np.diag(covariance)), atol=2e-3)
    assert model.noise_variance_ == pytest.approx(noise, rel=5e-3)


def test_evidence_is_no_lower_than_scikit_learns():
    X, y, _ = table(100, 30, 1)
    model = RelevanceRegressor().fit(X, y)
    rival = ARDRegression(tol=1e-10, max_iter=5000).fit(X, y)
    Z, left = X - X.mean(axis=0), y - y.mean()
    variance = np.where(rival.coef_ != 0, 1 / rival.lambda_, 0.0)
    theirs = plain.log_evidence(Z, left, variance, 1 / rival.alpha_, 99)
    unit = len(y) * np.log(y.std()) - np.log(y.std())
    assert model.posterior_.log_evidence - unit >= theirs - 1e-6


def test_predictive_deviations_count_noise_coefficients_and_intercept():
    covered, total = 0, 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((140, 5)) + 3.0
        y = X @ [1.0, -0.5, 0.8, 0.3, 0.6] + 2 + rng.standard_normal(140)
        model = RelevanceRegressor().fit(X[:40], y[:40])
        mean, deviation = model.predict(X[40:], return_std=True)
        covered += np.count_nonzero(np.abs(y[40:] - mean) < 1.96 * deviation)
        total += 100
    assert 0.92 < covered / total < 0.97


@pytest.mark.parametrize("method", ["fixed-point", "em", "reweighted-l1"])
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_agree_between_methods_with_covariates_offsets_and_weights(method, weighted):
    X, y, rng = table(200, 6, 4)
    labels = (y + rng.logistic(size=200) > 0).astype(int)
    weights = rng.integers(0, 3, 200).astype(float) if weighted else None
    settings = {"covariates": [2]}
    arguments = {"sample_weight": weights, "offset": 0.3 * X[:, 5]}
    model = RelevanceClassifier(method=method, **settings).fit(X, labels, **arguments)
    other = RelevanceClassifier(method="em", **settings).fit(X, labels, **arguments)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=5e-3)
    assert model.certificate_.value < 1e-2
    assert np.abs(model.predict_proba(X, offset=0.3 * X[:, 5]).sum(axis=1) - 1).max() < 1e-12


def test_separated_labels_end_with_finite_coefficients():
    x = np.linspace(-1, 1, 40)[:, None]
    model = RelevanceClassifier().fit(x, x[:, 0] > 0)
    assert np.isfinite(model.coef_).all()
    assert model.score(x, x[:, 0] > 0) == 1.0


def test_a_relevance_vector_machine_is_a_relevance_regression_on_kernel_columns(tmp_path):
    x = np.linspace(-5, 5, 60)[:, None]
    y = np.sinc(x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(60)
    machine = RelevanceVectorRegressor(gamma=0.5).fit(x, y)
    columns = KernelFeatures(gamma=0.5).fit(x)
    regression = RelevanceRegressor().fit(columns.transform(x), y)
    new = np.linspace(-4, 4, 17)[:, None]
    mean, deviation = machine.predict(new, return_std=True)
    expected = regression.predict(columns.transform(new), return_std=True)
    np.testing.assert_allclose(mean, expected[0], atol=1e-10)
    np.testing.assert_allclose(deviation, expected[1], atol=1e-10)
    assert len(machine.relevance_) < 20
    columns.save(tmp_path / "columns.garrote")
    again = garrote.load(tmp_path / "columns.garrote")
    assert (again.transform(new) == columns.transform(new)).all()
    given = RelevanceVectorRegressor("precomputed").fit(columns.transform(x), y)
    np.testing.assert_allclose(given.predict(columns.transform(new)), mean, atol=1e-10)
    machine.save(tmp_path / "machine.garrote")
    assert (garrote.load(tmp_path / "machine.garrote").predict(new) == mean).all()


def test_l1_and_l2_machines_come_from_the_penalised_half():
    x = np.linspace(-5, 5, 60)[:, None]
    y = np.sinc(x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(60)
    for penalty, least in (("lasso", 0.9), ("ridge", 0.7)):
        machine = make_pipeline(KernelFeatures(gamma=0.5), SparseRegressor(penalty))
        assert machine.fit(x, y).score(x, np.sinc(x[:, 0])) > least


def test_a_relevance_vector_classifier_is_saved_and_averages_over_its_weights(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 2))
    y = np.where((X**2).sum(axis=1) > 1.5, "out", "in")
    machine = RelevanceVectorClassifier(gamma=0.5).fit(X, y)
    assert machine.score(X, y) > 0.9
    machine.save(tmp_path / "machine.garrote")
    again = garrote.load(tmp_path / "machine.garrote")
    assert (again.predict_proba(X) == machine.predict_proba(X)).all()


def test_words_claim_no_more_than_signs_and_say_when_noise_is_held():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 120))
    model = RelevanceRegressor().fit(X, X[:, 0] + rng.standard_normal(40))
    told = " ".join(model.selection_.warnings)
    assert "interpolates" in told
    assert "SpikeSlabRegressor" in told
    assert "too narrow" in model.selection_.intervals
    assert not model.posterior_.credible_sets()
    assert "variance that the evidence chose" in str(model.posterior_)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prior": RelevancePrior(b=0.1), "method": "sequential"}, "leaves none out"),
        ({"prior": RelevancePrior(b=0.1), "method": "reweighted-l1"}, "leaves none out"),
        ({"method": EM(spike_variance=0.1)}, "spike_variance"),
        ({"method": "sample"}, "method must be one of"),
        ({"prior": "horseshoe"}, "prior"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings, said):
    X, y, _ = table()
    with pytest.raises((ValueError, TypeError), match=said):
        RelevanceRegressor(**settings).fit(X, y)


def test_numbers_that_no_law_has_are_refused_when_they_are_set():
    for wrong in ({"a": -1}, {"b": np.nan}, {"a": 1.0}, {"noise_variance": 0.0}):
        with pytest.raises(ValueError, match=r"got|give b"):
            RelevancePrior(**wrong)
    with pytest.raises(ValueError, match="no noise"):
        RelevanceClassifier(RelevancePrior(c=1.0)).fit([[0.0], [1.0], [2.0], [0.5]], [0, 1, 1, 0])
    with pytest.raises(ValueError, match="kernel must be one of"):
        RelevanceVectorRegressor("triangle").fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="a row and a column"):
        RelevanceVectorRegressor("precomputed").fit([[0.0, 1.0]] * 3, [0.0, 1.0, 2.0])


@pytest.mark.filterwarnings("ignore:y is constant")
def test_without_a_relevant_row_the_intercept_is_predicted():
    rows = np.linspace(-3, 3, 40)[:, None]
    model = RelevanceVectorRegressor().fit(rows, np.ones(40))
    assert not len(model.dual_coef_)
    np.testing.assert_allclose(model.predict(rows[:5]), 1.0)
    np.testing.assert_allclose(model.predict(scipy.sparse.csr_array(rows[:5])), 1.0)


def test_a_polynomial_kernel_has_two_names():
    rows = np.linspace(-3, 3, 40)[:, None]
    y = rows[:, 0] ** 2
    one, two = (RelevanceVectorRegressor(name).fit(rows, y) for name in ("poly", "polynomial"))
    np.testing.assert_array_equal(one.predict(rows), two.predict(rows))
