import numpy as np
import pytest

from garrote.coding import estimate_noise
from garrote.coding.images import patches as patches_module
from garrote.coding.images.patches import Overlaps, Patches
from reference_pictures import scene


@pytest.mark.parametrize("colours", [1, 3])
def test_patches_taken_out_and_put_back_are_the_picture(colours, monkeypatch):
    monkeypatch.setattr(patches_module, "_MOST_NUMBERS", 2000)  # several blocks
    values = np.random.default_rng(0).standard_normal((17, 13, colours))
    patches = Patches.of(values, (4, 5))
    overlaps = Overlaps(values.shape, (4, 5))
    blocks = list(patches.blocks())
    assert len(blocks) > 1
    for rows in blocks:
        block = patches.block(rows)
        overlaps.add(rows, block, np.full(block.shape, 2.0), np.ones(block.shape))
    np.testing.assert_allclose(overlaps.mean(), values, atol=1e-12)
    np.testing.assert_allclose(overlaps.variance(), 2.0, atol=1e-9)


def test_chosen_patches_are_those_of_their_places():
    values = np.arange(30.0).reshape(5, 6, 1)
    patches = Patches.of(values, (2, 3))
    assert patches.number == 16
    np.testing.assert_array_equal(patches.some(np.array([5]))[0], [7, 8, 9, 13, 14, 15])


def test_patches_that_differ_make_a_pixel_uncertain():
    overlaps = Overlaps((1, 1, 1), (1, 1))
    for mean in (1.0, 3.0):
        one = np.array([[mean]])
        overlaps.add(slice(0, 1), one, np.full((1, 1), 0.5), np.ones((1, 1)))
    assert overlaps.mean().item() == 2.0
    assert overlaps.variance().item() == pytest.approx(1.5)


@pytest.mark.parametrize("sigma", [2.0, 10.0, 40.0])
@pytest.mark.parametrize("colours", [1, 3])
def test_noise_is_estimated_from_the_picture(sigma, colours):
    values = scene(96, 96, colours)
    noisy = values + sigma * np.random.default_rng(0).standard_normal(values.shape)
    assert estimate_noise(noisy) == pytest.approx(sigma, rel=0.06)


def test_noise_of_a_picture_with_gaps_is_that_of_its_complete_patches():
    rng = np.random.default_rng(0)
    values = scene(96, 96)[:, :, None] + 10.0 * rng.standard_normal((96, 96, 1))
    known = np.ones(values.shape, bool)
    known[10:30, 20:60] = False
    values[~known] = 1e6
    assert estimate_noise(values, known) == pytest.approx(10.0, rel=0.1)


def test_a_picture_of_one_colour_has_no_noise():
    assert estimate_noise(np.full((20, 20, 1), 7.0)) == 0.0


def test_noise_of_a_tiny_picture_is_refused():
    with pytest.raises(
        ValueError, match=r"sigma='auto' cannot be estimated from a picture of 2 x 3"
    ):
        estimate_noise(np.zeros((2, 3, 1)))
