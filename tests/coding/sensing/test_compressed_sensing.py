"""Signals come back from few measurements, with how uncertain they are; what is none is refused."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone

import garrote
from garrote.coding import (
    RECOVERIES,
    Adapted,
    CompressedSensing,
    LassoRecovery,
    PursuitRecovery,
    SpikeSlabRecovery,
)
from garrote.designs.operators import FourierSamples, WaveletTransform

SCANNERS = [
    ("cosine", "gaussian"), ("db4", "fourier"), ("fourier", "samples"), ("steps", "signs"),
    ("identity", "sparse"), ("haar", "cosine"),
]  # fmt: skip
FAST = {name: name for name in RECOVERIES} | {"spike-slab": SpikeSlabRecovery(method="mean-field")}


def sparse_signal(scanner, entries=5, seed=0):
    """A signal of a few coefficients of clear size in a scanner's basis."""
    rng = np.random.default_rng(seed)
    basis = scanner.basis_operator
    coef = np.zeros(basis.shape[1])
    coef[rng.choice(len(coef), entries, replace=False)] = rng.choice(
        [-1, 1], entries
    ) * rng.uniform(1, 3, entries)
    return basis @ coef, coef


def noisy(y, deviation, seed=1):
    return y + deviation * np.random.default_rng(seed).standard_normal(len(y))


@pytest.mark.parametrize("recovery", FAST.values(), ids=FAST)
@pytest.mark.parametrize(("basis", "sensing"), SCANNERS)
def test_signals_come_back_without_noise(basis, sensing, recovery):
    scanner = CompressedSensing(
        64, 40, basis, sensing, recovery, noise_deviation=0.0, random_state=3
    )
    x, coef = sparse_signal(scanner, 3)
    if (
        sensing == "fourier"
    ):  # few waves reach to the finest wavelets: those of one scale are enough
        coef = np.where(np.arange(64) < 16, np.roll(coef, 1), 0.0)
        coef[5] = 2.0
        x = scanner.basis_operator @ coef
    found = scanner.recover(scanner.measure(x))
    np.testing.assert_allclose(found, x, atol=2e-3 * np.abs(x).max())
    np.testing.assert_allclose(scanner.coefficients_, coef, atol=2e-2)
    assert found.shape == scanner.signal_.shape == (64,)
    assert scanner.certificate_.value < 1e-3
    assert (scanner.deviation_ is None) == (scanner.recovery in ("lasso", "omp"))


def test_images_come_back_as_images():
    scanner = CompressedSensing(
        (8, 16), 60, "haar", "gaussian", "omp", noise_deviation=0.0, random_state=0
    )
    x, _ = sparse_signal(scanner, 5)
    y = scanner.measure(x.reshape(8, 16))
    np.testing.assert_array_equal(y, scanner.measure(x))
    np.testing.assert_allclose(scanner.recover(y), x.reshape(8, 16), atol=1e-8)


@pytest.mark.parametrize("recovery", ["spike-slab", "relevance"])
def test_deviations_are_those_of_draws_of_the_signal(recovery):
    scanner = CompressedSensing(
        64, 40, "cosine", "gaussian", FAST[recovery], noise_deviation=0.1, random_state=0
    )
    x, _ = sparse_signal(scanner)
    scanner.recover(noisy(scanner.measure(x), 0.1))
    draws = scanner.sample(4000, random_state=0)
    assert draws.shape == (4000, 64)
    np.testing.assert_allclose(draws.mean(axis=0), scanner.signal_, atol=0.02)
    np.testing.assert_allclose(draws.std(axis=0), scanner.deviation_, rtol=0.2, atol=1e-3)
    assert scanner.model_.noise_variance_ == pytest.approx(0.01)  # as it was said to be


