"""Pictures of dictionaries show what was learned, and refuse what was not."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from garrote import SparseRegressor
from garrote.coding import DictionaryLearning, Online, SparseCoder
from garrote.displays import AtomsDisplay, CodesDisplay, LearningDisplay
from reference_coding import signals_of_few_atoms


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def signals():
    return signals_of_few_atoms(200, 12, 16)[1]


@pytest.fixture(scope="module")
def model(signals):
    return DictionaryLearning(12, "online", random_state=0).fit(signals)


def test_a_mosaic_holds_every_atom_in_its_own_scale(model, signals):
    pipe = make_pipeline(StandardScaler(), DictionaryLearning(6, "online", random_state=0))
    display = AtomsDisplay.from_estimator(pipe.fit(signals), shape=(2, 8))
    tile = display.mosaic_[1:3, 1:9].ravel()
    atom = pipe[-1].components_[0]
    np.testing.assert_allclose(tile, 0.5 + 0.5 * atom / np.abs(atom).max())
    assert np.isnan(display.mosaic_[0]).all()
    assert AtomsDisplay.from_estimator(model).shape == (4, 4)
    few = AtomsDisplay.from_estimator(model, max_atoms=3)
    assert few.ax_.get_title() == "DictionaryLearning: 3 of 12 atoms"


def test_colours_and_parts_without_signs_are_drawn(signals):
    coder = SparseCoder(np.abs(signals[:5, :12])).fit(signals[:, :12])
    display = AtomsDisplay.from_estimator(coder, shape=(2, 2, 3))
    assert display.mosaic_.shape[2] == 3
    assert AtomsDisplay.from_estimator(coder, shape=(3, 4)).mosaic_[1:4, 1:5].max() == 1.0


def test_codes_and_their_use_are_those_of_the_signals(model, signals):
    display = CodesDisplay.from_estimator(model, signals, max_signals=10)
    codes = model.transform(signals)
    np.testing.assert_array_equal(display.codes, codes[:10])
    np.testing.assert_allclose(display.use, (codes != 0).mean(axis=0))


def test_the_record_is_drawn_round_by_round(model, signals):
    display = LearningDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.line_.get_ydata(), model.record_.objective)
    assert display.ax_[1].get_xlabel() == "batch"
    batches = DictionaryLearning(12, Online(10), random_state=0).fit(signals)
    assert len(LearningDisplay.from_estimator(batches).ax_[0].lines) == 2


def test_what_cannot_be_drawn_is_refused_by_name(model, signals):
    other = SparseRegressor(alpha=0.1).fit(signals[:, 1:], signals[:, 0])
    with pytest.raises(TypeError, match="SparseRegressor has no components_ to draw"):
        AtomsDisplay.from_estimator(other)
    with pytest.raises(TypeError, match="SparseRegressor has no codes to draw"):
        CodesDisplay.from_estimator(other, signals)
    with pytest.raises(TypeError, match="SparseCoder has no record_ of rounds"):
        LearningDisplay.from_estimator(SparseCoder().fit(signals))
    with pytest.raises(ValueError, match="of atoms of 16 entries, got"):
        AtomsDisplay.from_estimator(model, shape=(3, 3))
