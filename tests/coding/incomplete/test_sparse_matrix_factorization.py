"""Sparse factors of matrices with gaps as users meet them."""

import numpy as np
import pytest

import garrote
from garrote.coding import PenalisedFactors, SparseMatrixFactorization, SpikeSlabFactors
from garrote.displays import AtomsDisplay, LearningDisplay
from garrote.solvers.coding.factor_moments import (
    Numbers,
    Side,
    code_sums,
    expected_error_by_sums,
    expected_errors,
    loaded,
    loaded_by_sums,
)
from reference_coding import likeness, planted_factors

QUICK = [PenalisedFactors(0.3, 0.3), SpikeSlabFactors(1, 60)]


@pytest.mark.parametrize("missing", [0.3, 0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_factors_are_found_though_many_entries_are_missing(missing, seed):
    parts, truth, signals = planted_factors(missing=missing, seed=seed)
    model = SparseMatrixFactorization(8, "spike-slab", random_state=0).fit(signals)
    assert likeness(parts, model.components_).min() > 0.995
    inside = model.inclusion_ > 0.5
    assert inside.any(axis=1).sum() == 5
    best = np.abs(parts @ model.components_.T).argmax(axis=1)
    assert np.mean(inside[best] == (np.abs(parts) > 0.1)) > 0.95
    gaps = np.isnan(signals)
    filled = model.inverse_transform(model.transform(signals))
    assert np.sqrt(np.mean((filled - truth)[gaps] ** 2)) < 0.1
    assert model.noise_variance_ == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_price_finds_planted_factors_and_keeps_its_promises(seed):
    parts, _, signals = planted_factors(missing=0.3, seed=seed)
    model = SparseMatrixFactorization(7, PenalisedFactors(0.3, 0.3), random_state=0).fit(signals)
    assert likeness(parts, model.components_).min() > 0.9
    assert np.diff(model.record_.objective).max() <= 1e-12
    assert model.certificate_.value < 1e-5
    bound = np.sum(model.components_**2, axis=1) + 0.3 * np.abs(model.components_).sum(axis=1)
    assert bound.max() <= 1 + 1e-12
    assert 0.1 < np.mean(model.components_ != 0) < 0.6
    seen = ~np.isnan(signals)
    left = np.where(seen, signals - model.codes_ @ model.components_, 0.0)
    cost = 0.5 * np.sum(left**2) + 0.3 * np.abs(model.codes_.data).sum()
    assert model.record_.objective[-1] == pytest.approx(cost / len(signals))


@pytest.mark.parametrize("method", QUICK, ids=lambda method: method.name)
def test_the_objective_never_rises_and_weights_are_repeats(method):
    signals = planted_factors(60, 12, 3)[2]
    weights = np.random.default_rng(0).integers(0, 3, 60)
    settings = {"random_state": 0, "max_rounds": 2000}
    weighted = SparseMatrixFactorization(4, method, **settings).fit(signals, sample_weight=weights)
    repeated = SparseMatrixFactorization(4, method, **settings).fit(
        np.repeat(signals, weights, axis=0)
    )
    np.testing.assert_allclose(
        np.abs(weighted.components_), np.abs(repeated.components_), atol=1e-5
    )
    fell = np.diff(weighted.record_.objective)
    assert fell.max(initial=0.0) <= 1e-9 * abs(weighted.record_.objective[-1])


@pytest.mark.parametrize("method", QUICK, ids=lambda method: method.name)
def test_codes_have_certificates_and_models_come_back_from_files(method, tmp_path):
    signals = planted_factors(80, 15, 3)[2]
    told = []
    model = SparseMatrixFactorization(4, method, random_state=0, callback=told.append).fit(signals)
    assert told[-1].stage == method.name
    codes = model.encode(signals)
    assert codes.certificate.value < 1e-5
    np.testing.assert_array_equal(model.transform(signals), codes.values.toarray())
    model.save(tmp_path / "factors.garrote")
    again = garrote.load(tmp_path / "factors.garrote")
    np.testing.assert_array_equal(again.transform(signals), model.transform(signals))
    assert again.certificate_ == model.certificate_
    assert again.method_ == model.method_
    AtomsDisplay.from_estimator(again)
    LearningDisplay.from_estimator(again)
    single = again.transform(signals.astype(np.float32))
    assert single.dtype == np.float32
    again.sparse_output = True
    assert again.transform(signals).format == "csr"


def test_a_warm_start_goes_on_from_the_components_before():
    signals = planted_factors(80, 15, 3)[2]
    model = SparseMatrixFactorization(
        4, PenalisedFactors(0.2), warm_start=True, random_state=0, tol=1e-9
    ).fit(signals)
    reached = model.record_.objective[-1]
    assert model.fit(signals).record_.objective[0] == pytest.approx(reached, rel=1e-3)
    model.set_params(method="spike-slab", warm_start=False, tol=1e-6).fit(signals)
    reached, told = model.record_.objective[-1], []
    model.set_params(warm_start=True, callback=told.append).fit(signals)
    assert told[-1].done == model.n_iter_  # noise is not raised again
    assert model.record_.objective[-1] == pytest.approx(reached, rel=1e-2)


def test_tighter_tolerances_bring_the_equations_of_mean_field_closer_to_holding():
    signals = planted_factors(80, 15, 3)[2]
    rough, fine = (
        SparseMatrixFactorization(
            4, SpikeSlabFactors(1), random_state=0, tol=tol, max_rounds=5000
        ).fit(signals)
        for tol in (1e-5, 1e-9)
    )
    assert fine.certificate_.value < 1e-3
    assert fine.certificate_.value <= rough.certificate_.value


def test_columns_and_signals_of_which_nothing_was_seen_change_nothing_else():
    signals = planted_factors(80, 15, 3)[2]
    signals[:, 4] = np.nan
    signals[7] = np.nan
    for method in QUICK:
        model = SparseMatrixFactorization(3, method, random_state=0).fit(signals)
        assert np.isfinite(model.components_).all()
        np.testing.assert_allclose(model.transform(signals)[7], 0.0, atol=1e-12)
        np.testing.assert_allclose(model.components_[:, 4], 0.0, atol=1e-12)


def test_silent_and_constant_signals_have_their_answers():
    for method in QUICK:
        silent = SparseMatrixFactorization(1, method, random_state=0).fit(np.zeros((6, 4)))
        assert not silent.inverse_transform(silent.transform(np.zeros((6, 4)))).any()
        level = np.outer(np.arange(1.0, 21), np.ones(9))
        model = SparseMatrixFactorization(2, method, random_state=0).fit(level)
        assert model.score(level) > 0.9


@pytest.mark.parametrize(
    ("change", "X", "message"),
    [
        ({"n_components": 0}, None, "n_components must be an integer >= 1, got 0"),
        ({"method": "greedy"}, None, "method must be one of .*or a factorising method"),
        ({"max_rounds": 0}, None, "max_rounds must be an integer >= 1"),
        ({"tol": 0.0}, None, "tol must be positive"),
        ({"dictionary": np.eye(12), "n_components": 3}, None, "has 12 atoms, n_components is 3"),
        ({"n_components": 21}, None, "21 components cannot be found in 20 distinct signals"),
        ({}, np.full((3, 2), np.nan), "every entry of X is missing"),
        ({}, np.array([[1.0, np.inf]]), "First at row 0, column 1"),
    ],
)
def test_what_nothing_could_be_learned_from_is_refused(change, X, message):
    signals = planted_factors(20, 12, 3)[2] if X is None else X
    with pytest.raises(ValueError, match=message):
        SparseMatrixFactorization(**change).fit(signals)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PenalisedFactors(alpha=0.0), "alpha must be positive"),
        (lambda: PenalisedFactors(gamma=-1.0), "gamma must be >= 0"),
        (lambda: SpikeSlabFactors(0), "n_starts must be an integer >= 1"),
        (lambda: SpikeSlabFactors(1, -1), "n_easing must be an integer >= 0"),
        (lambda: SpikeSlabFactors(1, forgetting=-1.0), "forgetting must be >= 0, got -1.0"),
    ],
)
def test_settings_that_mean_nothing_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_fit_that_has_not_settled_says_how_far_it_is():
    signals = planted_factors(60, 12, 3)[2]
    with pytest.warns(UserWarning, match=r"max_rounds = 1 rounds .* raise either"):
        SparseMatrixFactorization(3, random_state=0, max_rounds=1).fit(signals)


