"""Bayesian classifiers as users call them: checks of scikit-learn, labels, hard cases, files."""

import html
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

import garrote
from garrote import (
    ShrinkageClassifier,
    SingleEffectsClassifier,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    VariationalGarrote,
    VariationalGarroteClassifier,
)
from garrote.inference import Gibbs, Sample
from garrote.paths import AnnealBound
from garrote.priors import EffectSlab, ExpectedSize, GaussianSlab, SingleEffects
from garrote.report import render_report
from scikit_checks import scikit_learn_checks

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")

SHORT = Sample(n_steps=400, burn_in=100)
EVERY = [
    SpikeSlabClassifier(EffectSlab(1.0), "enumerate"),
    SpikeSlabClassifier(EffectSlab(1.0), SHORT, random_state=0),
    SpikeSlabClassifier(EffectSlab(1.0), "mean-field"),
    SingleEffectsClassifier(),
    VariationalGarroteClassifier(gamma="free_energy", method=AnnealBound(gammas=10)),
]
NAMES = ["enumerate", "sample", "mean-field", "single-effects", "garrote"]
every_classifier = pytest.mark.parametrize("model", EVERY, ids=NAMES)


@scikit_learn_checks(
    SpikeSlabClassifier(EffectSlab(1.0)),
    SingleEffectsClassifier(),
    ShrinkageClassifier(method=Gibbs(n_steps=100, burn_in=20)),
    VariationalGarroteClassifier("free_energy", method=AnnealBound(gammas=6), correct=False),
    variants=[
        VariationalGarroteClassifier(gamma="free_energy", method=AnnealBound(gammas=6)),
        SpikeSlabClassifier(),
        SpikeSlabClassifier(method="mean-field"),
        VariationalGarroteClassifier(),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*rows of labels are few")
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = 3 * rng.standard_normal((120, 6)) + 1
    y = np.where(rng.random(120) < expit(0.5 * X[:, 0] - 0.6 * X[:, 4] - 0.2), "yes", "no")
    return X, y


@every_classifier
def test_labels_of_any_kind_are_the_same_model(data, model):
    X, y = data
    words = clone(model).fit(X, y)
    numbers = clone(model).fit(X, np.where(y == "yes", 7, -3))
    assert words.classes_.tolist() == ["no", "yes"]
    assert numbers.classes_.tolist() == [-3, 7]
    np.testing.assert_array_equal(words.coef_, numbers.coef_)
    assert words.selection_.response == "y = yes"
    assert set(words.get_support(indices=True)) == {0, 4}
    assert words.score(X, y) > 0.7


@every_classifier
def test_probabilities_are_averaged_and_go_with_predictions(data, model):
    X, y = data
    fitted = clone(model).fit(X, y)
    p = fitted.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.predict(X) == "yes", p[:, 1] > 0.5)
    np.testing.assert_allclose(expit(fitted.decision_function(X)), p[:, 1], atol=1e-12)
    # Averaging over coefficients draws probabilities towards a half, the more the farther out.
    plugged = expit(X @ fitted.coef_[0] + fitted.intercept_[0])
    far = np.abs(plugged - 0.5) > 0.4
    assert (np.abs(p[far, 1] - 0.5) < np.abs(plugged[far] - 0.5) + 0.01).all()
    beyond = fitted.predict_proba(X[:1] + 100 * fitted.coef_)[0, 1]
    assert beyond < expit((X[:1] + 100 * fitted.coef_) @ fitted.coef_[0] + fitted.intercept_)[0]


def test_methods_predict_alike(data):
    X, y = data
    same = [clone(model) for model in EVERY]
    same[3].set_params(prior=SingleEffects(variance=1.0))
    same[4].set_params(slab_variance=1.0)
    p = [model.fit(X, y).predict_proba(X)[:, 1] for model in same]
    for other in p[1:]:
        assert np.abs(p[0] - other).max() < 0.08


@every_classifier
def test_sparse_and_single_precision_columns_agree_with_dense_ones(data, model):
    X, y = data
    X = np.where(np.abs(X - 1) > 1.5, X, 0.0)
    dense = clone(model).fit(X, y)
    sparse = clone(model).fit(scipy.sparse.csr_array(X), y)
    single = clone(model).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-6)
    close = 0.05 if model.get_params().get("method") == "sample" else 1e-4
    np.testing.assert_allclose(dense.coef_, single.coef_, atol=close)
    p = dense.predict_proba(X)
    np.testing.assert_allclose(sparse.predict_proba(scipy.sparse.csc_array(X)), p, atol=1e-6)


