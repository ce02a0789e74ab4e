"""Dictionary learning as users meet it: inputs of all kinds, files, progress, refusals."""

import numpy as np
import pytest
import scipy.sparse

import garrote
from garrote.coding import KSVD, Alternating, DictionaryLearning, Online
from reference_coding import signals_of_few_atoms

pytestmark = pytest.mark.filterwarnings("ignore:the objective still fell")
METHODS = [Alternating(5), Online(64, 2), KSVD(3, 5)]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_sparse_signals_threads_and_single_precision_change_nothing(method):
    signals = signals_of_few_atoms(300, 12, 16)[1]
    signals[np.abs(signals) < 0.3] = 0.0
    model = DictionaryLearning(12, method, random_state=0)
    whole = model.fit(signals).components_
    for other in (scipy.sparse.csr_array(signals), signals):
        model = DictionaryLearning(12, method, random_state=0, n_jobs=2).fit(other)
        np.testing.assert_allclose(model.components_, whole, atol=1e-8)
    single = DictionaryLearning(12, method, random_state=0).fit(signals.astype(np.float32))
    assert single.transform(signals.astype(np.float32)).dtype == np.float32
    fell = single.record_.objective[-1] / model.record_.objective[-1]
    assert fell == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_dictionary_comes_back_from_its_file(method, tmp_path):
    signals = signals_of_few_atoms(100, 12, 16)[1]
    model = DictionaryLearning(12, method, random_state=0).fit(signals)
    model.save(tmp_path / "atoms.garrote")
    again = garrote.load(tmp_path / "atoms.garrote")
    np.testing.assert_array_equal(again.transform(signals), model.transform(signals))
    np.testing.assert_array_equal(again.record_.objective, model.record_.objective)
    assert again.certificate_ == model.certificate_
    if method.name == "online":
        after = [one.partial_fit(signals[:20]).components_ for one in (model, again)]
        np.testing.assert_array_equal(*after)


def test_a_warm_start_goes_on_from_the_fit_before():
    signals = signals_of_few_atoms(200, 12, 16)[1]
    model = DictionaryLearning(12, Alternating(5), warm_start=True, random_state=0).fit(signals)
    reached = model.record_.objective[-1]
    assert model.fit(signals).record_.objective[0] == pytest.approx(reached, rel=1e-10)


def test_codes_may_be_positive():
    signals = np.abs(signals_of_few_atoms(200, 12, 16)[1])
    model = DictionaryLearning(12, Alternating(5), positive=True, random_state=0)
    assert model.fit_transform(signals).min() == 0.0
    assert model.encode(signals).certificate.value < 1e-9


def test_learning_tells_of_its_rounds():
    told = []
    signals = signals_of_few_atoms(100, 12, 16)[1]
    for method in METHODS:
        model = DictionaryLearning(12, method, random_state=0, callback=told.append).fit(signals)
        assert told[-1].stage == method.name
        assert told[-1].done == model.n_iter_ <= told[-1].total
    assert "rounds; the objective of all signals" in str(model.record_.summary())


def test_only_online_learning_goes_on_in_parts():
    assert hasattr(DictionaryLearning(method="online"), "partial_fit")
    assert not hasattr(DictionaryLearning(), "partial_fit")
    signals = signals_of_few_atoms(3, 12, 16)[1]
    model = DictionaryLearning(12, "online", random_state=0).partial_fit(signals)
    assert model.components_.shape == (12, 16)  # a first batch may be small


def test_silent_constant_and_repeated_signals_have_their_answers():
    silent = DictionaryLearning(1, random_state=0).fit(np.zeros((5, 4)))
    assert not silent.transform(np.zeros((5, 4))).any()
    assert silent.certificate_.value == 0.0
    level = np.outer(np.arange(1.0, 21), np.ones(9))
    model = DictionaryLearning(3, random_state=0).fit(level)
    assert np.abs(model.components_ @ np.ones(9)).max() == pytest.approx(3.0)
    with pytest.raises(ValueError, match="n_components=2 atoms cannot be learned from 1 distinct"):
        DictionaryLearning(2).fit(np.ones((10, 4)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        (
            {"n_components": 101},
            "n_components=101 atoms cannot be learned from 100 distinct signals",
        ),
        ({"method": "greedy"}, "method must be one of .*or a learning method"),
        ({"alpha": -1.0}, "alpha must be positive"),
        ({"method": "ksvd", "alpha": 0.1}, "alpha and positive are of the lasso"),
        ({"method": KSVD(40), "n_components": 9}, "n_nonzero must be at most 9"),
        ({"dictionary": np.eye(16), "n_components": 3}, "has 16 atoms, n_components is 3"),
        ({"dictionary": np.eye(4)}, "atoms have 4 entries and signals 16"),
    ],
)
def test_what_no_dictionary_could_come_of_is_refused(change, message):
    signals = signals_of_few_atoms(100, 12, 16)[1]
    with pytest.raises(ValueError, match=message):
        DictionaryLearning(**change).fit(signals)


def test_a_fit_that_has_not_settled_says_how_far_it_is():
    signals = signals_of_few_atoms(100, 12, 16)[1]
    with pytest.warns(UserWarning, match=r"still fell by a share of .* raise max_rounds \(1\)"):
        DictionaryLearning(12, Alternating(1), random_state=0).fit(signals)