def test_noise_that_is_known_is_left_as_residuals():
    scanner = CompressedSensing(128, 80, noise_deviation=0.2, random_state=0)
    x, _ = sparse_signal(scanner)
    y = noisy(scanner.measure(x), 0.2)
    for recovery in ("lasso", "omp"):
        found = clone(scanner).set_params(recovery=recovery)
        left = y - found.sensing_operator @ found.recover(y)
        assert left @ left <= 80 * 0.2**2
        assert left @ left > 0.5 * 80 * 0.2**2
    stated = clone(scanner).set_params(recovery=LassoRecovery(alpha=0.05))
    stated.recover(y)
    assert stated.model_.alpha_ == 0.05
    three = clone(scanner).set_params(recovery=PursuitRecovery(n_nonzero=3))
    three.recover(y)
    assert np.count_nonzero(three.coefficients_) == 3


def test_matrices_and_operators_of_ones_own_are_taken():
    rng = np.random.default_rng(0)
    R, W = rng.standard_normal((30, 64)), rng.standard_normal((64, 80))
    for sensing, basis in [(R, W), (aslinearoperator(R), aslinearoperator(W))]:
        scanner = CompressedSensing(
            64, basis=basis, sensing=sensing, recovery="omp", noise_deviation=0.0
        )
        x, coef = sparse_signal(scanner, 3)
        np.testing.assert_allclose(scanner.recover(scanner.measure(x)), x, atol=1e-8)
        np.testing.assert_allclose(scanner.coefficients_, coef, atol=1e-8)
    basis, sensing = WaveletTransform((16, 16), "haar"), FourierSamples((16, 16), np.arange(100))
    scanned = CompressedSensing((16, 16), None, basis, sensing, "omp", noise_deviation=0.0)
    x = scanned.basis_operator @ np.eye(256)[3]
    np.testing.assert_allclose(scanned.recover(scanned.measure(x)), x.reshape(16, 16), atol=1e-8)


def test_what_measurements_cannot_see_stays_zero():
    scanner = CompressedSensing(
        32, basis="steps", sensing=FourierSamples(32, np.arange(1, 16)), recovery="relevance"
    )
    x = scanner.basis_operator @ (5.0 * np.eye(32)[0] + 2.0 * np.eye(32)[9])
    found = scanner.recover(noisy(scanner.measure(x), 0.01))
    assert scanner.coefficients_[0] == 0.0
    np.testing.assert_allclose(np.diff(found), np.diff(x), atol=0.1)


def test_large_problems_stay_products(monkeypatch):
    monkeypatch.setattr("garrote.designs.operator.ENTRIES_AT_HAND", 100)
    own = CompressedSensing(64, 40, "cosine", recovery="lasso", noise_deviation=0.1, random_state=0)
    dense = clone(own)
    y = noisy(own.measure(sparse_signal(own)[0]), 0.1)
    found = own.recover(y)
    monkeypatch.undo()
    np.testing.assert_allclose(found, dense.recover(y), atol=1e-9)


def test_an_adapted_scanner_asks_for_rows_one_after_the_other():
    told = []
    scanner = CompressedSensing(
        64,
        30,
        "cosine",
        Adapted(0.6, 0.2),
        "relevance",
        noise_deviation=0.05,
        random_state=0,
        callback=told.append,
    )
    x, _ = sparse_signal(scanner, 4)
    asked = []

    def instrument(rows):
        asked.append(len(rows))
        return rows @ x

    y = scanner.measure(instrument)
    assert asked == [18, 6, 6]
    assert [one.done for one in told if one.stage == "measurements"] == [18, 24, 30]
    np.testing.assert_allclose(np.linalg.norm(scanner.rows_, axis=1), np.sqrt(64 / 30))
    np.testing.assert_allclose(scanner.recover(y), x, atol=0.1)
    # Rows chosen together are along different directions.
    last = scanner.rows_[-6:] * 30 / 64
    np.testing.assert_allclose(last @ scanner.rows_[-6:].T, np.eye(6), atol=1e-8)
    again = clone(scanner).set_params(callback=None)
    np.testing.assert_array_equal(again.measure(x), y)