@every_classifier
def test_weights_count_as_repeats(data, model):
    X, y = data
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-8)


@every_classifier
def test_covariates_are_always_in_and_no_discoveries(data, model):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    fitted = clone(model).set_params(covariates=["c", "d"]).fit(frame, y)
    assert fitted.inclusion_probability_[[2, 3]].tolist() == [1.0, 1.0]
    assert (fitted.coef_[0, [2, 3]] != 0).all()
    assert fitted.selection_.always_in == ("c", "d")
    assert not set(fitted.posterior_.discoveries(0.2)) & {2, 3}
    # Where the covariates are, the other columns may be anywhere: the law is the same.
    moved = clone(model).set_params(covariates=["c", "d"]).fit(frame * 2 + 5, y)
    np.testing.assert_allclose(2 * moved.coef_, fitted.coef_, atol=0.02)


@every_classifier
def test_separation_does_no_harm(model):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 4))
    y = X[:, 2] > 0
    fitted = clone(model).fit(X, y)
    assert np.isfinite(fitted.coef_).all()
    assert 1 < fitted.coef_[0, 2] < 30
    assert fitted.get_support(indices=True).tolist() == [2]
    p = fitted.predict_proba(X)[:, 1]
    assert ((p > 0.5) == y).mean() > 0.95
    assert ((p > 0) & (p < 1)).all()


@every_classifier
def test_a_covariate_that_separates_has_a_finite_coefficient(model):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 4))
    X[:, 0] = np.arange(60) >= 30
    y = X[:, 0]
    fitted = clone(model).set_params(covariates=[0]).fit(X, y)
    assert np.isfinite(fitted.coef_).all()
    assert np.abs(fitted.coef_).max() < 200


@every_classifier
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_rare_class_and_duplicated_columns_are_borne(model):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((300, 4))
    X = np.column_stack([X, X[:, 1], np.ones(300)])
    y = (X[:, 1] + rng.logistic(size=300) / 4 > 1.8).astype(int)
    assert 3 < y.sum() < 30
    fitted = clone(model).fit(X, y)
    p = fitted.inclusion_probability_
    assert p[1] + p[4] > 0.9
    assert p[5] == 0
    assert fitted.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)


@pytest.mark.parametrize("kind", [SpikeSlabClassifier, VariationalGarroteClassifier])
def test_labels_that_are_not_two_classes_are_refused(data, kind):
    X, _ = data
    with pytest.raises(ValueError, match="y has 3 classes"):
        kind().fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="one class only"):
        kind().fit(X, np.ones(len(X), dtype=int))
    with pytest.raises(ValueError, match="Unknown label type"):
        kind().fit(X, np.linspace(0, 1, len(X)))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "guess"}, "method must be one of"),
        ({"prior": GaussianSlab()}, "GaussianSlab is for a gaussian response"),
        ({"prior": "g-prior"}, "GPrior is for a gaussian response"),
        ({"method": Sample(3)}, "n_steps must be an integer >= 100"),
        ({"method": "gibbs"}, "method must be one of"),
        ({"inclusion": 1.5}, "inclusion must lie between 0 and 1"),
        ({"covariates": ["no"]}, "unknown column 'no'"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(data, settings, said):
    with pytest.raises(ValueError, match=said):
        SpikeSlabClassifier(**settings).fit(*data)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"gamma": "guess"}, "gamma must be 'cv', 'free_energy', a finite number or"),
        ({"slab_variance": -1.0}, "slab_variance must be positive"),
        ({"rule": "most"}, "rule must be"),
        ({"gamma": ExpectedSize(9)}, "must be below the number of columns"),
        ({"cv": [(np.arange(3), np.arange(3, 120))]}, "of class no only"),
    ],
)
def test_a_garrote_refuses_settings_that_cannot_be_meant(data, settings, said):
    X, y = data
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match=said):
        VariationalGarroteClassifier(**settings).fit(X[order], y[order])


