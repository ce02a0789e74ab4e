import tracemalloc

import numpy as np
import pytest

import garrote
from garrote.coding import (
    Denoiser,
    DictionaryLearning,
    Inpainter,
    PatchBetaProcess,
    PatchDictionary,
    PatchMixture,
)
from garrote.coding.images.laws import MixtureLaw
from garrote.solvers.coding import masked_gaussians
from garrote.solvers.coding.masked_pursuit import masked_pursuit
from reference_pictures import mixture_posterior, psnr, pursuit_posterior, scene


def _mixture(length=6, parts=3, seed=0):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((parts, length, length))
    weights = rng.dirichlet(np.ones(parts))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(length)
    return MixtureLaw(weights, rng.standard_normal((parts, length)), covariances, 0.01), rng


@pytest.mark.parametrize("gaps", [False, True])
def test_posterior_of_patches_is_that_of_conditioning_each_part(gaps):
    law, rng = _mixture()
    patches = 2.0 * rng.standard_normal((20, 6))
    known = rng.random((20, 6)) < 0.6 if gaps else np.ones((20, 6), bool)
    known[0] = not gaps  # nothing is known of it
    found = law.posterior(patches, known if gaps else None, 0.3)
    expected = [
        mixture_posterior(x, k, law.weights, law.means, law.covariances, 0.3)
        for x, k in zip(patches, known, strict=True)
    ]
    means, variances, logs = zip(*expected, strict=True)
    # Parts of a share below 0.001 are left out.
    np.testing.assert_allclose(found.mean, means, atol=0.02)
    np.testing.assert_allclose(found.variance, variances, atol=0.05)
    assert found.log_likelihood == pytest.approx(sum(logs), rel=1e-10)


def test_sums_of_patches_without_gaps_do_not_depend_on_how_they_are_computed():
    law, rng = _mixture()
    patches = rng.standard_normal((30, 6))
    whole = law.posterior(patches, None, 0.2, learn=True)
    known = np.ones((31, 6), bool)
    known[30] = [True, False, True, True, True, True]
    row = rng.standard_normal((1, 6))
    both = law.posterior(np.concatenate([patches, row]), known, 0.2, learn=True)
    last = law.posterior(row, known[30:], 0.2, learn=True)
    for one, two, three in zip(whole.sums, both.sums, last.sums, strict=True):
        np.testing.assert_allclose(one, two - three, atol=1e-8)


def test_sums_of_large_patches_with_gaps_take_no_more_room_for_more_of_them(monkeypatch):
    law, rng = _mixture(96)
    patches = rng.standard_normal((200, 96))
    known = rng.random(patches.shape) < 0.05
    expected = law.posterior(patches, known, 1.0, learn=True)
    monkeypatch.setattr(masked_gaussians, "_MOST_PRODUCTS", 1.0)  # a signal in each call
    tracemalloc.start()
    found = law.posterior(patches, known, 1.0, learn=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 * law.covariances.nbytes
    np.testing.assert_allclose(found.sums.products, expected.sums.products, rtol=1e-10)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)


def test_pursuit_with_gaps_is_the_greedy_one_of_the_covariances():
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((12, 8))
    patches, known = rng.standard_normal((25, 8)), rng.random((25, 8)) < 0.6
    known[0] = False
    spread, odds = rng.uniform(0.5, 2, 12), np.full(12, -1.0)
    mean, variance = masked_pursuit(atoms, patches, known, 0.1, spread, odds, 5, 1)
    for k in range(25):
        expected = pursuit_posterior(atoms, patches[k], known[k], 0.1, spread, odds, 5, 1)
        np.testing.assert_allclose(mean[k], expected[0], atol=1e-8)
        np.testing.assert_allclose(variance[k], expected[1], atol=1e-8)


@pytest.mark.parametrize("gaps", [False, True])
def test_log_density_of_a_mixture_never_falls(gaps):
    picture = scene()
    noisy = picture + 10.0 * np.random.default_rng(0).standard_normal(picture.shape)
    mask = np.random.default_rng(1).random(picture.shape) < (0.5 if gaps else 0.0)
    model = PatchMixture(4, max_rounds=6)
    fitted = Inpainter(model, sigma=10.0, patch=4).fit(noisy, mask)
    # Parts of a tiny share are left out of a patch: that costs digits.
    assert (np.diff(fitted.record_) > -1e-4).all()
    assert fitted.record_[-1] > fitted.record_[0] + 0.01


def test_atoms_of_a_mixture_are_its_axes_longest_first():
    law, _ = _mixture()
    assert law.atoms.shape == (18, 6)
    np.testing.assert_allclose(law.atoms.T @ law.atoms, law.covariances.sum(axis=0), atol=1e-9)


@pytest.mark.parametrize(
    "dictionary",
    ["ksvd", "dct", DictionaryLearning(30, method="online", random_state=0), "array"],
)
def test_any_dictionary_takes_noise_out(dictionary):
    picture = scene()
    noisy = picture + 15.0 * np.random.default_rng(0).standard_normal(picture.shape)
    if isinstance(dictionary, str) and dictionary == "array":
        dictionary = np.random.default_rng(0).standard_normal((40, 36))
    model = PatchDictionary(dictionary, n_atoms=64, max_rounds=3)
    fitted = Denoiser(model, sigma=15.0, patch=6).fit(noisy)
    assert psnr(fitted.transform(noisy), picture) > psnr(noisy, picture) + 3.0
    assert fitted.components_.shape[1] == 36


def test_a_dictionary_cannot_be_learned_by_a_transformer_from_gaps():
    mask = np.zeros((48, 56), bool)
    mask[3, 4] = True
    model = Inpainter(PatchDictionary(DictionaryLearning(20)))
    with pytest.raises(ValueError, match="DictionaryLearning cannot learn from patches with gaps"):
        model.fit(scene(), mask)


@pytest.mark.parametrize("gaps", [False, True])
def test_a_beta_process_restores_pictures(gaps, tmp_path):
    picture = scene(30, 32)
    noisy = picture + 10.0 * np.random.default_rng(0).standard_normal(picture.shape)
    mask = np.random.default_rng(1).random(picture.shape) < (0.3 if gaps else 0.0)
    model = PatchBetaProcess(20, n_steps=4, burn_in=20)
    fitted = Inpainter(model, sigma=10.0, patch=4).fit(noisy, mask)
    found = fitted.restore(noisy, mask)
    assert psnr(found.picture[~mask], picture[~mask]) > psnr(noisy[~mask], picture[~mask]) + 1.0
    assert (found.deviation > 0).all()
    fitted.save(tmp_path / "painter.garrote")
    again = garrote.load(tmp_path / "painter.garrote").restore(noisy, mask)
    np.testing.assert_array_equal(again.picture, found.picture)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: PatchDictionary("wavelets"), "dictionary must be 'ksvd', 'dct'"),
        (lambda: PatchMixture(0), "n_parts must be an integer >= 1"),
        (lambda: PatchDictionary(gain=-1), "gain must be positive"),
        (lambda: PatchMixture(max_patches=0), "max_patches must be an integer >= 1"),
    ],
)
def test_settings_without_meaning_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()
