"""Every operator is the matrix that its definition says, forwards and transposed, alone and composed."""

import builtins

import numpy as np
import pytest
import scipy.fft
import scipy.sparse

from garrote import SparseRegressor
from garrote.designs import OperatorDesign
from garrote.designs.operators import (
    CosineTransform,
    Differences,
    FourierSamples,
    Identity,
    RandomProjection,
    Rows,
    Steps,
    WaveletTransform,
)

EVERY = {
    "cosines": CosineTransform(24),
    "cosines of an image": CosineTransform((4, 6)),
    "cosines of a volume": CosineTransform((2, 3, 4)),
    "waves": FourierSamples(24),
    "waves, odd": FourierSamples(15),
    "waves of an image": FourierSamples((4, 6)),
    "some waves": FourierSamples((4, 6), [0, 3, 21, 13, 5]),
    "haar": WaveletTransform(24, "haar"),
    "db4": WaveletTransform(64, "db4", levels=2),
    "wavelets of an image": WaveletTransform((8, 16), "db2"),
    "differences": Differences(24),
    "differences of an image": Differences((4, 6)),
    "steps": Steps(24),
    "rows": Rows(24, [3, 20, 3]),
    "a mask": Rows((4, 6), np.arange(24).reshape(4, 6) % 3 == 0),
    "identity": Identity((4, 6)),
    "gaussian": RandomProjection(7, 24, random_state=0),
    "signs": RandomProjection(7, (4, 6), "signs", random_state=0),
    "sparse": RandomProjection(7, 24, "sparse", density=0.2, random_state=0),
    "a row that is empty": RandomProjection(7, 24, "sparse", density=1e-3, random_state=0),
    "composed": Rows(24, [3, 20, 8]) @ CosineTransform((4, 6)),
    "three": RandomProjection(5, 24, random_state=0) @ WaveletTransform(24, "haar") @ Steps(24),
    "transposed": FourierSamples((4, 6)).T,
    "twice": 2 * Steps(24),
}
ORTHONORMAL = [
    "cosines", "cosines of an image", "cosines of a volume", "waves", "waves, odd",
    "waves of an image", "haar", "db4", "wavelets of an image", "identity", "transposed",
]  # fmt: skip


def matrix_of(operator):
    return operator.matmat(np.eye(operator.shape[1]))


@pytest.mark.parametrize("operator", EVERY.values(), ids=EVERY)
def test_products_are_of_one_matrix(operator):
    rng = np.random.default_rng(0)
    right, left = (rng.standard_normal((size, 5)) for size in operator.shape[::-1])
    matrix = matrix_of(operator)
    assert matrix.shape == operator.shape
    np.testing.assert_allclose(operator.matmat(right), matrix @ right, atol=1e-12)
    np.testing.assert_allclose(operator.rmatmat(left), matrix.T @ left, atol=1e-12)
    np.testing.assert_allclose(operator @ right[:, 0], matrix @ right[:, 0], atol=1e-12)
    np.testing.assert_allclose(operator.T @ left[:, 0], matrix.T @ left[:, 0], atol=1e-12)
    # The dot test, of single vectors.
    u, v = right[:, 1], left[:, 1]
    assert v @ operator.matvec(u) == pytest.approx(operator.rmatvec(v) @ u, abs=1e-12)


@pytest.mark.parametrize("operator", [EVERY[name] for name in ORTHONORMAL], ids=ORTHONORMAL)
def test_bases_are_orthonormal(operator):
    matrix = matrix_of(operator)
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(len(matrix)), atol=1e-12)


@pytest.mark.parametrize("operator", EVERY.values(), ids=EVERY)
def test_an_operator_is_a_design(operator):
    design = OperatorDesign(operator)
    assert design.shape == operator.shape
    weights = np.linspace(0, 2, design.shape[0])
    mean, deviation = design.moments(weights)
    matrix = matrix_of(operator)
    expected = np.average(matrix, axis=0, weights=weights)
    np.testing.assert_allclose(mean, expected, atol=1e-13)
    spread = np.sqrt(np.average((matrix - expected) ** 2, axis=0, weights=weights))
    np.testing.assert_allclose(deviation, spread, atol=1e-13)


# --- what each matrix is


def test_cosines_are_as_they_are_defined():
    i, k = np.arange(8)[:, None], np.arange(8)
    expected = np.sqrt(2 / 8) * np.cos(np.pi * (2 * i + 1) * k / 16)
    expected[:, 0] = 1 / np.sqrt(8)
    np.testing.assert_allclose(matrix_of(CosineTransform(8)), expected, atol=1e-14)
    image = np.random.default_rng(0).standard_normal((4, 6))
    found = CosineTransform((4, 6)).T @ image.ravel()
    np.testing.assert_allclose(found.reshape(4, 6), scipy.fft.dctn(image, norm="ortho"), atol=1e-14)


