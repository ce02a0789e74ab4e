"""Dictionaries by a beta process as users meet them: atoms, gaps, deviations, files, refusals."""

import numpy as np
import pytest

import garrote
from garrote.coding import BetaProcessDictionary
from garrote.displays import AtomsDisplay, CodesDisplay, LearningDisplay


def planted(n=400, count=5, width=12, share=0.3, noise=0.1, missing=0.3, seed=0):
    """Return signals of a few Gaussian atoms with gaps, and the same whole and without noise."""
    rng = np.random.default_rng(seed)
    atoms = rng.standard_normal((count, width))
    truth = (rng.standard_normal((n, count)) * (rng.random((n, count)) < share)) @ atoms
    signals = truth + noise * rng.standard_normal((n, width))
    signals[rng.random((n, width)) < missing] = np.nan
    return atoms, truth, signals


@pytest.fixture(scope="module")
def fitted():
    atoms, truth, signals = planted()
    return atoms, truth, signals, BetaProcessDictionary(24, random_state=0).fit(signals)


def test_atoms_noise_and_missing_entries_are_found(fitted):
    atoms, truth, signals, model = fitted
    cosine = atoms @ model.components_.T
    cosine /= np.linalg.norm(atoms, axis=1)[:, None] * np.linalg.norm(model.components_, axis=1)
    assert np.abs(cosine).max(axis=1).min() > 0.98
    assert model.noise_variance_ == pytest.approx(0.01, rel=0.2)
    assert not model.truncation_binds_
    assert 5 <= model.n_atoms_ < 20
    missing = np.isnan(signals)
    assert np.mean((model.signals_ - truth)[missing] ** 2) < 0.03 * np.mean(truth**2)
    assert np.mean((model.signals_ - truth)[~missing] ** 2) < 0.01


def test_deviations_are_those_of_the_error(fitted):
    _, truth, signals, model = fitted
    inside = np.abs(model.signals_ - truth) < 1.96 * model.deviation_
    assert 0.88 < inside.mean() < 0.99
    missing = np.isnan(signals)
    assert model.deviation_[missing].mean() > model.deviation_[~missing].mean()
    assert model.certificate_["hidden entries"] < 0.1


def test_new_signals_are_reconstructed_with_deviations(fitted):
    atoms, _, _, model = fitted
    rng = np.random.default_rng(5)
    truth = (rng.standard_normal((200, 5)) * (rng.random((200, 5)) < 0.3)) @ atoms
    new = truth + 0.1 * rng.standard_normal(truth.shape)
    new[rng.random(new.shape) < 0.3] = np.nan
    found = model.reconstruct(new)
    assert np.mean((found.mean - truth) ** 2) < 0.03 * np.mean(truth**2)
    assert 0.85 < np.mean(np.abs(found.mean - truth) < 1.96 * found.deviation) < 0.995
    assert "200 signals of 12 entries" in str(found.summary())
    # A signal of which nothing is known is what signals are by themselves.
    silent = model.reconstruct(np.full((1, 12), np.nan))
    assert silent.deviation.min() > 0.3 * truth.std()


def test_codes_satisfy_their_equations_and_lead_back(fitted):
    _, _, signals, model = fitted
    codes = model.encode(signals)
    assert codes.certificate.value < 1e-5
    # Codes of signals without gaps begin elsewhere, and end as good.
    assert model.encode(model.signals_[:50]).certificate.value < 1e-5
    assert codes.inclusion_probability.data.max() <= 1.0
    dense = model.transform(signals)
    np.testing.assert_array_equal(dense, codes.values.toarray())
    seen = ~np.isnan(signals)
    left = np.nansum((signals - model.inverse_transform(dense)) ** 2)
    assert model.score(signals) == pytest.approx(1 - left / np.sum(signals[seen] ** 2))
    assert model.score(signals) > 0.97


def test_each_draw_is_handed_over_in_the_units_of_the_signals():
    _, _, signals = planted(60)
    seen = []
    model = BetaProcessDictionary(8, n_steps=6, burn_in=5, random_state=0)
    model.fit(100 * signals, each_draw=lambda whole: seen.append(whole.copy()))
    assert len(seen) == 6
    np.testing.assert_allclose(np.mean(seen, axis=0), model.signals_)
    np.testing.assert_allclose(np.std(seen, axis=0, ddof=1), model.deviation_)


def test_answers_follow_units_and_repeat_with_their_seed():
    _, _, signals = planted(60)
    model = BetaProcessDictionary(8, n_steps=5, burn_in=5, random_state=3)
    first = model.fit(signals).signals_
    np.testing.assert_array_equal(model.fit(signals).signals_, first)
    scaled = model.fit(1e6 * signals)
    np.testing.assert_allclose(scaled.signals_, 1e6 * first, rtol=1e-6, atol=1.0)


def test_several_chains_are_joined_and_tell_of_their_states():
    told, (_, _, signals) = [], planted(60)
    model = BetaProcessDictionary(
        8, n_steps=8, burn_in=4, n_chains=2, random_state=0, callback=told.append
    ).fit(signals)
    assert [one.done for one in told] == [*range(1, 13)] * 2
    assert len(model.draws_) == 16
    assert len(model.record_) == model.n_iter_ == 12
    assert model.certificate_["halves of chains"] > 0


