"""A matrix on a device: how exact its products are, what follows it there, what happens without room."""

import array_api_strict
import numpy as np
import pytest
from sklearn import config_context

from conftest import NO_TORCH
from contracts import View, assert_near, on_device, sample_matrix
from garrote import (
    Problem,
    SingleEffectsRegressor,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabRegressor,
    VariationalGarrote,
)
from garrote.datasets import make_sparse_regression
from garrote.designs import DenseDesign, DeviceDesign
from garrote.designs.devices.arrays import is_on_device, to_host

DEVICE = array_api_strict.Device("device1")
STREAMED = "its columns are sent there a block at a time"


def there(values):
    return array_api_strict.asarray(values, device=DEVICE)


def table(n=60, d=90):
    data = make_sparse_regression(n_samples=n, n_features=d, n_informative=3, random_state=0)
    return data.X, data.y


class Host:
    """A device of NumPy's own: arrays that are sent there stay arrays, and streaming can be watched."""

    def __init__(self, monkeypatch):
        self.sent = []
        monkeypatch.setattr(
            "garrote.designs.devices.device.tensor_on", lambda *_: there(np.zeros((0, 0)))
        )
        monkeypatch.setattr("garrote.designs.devices.device.to_device", self._send)

    def _send(self, values, like):
        self.sent.append(values.shape)
        return there(np.ascontiguousarray(values))


# --- products


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_float32_products_in_halves_are_right_to_single_precision_whatever_the_unit(scale):
    X = sample_matrix().astype(np.float32)
    left = np.random.default_rng(0).standard_normal((3, 41))
    found, exact = on_device("mixed")(X).tdot(scale * left) / scale, left @ X.astype(np.float64)
    size = np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(X.astype(np.float64), axis=0)
    assert (np.abs(found - exact) <= 3e-7 * size).all()


def test_rows_beyond_those_added_up_in_single_precision_cost_no_digits(monkeypatch):
    monkeypatch.setattr("garrote.designs.devices.device.ROWS_IN_SINGLE", 3)
    X = np.ones((41, 2), dtype=np.float32)
    X[:, 1] = 1.0 / 3.0
    left = np.full((1, 41), 1.0 + 2.0**-30)  # lost, were the trailing digits left out
    assert on_device("mixed")(X).tdot(left)[0, 0] == pytest.approx(41.0 + 41 * 2.0**-30, rel=1e-15)


def test_double_precision_converts_few_rows_at_a_time(monkeypatch):
    X, rows = sample_matrix().astype(np.float32), np.random.default_rng(1).standard_normal((2, 41))
    design = on_device("double")(X)
    whole = design.tdot(rows)
    monkeypatch.setattr("garrote.designs.devices.device.ENTRIES_IN_CACHE", 30)
    np.testing.assert_allclose(design.tdot(rows), whole, rtol=1e-13)
    np.testing.assert_allclose(whole, rows @ X.astype(np.float64), rtol=1e-13, atol=1e-13)


def test_blocks_on_the_device_are_bounded(monkeypatch):
    X, view = sample_matrix(), View(True, True, "some zero")
    whole = view.of(on_device()(X))
    expected, deviation = whole.whole_gram(), whole.deviation
    monkeypatch.setattr("garrote.designs.devices.device.ENTRIES_ON_DEVICE", 100)
    pieces = view.of(on_device()(X))
    assert_near(pieces.deviation, deviation)
    assert_near(pieces.whole_gram(), expected)
    assert_near(pieces.block(np.arange(13)), whole.block(np.arange(13)))


# --- estimators