def test_gamma_is_chosen_by_held_out_deviance(data):
    X, y = data
    model = VariationalGarroteClassifier(method=AnnealBound(gammas=10), rule="min", cv=3).fit(X, y)
    results = model.cv_results_
    best = int(np.argmin(results["mean_error"]))
    assert model.gamma_ == results["gamma"][best]
    assert results["mean_error"][best] < results["null_error"]
    share = np.mean(y == "yes")
    null = -2 * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert results["null_error"] == pytest.approx(null, rel=0.03)
    assert model.selection_.validation.measure == "deviance"
    # The folds of the first gamma predict as the empty model does.
    np.testing.assert_allclose(results["fold_errors"][:, 0].mean(), null, rtol=0.03)


def test_held_out_deviance_is_that_of_the_probabilities_that_are_predicted(data):
    X, y = data
    train, test = np.arange(80), np.arange(80, 120)
    both = VariationalGarroteClassifier(
        method=AnnealBound(gammas=8, tol=1e-3), cv=[(train, test)]
    ).fit(X, y)
    gammas, stated = both.path_.strengths, both.cv_results_["mean_error"]
    for k in (3, 7):
        method = AnnealBound(gammas=gammas)
        own = VariationalGarroteClassifier(float(gammas[k]), method=method, correct=False)
        own.fit(X[train], y[train])
        chance = own.predict_proba(X[test])[np.arange(40), (y[test] == "yes").astype(int)]
        assert stated[k] == pytest.approx(-2 * np.log(chance).mean(), rel=2e-3)


@pytest.mark.parametrize(
    ("make", "seed"),
    [
        (VariationalGarroteClassifier, 4),
        (VariationalGarrote, 1),
        (SparseClassifier, 7),
        (SparseRegressor, 0),
    ],
)
def test_one_standard_error_that_allows_no_variable_is_named(make, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 8))
    if "Classifier" in make.__name__:
        y = X[:, 0] + rng.logistic(size=40) > 0
    else:
        y = 0.55 * X[:, 0] + rng.standard_normal(40)
    few = make._method_class()
    few.set_params(**{"alphas" if make.__name__.startswith("Sparse") else "gammas": 10})
    folds = StratifiedKFold(3) if "Classifier" in make.__name__ else KFold(3)
    # What validation saw is what annealing found.
    plain = {"correct": False} if make.__name__.startswith("Variational") else {}
    model = make(rule="1se", cv=folds, method=few, **plain).fit(X, y)
    assert not model.get_support().any()
    more = make(rule="min", cv=folds, method=few, **plain).fit(X, y)
    count = more.get_support().sum()
    assert count > 0
    (said,) = [text for text in model.selection_.warnings if "standard error" in text]
    assert said.startswith(f"the least held-out error has {count} variable")
    assert "rule='min'" in said
    assert not any("standard error" in text for text in more.selection_.warnings)


def test_a_garrote_finds_what_some_folds_find_late():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 1000))
    y = 2 * X[:, ::250] @ np.array([1, -1, 1, -1]) + rng.logistic(size=100) > 0
    model = VariationalGarroteClassifier(method=AnnealBound(gammas=15), correct=False).fit(X, y)
    assert set(model.get_support(indices=True)) <= {0, 250, 500, 750}
    assert model.get_support().any()


def test_a_given_gamma_and_an_expected_size_say_the_same(data):
    X, y = data
    one = VariationalGarroteClassifier(gamma=ExpectedSize(2.0), method=AnnealBound(gammas=6)).fit(
        X, y
    )
    two = VariationalGarroteClassifier(gamma=float(np.log(0.5)), method=AnnealBound(gammas=6)).fit(
        X, y
    )
    assert one.gamma_ == pytest.approx(two.gamma_)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-6)


def test_the_path_predicts_what_the_model_does(data):
    X, y = data
    model = VariationalGarroteClassifier(
        gamma="free_energy", method=AnnealBound(gammas=8), covariates=[3], correct=False
    ).fit(X, y)
    path = model.path_
    position = path.index(model.gamma_)
    np.testing.assert_allclose(path.coefficients().toarray()[position], model.coef_[0])
    assert path.intercepts[position] == pytest.approx(model.intercept_[0])
    assert path.certificate.max() <= AnnealBound.of(model.method).tol