def _objective(model, signals):
    seen = ~np.isnan(signals)
    codes = model.transform(signals)
    left = np.where(seen, signals - codes @ model.components_, 0.0)
    return (0.5 * np.sum(left**2) + 0.3 * np.abs(codes).sum()) / len(signals)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_learning_goes_on_in_parts(missing, tmp_path):
    _, _, signals = planted_factors(600, missing=missing, seed=0)
    method = PenalisedFactors(0.3, 0.3)
    model = SparseMatrixFactorization(7, method, random_state=0)
    batches = np.split(signals, 12)
    for batch in batches:
        model.partial_fit(batch)
    after_one_pass = _objective(model, signals)
    for batch in batches * 8:
        model.partial_fit(batch)
    assert len(model.record_) == 108
    whole = SparseMatrixFactorization(7, method, random_state=0).fit(signals)
    reached = _objective(model, signals)
    assert reached < after_one_pass
    assert reached < 1.15 * _objective(whole, signals)
    bound = np.sum(model.components_**2, axis=1) + 0.3 * np.abs(model.components_).sum(axis=1)
    assert bound.max() <= 1 + 1e-9
    # A batch more does not undo what the whole table has taught.
    before = _objective(whole, signals)
    assert _objective(whole.partial_fit(signals[:50]), signals) < 1.1 * before
    model.save(tmp_path / "parts.garrote")
    again = garrote.load(tmp_path / "parts.garrote").partial_fit(batches[0])
    np.testing.assert_array_equal(again.components_, model.partial_fit(batches[0]).components_)


