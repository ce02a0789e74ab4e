"""Z-scores with LD and n: what they are, when they are refused, and what every method makes of them."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from garrote import (
    Problem,
    ShrinkageRegressor,
    SingleEffectsRegressor,
    SparseRegressor,
    SpikeSlabRegressor,
    VariationalGarrote,
    fit_path,
    load,
)
from garrote.inference import EM, Gibbs, Metropolis, Sample, Search, infer
from garrote.paths import Anneal, FollowPath
from garrote.penalties import L1
from garrote.priors.scale_mixture import HorseshoePrior
from garrote.report import render_report
from garrote.zscores.consistency import check_consistency, conditional, without
from garrote.zscores.given import match_names
from garrote.zscores.mismatch import Spectrum, estimate_mismatch, null_disagreement
from garrote.zscores.summary_statistics import adjust_zscores, check_zscores
from reference_summary import chain, given_the_others, minus_log_density, simple_regressions

SUSIE = json.loads((Path(__file__).parents[1] / "data" / "summary_susier.json").read_text())
N, D = 300, 12


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = chain(rng, N, D, 0.7)
    y = X[:, 2] - 0.8 * X[:, 3] + 0.3 * X[:, 9] + rng.standard_normal(N)
    return X, (y - y.mean()) / y.std()


@pytest.fixture(scope="module")
def scores(rows):
    X, y = rows
    return simple_regressions(X, y), np.corrcoef(X.T), N


@pytest.fixture(scope="module")
def published(shared_data):
    """200 variants with LD of other samples; the sign of one z-score was flipped by the authors."""
    with np.load(shared_data / "susie_SummaryConsistency.npz", allow_pickle=False) as file:
        return file["z"], file["ldref"], int(file["flip_id"][0]) - 1


def genotypes(shared_data):
    """Z-scores of 400 neighbouring variants, their LD in the same samples, and n."""
    with np.load(shared_data / "N3finemapping.npz", allow_pickle=False) as file:
        X, y = file["X"][:, 300:700], file["Y"][:, 0]
    X = X[:, X.std(axis=0) > 0]
    return simple_regressions(X, y), np.corrcoef(X.T), len(y)


def spectrum_of(z, ld):
    values, vectors = np.linalg.eigh(ld)
    return Spectrum(np.maximum(values, 0.0), vectors, z @ vectors)


# --- the same as rows


def test_zscores_with_the_ld_of_their_samples_are_the_problem_of_the_rows(rows, scores):
    whole, summary = Problem.from_rows(*rows), Problem.from_zscores(*scores)
    np.testing.assert_allclose(summary.xty, whole.xty, atol=1e-10)
    np.testing.assert_allclose(summary.whole_gram(), whole.whole_gram(), atol=1e-10)
    assert summary.yty == pytest.approx(whole.yty)
    assert summary.n == whole.n
    assert summary.scale.intercept_count == whole.scale.intercept_count


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "enumerate"},
        {"method": "enumerate", "prior": "g-prior"},
        {"method": "enumerate", "prior": "bic"},
        {"method": Sample(n_steps=500)},
        {"method": Metropolis(n_steps=500)},
        {"method": Gibbs(n_steps=500)},
        {"method": Search(n_steps=100)},
        {"method": "mean-field"},
        {"method": "em"},
        {"method": EM(spike_variance=1e-4)},
    ],
    ids=lambda settings: "-".join(map(str, settings.values())),
)
@pytest.mark.filterwarnings(
    "ignore:sampled inclusion", "ignore:some solutions", "ignore:the search has not found enough"
)
def test_posteriors_from_zscores_are_those_from_rows(rows, scores, settings):
    from_rows = SpikeSlabRegressor(random_state=0, **settings).fit(*rows)
    summary = SpikeSlabRegressor(random_state=0, **settings).fit_zscores(*scores)
    np.testing.assert_allclose(
        summary.inclusion_probability_, from_rows.inclusion_probability_, atol=1e-8
    )
    np.testing.assert_allclose(summary.coef_, from_rows.coef_, atol=1e-8)
    assert summary.certificate_.kind == from_rows.certificate_.kind
    assert summary.noise_variance_ == pytest.approx(from_rows.noise_variance_)


def test_variational_garrote_from_zscores_is_that_from_rows(rows, scores):
    from_rows = VariationalGarrote("free_energy", method=Anneal(n_starts=2), random_state=0).fit(
        *rows
    )
    summary = VariationalGarrote(method=Anneal(n_starts=2), random_state=0).fit_zscores(*scores)
    np.testing.assert_allclose(summary.coef_, from_rows.coef_, atol=1e-8)
    assert summary.gamma_ == pytest.approx(from_rows.gamma_)
    assert not hasattr(summary, "cv_results_")
    assert any("chosen by free energy" in text for text in summary.selection_.warnings)


@pytest.mark.parametrize("penalty", ["lasso", "mcp", "group-lasso", "fused-lasso", "ridge"])
def test_penalised_fits_from_zscores_are_those_from_rows(rows, scores, penalty):
    from_rows = SparseRegressor(penalty, "ebic").fit(*rows)
    summary = SparseRegressor(penalty).fit_zscores(*scores)
    np.testing.assert_allclose(summary.coef_, from_rows.coef_, atol=1e-8)
    assert any("chosen by EBIC" in text for text in summary.selection_.warnings)
    assert SparseRegressor(penalty, 0.1).fit_zscores(*scores).alpha_ == 0.1


def test_functions_take_the_problem_too(scores):
    problem = Problem.from_zscores(*scores)
    assert infer(problem).posterior.inclusion_probability[2] > 0.99
    assert fit_path(problem, strengths=10).certificate.max() < 1e-4
    assert fit_path(problem, L1(), 10).certificate.max() < 1e-6


def test_more_variables_than_samples_are_the_problem_of_the_rows():
    rng = np.random.default_rng(0)
    X = chain(rng, 40, 90, 0.9)
    y = X[:, 5] + rng.standard_normal(40)
    z, ld = simple_regressions(X, y), np.corrcoef(X.T)
    summary = SpikeSlabRegressor(method="mean-field").fit_zscores(z, ld, 40)
    y = (y - y.mean()) / y.std()
    from_rows = SpikeSlabRegressor(method="mean-field").fit(X, y)
    assert summary.selection_.provenance["mismatch"] == 0
    np.testing.assert_allclose(summary.coef_, from_rows.coef_, atol=1e-6)


def test_published_moments_and_zscores_are_one_problem(shared_data):
    with np.load(shared_data / "susie_FinemappingConvergence.npz", allow_pickle=False) as file:
        moments = Problem.from_moments(file["XtX"], file["Xty"], float(file["yty"][0]), 50_000)
        spread = np.sqrt(np.diag(file["XtX"]))
        ld = file["XtX"] / np.outer(spread, spread)
        summary = Problem.from_zscores(file["z"], ld, 50_000)
    np.testing.assert_allclose(summary.xty, moments.xty, rtol=1e-6)
    np.testing.assert_allclose(summary.whole_gram(), moments.whole_gram(), rtol=1e-9)


# --- the mismatch


def test_mismatch_without_effects_maximises_the_likelihood(published):
    z, ld, _ = published
    z = adjust_zscores(z, 10_000)
    found = null_disagreement(spectrum_of(z, ld))

    def cost(s):
        return minus_log_density(z, (1 - s) * ld + s * np.eye(len(z)))

    assert cost(found) < min(cost(0.99 * found), cost(1.01 * found))
    assert found == pytest.approx(SUSIE["mismatch"], rel=1e-4)


def test_ld_of_the_same_samples_has_no_mismatch_and_of_others_has():
    rng = np.random.default_rng(1)
    X = chain(rng, 1200, 80, 0.98)
    y = 0.3 * X[:, 20] + rng.standard_normal(1200)
    z = simple_regressions(X, y)
    assert check_zscores(z, np.corrcoef(X.T), 1200).mismatch == 0
    other = np.corrcoef(X[:100].T)
    found = check_zscores(z, other, 1200)
    assert 0.001 < found.mismatch < 0.5
    np.testing.assert_allclose(
        found.correlation, (1 - found.mismatch) * other + found.mismatch * np.eye(80), atol=1e-12
    )
    assert any("it is of other samples or rounded" in text for text in found.notes)


@pytest.mark.filterwarnings("ignore:sampled inclusion")
def test_the_estimated_mismatch_keeps_the_posterior_near_that_of_the_rows(shared_data):
    with np.load(shared_data / "mice_genotypes.npz", allow_pickle=False) as file:
        X = file["X"][:, 4000:4100].astype(float)
    rng = np.random.default_rng(0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = 0.4 * X[:, 20] - 0.3 * X[:, 70] + rng.standard_normal(len(X))
    z, n = simple_regressions(X, y), len(X)
    other = np.corrcoef(X[rng.permutation(n)[: n // 2]].T)
    model = SpikeSlabRegressor(method=Sample(n_steps=1500), random_state=0)
    size = model.fit(X, y).inclusion_probability_.sum()
    estimated = model.fit_zscores(z, other, n).inclusion_probability_.sum()
    believed = model.fit_zscores(z, other, n, mismatch=1e-4).inclusion_probability_.sum()
    assert estimated == pytest.approx(size, abs=2)
    assert believed > size + 4
    with pytest.raises(ValueError, match="contradict each other"):
        model.fit_zscores(z, other, n, mismatch=0)


def test_effects_of_opposite_signs_do_not_pass_for_a_mismatch():
    rng = np.random.default_rng(2)
    X = chain(rng, 500, 20, 0.8)
    y = X[:, 7] - X[:, 8] + rng.standard_normal(500)
    z = adjust_zscores(simple_regressions(X, y), 500)
    spectrum = spectrum_of(z, np.corrcoef(X.T))
    assert null_disagreement(spectrum) > 0.5
    assert estimate_mismatch(spectrum) == 0
    model = SpikeSlabRegressor().fit_zscores(simple_regressions(X, y), np.corrcoef(X.T), 500)
    assert model.consistency_.null_disagreement > 0.5
    assert model.consistency_.notes == ()
    document = model.selection_.to_dict()
    assert document["provenance"]["mismatch"] == 0
    page = render_report(document)
    assert "counts as that of the samples behind the z-scores" in page
    assert "does not count as exactly" not in page
    assert "for one standard deviation of it" in page
    assert "z-scores have no rows to hold out" in page
    assert "for one unit" not in page


def test_rounded_ld_is_taken_and_its_negative_eigenvalues_are_lifted(rows, scores):
    z, ld, n = scores
    twice = np.r_[z, z[:3]]
    index = np.r_[np.arange(D), np.arange(3)]
    rounded = np.round(ld, 3)[np.ix_(index, index)]
    rounded[0, D + 1] = rounded[D + 1, 0] = rounded[0, D + 1] + 0.001
    assert np.linalg.eigvalsh(rounded)[0] < 0
    found = check_zscores(twice, rounded, n)
    assert np.linalg.eigvalsh(found.correlation)[0] > 0
    model = SpikeSlabRegressor().fit_zscores(z, np.round(ld, 3), n)
    exact = SpikeSlabRegressor().fit_zscores(*scores)
    np.testing.assert_allclose(
        model.inclusion_probability_, exact.inclusion_probability_, atol=0.05
    )


# --- consistency


def test_conditional_moments_are_those_of_a_normal_vector():
    rng = np.random.default_rng(0)
    covariance = np.corrcoef(rng.standard_normal((30, 8)).T)
    z = rng.standard_normal(8)
    mean, variance = conditional(z, np.linalg.inv(covariance))
    expected = given_the_others(z, covariance)
    np.testing.assert_allclose(mean, expected[0], atol=1e-10)
    np.testing.assert_allclose(variance, expected[1], atol=1e-10)
    rest = np.delete(np.arange(8), 3)
    np.testing.assert_allclose(
        without(np.linalg.inv(covariance), 3), np.linalg.inv(covariance[np.ix_(rest, rest)])
    )


def test_conditional_moments_are_susier_s(published):
    z, ld, _ = published
    z, s = adjust_zscores(z, SUSIE["n"]), SUSIE["mismatch"]
    mean, variance = conditional(z, np.linalg.inv((1 - s) * ld + s * np.eye(len(z))))
    np.testing.assert_allclose(mean, SUSIE["condmean"], atol=1e-5)
    np.testing.assert_allclose(variance, SUSIE["condvar"], atol=1e-6)
    np.testing.assert_allclose((z - mean) / np.sqrt(variance), SUSIE["z_std_diff"], atol=1e-4)


def test_the_flipped_sign_of_published_zscores_is_named(published):
    z, ld, wrong = published
    found = check_consistency(check_zscores(z, ld, 10_000))
    flagged = np.flatnonzero((np.array(SUSIE["logLR"]) > 2) & (np.abs(z) > 2))
    assert found.flipped == (wrong,) == tuple(flagged)
    assert found.inconsistent == ()
    z = z.copy()
    z[wrong] *= -1
    right = check_consistency(check_zscores(z, ld, 10_000))
    assert right.flipped == right.inconsistent == right.notes == ()


def test_each_flipped_sign_among_genotypes_is_named_and_no_other(shared_data):
    z, ld, n = genotypes(shared_data)
    assert check_consistency(check_zscores(z, ld, n)).notes == ()
    wrong = np.argsort(-np.abs(z))[[3, 40, 80]]
    z[wrong] *= -1
    found = check_consistency(check_zscores(z, ld, n))
    assert sorted(found.flipped) == sorted(wrong)
    assert found.inconsistent == ()


def test_a_zscore_unlike_its_neighbours_is_named(shared_data):
    z, ld, n = genotypes(shared_data)
    wrong = int(np.argsort(-np.abs(z))[20])
    z[wrong] = 0.0
    found = check_consistency(check_zscores(z, ld, n))
    assert found.inconsistent == (wrong,)
    assert found.flipped == ()
    assert found.table().columns["verdict"] == ["out of line"]
    assert len(found.table(all_variables=True)) == len(z)


def test_a_strong_effect_is_not_called_an_error():
    rng = np.random.default_rng(4)
    X = chain(rng, 2000, 60, 0.9)
    y = X[:, 30] + rng.standard_normal(2000)
    z, ld = simple_regressions(X, y), np.corrcoef(X.T)
    found = check_consistency(check_zscores(z, ld, 2000))
    assert np.abs(found.deviation).max() > 10
    assert found.notes == ()


def test_the_error_of_contradicting_zscores_names_those_out_of_line(shared_data):
    z, ld, n = genotypes(shared_data)
    wrong = int(np.argmax(np.abs(z)))
    z[wrong] *= -1
    with pytest.raises(ValueError, match=rf"contradict each other.*flipped.* for x{wrong}"):
        SpikeSlabRegressor().fit_zscores(z, ld, n, mismatch=0)


# --- the fitted model


def test_fit_to_zscores_warns_of_the_flipped_sign_and_reports_it(published, tmp_path):
    z, ld, wrong = published
    names = [f"rs{j}" for j in range(len(z))]
    model = SpikeSlabRegressor(method="mean-field")
    with pytest.warns(UserWarning, match="flipped.*rs157"):
        model.fit_zscores(z, ld, 10_000, names=names)
    assert model.consistency_.flipped == (wrong,)
    assert model.posterior_.names[wrong] == "rs157"
    document = json.loads(model.selection_.to_json())
    (entry,) = document["consistency"]["out_of_line"]
    assert (entry["name"], entry["flipped"]) == ("rs157", True)
    page = render_report(document)
    assert "Z-scores and LD" in page
    assert "sign flipped" in page
    model.save(tmp_path / "model.garrote")
    loaded = load(tmp_path / "model.garrote")
    assert loaded.consistency_.flipped == (wrong,)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


def test_predictions_need_rows_and_come_back_with_them(rows, scores):
    model = SparseRegressor().fit_zscores(*scores)
    assert model.selection_.effect_scale == "standard deviations"
    assert "effects are in standard deviations: of y, for one of the variable" in str(
        model.selection_.summary()
    )
    with pytest.raises(ValueError, match="fitted to z-scores"):
        model.predict(rows[0])
    assert not hasattr(model.fit(*rows), "consistency_")
    assert model.predict(rows[0]).shape == (N,)
    assert model.selection_.consistency is None


def test_settings_by_name_work_and_those_of_rows_are_refused(scores):
    names = [f"v{j}" for j in range(D)]
    plain = SpikeSlabRegressor().fit_zscores(*scores, names=names)
    pushed = SpikeSlabRegressor(prior_log_odds={"v6": 8.0}).fit_zscores(*scores, names=names)
    assert pushed.inclusion_probability_[6] > plain.inclusion_probability_[6] + 0.3
    for model in (
        SpikeSlabRegressor(covariates=[0]),
        VariationalGarrote(covariates=[0]),
        SparseRegressor(penalty_factor={0: 0.0}),
    ):
        with pytest.raises(ValueError, match="needs rows"):
            model.fit_zscores(*scores)
    for model in (
        SpikeSlabRegressor("bic", family="poisson"),
        SparseRegressor(family="poisson"),
    ):
        with pytest.raises(ValueError, match="family='gaussian'"):
            model.fit_zscores(*scores)


def test_labels_of_data_frames_decide_the_order(scores):
    pandas = pytest.importorskip("pandas")
    z, ld, n = scores
    names = [f"v{j}" for j in range(D)]
    frame = pandas.DataFrame(ld, index=names, columns=names)
    turned = pandas.Series(z, index=names)[::-1]
    found = check_zscores(turned, frame, n)
    assert found.names == tuple(names[::-1])
    np.testing.assert_allclose(found.ld, ld[::-1, ::-1])
    with pytest.raises(ValueError, match=r"the rows of ld.* are not its columns"):
        check_zscores(turned, frame.iloc[::-1], n)
    with pytest.raises(ValueError, match="not those of ld"):
        check_zscores(pandas.Series(z, index=["w", *names[1:]]), frame, n)


def test_names_that_only_one_side_has_are_left_out_and_told_of():
    z, ld = np.arange(3.0), np.eye(3) + 0.1
    kept_z, kept_ld, names, notes = match_names(z, ["a", "b", "c"], ld, ["c", "d", "b"])
    assert names == ("b", "c")
    np.testing.assert_array_equal(kept_z, [1.0, 2.0])
    np.testing.assert_array_equal(kept_ld, ld[np.ix_([2, 0], [2, 0])])
    assert notes == ("left out, without LD: a", "left out, without a z-score: d")
    with pytest.raises(ValueError, match="no name in common"):
        match_names(z, ["a", "b", "c"], ld, ["d", "e", "f"])
    with pytest.raises(ValueError, match="more than once"):
        match_names(z, ["a", "a", "c"], ld, ["d", "e", "f"])


# --- bad input


def changed(ld, *entries):
    ld = ld.copy()
    for j, k, value in entries:
        ld[j, k] = value
    return ld


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda z, ld, n: (z, ld[:, :-1], n), "square matrix"),
        (lambda z, ld, n: (z, ld[:-1, :-1], n), "ld has 11 variables and z has 12"),
        (lambda z, ld, n: (z, ld[0], n), "square matrix"),
        (lambda z, ld, n: (z, changed(ld, (1, 4, 0.9)), n), "not symmetric: 0.9 for 'x1' and 'x4'"),
        (lambda z, ld, n: (z, np.tril(ld), n), "mirror the triangle"),
        (lambda z, ld, n: (z, changed(ld, (0, 1, 0.99), (1, 0, 0.99), (0, 2, -0.99), (2, 0, -0.99)), n),
         "not positive semidefinite"),
        (lambda z, ld, n: (z, changed(ld, (0, 1, 1.5), (1, 0, 1.5)), n), "between -1 and 1"),
        (lambda z, ld, n: (z, 4 * ld, n), "1 on the diagonal"),
        (lambda z, ld, n: (z, changed(ld, (2, 3, np.nan)), n), "missing or infinite for 'x3'"),
        (lambda z, ld, n: (np.where(np.arange(D) == 5, np.nan, z), ld, n), "missing.*'x5'"),
        (lambda z, ld, n: (np.where(np.arange(D) == 5, np.inf, z), ld, n), "infinite.*'x5'"),
        (lambda z, ld, n: (np.zeros((2, D)), ld, n), "one number for each variable"),
        (lambda z, ld, n: (np.zeros(0), np.zeros((0, 0)), n), "one number for each variable"),
        (lambda z, ld, n: (z, ld, None), "n is missing"),
        (lambda z, ld, n: (z, ld, 0), "n must be"),
        (lambda z, ld, n: (z, ld, np.nan), "n must be"),
        (lambda z, ld, n: (z, ld, [100, 200]), "one number, got 2 from 100 to 200"),
        (lambda z, ld, n: (z, ld, 5), "n = 5 contradict each other"),
    ],
)  # fmt: skip
def test_bad_zscores_are_refused_in_words(scores, spoil, words):
    with pytest.raises(ValueError, match=words):
        Problem.from_zscores(*spoil(*scores))


@pytest.mark.parametrize("mismatch", ["guess", -0.1, 1.1, None])
def test_a_mismatch_that_cannot_be_meant_is_refused(scores, mismatch):
    with pytest.raises(ValueError, match="mismatch must be"):
        Problem.from_zscores(*scores, mismatch=mismatch)


def test_contradictions_are_refused_where_no_mismatch_is_admitted(scores):
    z, ld, n = scores
    index = np.r_[np.arange(D), 0]
    double, copies = np.r_[z, -z[0]], ld[np.ix_(index, index)]
    with pytest.raises(ValueError, match="contradict each other with mismatch = 0"):
        Problem.from_zscores(double, copies, n, mismatch=0)
    assert check_zscores(double, copies, n).mismatch > 0


def test_a_large_mismatch_is_told_of_as_such(shared_data):
    z, ld, n = genotypes(shared_data)
    assert check_zscores(z, ld, n).notes == ()
    shuffled = np.random.default_rng(0).permutation(len(z))
    found = check_zscores(z[shuffled], ld, n)
    assert found.mismatch > 0.2
    assert check_consistency(found).notes
    assert any("s is large" in text for text in found.notes)


def test_squared_correlations_are_suspected():
    rng = np.random.default_rng(0)
    ld = np.corrcoef(chain(rng, 200, 30, 0.5).T)
    z = rng.standard_normal(30)
    assert not any("squares" in text for text in check_zscores(z, ld, 200).notes)
    assert any("squares" in text for text in check_zscores(z, ld**2, 200).notes)


def test_ld_of_other_samples_holds_the_noise_and_says_so():
    rng = np.random.default_rng(0)
    common = rng.standard_normal((800, 1))
    X = common + 0.6 * rng.standard_normal((800, 12))
    own, other = X[:400], X[400:]
    y = own[:, 3] + own[:, 8] + rng.standard_normal(400)
    r = np.corrcoef(own.T, y)[-1, :-1]
    z = r * np.sqrt(398 / (1 - r**2))
    model, ld = SingleEffectsRegressor(), np.corrcoef(other.T)
    model.fit_zscores(z, ld, 400, mismatch=0.05)
    assert model.noise_variance_ == pytest.approx(1.0)
    assert any("held at that of y" in text for text in model.selection_.warnings)
    model.fit_zscores(z, np.corrcoef(own.T), 400, mismatch=0)
    assert model.noise_variance_ < 0.5


def test_names_of_a_labelled_matrix_are_those_of_the_model():
    ld = pd.DataFrame(np.eye(3), columns=list("abc"), index=list("abc"))
    model = ShrinkageRegressor("horseshoe", Gibbs(n_steps=200, burn_in=100), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit_zscores([8.0, 0.1, -0.2], ld, 1000)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert list(model.get_feature_names_out()) == ["a"]
    assert model.selection_.provenance["reference"] == HorseshoePrior().reference


def halves(X, y, seed):
    """Return z-scores of one half of the rows and the LD of the other."""
    order = np.random.default_rng(seed).permutation(len(X))
    ld_rows, rows = order[: len(X) // 2], order[len(X) // 2 :]
    return simple_regressions(X[rows], y[rows]), np.corrcoef(X[ld_rows].T), len(rows)


@pytest.fixture(scope="module")
def crowded():
    """Fewer samples than variables, z-scores and LD of different ones; variable 40 has an effect."""
    rng = np.random.default_rng(1)
    X = chain(rng, 120, 90, 0.7)
    return halves(X, 1.2 * X[:, 40] + rng.standard_normal(120), 0)


SEEM = pytest.mark.filterwarnings("ignore:90 variables with LD of other samples seem to explain")


def test_noise_in_more_variables_than_samples_is_no_contradiction(crowded):
    with pytest.warns(UserWarning, match="90 variables with LD of other samples seem to explain"):
        model = SingleEffectsRegressor().fit_zscores(*crowded)
    assert model.noise_variance_ == pytest.approx(1.0)
    assert any("held at that of y" in text for text in model.selection_.warnings)
    assert [found.names for found in model.posterior_.credible_sets()] == [("x40",)]
    with pytest.warns(UserWarning, match="Hold the noise variance at 1"):
        problem = Problem.from_zscores(*crowded)
    # Data with these moments exist.
    gram = problem.known_block(problem.usable)
    assert problem.xty @ np.linalg.solve(gram, problem.xty) <= problem.yty


@SEEM
@pytest.mark.parametrize(
    "model",
    [
        VariationalGarrote(),
        SparseRegressor(penalty="mcp", method=FollowPath(max_iter=2000)),
        SpikeSlabRegressor(method="mean-field"),
        SpikeSlabRegressor(method="em"),
    ],
    ids=str,
)
def test_every_estimator_holds_the_noise_where_it_is_hidden(crowded, model):
    model.fit_zscores(*crowded)
    assert np.argmax(np.abs(model.coef_)) == 40
    # Were the noise learnt, dozens would be large. EM takes one that is not there.
    assert np.count_nonzero(np.abs(model.coef_) > 0.1) <= 2
    assert any("held at that of y" in text for text in model.selection_.warnings)
    assert model.certificate_.value < 1e-3


@SEEM
@pytest.mark.parametrize("prior", ["g-prior", "bic"])
def test_priors_that_learn_the_noise_are_refused_where_it_is_hidden(crowded, prior):
    with pytest.raises(ValueError, match="learns the noise, which is hidden"):
        SpikeSlabRegressor(prior).fit_zscores(*crowded)


def test_more_than_effects_and_noise_can_be_is_still_a_contradiction(crowded):
    z, ld, n = crowded
    noise = 6.0 * np.random.default_rng(0).standard_normal(len(z))
    with pytest.raises(ValueError, match="contradict each other"):
        Problem.from_zscores(noise, ld, n)
    with pytest.raises(ValueError, match="contradict each other with mismatch = 0"):
        Problem.from_zscores(z, ld, n, mismatch=0)


@pytest.mark.filterwarnings("ignore:1001 variables with LD of other samples seem to explain")
def test_half_of_the_samples_with_the_ld_of_the_others_find_the_sets_of_susier(shared_data):
    with np.load(shared_data / "N3finemapping.npz", allow_pickle=False) as file:
        X, Y = file["X"], file["Y"]
    for trait, found in [(0, {"x772", "x776"}), (1, {"x794"})]:
        scores = halves(X, Y[:, trait], 0)
        model = SingleEffectsRegressor().fit_zscores(*scores)
        sets = model.posterior_.credible_sets()
        assert [set(one.names) for one in sets] == [found]
