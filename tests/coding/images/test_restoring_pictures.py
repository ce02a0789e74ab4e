import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import (
    check_estimator_repr,
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
)

import garrote
from garrote.coding import Denoiser, Inpainter, PatchDictionary, PatchMixture
from reference_pictures import psnr, scene

SMALL = PatchMixture(4, max_rounds=3)
WITH_FEW_ATOMS = PatchDictionary(n_atoms=64, max_rounds=2)


def _noisy(picture, sigma=15.0, seed=0):
    return picture + sigma * np.random.default_rng(seed).standard_normal(picture.shape)


def _mask(picture, share=0.5, seed=1):
    return np.random.default_rng(seed).random(picture.shape[:2]) < share


@pytest.mark.parametrize("model", [SMALL, WITH_FEW_ATOMS])
@pytest.mark.parametrize("colours", [None, 3])
def test_denoised_picture_is_nearer_to_the_truth_and_says_how_near(model, colours):
    picture = scene(colours=colours)
    noisy = _noisy(picture)
    found = Denoiser(model, patch=5).fit(noisy).restore(noisy)
    assert psnr(found.picture, picture) > psnr(noisy, picture) + 4.0
    inside = np.abs(found.picture - picture) <= 1.96 * found.deviation
    assert 0.8 < inside.mean() < 0.995  # of few pixels; benchmarks measure large pictures
    assert found.deviation.shape == picture.shape
    assert found.sigma == pytest.approx(15.0, rel=0.15)
    np.testing.assert_allclose(found.removed, noisy - found.picture)


@pytest.mark.parametrize("model", [SMALL, WITH_FEW_ATOMS])
@pytest.mark.parametrize("colours", [None, 3])
def test_gaps_are_filled_in_and_known_pixels_kept(model, colours):
    picture = scene(colours=colours)
    mask = _mask(picture)
    given = np.where(mask if colours is None else mask[:, :, None], np.nan, picture)
    found = Inpainter(model, patch=6).fit(given).restore(given)
    np.testing.assert_array_equal(found.picture[~mask], picture[~mask])
    assert (found.deviation[~mask] == 0).all()
    assert (found.deviation[mask] > 0).all()
    # The mean of what is known, in every gap, is what anybody could have said.
    level = picture[~mask].mean(axis=0) if colours else picture[~mask].mean()
    error = np.std(found.picture[mask] - picture[mask])
    assert error < 0.5 * np.std(picture[mask] - level)
    inside = np.abs(found.picture - picture)[mask] <= 1.96 * found.deviation[mask]
    assert 0.8 < inside.mean() < 1.0


def test_mask_says_what_nan_says():
    picture = scene()
    mask = _mask(picture)
    by_mask = Inpainter(SMALL, patch=4).fit_transform(picture, mask)
    given = np.where(mask, np.nan, picture)
    np.testing.assert_array_equal(Inpainter(SMALL, patch=4).fit_transform(given), by_mask)
    other = np.where(mask, -1e4, picture)
    np.testing.assert_array_equal(Inpainter(SMALL, patch=4).fit_transform(other, mask), by_mask)


def test_a_mask_may_be_of_single_colours():
    picture = scene(colours=3)
    mask = np.zeros(picture.shape, bool)
    mask[::3, ::2, 1] = True
    found = Inpainter(SMALL, patch=4).fit(picture, mask).restore(picture, mask)
    np.testing.assert_array_equal(found.picture[~mask], picture[~mask])
    assert np.abs(found.picture - picture)[mask].mean() < 5.0


