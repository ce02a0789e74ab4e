"""Deviations of restored pictures that agree with errors: where these are known, and of dictionaries."""

import numpy as np
import pytest

from garrote.coding import Denoiser, PatchDictionary
from garrote.coding.images.calibrating import Calibration, calibrated
from garrote.coding.images.restoring import Damage, Whole

ADDED = 0.5


def shrunken(stated, share):
    """Return a way to restore whose errors are known: pixels times a share."""

    def restore(damage):
        return Whole(share * damage.values, stated * damage.noise)

    return restore


def measured(truth, stated, share, noise, seed):
    rng = np.random.default_rng(seed)
    noisy = truth + np.sqrt(noise) * rng.standard_normal(truth.shape)
    restore, damage = shrunken(stated, share), Damage(noisy, None, noise)
    told = np.ones(truth.shape, bool)
    return calibrated(restore, damage, restore(damage), told, (4, 4), rng)


def test_variances_become_those_of_errors_where_stated_ones_say_too_much_of_their_differences():
    # As shares of the noise 0.1 and 0.9 are stated, and errors have 0.5 and 0.8.
    noise, share, side = 4.0, 0.5, 200
    stated = np.repeat([0.1, 0.9], side // 2)[None, :, None] * np.ones((side, side, 1))
    error = np.repeat([0.5, 0.8], side // 2)[None, :, None] * np.ones((side, side, 1))
    more = 1 + ADDED
    # Errors of the copy: (1 - share)^2 truth^2 + share^2 noise (1 + added).
    signs = np.random.default_rng(0).choice([-1.0, 1.0], stated.shape)
    truth = signs * np.sqrt((error * more - share**2 * more) * noise) / (1 - share)
    found = [measured(truth, stated, share, noise, seed) for seed in range(8)]
    slope = np.mean([one.scale**2 for one in found])
    assert slope == pytest.approx(0.3 / 0.8, abs=0.05)
    mean = np.mean([one.variance(stated * more * noise).mean() for one in found])
    assert mean == pytest.approx(0.65 * more * noise, rel=0.02)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_where_stated_variances_follow_errors_they_are_multiplied_alone(factor):
    noise, share = 1.0, 0.6
    level = np.repeat([0.0, 2.0], 100)[None, :, None] * np.ones((200, 200, 1))
    error = ((1 - share) * level) ** 2 + share**2 * noise * (1 + ADDED)
    stated = factor * error / (1 + ADDED)
    found = [measured(level, stated, share, noise, seed) for seed in range(6)]
    mean = np.mean([one.variance(stated * (1 + ADDED)).mean() for one in found])
    assert mean == pytest.approx(error.mean(), rel=0.03)
    assert np.mean([one.beside for one in found]) < 0.1 * error.mean()


def test_few_pixels_change_nothing_and_one_level_of_variances_is_multiplied():
    flat = np.ones((3, 3, 1))
    assert measured(0 * flat, flat, 0.5, 1.0, 0).beside == 0.0
    large = np.ones((120, 120, 1))
    found = measured(0 * large, 0.5 * large, 0.5, 1.0, 0)
    assert found.beside == 0.0
    assert found.scale**2 == pytest.approx(0.25 / 0.5, rel=0.2)
    nothing = Damage(flat, None, 1.0)
    restore = shrunken(0 * flat, 0.5)
    rng = np.random.default_rng(0)
    assert calibrated(restore, nothing, restore(nothing), flat > 0, (2, 2), rng) == Calibration()


def test_a_dictionary_that_has_learned_of_the_noise_says_how_far_it_is_from_the_truth():
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:96, :96]
    # Flat, with an edge, and a texture weaker than the noise.
    truth = 60.0 + 90.0 * (rows > columns) + 5.0 * rng.standard_normal((96, 96))
    noisy = truth + 20.0 * rng.standard_normal(truth.shape)
    model = Denoiser(PatchDictionary(n_atoms=64, max_rounds=3), sigma=20.0, patch=6).fit(noisy)
    found = model.restore(noisy)
    inside = np.mean(np.abs(found.picture - truth) < 1.96 * found.deviation)
    assert 0.9 < inside < 0.98
    assert found.beside > 0.0
    np.testing.assert_array_equal(found.deviation, model.restore(noisy).deviation)
    # Of another picture no atom knows the noise.
    other = truth + 20.0 * rng.standard_normal(truth.shape)
    found = model.restore(other)
    assert 0.9 < np.mean(np.abs(found.picture - truth) < 1.96 * found.deviation) < 0.985
