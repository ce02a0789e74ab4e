"""Noise that was cut off at black and white."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from garrote.coding import Denoiser, PatchMixture
from garrote.coding.images.clipping import Bounds
from reference_pictures import scene


@pytest.mark.parametrize("bounds", [Bounds(0.0, 10.0), Bounds(low=0.0), Bounds(high=10.0)])
def test_means_of_noise_that_was_cut_off_are_turned_around(bounds):
    truth, sigma = np.linspace(0.0, 10.0, 41), 2.0

    def cut(noise, value):
        return np.clip(value + sigma * noise, *bounds) * norm.pdf(noise)

    # Kinks are at bounds: the integral is taken in parts.
    kinks = [[(end - value) / sigma for end in bounds if np.isfinite(end)] for value in truth]
    means = np.array([
        quad(cut, -9, 9, (value,), points=at, limit=200)[0]
        for value, at in zip(truth, kinks, strict=True)
    ])  # fmt: skip
    found, growth = bounds.undone(means, sigma)
    np.testing.assert_allclose(found, truth, atol=2e-3)
    inside = 1.0 - norm.cdf((bounds.low - truth) / sigma) - norm.sf((bounds.high - truth) / sigma)
    np.testing.assert_allclose(growth, 1.0 / inside, rtol=2e-3)
    # What no value has as its mean is next to the bound.
    darker = bounds.undone(np.array([-1.0]), sigma)[0]
    np.testing.assert_allclose(darker, np.maximum(-1.0, bounds.low), atol=1e-6)


def test_bounds_are_where_many_pixels_are():
    noisy = scene() + 20.0 * np.random.default_rng(0).standard_normal(scene().shape)
    assert not Bounds.of(noisy, None, 20.0).any
    assert not Bounds.of(np.rint(noisy), None, 20.0).any
    low, high = np.quantile(noisy, [0.05, 0.9])
    assert Bounds.of(noisy.clip(low, high), None, 20.0) == (low, high)
    assert Bounds.of(noisy.clip(low), None, 20.0) == (low, np.inf)
    known = noisy > low
    assert Bounds.of(noisy.clip(low, high), known, 20.0) == (-np.inf, high)
    assert not Bounds.of(noisy.clip(low, high), None, 0.0).any
    assert not Bounds.of(np.zeros((5, 5)), None, 1.0).any
    # Few whole numbers repeat themselves, and so do few pixels.
    assert not Bounds.of(np.rint(noisy / 40.0), None, 0.5).any
    assert not Bounds.of(noisy[:1, :20], None, 20.0).any


@pytest.mark.parametrize("dtype", [np.uint8, float])
def test_dark_and_light_parts_are_restored_and_deviations_hold_where_noise_was_cut_off(dtype):
    truth = (4.0 * (scene(64, 72) - 120.0) + 120.0).clip(0, 255)
    noisy = truth + 20.0 * np.random.default_rng(0).standard_normal(truth.shape)
    cut = np.rint(noisy.clip(0, 255)).astype(dtype)
    assert np.mean((cut == 0) | (cut == 255)) > 0.1
    found = Denoiser(PatchMixture(6, max_rounds=4), sigma=20.0, patch=5).fit(cut).restore(cut)
    error = found.picture - truth
    dark = truth < 5
    assert dark.mean() > 0.05
    assert abs(error[dark].mean()) < 3.0  # noise that was cut off at 0 has a mean of 8
    inside = np.abs(error) <= 1.96 * found.deviation
    assert 0.88 < inside.mean() < 0.995
    assert inside[~dark].mean() > 0.85