def test_noise_beside_gaps_is_taken_out_of_known_pixels_too():
    picture = scene()
    mask, noisy = _mask(picture, 0.3), _noisy(picture)
    found = Inpainter(SMALL, sigma=15.0, patch=5).fit(noisy, mask).restore(noisy, mask)
    assert psnr(found.picture[~mask], picture[~mask]) > psnr(noisy[~mask], picture[~mask]) + 2.0


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("layers", [None, 1, 2, 3, 4])
def test_picture_comes_back_in_the_form_in_which_it_came(dtype, layers):
    scale = 1 if dtype is np.uint8 else 200
    picture = (_noisy(scene(20, 22)) * scale).clip(0, 255 * scale)
    given = picture if layers is None else np.repeat(picture[:, :, None], layers, axis=2)
    given = given.astype(dtype)
    model = Denoiser(SMALL, sigma=15.0 * scale, patch=4)
    found = model.fit_transform(given)
    assert found.dtype == dtype
    assert found.shape == given.shape
    if layers in (2, 4):
        np.testing.assert_array_equal(found[:, :, -1], given[:, :, -1])


def test_restoring_follows_the_units_of_the_picture():
    noisy = _noisy(scene())
    one = Denoiser(SMALL, sigma=15.0, patch=4).fit(noisy).restore(noisy)
    two = Denoiser(SMALL, sigma=0.15, patch=4).fit(0.01 * noisy).restore(0.01 * noisy)
    np.testing.assert_allclose(two.picture, 0.01 * one.picture, rtol=1e-6)
    np.testing.assert_allclose(two.deviation, 0.01 * one.deviation, rtol=1e-4)


def test_threads_change_nothing():
    noisy = _noisy(scene())
    mask = _mask(noisy)
    one = Inpainter(SMALL, patch=4, n_jobs=1).fit(noisy, mask).restore(noisy, mask)
    two = Inpainter(SMALL, patch=4, n_jobs=2).fit(noisy, mask).restore(noisy, mask)
    np.testing.assert_allclose(one.picture, two.picture, rtol=1e-10)


def test_what_was_learned_restores_another_picture():
    model = Denoiser(SMALL, sigma=15.0, patch=4).fit(_noisy(scene()))
    other = scene(30, 70)
    found = model.transform(_noisy(other, seed=5))
    assert psnr(found, other) > psnr(_noisy(other, seed=5), other) + 3.0


@pytest.mark.parametrize("sigma", [0.0, 10.0])
def test_one_pixel_is_a_picture(sigma):
    found = Denoiser(sigma=sigma).fit([[7.0]]).restore([[7.0]])
    assert found.picture.shape == (1, 1)
    assert found.picture.item() == pytest.approx(7.0)


@pytest.mark.parametrize("shape", [(1, 50), (50, 1), (2, 3), (9, 5)])
@pytest.mark.parametrize("model", ["mixture", "dictionary"])
def test_narrow_pictures_are_pictures(shape, model):
    picture = 100.0 + np.random.default_rng(0).standard_normal(shape)
    assert np.isfinite(Denoiser(model, sigma=1.0).fit_transform(picture)).all()


def test_picture_of_one_colour_stays_as_it_is():
    picture = np.full((20, 20), 9, np.uint8)
    np.testing.assert_array_equal(Denoiser().fit_transform(picture), picture)
    mask = _mask(picture)
    np.testing.assert_array_equal(Inpainter().fit_transform(picture, mask), picture)


def test_a_picture_without_gaps_is_kept():
    picture = scene()
    found = Inpainter(SMALL, patch=4).fit(picture).restore(picture)
    np.testing.assert_array_equal(found.picture, picture)
    assert (found.deviation == 0).all()


@pytest.mark.parametrize(
    ("given", "mask", "said"),
    [
        (np.zeros((4, 4)), np.ones((4, 4)), "the mask hides all of the picture"),
        (np.zeros((4, 4)), np.ones((4, 5)), r"the mask has shape \(4, 5\), the picture has 4 x 4"),
        (np.full((4, 4), np.nan), None, "the mask hides all of the picture"),
        (np.full((4, 4), np.inf), None, "the picture is inf at row 0, column 0"),
        (np.zeros((0, 4)), None, "a pixel at least"),
        (np.zeros(4), None, r"must have shape \(height, width\)"),
        (np.zeros((4, 4), complex), None, "a picture must hold numbers, got complex128"),
        ([["a"]], None, "a picture must hold numbers"),
        (np.zeros((4, 4)), np.array([["x"] * 4] * 4), "mask must hold numbers or truth values"),
        (np.zeros((4, 4)), np.full((4, 4), np.nan), "mask must not hold NaN"),
    ],
)
def test_what_is_no_picture_is_refused(given, mask, said):
    with pytest.raises(ValueError, match=said):
        Inpainter().fit(given, mask)