@every_classifier
def test_a_saved_classifier_predicts_the_same(data, model, tmp_path):
    X, y = data
    fitted = clone(model).fit(X, y)
    fitted.save(tmp_path / "model.garrote")
    again = garrote.load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.classes_.tolist() == fitted.classes_.tolist()
    assert json.loads(again.selection_.to_json()) == json.loads(fitted.selection_.to_json())


@every_classifier
def test_a_report_and_a_table_say_what_is_modelled(data, model, tmp_path):
    X, y = data
    fitted = clone(model).fit(X, y)
    fitted.selection_.report(tmp_path / "report.html")
    written = (tmp_path / "report.html").read_text()
    assert "y = yes" in written
    assert "log odds" in written
    assert "log odds of y = yes" in str(fitted.summary())


SOURCES = {
    "enumerate": ["Tierney & Kadane (1986)"],
    "sample": ["Polson, Scott & Windle (2013)"],
    "mean-field": ["Carbonetto & Stephens (2012)", "Jaakkola & Jordan (2000)"],
    "single-effects": ["Wang et al. (2020)", "Jaakkola & Jordan (2000)"],
    "garrote": ["Kappen & Gomez (2014)", "Jaakkola & Jordan (2000)"],
}


@pytest.mark.parametrize(("model", "name"), list(zip(EVERY, NAMES, strict=True)), ids=NAMES)
def test_what_was_used_is_cited_and_nothing_else(data, model, name):
    selection = clone(model).fit(*data).selection_
    document = json.loads(selection.to_json())
    stated = document["provenance"]["reference"]
    assert html.escape(stated) in render_report(document)
    every = {text for texts in SOURCES.values() for text in texts}
    assert {text for text in every if text in stated} == set(SOURCES[name])


@pytest.mark.parametrize(("prior", "said"), [("bic", "Schwarz"), ("spike-slab", "Tierney")])
def test_models_of_counts_cite_how_they_are_weighed(data, prior, said):
    counts = np.random.default_rng(0).poisson(np.exp(0.2 * data[0][:, 0]))
    model = SpikeSlabRegressor(prior, family="poisson").fit(data[0], counts)
    reference = model.selection_.provenance["reference"]
    assert said in reference
    assert "Zanella" not in reference


@every_classifier
def test_an_offset_takes_the_part_of_a_column_whose_coefficient_is_known(data, model):
    X, y = data
    rng = np.random.default_rng(2)
    known = 2.0 * rng.standard_normal(len(y))
    y = np.where(rng.random(len(y)) < expit(0.5 * X[:, 0] - 0.6 * X[:, 4] + known), "yes", "no")
    told = clone(model).fit(X, y, offset=known)
    # A column of coefficient 1, which a covariate learns with an error of its own.
    learned = clone(model).set_params(covariates=[6]).fit(np.column_stack([X, known]), y)
    assert learned.coef_[0, 6] == pytest.approx(1.0, abs=0.4)
    np.testing.assert_allclose(told.coef_[0], learned.coef_[0, :6], atol=0.12)
    assert set(told.get_support(indices=True)) == {0, 4}
    chance = told.predict_proba(X, offset=known)[:, 1]
    others = learned.predict_proba(np.column_stack([X, known]))[:, 1]
    assert np.abs(chance - others).mean() < 0.05
    assert told.score(X, y, offset=known) > told.score(X, y, offset=0 * known) + 0.05
    ignorant = clone(model).fit(X, y)
    assert told.score(X, y, offset=known) > ignorant.score(X, y)
    np.testing.assert_array_equal(
        told.predict(X, known), told.classes_[(told.decision_function(X, known) > 0).astype(int)]
    )
    np.testing.assert_allclose(
        told.predict_log_proba(X, known), np.log(told.predict_proba(X, known))
    )