def test_parts_count_by_their_weights():
    _, _, signals = planted_factors(60, 12, 3)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    one, two = (
        SparseMatrixFactorization(4, PenalisedFactors(0.3), random_state=0) for _ in range(2)
    )
    for rows in (slice(0, 30), slice(30, 60)):
        one.partial_fit(signals[rows], sample_weight=weights[rows])
        two.partial_fit(np.repeat(signals[rows], weights[rows], axis=0))
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-10)
    with pytest.raises(ValueError, match="every entry of the signals that have weight is missing"):
        one.partial_fit(
            np.where([[False], [True], [True]], np.nan, signals[:3]), sample_weight=[0, 1, 1]
        )


def _filled_in(model, signals, truth):
    """Return the root mean square of errors of entries that were not seen."""
    filled = model.inverse_transform(model.transform(signals))
    return np.sqrt(np.mean((filled - truth)[np.isnan(signals)] ** 2))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_spike_and_slab_learns_in_parts_as_well_as_from_the_whole(missing, tmp_path):
    parts, truth, signals = planted_factors(600, missing=missing, seed=0)
    method = SpikeSlabFactors(1, 100)
    settings = {"random_state": 0, "tol": 1e-5}
    model = SparseMatrixFactorization(8, method, **settings)
    for rows in np.split(np.arange(600), 6):
        model.partial_fit(signals[rows])
        assert model.certificate_.value < 0.06
    whole = SparseMatrixFactorization(8, method, **settings).fit(signals)
    assert len(model.record_) == 6
    assert model.codes_.shape == (100, 8)
    assert likeness(parts, model.components_).min() > 0.96
    assert (model.inclusion_ > 0.5).any(axis=1).sum() <= 6
    assert model.noise_variance_ == pytest.approx(whole.noise_variance_, rel=0.02)
    rng = np.random.default_rng(9)
    hidden = np.where(rng.random(truth.shape) < 0.3, np.nan, signals)
    assert _filled_in(model, hidden, truth) < 1.05 * _filled_in(whole, hidden, truth)
    model.save(tmp_path / "parts.garrote")
    again = garrote.load(tmp_path / "parts.garrote").partial_fit(signals[:50])
    np.testing.assert_array_equal(again.components_, model.partial_fit(signals[:50]).components_)


def test_the_first_part_is_fitted_and_loadings_ask_for_sums_of_codes_alone():
    signals = planted_factors(80, 15, 3)[2]
    weights = np.random.default_rng(0).integers(1, 3, 80).astype(float)
    method = SpikeSlabFactors(1, 60)
    first, whole = (SparseMatrixFactorization(4, method, random_state=0) for _ in range(2))
    first.partial_fit(signals, sample_weight=weights)
    whole.fit(signals, sample_weight=weights)
    np.testing.assert_array_equal(first.components_, whole.components_)
    assert first.certificate_ == whole.certificate_
    # By sums they are what they are by signals.
    seen, values = ~np.isnan(signals), np.nan_to_num(signals)
    start, rng = whole.components_, np.random.default_rng(1)
    shape = 80, 4
    codes = Side(rng.standard_normal(shape), rng.random(shape), rng.random(shape))
    numbers = Numbers(np.full(4, 0.3), np.full(4, 0.4), np.array([1.0, 2.0, 0.5, 1.0]), 0.04)
    by_signals = loaded(codes, numbers, values, seen, weights, start, 3)
    sums = code_sums(codes, values, seen, weights)
    for one, other in zip(by_signals, loaded_by_sums(sums, numbers, start, 3), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    left = weights @ expected_errors(codes, by_signals, values, seen) / (weights @ seen.sum(axis=1))
    assert expected_error_by_sums(sums, by_signals) == pytest.approx(left)


def test_parts_of_a_spike_and_slab_count_by_their_weights_and_may_bring_new_components():
    parts, _, signals = planted_factors(200, 20, 3, in_codes=0.5, missing=0.2)
    weights = np.random.default_rng(0).integers(0, 3, 200)
    method = SpikeSlabFactors(1, 60)
    one, two = (SparseMatrixFactorization(4, method, random_state=0) for _ in range(2))
    for rows in (slice(0, 100), slice(100, 200)):
        one.partial_fit(signals[rows], sample_weight=weights[rows])
        two.partial_fit(np.repeat(signals[rows], weights[rows], axis=0))
    np.testing.assert_allclose(np.abs(one.components_), np.abs(two.components_), atol=1e-4)
    # The third part is in no signal of the first batch.
    rng = np.random.default_rng(3)
    codes = rng.standard_normal((300, 3)) * (rng.random((300, 3)) < 0.5)
    codes[:100, 2] = 0.0
    signals = codes @ parts + 0.1 * rng.standard_normal((300, 20))
    model = SparseMatrixFactorization(4, method, random_state=0).partial_fit(signals[:100])
    assert likeness(parts, model.components_)[2] < 0.9
    model.partial_fit(signals[100:200]).partial_fit(signals[200:])
    assert likeness(parts, model.components_).min() > 0.99
    assert model.record_.replaced.sum() >= 1