def test_missing_pixels_are_not_for_the_denoiser():
    picture = scene()
    picture[2, 3] = np.nan
    with pytest.raises(
        ValueError, match=r"nan at row 2, column 3 .* are for garrote.coding.Inpainter"
    ):
        Denoiser().fit(picture)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": "magic"}, "model must be one of"),
        ({"sigma": -1.0}, "sigma must be 'auto' or a standard deviation of 0 or more, got -1.0"),
        ({"sigma": "loud"}, "sigma must be 'auto'"),
        ({"patch": 0}, "patch must be an integer >= 1, got 0"),
    ],
)
def test_settings_of_no_use_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        Denoiser(**settings).fit(scene())


def test_a_picture_that_does_not_go_with_the_patches_is_refused():
    model = Denoiser(SMALL, sigma=1.0, patch=4).fit(scene())
    with pytest.raises(ValueError, match="the picture has 3 colours"):
        model.restore(scene(colours=3))
    with pytest.raises(ValueError, match="smaller than the patches of 4 x 4"):
        model.restore(np.zeros((3, 9)))
    with pytest.raises(NotFittedError):
        Denoiser().restore(scene())


@pytest.mark.parametrize("model", [SMALL, WITH_FEW_ATOMS])
def test_saved_restorers_restore_as_before(model, tmp_path):
    noisy = _noisy(scene())
    fitted = Denoiser(model, sigma=15.0, patch=4).fit(noisy)
    fitted.save(tmp_path / "denoiser.garrote")
    loaded = garrote.load(tmp_path / "denoiser.garrote")
    np.testing.assert_array_equal(loaded.transform(noisy), fitted.transform(noisy))
    assert loaded.certificate_ == fitted.certificate_


def test_callback_is_told_of_learning_restoring_and_measuring():
    told = []
    noisy = _noisy(scene())
    Denoiser(SMALL, sigma=15.0, patch=4, callback=told.append).fit(noisy).restore(noisy)
    assert list(dict.fromkeys(event.stage for event in told)) == [
        "learning", "restoring", "measuring",
    ]  # fmt: skip
    assert all(0 < event.done <= event.total for event in told)


def test_restoration_shows_itself():
    noisy = _noisy(scene())
    found = Denoiser(SMALL, sigma=15.0, patch=4).fit(noisy).restore(noisy)
    assert "48 x 56 pixels" in str(found.summary())
    assert "certificate" in str(found.summary())


@pytest.mark.parametrize("estimator", [Denoiser(), Inpainter()])
@pytest.mark.parametrize(
    "check",
    [
        check_estimator_repr,
        check_get_params_invariance,
        check_no_attributes_set_in_init,
        check_set_params,
    ],
)
def test_restorers_keep_those_rules_of_scikit_learn_that_are_of_no_table(estimator, check):
    check(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("cls", [Denoiser, Inpainter])
def test_fit_changes_no_setting(cls):
    model = cls(SMALL, patch=4)
    given = model.get_params()
    model.fit(scene(20, 20))
    assert model.get_params() == given
    assert all(name.endswith("_") for name in set(vars(model)) - set(given))


@pytest.mark.parametrize("cls", [Denoiser, Inpainter])
def test_defaults_are_plain(cls):
    check_parameters_default_constructible(cls.__name__, cls())


def test_settings_of_models_are_reached_by_name():
    assert Denoiser(SMALL).set_params(model__n_parts=7).model.n_parts == 7
    with pytest.raises(ValueError, match=r"write model=PatchMixture\(\) to set its n_parts"):
        Denoiser().set_params(model__n_parts=7)