@pytest.mark.parametrize("sensing", ["gaussian", "samples", "adapted"])
def test_a_scanner_comes_back_from_a_file(tmp_path, sensing):
    scanner = CompressedSensing(
        (8, 8), 30, "cosine", sensing, "relevance", noise_deviation=0.1, random_state=0
    )
    x, _ = sparse_signal(scanner, 3)
    y = noisy(scanner.measure(x), 0.1)
    scanner.recover(y)
    scanner.save(tmp_path / "scanner.garrote")
    other = garrote.load(tmp_path / "scanner.garrote")
    for name in ("signal_", "deviation_", "coefficients_"):
        np.testing.assert_array_equal(getattr(other, name), getattr(scanner, name))
    np.testing.assert_array_equal(other.recover(y), scanner.signal_)
    np.testing.assert_array_equal(other.sample(3, 0), scanner.sample(3, 0))


def test_the_same_measurements_are_made_until_the_seed_is_another():
    scanner = CompressedSensing(32, 10)
    x = np.arange(32.0)
    np.testing.assert_array_equal(scanner.measure(x), scanner.measure(x))
    assert abs(scanner.measure(x) - clone(scanner).measure(x)).max() > 0
    one = scanner.set_params(random_state=1).measure(x)
    assert abs(one - scanner.set_params(random_state=2).measure(x)).max() > 0


# --- what is refused


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"shape": None}, "shape must be a length or sides"),
        ({"shape": 0}, "shape must be a length or sides"),
        ({"n_measurements": None}, "sensing='gaussian' needs n_measurements"),
        ({"n_measurements": 1}, "n_measurements must be"),
        ({"n_measurements": 65, "sensing": "samples"}, "n_measurements is 65, and sensing="),
        ({"basis": "curvelet"}, r"basis must be one of \('identity', 'cosine', 'fourier',"),
        ({"basis": np.eye(5)}, "basis has 5 rows, and signals have 64 entries"),
        ({"basis": np.full((64, 2), np.nan)}, "basis holds numbers that are not finite"),
        ({"sensing": "radon"}, "sensing must be one of .*'adapted'"),
        ({"sensing": np.ones((3, 5))}, "sensing has 5 columns, and signals have 64 entries"),
        ({"sensing": np.ones((3, 64))}, "sensing has 3 rows, and n_measurements is 20: leave that out"),
        ({"recovery": "magic"}, "recovery must be one of .'lasso', 'omp', 'spike-slab', 'relevance'"),
        ({"noise_deviation": -1.0}, "noise_deviation must be 0 or more"),
        ({"sensing": "adapted"}, "recovery must be 'spike-slab' or 'relevance', got 'lasso'"),
        ({"sensing": "adapted", "recovery": "relevance", "n_measurements": 65}, "up to the 64 entries"),
    ],
)  # fmt: skip
def test_settings_that_are_none_are_refused_before_any_work(settings, said):
    scanner = CompressedSensing(**{"shape": 64, "n_measurements": 20, **settings})
    with pytest.raises(ValueError, match=said):
        scanner.recover(scanner.measure(np.ones(64)))


def test_measurements_that_are_none_are_refused():
    scanner = CompressedSensing(16, 8, random_state=0)
    with pytest.raises(ValueError, match=r"y must hold 8 measurements.*got shape \(7,\)"):
        scanner.recover(np.ones(7))
    with pytest.raises(ValueError, match=r"y is not finite at 3 \(1 in all\)"):
        scanner.recover(np.where(np.arange(8) == 3, np.nan, 1.0))
    with pytest.raises(ValueError, match="the signal is not finite at 0"):
        scanner.measure(np.full(16, np.inf))
    with pytest.raises(ValueError, match=r"the signal has shape \(4, 4\), and shape is \(16,\)"):
        scanner.measure(np.ones((4, 4)))
    with pytest.raises(ValueError, match="8 rows were to be measured"):
        scanner.measure(lambda rows: np.ones(3))
    scanner.fit(scanner.measure(np.cos(np.arange(16.0))))
    with pytest.raises(ValueError, match="recovery='lasso' has no posterior"):
        scanner.sample(2)
    with pytest.raises(ValueError, match="adapted rows depend on what is measured"):
        CompressedSensing(16, 8, sensing="adapted", recovery="relevance").recover(np.ones(8))