def test_a_warm_start_goes_on_from_the_atoms_before():
    _, truth, signals = planted(200)
    model = BetaProcessDictionary(10, n_steps=10, random_state=0).fit(signals)
    again = BetaProcessDictionary(
        10, n_steps=30, burn_in=5, warm_start=True, dictionary=model.components_, random_state=1
    ).fit(signals)
    assert np.mean((again.signals_ - truth) ** 2) < 0.1 * np.mean(truth**2)
    model.set_params(warm_start=True, burn_in=0, n_steps=1).fit(signals)
    cold = BetaProcessDictionary(10, burn_in=0, n_steps=1, random_state=0).fit(signals)
    assert model.record_.left[0] < 0.5 * cold.record_.left[0]


def test_a_known_noise_is_kept_and_a_truncation_that_binds_is_told():
    _, _, signals = planted(100)
    model = BetaProcessDictionary(2, noise_variance=0.04, n_steps=5, burn_in=5, random_state=0)
    model.fit(signals)
    assert model.noise_variance_ == pytest.approx(0.04)
    assert model.truncation_binds_
    assert "all 2 atoms are in use" in model.certificate_.meaning


def test_a_model_comes_back_from_its_file_and_is_drawn(fitted, tmp_path):
    model = fitted[3]
    model.save(tmp_path / "atoms.garrote")
    again = garrote.load(tmp_path / "atoms.garrote")
    np.testing.assert_array_equal(again.deviation_, model.deviation_)
    new = fitted[2][:20]
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    np.testing.assert_array_equal(again.reconstruct(new).mean, model.reconstruct(new).mean)
    AtomsDisplay.from_estimator(again, shape=(3, 4))
    CodesDisplay.from_estimator(again, new)
    LearningDisplay.from_estimator(again)
    assert "draws of 24 atoms" in str(again.draws_.summary())


def test_constant_silent_and_single_signals_have_their_answers():
    short = {"n_steps": 4, "burn_in": 4, "random_state": 0}
    silent = BetaProcessDictionary(5, **short).fit(np.zeros((6, 4)))
    assert np.abs(silent.signals_).max() < 0.1
    level = BetaProcessDictionary(5, **short).fit(np.full((40, 9), 3.0))
    np.testing.assert_allclose(level.signals_, 3.0, atol=0.5)
    one = BetaProcessDictionary(**short).fit(np.array([[1.0, np.nan, 2.0]]))
    assert np.isfinite(one.signals_).all()
    assert one.components_.shape == (12, 3)


@pytest.mark.parametrize(
    ("change", "X", "message"),
    [
        ({"forgetting": -1.0}, None, "forgetting must be >= 0"),
        ({"n_components": 0}, None, "n_components must be an integer >= 1, got 0"),
        ({"mass": 0.0}, None, "mass must be positive"),
        ({"n_steps": 0}, None, "n_steps must be an integer >= 1"),
        ({"noise_variance": -1.0}, None, "noise_variance must be positive"),
        ({"dictionary": np.eye(12), "n_components": 3}, None, "has 12 atoms, n_components is 3"),
        ({"dictionary": np.eye(3)}, None, "atoms have 3 entries and signals 12"),
        ({}, np.full((3, 2), np.nan), "every entry of X is missing"),
        ({}, np.array([[1.0, np.inf]]), "First at row 0, column 1"),
        ({}, np.array([[1.0, 1e200]]), "X is 1e.200 at row 0, column 1"),
    ],
)
def test_what_nothing_could_be_learned_from_is_refused(change, X, message):
    signals = planted(20)[2] if X is None else X
    with pytest.raises(ValueError, match=message):
        BetaProcessDictionary(**change).fit(signals)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_learning_in_parts_is_as_good_as_learning_from_the_whole(missing, tmp_path):
    atoms, _, signals = planted(600, missing=missing)
    model = BetaProcessDictionary(16, random_state=0)
    for rows in np.split(np.arange(600), 4):
        model.partial_fit(signals[rows])
    whole = BetaProcessDictionary(16, random_state=0).fit(signals)
    assert len(model.record_) == 4 * 300
    assert model.signals_.shape == (150, 12)
    assert model.noise_variance_ == pytest.approx(whole.noise_variance_, rel=0.1)
    rng = np.random.default_rng(5)
    new = (rng.standard_normal((200, 5)) * (rng.random((200, 5)) < 0.3)) @ atoms
    seen = np.where(rng.random(new.shape) < 0.3, np.nan, new + 0.1 * rng.standard_normal(new.shape))
    errors = []
    for one in (model, whole):
        found = one.reconstruct(seen)
        errors.append(np.sqrt(np.mean((found.mean - new) ** 2)))
        assert 0.85 < np.mean(np.abs(found.mean - new) < 1.96 * found.deviation) < 0.995
    assert errors[0] < 1.15 * errors[1]
    model.save(tmp_path / "parts.garrote")
    again = garrote.load(tmp_path / "parts.garrote").partial_fit(signals[:50])
    np.testing.assert_array_equal(again.components_, model.partial_fit(signals[:50]).components_)


def test_the_first_part_is_a_fit_and_several_chains_go_on_each_from_its_own_end():
    _, _, signals = planted(60)
    settings = {"n_steps": 5, "burn_in": 5, "n_chains": 2, "random_state": 3}
    one = BetaProcessDictionary(8, **settings).partial_fit(1e3 * signals)
    whole = BetaProcessDictionary(8, **settings).fit(1e3 * signals)
    np.testing.assert_array_equal(one.signals_, whole.signals_)
    seen = []
    one.partial_fit(1e3 * signals[:20], each_draw=lambda each: seen.append(each.copy()))
    assert len(seen) == 10
    np.testing.assert_allclose(np.mean(seen, axis=0), one.signals_)
    assert len(one.draws_) == 10
    assert one.inclusion_.shape == (8,)
    with pytest.raises(ValueError, match="features"):
        one.partial_fit(signals[:, :5])