@pytest.mark.parametrize(
    "model",
    [
        SparseRegressor(),
        SparseRegressor(cv=3),
        VariationalGarrote(),
        SpikeSlabRegressor(method="mean-field"),
        SingleEffectsRegressor(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_estimators_answer_for_a_device_as_for_the_machine(model, weighted, monkeypatch):
    monkeypatch.setattr("garrote.designs.dense.ENTRIES_AT_HAND", 10)  # columns stay there
    X, y = table()
    w = np.random.default_rng(2).uniform(0.5, 2.0, len(y)) if weighted else None
    plain = type(model)(**model.get_params()).fit(X, y, w)
    model.fit(there(X), there(y), None if w is None else there(w))
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict(there(X)), plain.predict(X), atol=1e-5)
    assert model.score(there(X), there(y)) == pytest.approx(plain.score(X, y), abs=1e-5)


def test_labels_offsets_and_several_responses_come_from_the_device():
    X, y = table()
    labels, known = (y > 0).astype(float), np.linspace(-1, 1, len(y))
    plain = SparseClassifier(alpha=0.05).fit(X, labels, offset=known)
    found = SparseClassifier(alpha=0.05).fit(there(X), there(labels), offset=there(known))
    np.testing.assert_allclose(found.coef_, plain.coef_, atol=1e-6)
    both = np.column_stack([y, X[:, 0]])
    several = SparseRegressor(alpha=0.05).fit(there(X), there(both))
    np.testing.assert_allclose(
        several.coef_, SparseRegressor(alpha=0.05).fit(X, both).coef_, atol=1e-6
    )


def test_answers_follow_rows_where_scikit_learn_is_told_so():
    X, y = table()
    model = SparseRegressor(alpha=0.05).fit(there(X), there(y))
    assert isinstance(model.predict(there(X)), np.ndarray)
    with config_context(array_api_dispatch=True):
        for rows in (there(X), array_api_strict.asarray(X)):
            said = model.predict(rows)
            assert said.device == rows.device
            np.testing.assert_array_equal(to_host(said), model.predict(X))
        labels = np.where(y > 0, "high", "low")
        classifier = SparseClassifier(alpha=0.05).fit(X, labels)
        assert set(classifier.predict(there(X))) <= {"high", "low"}  # words stay here
        assert classifier.predict_proba(there(X)).device == DEVICE
        assert model.transform(array_api_strict.asarray(X)).shape[0] == len(y)


def test_tensors_of_torch_are_taken_as_they_are():
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    X, y = table()
    plain = SparseRegressor(alpha=0.05).fit(X, y)
    design = DeviceDesign(torch.from_numpy(X))
    for rows in (torch.from_numpy(X), design):
        found = SparseRegressor(alpha=0.05).fit(rows, torch.from_numpy(y))
        np.testing.assert_allclose(found.coef_, plain.coef_, atol=1e-10)
    assert not is_on_device(torch.from_numpy(X))
    assert_near(design.tdot(X.T[:2]), X.T[:2] @ X)
    single = DeviceDesign(torch.from_numpy(X.astype(np.float32)))
    np.testing.assert_allclose(single.tdot(X.T[:2]), X.T[:2] @ X, rtol=1e-5, atol=1e-4)
    moved = DeviceDesign(X, device="cpu")
    assert moved.resident
    assert_near(moved.dot(np.array([4, 2]), np.ones((2, 1)))[:, 0], X[:, 4] + X[:, 2])
    with pytest.raises(ValueError, match="device='nowhere' is not there for PyTorch"):
        DeviceDesign(X, device="nowhere")


# --- without room


def test_a_matrix_without_room_is_sent_block_by_block_and_says_so(monkeypatch):
    host, (X, y) = Host(monkeypatch), table()
    monkeypatch.setattr("garrote.designs.devices.device.ENTRIES_ON_DEVICE", 60 * 20)
    with pytest.warns(UserWarning, match=STREAMED):
        design = DeviceDesign(X, "cuda", most_bytes=X.nbytes - 1)
    assert not design.resident
    design.tdot(np.ones((1, 60)))
    assert max(shape for shape in host.sent if shape[0] == 60) == (60, 20)
    view = View(True, True, "some zero")
    assert_near(view.of(design).whole_gram(), view.of(DenseDesign(X)).whole_gram())
    assert_near(design.some_rows(np.array([3, 0])), X[[3, 0]])
    assert_near(design.tdot_from(70, X[:, :2]), X[:, 70:].T @ X[:, :2])
    assert_near(design.dot(np.arange(90), np.ones((90, 1)))[:, 0], X.sum(axis=1))
    found = SparseRegressor(alpha=0.05).fit(design, y)
    np.testing.assert_allclose(found.coef_, SparseRegressor(alpha=0.05).fit(X, y).coef_, atol=1e-10)


# --- what is refused


@pytest.mark.parametrize(
    ("X", "options", "said"),
    [
        (there(np.ones(3)), {}, r"must have rows and columns, got an array of shape \(3,\)"),
        (there(np.ones((0, 3))), {}, r"shape \(0, 3\)"),
        (there(np.ones((3, 2), dtype=np.int64)), {}, "float32 or float64 numbers, got"),
        (np.ones((3, 2), dtype=np.float16), {"device": "cpu"}, "got float16: convert it first"),
        (np.ones((3, 2)), {}, "which device to go to: device='cuda'"),
        (there(np.ones((3, 2))), {"device": "cuda:1"}, "and device='cuda:1' is another one"),
        (there(np.ones((3, 2))), {"precision": "half"}, "'mixed' or 'double', got 'half'"),
    ],
)
def test_what_is_no_matrix_on_one_device_is_refused(X, options, said):
    with pytest.raises(ValueError, match=said):
        DeviceDesign(X, **options)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_column_on_the_device_that_is_not_finite_is_named(bad):
    X, y = table()
    X[4, 17] = bad
    with pytest.raises(ValueError, match=r"17"):
        SparseRegressor().fit(there(X), there(y))
    with pytest.raises(ValueError, match="no finite prediction at row 4"):
        SparseRegressor(alpha=1e-3).fit(*table()).predict(there(np.where(bad == X, bad, X)))


def test_rows_and_columns_that_do_not_fit_are_refused():
    X, y = table()
    with pytest.raises(ValueError, match="X has 60 rows and y 59"):
        SparseRegressor().fit(there(X), there(y[1:]))
    model = SparseRegressor(alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="89 features"):
        model.predict(there(X[:, 1:]))


def test_a_problem_is_made_of_what_lies_on_a_device():
    X, y = table()
    problem = Problem.from_rows(there(X), there(y), there(np.ones(60)))
    assert_near(problem.xty, Problem.from_rows(X, y).xty)