@every_classifier
def test_an_offset_of_nothing_changes_nothing_and_a_level_goes_to_the_intercept(data, model):
    X, y = data
    plain, none = clone(model).fit(X, y), clone(model).fit(X, y, offset=np.zeros(len(y)))
    np.testing.assert_array_equal(plain.coef_, none.coef_)
    np.testing.assert_array_equal(plain.predict_proba(X), none.predict_proba(X, np.zeros(len(y))))
    level = clone(model).fit(X, y, offset=np.full(len(y), 1.5))
    off = 0.05 if plain.get_params().get("method") == SHORT else 1e-3
    assert level.intercept_[0] == pytest.approx(plain.intercept_[0] - 1.5, abs=3 * off)
    np.testing.assert_allclose(level.coef_, plain.coef_, atol=off)


@pytest.mark.parametrize(
    "model", [SpikeSlabClassifier(EffectSlab(1.0)), VariationalGarroteClassifier(gamma=-2.0)]
)
def test_offsets_of_another_length_are_refused(data, model):
    X, y = data
    with pytest.raises(ValueError, match=r"offset must have 120 entries .* got \(119,\)"):
        model.fit(X, y, offset=np.zeros(119))
    with pytest.raises(ValueError, match="offset is not finite at row 3"):
        model.fit(X, y, offset=np.where(np.arange(120) == 3, np.nan, 0.0))
    model.fit(X, y)
    with pytest.raises(ValueError, match="offset must have 5 entries"):
        model.predict_proba(X[:5], offset=np.zeros(4))


def test_exposures_of_counts_are_offsets():
    rng = np.random.default_rng(3)
    X, exposure = rng.standard_normal((150, 4)), rng.uniform(0.2, 5.0, 150)
    y = rng.poisson(exposure * np.exp(0.6 * X[:, 1])).astype(float)
    for prior in ("bic", "spike-slab"):
        model = SpikeSlabRegressor(prior, family="poisson").fit(X, y, offset=np.log(exposure))
        assert model.get_support(indices=True).tolist() == [1]
        assert model.coef_[1] == pytest.approx(0.6, abs=0.15)
        rate = model.predict(X, offset=np.log(exposure))
        np.testing.assert_allclose(
            rate, exposure * model.predict(X, offset=np.zeros(150)), rtol=1e-10
        )
        assert model.score(X, y, offset=np.log(exposure)) > 0.1
    shown = model.selection_.predictions
    np.testing.assert_allclose(shown.predicted[0], rate[shown.rows])


def test_an_offset_of_numbers_is_taken_off_and_put_back():
    rng = np.random.default_rng(4)
    X, known = rng.standard_normal((60, 4)), 3.0 * rng.standard_normal(60)
    y = X[:, 2] + rng.standard_normal(60)
    plain = SpikeSlabRegressor().fit(X, y)
    told = SpikeSlabRegressor().fit(X, y + known, offset=known)
    np.testing.assert_allclose(told.coef_, plain.coef_, atol=1e-10)
    mean, deviation = told.predict(X, return_std=True, offset=known)
    wanted, spread = plain.predict(X, return_std=True)
    np.testing.assert_allclose(mean, wanted + known, atol=1e-10)
    np.testing.assert_allclose(deviation, spread)
    assert told.score(X, y + known, offset=known) == pytest.approx(plain.score(X, y))


def test_a_short_chain_warns_and_says_how_to_go_on(data):
    X, y = data
    noise = np.random.default_rng(0).standard_normal((120, 4))
    hard = np.column_stack([X, X[:, [0, 0, 4, 4]] + noise])
    with pytest.warns(ConvergenceWarning, match="raise n_steps"):
        SpikeSlabClassifier(method=Sample(n_steps=100, burn_in=0), random_state=1).fit(hard, y)


def test_which_of_two_copies_it_is_leaves_predictions_sure(data):
    X, y = data
    one = SingleEffectsClassifier().fit(X, y)
    two = SingleEffectsClassifier().fit(np.column_stack([X, X[:, 0]]), y)
    doubled = two.predict_proba(np.column_stack([X, X[:, 0]]))
    np.testing.assert_allclose(doubled, one.predict_proba(X), atol=2e-3)
    assert {0, 6} in [set(found.variables.tolist()) for found in two.posterior_.credible_sets()]


