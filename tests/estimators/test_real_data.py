"""Published data: fits run without surprise, are certified, and say what is known about them."""

import numpy as np
import pytest

from garrote import Problem, VariationalGarrote, VariationalGarroteClassifier, fit_path
from garrote.datasets import load_diabetes_quadratic, load_prostate
from garrote.experiments.boston import load_boston
from garrote.paths import Anneal
from garrote_certificates import assert_certified, standardized
from published_data import load, read_table
from reference import centred, iterate


def assert_sound(model, X, smallest, largest):
    """Check the certificate over the whole path, and the size of the answer."""
    assert model.path_.certificate.max() <= Anneal.of(model.method).tol
    assert smallest <= model.get_support().sum() <= largest
    assert np.isfinite(model.coef_).all()
    mean, deviation = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert (deviation > 0).all()
    assert model.cv_results_["mean_error"].min() < model.cv_results_["null_error"]


def test_diabetes():
    quadratic, y, names = load_diabetes_quadratic()
    X = quadratic[:, :10]
    model = VariationalGarrote().fit(X, y)
    assert_sound(model, X, 4, 9)
    chosen = {names[j] for j in model.get_support(indices=True)}
    assert {"bmi", "ltg"} <= chosen
    assert model.score(X, y) > 0.48


def test_diabetes_with_squares_and_interactions():
    X, y, _ = load_diabetes_quadratic()
    model = VariationalGarrote().fit(X, y)
    assert_sound(model, X, 4, 20)
    assert_certified(standardized(X, y), model.path_, 1e-4)


def test_prostate():
    X, y, names, _ = load_prostate()
    model = VariationalGarrote().fit(X, y)
    assert_sound(model, X, 1, 6)
    chosen = {names[j] for j in model.get_support(indices=True)}
    assert "lcavol" in chosen


def test_riboflavin(shared_data):
    data = load(shared_data, "riboflavin.npz")
    model = VariationalGarrote().fit(data["X"], data["y"])
    assert_sound(model, data["X"], 1, 15)
    assert data["X"].dtype == np.float32
    wide = VariationalGarrote().fit(data["X"].astype(float), data["y"])
    np.testing.assert_allclose(model.coef_, wide.coef_, atol=1e-3)
    # More columns than the working set ever holds: the certificate covers them all.
    assert_certified(standardized(data["X"], data["y"]), model.path_, 1e-4)


def test_eyedata(shared_data):
    data = load(shared_data, "eyedata_trim32_200.npz")
    model = VariationalGarrote().fit(data["X"], data["y"])
    assert_sound(model, data["X"], 1, 20)


def test_gasoline_spectra_are_extremely_collinear(shared_data):
    data = load(shared_data, "gasoline_nir.npz")
    model = VariationalGarrote(correct=False).fit(data["X"], data["octane"])
    assert_sound(model, data["X"], 1, 20)
    # Neighbouring wavelengths carry the same: the answer says so.
    assert model.selection_.interchangeable
    assert "could be replaced by" in str(model.summary())
    assert model.score(data["X"], data["octane"]) > 0.9
    # Summed over models, no wavelength is probable alone; of some sets one is.
    corrected = VariationalGarrote().fit(data["X"], data["octane"])
    assert corrected.inclusion_probability_.max() < 0.95
    assert "one of these" in str(corrected.summary())
    assert corrected.score(data["X"], data["octane"]) > 0.9


def test_mice_genotypes_with_a_simulated_trait(shared_data):
    # All columns of real linkage are kept, with their duplicates.
    X = load(shared_data, "mice_genotypes.npz")["X"][:600, :3000].astype(np.float32)
    rng = np.random.default_rng(0)
    causal = np.array([200, 900, 1600, 2400])
    signal = (X[:, causal] - X[:, causal].mean(axis=0)) @ np.array([1.0, -1.0, 1.0, -1.0])
    y = signal + signal.std() * rng.standard_normal(600)
    model = VariationalGarrote().fit(X, y)
    assert_sound(model, X, 2, 15)
    # Each true position, or one that linkage makes nearly equal, is found.
    correlation = np.corrcoef(X[:, causal].T, X[:, model.get_support()].T)[:4, 4:]
    assert (np.abs(correlation).max(axis=1) > 0.8).sum() >= 3


def test_boston_has_one_optimum_from_every_start():
    # Kappen & Gomez (2014), section 5.5, with their settings: noise and prior given.
    X, y, _ = load_boston()
    y = (y - y.mean()) / y.std()
    model = VariationalGarrote(
        gamma=float(np.log(0.25 / 0.75)),
        noise_variance=0.1,
        method=Anneal(n_starts=30),
        random_state=0,
    ).fit(X, y)
    assert len(model.posterior_.optima) == 1
    assert model.certificate_.value <= 1e-4


def test_ozone_and_its_interactions(shared_data):
    X, y, _ = read_table(shared_data / "ozone_interactions.csv", "ozone")
    model = VariationalGarrote().fit(X, y)
    assert_sound(model, X, 1, 30)


def test_moments_without_rows_give_what_susie_published(shared_data):
    data = load(shared_data, "susie_FinemappingConvergence.npz")
    yty, n = (float(np.ravel(data[name])[0]) for name in ("yty", "n"))
    problem = Problem.from_moments(data["XtX"], data["Xty"].ravel(), yty, n)
    path = fit_path(problem)
    assert path.certificate.max() <= 1e-4
    # The strongest single column is not one of the two true ones; stepwise methods start with it.
    truth = np.flatnonzero(data["true_coef"])
    assert np.argmax(np.abs(data["z"])) not in truth
    two = np.argmin(np.abs(path.expected_size - 2))
    chosen = np.flatnonzero(path.inclusion_probability().toarray()[two] > 0.5)
    size = np.sqrt(np.diag(data["XtX"]))
    correlation = np.abs(data["XtX"] / np.outer(size, size))[np.ix_(truth, chosen)]
    # Two columns, each a true one or one that the data can hardly tell from it.
    assert len(chosen) == 2
    assert correlation.max(axis=1).min() > 0.95

    def unexplained(columns):
        block, xty = data["XtX"][np.ix_(columns, columns)], data["Xty"].ravel()[columns]
        return yty - xty @ np.linalg.solve(block, xty)

    assert unexplained(chosen) <= unexplained(truth) * (1 + 1e-9)


def test_the_oracle_agrees_on_diabetes():
    quadratic, y, _ = load_diabetes_quadratic()
    X = quadratic[:, :10]
    gammas = np.array([-30.0, -12.0, -6.0, -3.0])
    path = fit_path(Problem.from_rows(X, y), strengths=gammas)
    m = np.zeros(10)
    for gamma, fit in zip(gammas, path.forward, strict=True):
        solution = iterate(centred(X, y), gamma, m)
        m = solution.m
        listed = np.zeros(10)
        listed[fit.columns] = fit.probability
        np.testing.assert_allclose(listed, m, atol=1e-3)


@pytest.mark.slow
def test_leukemia_has_a_gene_that_tells_its_kinds_apart(shared_data):
    data = load(shared_data, "leukemia_3571.npz")
    model = VariationalGarroteClassifier().fit(data["X"].astype(float), data["y"])
    assert 1 <= model.get_support().sum() <= 5
    assert model.cv_results_["mean_error"].min() < 0.7 * model.cv_results_["null_error"]
    assert model.score(data["X"].astype(float), data["y"]) > 0.9
