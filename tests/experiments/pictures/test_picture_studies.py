"""Filters of natural images, and a photograph with text over it."""

import numpy as np
import pytest

from garrote.experiments.pictures.inpainting import strokes
from studies import quick_study


@pytest.mark.study
def test_each_model_of_the_table_is_sparse_where_its_priors_are():
    found = quick_study("murphy-table-13.3").numbers["filters"]
    assert found["PCA"].overlap < 1e-8
    assert found["FA"].overlap > 0.05
    assert np.mean(found["Sparse coding"].factors == 0) > 0.4
    assert np.mean(found["Sparse coding"].loadings == 0) < 0.01
    assert np.mean(found["Sparse PCA"].loadings == 0) > 0.05
    assert np.mean(found["Sparse MF"].loadings == 0) > 0.05
    assert np.mean(found["Sparse MF"].factors == 0) > 0.05


@pytest.mark.study
def test_filters_of_sparse_codes_and_ica_are_more_local_than_waves():
    found = quick_study("murphy-figure-13.21").numbers["filters"]
    for name in ("Sparse coding", "ICA"):
        assert found[name].spread < found["PCA"].spread
    assert found["Sparse PCA, sparser"].spread < found["Sparse PCA"].spread


@pytest.mark.study
def test_text_over_a_photograph_is_filled_in():
    numbers = quick_study("murphy-figure-13.23").numbers
    truth, masks = numbers["truth"], numbers["masks"]
    for (_, where), found in numbers["restored"].items():
        mask = masks[where]
        level = np.abs(truth[~mask].mean(axis=0) - truth)[mask].mean()
        # So few pixels of a photograph full of detail tell little of the others.
        assert np.abs(found.picture - truth)[mask].mean() < 0.85 * level
        np.testing.assert_array_equal(found.picture[~mask], truth[~mask])


def test_strokes_leave_most_of_the_picture():
    mask = strokes((60, 80))
    assert 0.08 < mask.mean() < 0.4