def test_draws_have_the_stated_means_and_frequencies(data):
    X, y = data
    model = SpikeSlabClassifier(method=Sample(n_steps=3000), random_state=0).fit(X, y)
    draws = model.posterior_.sample(20_000, random_state=0)
    np.testing.assert_allclose((draws != 0).mean(axis=0), model.inclusion_probability_, atol=0.04)
    np.testing.assert_allclose(draws.mean(axis=0), model.coef_[0], atol=0.03)


def test_counts_with_a_slab_predict_rates_averaged_over_coefficients():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    y = rng.poisson(np.exp(0.7 * X[:, 1]))
    model = SpikeSlabRegressor(family="poisson").fit(X, y)
    assert model.get_support(indices=True).tolist() == [1]
    rate, deviation = model.predict(X, return_std=True)
    assert (deviation**2 >= rate).all()
    assert rate.mean() == pytest.approx(y.mean(), rel=0.1)
    empty = np.zeros((80, 4), dtype=int)
    empty[:40, 0] = 1
    none = SpikeSlabRegressor(family="poisson").fit(empty, np.where(empty[:, 0], 0, y))
    assert np.isfinite(none.coef_).all()
    with pytest.raises(ValueError, match="GPrior is for a gaussian response"):
        SpikeSlabRegressor("g-prior", family="poisson").fit(X, y)


def test_single_effects_of_few_labels_come_with_a_warning():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 5))
    y = X[:, 0] + rng.standard_normal(20) > 0
    with pytest.warns(UserWarning, match="20 rows of labels are few"):
        model = SingleEffectsClassifier().fit(X, y)
    assert any("few" in text for text in model.selection_.warnings)


def test_single_effects_of_labels_leave_a_column_that_stands_for_two():
    decoys = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        one, other = rng.standard_normal((2, 1500))
        decoy = (one + other) / np.sqrt(2) + 0.35 * rng.standard_normal(1500)
        X = np.column_stack([decoy, one, other, rng.standard_normal((1500, 3))])
        y = rng.random(1500) < 1 / (1 + np.exp(-one - other))
        sets = SingleEffectsClassifier().fit(X, y).posterior_.credible_sets()
        decoys += any(0 in found.variables for found in sets)
    assert decoys == 0


def test_draws_of_models_have_the_stated_moments_where_classes_are_nearly_separated():
    """The slab's variance is unknown, and a model's coefficients are averaged over it everywhere."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    y = 3 * X[:, 1] - 2 * X[:, 5] + 0.5 * rng.logistic(size=60) > 1
    known = SpikeSlabClassifier(method="sample", random_state=0).fit(X, y)
    for method in ("enumerate", "metropolis"):
        model = SpikeSlabClassifier(method=method, random_state=0).fit(X, y)
        draws = model.posterior_.sample(20_000, random_state=0)
        stated = np.sqrt(model.posterior_.variance)
        np.testing.assert_allclose(draws.mean(axis=0), model.coef_[0], atol=0.05)
        np.testing.assert_allclose(draws.std(axis=0)[[1, 5]], stated[[1, 5]], rtol=0.03)
        np.testing.assert_allclose(model.intercept_, known.intercept_, atol=0.25)


@pytest.mark.parametrize(
    "model",
    [
        SpikeSlabClassifier(method="mean-field"),
        VariationalGarroteClassifier(-2.0),
        SpikeSlabRegressor("bic", family="poisson"),
        SpikeSlabRegressor(method="enumerate"),
        SparseClassifier(alpha=0.05),
        SparseRegressor(alpha=0.05),
    ],
)
def test_rows_without_the_offset_that_the_fit_had_are_warned_of(model):
    rng = np.random.default_rng(0)
    X, known = rng.standard_normal((80, 4)), rng.standard_normal(80)
    y = rng.poisson(np.exp(0.5 * X[:, 0] + 0.5 * known))
    y = y > 0 if hasattr(model, "predict_proba") else y
    model.fit(X, y, offset=known)
    assert model.selection_.provenance["offset"] is True
    model.predict(X, offset=known)
    with pytest.warns(UserWarning, match="fitted with an offset, and none is given"):
        model.predict(X)
    model.fit(X, y).predict(X)
    assert model.selection_.provenance["offset"] is False
    with pytest.raises(ValueError, match="offset must hold numbers"):
        model.predict(X, offset="a")