def test_waves_are_real_and_imaginary_parts_of_fourier_coefficients():
    image = np.random.default_rng(0).standard_normal((4, 6))
    waves = np.fft.fft2(image, norm="ortho").ravel()
    operator = FourierSamples((4, 6), [0, 1, 3, 12, 15])
    # All but 1 are their own partners: they have no imaginary part.
    expected = [
        *(waves.real[[0, 1, 3, 12, 15]] * [1, np.sqrt(2), 1, 1, 1]),
        np.sqrt(2) * waves.imag[1],
    ]
    np.testing.assert_allclose(operator @ image.ravel(), expected, atol=1e-14)
    np.testing.assert_allclose(
        operator.measurements(waves[operator.frequencies]), expected, atol=1e-14
    )


def test_one_frequency_of_each_pair_is_measured():
    assert FourierSamples(8, [1, 7]).frequencies.tolist() == [1]
    assert FourierSamples(8, [7]).shape == (2, 8)
    mask = np.zeros((4, 6), dtype=bool)
    mask[1, 2] = mask[3, 4] = True
    assert FourierSamples((4, 6), mask).frequencies.tolist() == [8]


def test_wavelets_are_those_of_pywavelets():
    import pywt

    image = np.random.default_rng(0).standard_normal((16, 32))
    found = (WaveletTransform((16, 32), "sym4", levels=1).T @ image.ravel()).reshape(16, 32)
    coarse, (across, down, both) = pywt.dwt2(image, "sym4", mode="periodization")
    np.testing.assert_allclose(found, np.block([[coarse, down], [across, both]]), atol=1e-13)


def test_differences_undo_steps():
    coef = np.random.default_rng(0).standard_normal(24)
    np.testing.assert_allclose(Differences(24) @ (Steps(24) @ coef), coef[1:], atol=1e-14)
    image = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(Differences((2, 3)) @ image.ravel(), [3, 3, 3, 1, 1, 1, 1])


@pytest.mark.parametrize("law", ["gaussian", "signs", "sparse"])
def test_random_projections_have_entries_of_the_variance_stated(law):
    matrix = RandomProjection(200, 500, law, density=0.1, random_state=1).matrix
    dense = matrix.toarray() if scipy.sparse.issparse(matrix) else matrix
    assert np.mean(dense) == pytest.approx(0, abs=4 / np.sqrt(200) / np.sqrt(dense.size))
    assert 200 * np.mean(dense**2) == pytest.approx(1, abs=0.05)
    if law == "sparse":
        assert np.count_nonzero(dense) / dense.size == pytest.approx(0.1, abs=0.005)
    again = RandomProjection(200, 500, law, density=0.1, random_state=1)
    assert abs(again.matrix - matrix).max() == 0


def test_a_lasso_sees_through_a_composition():
    rng = np.random.default_rng(3)
    coef = np.zeros(64)
    coef[[2, 9, 30]] = [3.0, -2.0, 1.5]
    A = RandomProjection(32, 64, random_state=0) @ CosineTransform((8, 8))
    y = A @ coef + 0.01 * rng.standard_normal(32)
    found = SparseRegressor(alpha=1e-3, fit_intercept=False, standardize=False).fit(A, y)
    dense = SparseRegressor(alpha=1e-3, fit_intercept=False, standardize=False).fit(matrix_of(A), y)
    np.testing.assert_allclose(found.coef_, dense.coef_, atol=1e-10)
    np.testing.assert_allclose(found.coef_, coef, atol=0.15)


# --- what is refused


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: CosineTransform(0), "shape must be a length or sides of at least 1, got 0"),
        (lambda: CosineTransform((4, 2.5)), "shape must be a length or sides"),
        (lambda: CosineTransform(()), "shape must be a length or sides"),
        (lambda: FourierSamples(8, [9]), "frequencies has 9, and there are places 0 to 7"),
        (lambda: FourierSamples(8, []), "frequencies must hold at least one position"),
        (lambda: FourierSamples(8).measurements(np.zeros(3)), "there are 5 frequencies"),
        (lambda: Rows(8, np.ones(7, dtype=bool)), "places is a mask of 7 for 8 places"),
        (lambda: Rows(8, [0.5]), "places must hold at least one position"),
        (lambda: WaveletTransform(16, "sinus"), "wavelet must be an orthogonal one of PyWavelets"),
        (lambda: WaveletTransform(16, "bior2.2"), "'bior2.2' is not orthogonal: take 'db4'"),
        (
            lambda: WaveletTransform((16, 7), "haar"),
            r"sides \(16, 7\) cannot be halved for 'haar' of length 2: cut or pad",
        ),
        (lambda: WaveletTransform(16, "haar", levels=5), "levels must be 1 to 4 for sides"),
        (lambda: Differences(1), "has no neighbours"),
        (lambda: Steps((4, 4)), "take wavelets for images"),
        (lambda: RandomProjection(4, 8, "uniform"), "law must be one of .'gaussian', 'signs'"),
        (lambda: RandomProjection(4, 8, density=0.0), "density must be above 0"),
        (
            lambda: RandomProjection(100_000, 100_000),
            "would take more than 4 GiB: take law='sparse'",
        ),
    ],
)
def test_what_is_no_operator_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_wavelets_say_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "pywt":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install garrote\[images\]"):
        WaveletTransform(16)
