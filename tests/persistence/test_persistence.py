"""Models in files: what comes back is what was saved, and a bad file is only ever an error."""

import inspect
import io
import json
import os
import pickle
import re
import stat
import struct
import subprocess
import sys
import warnings
import zipfile
from dataclasses import is_dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

import garrote
from garrote import (
    SmoothSVC,
    SparseClassifier,
    SparseRegressor,
    VariationalGarrote,
    estimators,
    penalties,
    persistence,
)
from garrote.estimators.shared.saving import SaveMixin
from garrote.greedy import Splicing
from garrote.inference import Gibbs, Sample
from garrote.knockoffs import ModelX
from garrote.likelihoods import Huber, Poisson, Probit
from garrote.paths import Anneal, AnnealBound, FollowPath
from garrote.penalties import L0, MCP, FusedLasso, GroupLasso
from garrote.persistence import ModelFileError, load_extra, load_model, save_model
from garrote.persistence.archive import HEADER, HEADER_DIGEST
from garrote.persistence.models import _known_classes
from garrote.persistence.trees import Decoder, Encoder, Unstorable
from garrote.priors import ExpectedSize, GaussianSlab
from garrote.proximal import Graph
from garrote.results.certificates import Certificate
from garrote.results.fit import Fit
from model_files import changes, file_of, is_admitted, members_of, one_of_each, without_digests
from reference import sparse_regression

DATA = Path(__file__).parents[1] / "data"
README = Path(__file__).parents[2] / "README.md"
HOSTILE = [
    '<script>alert("1")</script>',
    "\u202egnp",
    "a\nb",
    "",
    "\ud800",
    "x" * 10_000,
    "../../etc",
]


@pytest.fixture(scope="module")
def data():
    X, y, _ = sparse_regression(n=80, d=20, seed=1)
    return X, y


@pytest.fixture(scope="module")
def fitted(data):
    return VariationalGarrote(method=Anneal(gammas=12)).fit(*data)


@pytest.fixture
def saved(fitted, tmp_path):
    fitted.save(tmp_path / "model.garrote")
    return tmp_path / "model.garrote"


def there_and_back(model, folder):
    model.save(folder / "there.garrote")
    return garrote.load(folder / "there.garrote")


def answers(model, X):
    """Everything that is asked of a model, as bytes and text."""
    mean, spread = model.predict(X, return_std=True)
    path = model.path_
    arrays = [
        *(mean, spread, model.predict(X), model.transform(X), model.get_support()),
        *(model.coef_, model.inclusion_probability_, model.posterior_.sample(3, 0)),
        *(path.strengths, path.free_energy, path.certificate, path.intercepts, path.noise_variance),
        *(path.coefficients().toarray(), path.inclusion_probability().toarray()),
    ]
    texts = [
        *(repr(path), str(path.n_iter), str(model.n_iter_), str(model.certificate_)),
        *(str(model.summary()), model.summary()._repr_html_(), model.selection_.to_json()),
        *(str(model.selection_.table(all_variables=True)), repr(model), str(model.get_params())),
        *sorted(vars(model)),
    ]
    return [(a.dtype.str, a.shape, np.asarray(a).tobytes()) for a in arrays], texts


# --- what comes back

KINDS_OF_FIT = {
    "cross-validated": {},
    "given gamma": {"gamma": -5.0},
    "free energy": {"gamma": "free_energy", "method": Anneal(gammas=np.linspace(-30, -2, 7))},
    "covariates and signs": {"covariates": [2, 0], "signs": {1: -1}, "prior_log_odds": np.ones(20)},
    "mask and NumPy settings": {"covariates": np.arange(20) == 3, "fit_intercept": np.bool_(True),
                                "method": Anneal(max_iter=np.int64(5000), tol=np.float32(1e-4))},
    "several optima": {"method": Anneal(n_starts=3), "random_state": 0, "gamma": -4.0},
    "no intercept": {"fit_intercept": False, "gamma": ExpectedSize(3.0)},
    "dual": {"method": "dual"},
    "given splits": {"cv": [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS_OF_FIT)
def test_a_loaded_model_answers_bit_for_bit_like_the_saved_one(kind, data, tmp_path):
    model = VariationalGarrote(**{"method": Anneal(gammas=12), **KINDS_OF_FIT[kind]}).fit(*data)
    assert answers(there_and_back(model, tmp_path), data[0]) == answers(model, data[0])


def test_sparse_and_weighted_data_make_no_difference(data, tmp_path):
    X, y = data
    sparse = scipy.sparse.csc_array(np.where(np.abs(X) > 0.5, X, 0.0))
    model = VariationalGarrote(method=Anneal(gammas=12)).fit(
        sparse, y, sample_weight=np.arange(80) % 3
    )
    assert answers(there_and_back(model, tmp_path), sparse.toarray()) == answers(
        model, sparse.toarray()
    )


def test_names_of_columns_come_back_whatever_they_are(data, tmp_path):
    X, y = data
    names = HOSTILE + [f"v{j}" for j in range(20 - len(HOSTILE))]
    frame = pd.DataFrame(X, columns=pd.Index(names, dtype=object))
    model = VariationalGarrote(method=Anneal(gammas=12), covariates=["v0"]).fit(
        frame, pd.Series(y, name="yield")
    )
    back = there_and_back(model, tmp_path)
    assert answers(back, frame) == answers(model, frame)
    assert back.feature_names_in_.tolist() == names
    assert back.feature_names_in_.dtype == object
    assert back.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    assert back.selection_.response == "yield"
    with pytest.raises(ValueError, match="feature names"):
        back.predict(frame.set_axis(pd.Index([*names[:-1], "w"], dtype=object), axis=1))


@pytest.mark.parametrize("kind", [object, "category", "string"])
def test_words_of_a_data_frame_stay_the_labels_of_a_classifier(kind, data, tmp_path):
    X, y = data
    labels = pd.Series(np.where(y > np.median(y), "high", "low")).astype(kind)
    for model in (SparseClassifier(alpha=0.1), SmoothSVC(calibration=2)):
        back = there_and_back(model.fit(X, labels), tmp_path)
        assert back.classes_.tolist() == ["high", "low"]
        assert back.classes_.dtype == model.classes_.dtype
        assert back.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.filterwarnings("ignore:No features were selected")
def test_an_empty_selection_comes_back(tmp_path):
    X = np.random.default_rng(0).standard_normal((30, 4))
    with pytest.warns(UserWarning, match="constant"):
        model = VariationalGarrote(method=Anneal(gammas=5)).fit(X, np.ones(30))
    assert answers(there_and_back(model, tmp_path), X) == answers(model, X)


def test_shared_objects_are_stored_once_and_shared_again(fitted, saved):
    back = garrote.load(saved)
    before, after = fitted.path_, back.path_
    shared = [[a is b for b in before.fits] for a in before.forward + before.backward]
    assert [[a is b for b in after.fits] for a in after.forward + after.backward] == shared
    assert np.any(shared)
    assert back.posterior_.mean is back.coef_
    assert back.certificate_ is back.selection_.certificate
    with zipfile.ZipFile(saved) as members:
        objects = json.loads(members.read(HEADER))["objects"]
    distinct = {id(f) for f in fitted.path_.forward + fitted.path_.backward}
    distinct |= {id(f) for f in fitted.posterior_.optima}
    assert sum(o["class"] == "Fit" for o in objects) == len(distinct)


def test_a_loaded_model_can_be_cloned_pickled_saved_and_fitted_again(data, fitted, saved):
    X, y = data
    back = garrote.load(saved)
    assert not hasattr(clone(back), "coef_")
    assert answers(pickle.loads(pickle.dumps(back)), X) == answers(fitted, X)
    back.save(saved.with_suffix(".again"))
    assert saved.with_suffix(".again").read_bytes() == saved.read_bytes()
    back.coef_[0] += 1.0  # memory of its own
    assert answers(back.fit(X, y), X) == answers(fitted, X)


def test_joblib_keeps_working_on_what_was_loaded(data, fitted, saved, tmp_path):
    joblib.dump(garrote.load(saved), tmp_path / "model.joblib")
    assert answers(joblib.load(tmp_path / "model.joblib"), data[0]) == answers(fitted, data[0])


def test_another_process_predicts_the_same(data, fitted, saved, tmp_path):
    np.save(tmp_path / "X.npy", data[0])
    code = (
        "import sys, numpy as np, garrote\n"
        "model, X = garrote.load(sys.argv[1]), np.load(sys.argv[2])\n"
        "sys.stdout.write(b''.join(a.tobytes() for a in model.predict(X, return_std=True)).hex())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, saved, tmp_path / "X.npy"],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    expected = b"".join(a.tobytes() for a in fitted.predict(data[0], return_std=True))
    assert bytes.fromhex(run.stdout) == expected


def test_settings_of_scikit_learn_come_back_too(data, tmp_path):
    model = (
        VariationalGarrote(gamma=-5.0, method=Anneal(gammas=5))
        .fit(*data)
        .set_output(transform="pandas")
    )
    assert isinstance(there_and_back(model, tmp_path).transform(data[0]), pd.DataFrame)


def test_a_file_of_the_second_format_still_loads_and_predicts_its_numbers():
    expected = json.loads((DATA / "format_2.json").read_text())
    model = garrote.load(DATA / "format_2.garrote")
    mean, spread = model.predict(np.array(expected["X"]), return_std=True)
    np.testing.assert_allclose(mean, expected["mean"], rtol=1e-12)
    np.testing.assert_allclose(spread, expected["spread"], rtol=1e-12)
    assert model.get_support().tolist() == expected["support"]
    assert model.selection_.n_selected == 1
    assert "x3" in str(model.summary())
    assert load_extra(DATA / "format_2.garrote") == {"target": "y"}


PENALTIES = {
    "labels": GroupLasso(np.repeat(["a", "b"], 10), weights=[1.0, 2.0]),
    "objects as labels": GroupLasso(np.array(["a", "b"] * 10, dtype=object), norm="inf"),
    "names": GroupLasso({f"v{j}": j % 4 for j in range(20)}, l1_ratio=0.3),
    "a series": GroupLasso(pd.Series(range(20), index=[f"v{j}" for j in range(20)]).astype(float)),
    "patterns": GroupLasso([["v1*"], {"v0", "v2"}, [f"v{j}" for j in range(3, 10)]]),
    "a chain": FusedLasso("chain", l1_ratio=0.2, weights=pd.Series(np.ones(19))),
    "edges": FusedLasso([("v0", "v1"), ("v1", "v2")], l1_ratio=0.2),
    "a table of edges": FusedLasso(pd.DataFrame({"from": ["v0", "v1"], "to": ["v1", "v2"]})),
    "an adjacency": FusedLasso(
        scipy.sparse.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(20, 20))
    ),
    "a graph": FusedLasso(Graph.lattice(4, 5)),
    "a lattice": FusedLasso(("lattice", (4, 5))),
    "hard thresholds": L0(),
    "MCP": MCP(2.5),
}


@pytest.mark.parametrize("kind", PENALTIES)
def test_a_penalty_comes_back_with_its_settings(kind, data, tmp_path):
    frame = pd.DataFrame(data[0], columns=[f"v{j}" for j in range(20)])
    model = SparseRegressor(PENALTIES[kind], alpha=0.3, method=FollowPath(tol=1e-10)).fit(
        frame, data[1]
    )
    back = there_and_back(model, tmp_path)
    assert repr(back.penalty) == repr(model.penalty)
    np.testing.assert_array_equal(back.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(
        clone(back).fit(frame, data[1]).coef_, clone(model).fit(frame, data[1]).coef_
    )


def test_every_public_penalty_can_be_stored():
    made = [make() for make in penalties.PENALTIES.values()]
    made.append(penalties.L1WithRidge(0.5))
    kinds = {cls for cls in vars(penalties).values() if isinstance(cls, type) and is_dataclass(cls)}
    assert {type(penalty) for penalty in made} == kinds
    for penalty in made:
        encoder = Encoder(_known_classes())
        encoder.encode(penalty)
        assert encoder.objects[-1]["class"] == type(penalty).__name__


def test_where_outliers_begin_comes_back(data, tmp_path):
    model = SparseRegressor(alpha=0.3, family=Huber(corner=2.0)).fit(*data)
    back = there_and_back(model, tmp_path)
    assert back.family == Huber(corner=2.0)
    np.testing.assert_array_equal(back.fit(*data).coef_, model.coef_)


def test_likelihood_objects_come_back(data, tmp_path):
    X, y = data
    counts = np.round(np.exp(0.1 * y)).clip(0, 50)
    model = SparseRegressor(alpha=0.3, family=Poisson()).fit(X, counts)
    back = there_and_back(model, tmp_path)
    assert back.family == Poisson()
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    labels = estimators.SparseClassifier(alpha=0.1, family=Probit()).fit(
        X, counts > np.median(counts)
    )
    assert there_and_back(labels, tmp_path).family == Probit()


class OwnHuber(Huber):
    """Predictions go through it, so that a file without it would predict otherwise."""


class OwnPenalty(MCP):
    """A file without it would hold the model of another penalty."""


class OwnPrior(GaussianSlab):
    """A file without it would hold the model of another prior."""


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (SparseRegressor(alpha=0.3, family=OwnHuber(corner=2.0)), "family is a .*OwnHuber"),
        (SparseRegressor(OwnPenalty(3.0), 0.3), "penalty is a .*OwnPenalty"),
        (estimators.SpikeSlabRegressor(OwnPrior(1.0)), "prior is a .*OwnPrior"),
    ],
)
def test_settings_of_classes_that_files_do_not_know_are_refused(model, place, data, tmp_path):
    X, y = data
    model.fit(X[:, :5], y)
    with pytest.raises(TypeError, match=rf"{place}, for which these files have no place; joblib"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


# --- settings that have no place


def test_a_splitter_is_left_out_and_the_default_is_announced(data, tmp_path):
    splitter = KFold(4, shuffle=True, random_state=np.random.RandomState(0))
    model = VariationalGarrote(cv=splitter, method=Anneal(gammas=12)).fit(*data)
    model.save(tmp_path / "model")
    with pytest.warns(
        UserWarning, match=r"could not hold cv=KFold\(n_splits=4.*set it again"
    ) as said:
        back = garrote.load(tmp_path / "model")
    assert len(said) == 1
    assert said[0].filename == __file__
    assert back.cv == VariationalGarrote().cv
    np.testing.assert_array_equal(back.predict(data[0]), model.predict(data[0]))
    assert back.selection_.to_json() == model.selection_.to_json()


def test_a_callback_is_dropped_with_a_note_and_no_warning(data, tmp_path):
    model = VariationalGarrote(method=Anneal(gammas=5), callback=lambda progress: None).fit(*data)
    assert there_and_back(model, tmp_path).callback is None
    with zipfile.ZipFile(tmp_path / "there.garrote") as members:
        assert "lambda" in json.loads(members.read(HEADER))["objects"][-1]["left_out"]["callback"]


def test_requests_for_metadata_are_left_out_and_announced(fitted, tmp_path):
    model = pickle.loads(pickle.dumps(fitted))
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True).save(tmp_path / "model")
    with pytest.warns(UserWarning, match="_metadata_request=.*sample_weight"):
        garrote.load(tmp_path / "model")


def test_a_setting_that_holds_itself_is_left_out(data, fitted, tmp_path):
    endless: list = []
    endless.append(endless)
    model = pickle.loads(pickle.dumps(fitted)).set_params(covariates=endless)
    model.save(tmp_path / "model")
    with pytest.warns(UserWarning, match="covariates"):
        assert garrote.load(tmp_path / "model").covariates is None


# --- the values a file can hold

VALUES = [
    None, True, 0, -(2**70), 1.5, -0.0, 1e-320, float("inf"), -float("inf"), "", "\ud83d\0\n", "é",
    (), [], {}, ("a",), ("a", 1), [("b", "c"), [1.0]], {1: "a", "1": "b", (2, "x"): [None]},
    {"float": "nan", "array": 0}, np.float64(0.1), np.float32(0.1), np.int8(-3), np.uint64(2**64 - 1),
    np.bool_(True), np.str_("text"), np.float64("inf"), np.float16(0.5), np.longlong(3),
    np.array(3.5), np.zeros((0, 3)), np.arange(6).reshape(2, 3), np.asfortranarray(np.eye(3)[:2]),
    np.arange(5, dtype=">i4"), np.array(["a", "bcd"]), np.array([True, False]), np.array([1 + 2j]),
    np.array(["a", "b\u202e"], dtype=object), np.array([["a"], ["b"]], dtype=object),
    np.array([np.nan, np.inf, -0.0]), np.arange(10)[::3], np.array([], dtype=object),
    Certificate("gap", 0.1, {"a": float("nan"), "b": 0.0}),
    *(getattr(scipy.sparse, f"{layout}_{kind}")(np.diag([1.0, 0.0, 2.0])[:2])
      for layout in ("csr", "csc", "coo") for kind in ("array", "matrix")),
]  # fmt: skip
KNOWN = {"Certificate": Certificate, "Fit": Fit}


def round_trip(value):
    encoder = Encoder(KNOWN)
    node = json.loads(json.dumps(encoder.encode(value), allow_nan=False))
    decoder = Decoder(KNOWN, lambda k: encoder.arrays[k].copy(order="K"), encoder.texts)
    for written in json.loads(json.dumps(encoder.objects, allow_nan=False)):
        decoder.add(written)
    return decoder.decode(node)


def same(a, b):
    if type(a) is not type(b):
        return False
    if scipy.sparse.issparse(a):
        return (
            a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a.toarray(), b.toarray())
        )
    if isinstance(a, np.ndarray):
        plain = a.dtype == b.dtype and a.shape == b.shape
        return (
            plain and a.flags.fnc == b.flags.fnc and a.tolist().__repr__() == b.tolist().__repr__()
        )
    return repr(a) == repr(b)


@pytest.mark.parametrize("value", VALUES, ids=lambda v: f"{type(v).__name__} {str(v)[:20]!r}")
def test_a_value_comes_back_with_its_type(value):
    expected = np.int64(3) if type(value) is np.longlong else value
    assert same(round_trip(value), expected)
    inside = round_trip([(value,), {"k": value}])
    assert same(inside[0][0], expected)
    assert same(inside[1]["k"], expected)


def test_nan_comes_back():
    assert np.isnan(round_trip(float("nan")))
    assert type(round_trip(np.float64("nan"))) is np.float64


@pytest.mark.parametrize(
    "value",
    [
        {1, 2}, b"bytes", 1j, object(), len, KFold(), np.array([object()]), np.datetime64("2020"),
        np.ma.array([1.0]), np.array([("a", 1)], dtype="U1,i4"), scipy.sparse.dok_array((2, 2)),
        np.array([1], dtype="m8[s]"), KFold, np.random.RandomState(0),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_a_value_without_place_is_refused_by_name(value):
    with pytest.raises(Unstorable, match=r"here\[0\]"):
        Encoder(KNOWN).encode([value], "here")


# --- writing


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted"):
        VariationalGarrote().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_only_estimators_of_garrote_can_be_saved(tmp_path, data):
    class Own(VariationalGarrote):
        pass

    for model in (Own(gamma=-5.0, method=Anneal(gammas=3)).fit(*data), KFold(), "text"):
        with pytest.raises(TypeError, match=r"cannot be saved, only .*VariationalGarrote.* can"):
            save_model(model, tmp_path / "model")


def test_every_estimator_can_be_saved():
    for name in estimators.__all__:
        assert issubclass(getattr(estimators, name), SaveMixin)


def test_an_answer_without_place_is_refused_by_name(fitted, tmp_path):
    model = pickle.loads(pickle.dumps(fitted))
    model.extra_ = object()
    with pytest.raises(TypeError, match=r"VariationalGarrote\.extra_ is a builtins\.object"):
        model.save(tmp_path / "model")
    model.extra_ = None
    model.posterior_ = pickle.loads(pickle.dumps(fitted.posterior_))
    object.__setattr__(model.posterior_, "mean", np.zeros(3))
    with pytest.raises(TypeError, match=r"Posterior\.mean has shape"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_named(fitted, tmp_path):
    with pytest.raises(ModelFileError, match=r"the folder '.*nowhere' does not exist; create it"):
        fitted.save(tmp_path / "nowhere" / "model")


def test_neither_a_folder_nor_a_device_is_replaced(fitted, tmp_path):
    for place in (tmp_path, os.devnull):
        with pytest.raises(ModelFileError, match="folder or device"):
            fitted.save(place)


@pytest.mark.parametrize("stage", ["fsync", "replace"])
@pytest.mark.parametrize("blow", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(
    stage, blow, fitted, saved, monkeypatch
):
    before = saved.read_bytes()

    def fail(*_):
        raise blow

    monkeypatch.setattr(os, stage, fail)
    with pytest.raises((KeyboardInterrupt, ModelFileError)) as error:
        fitted.save(saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]
    if isinstance(blow, OSError):
        assert "No space left" in str(error.value)


def test_a_file_has_the_usual_permissions_and_a_link_stays_a_link(fitted, tmp_path):
    (tmp_path / "plain").touch()
    (tmp_path / "link").symlink_to(tmp_path / "model")
    fitted.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "model")}
    assert len(modes) == 1
    garrote.load(str(tmp_path / "link"))


def test_saving_twice_gives_the_same_bytes(fitted, saved):
    before = saved.read_bytes()
    fitted.save(saved)
    assert saved.read_bytes() == before


def test_a_file_is_no_larger_than_a_pickle(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3000))
    model = VariationalGarrote(method=Anneal(gammas=20)).fit(X, X[:, 0] + rng.standard_normal(60))
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < len(pickle.dumps(model))


def test_notes_of_the_caller_come_back(fitted, tmp_path):
    notes = {
        "target": "y",
        "columns": [{"name": "a", "levels": ["x", "é"]}],
        "mean": 0.1,
        "n": None,
    }
    save_model(fitted, tmp_path / "model", extra=notes)
    assert load_extra(tmp_path / "model") == notes
    fitted.save(tmp_path / "model")
    assert load_extra(tmp_path / "model") == {}


@pytest.mark.parametrize("extra", [{"a": {1}}, {1: 2}, {"a": (1,)}, {"a": float("nan")}])
def test_notes_must_be_json(extra, fitted, tmp_path):
    with pytest.raises(TypeError, match="extra must consist of JSON values"):
        save_model(fitted, tmp_path / "model", extra=extra)


# --- reading what is not as it should be


def refused(path, match):
    """Both readers refuse a file with one sentence that names it."""
    with pytest.raises(ModelFileError, match=match) as error:
        load_model(path)
    assert "\n" not in str(error.value)
    assert Path(path).name in str(error.value)
    return str(error.value)


def test_what_is_no_model_is_said_so(tmp_path, saved):
    refused(tmp_path / "nothing", "there is no file")
    refused(tmp_path, "is not a file")
    (tmp_path / "empty").touch()
    refused(tmp_path / "empty", "is empty")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    refused(tmp_path / "table.csv", "is not a garrote model")
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    refused(tmp_path / "arrays.npz", r"header\.json is missing")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as members:
        members.writestr(HEADER, '{"format": "another"}')
    refused(tmp_path / "other.zip", "is a zip, but not a garrote model")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "is not a file")
    with pytest.raises(ModelFileError, match="there is no file"):
        load_extra(tmp_path / "nothing")


def rewrite(path, header=None, members=None, drop=()):
    """Change the header by a function, and members by name, in place; everything stays consistent."""
    with zipfile.ZipFile(path) as old:
        contents = {name: old.read(name) for name in old.namelist() if name not in drop}
    if header:
        found = json.loads(contents[HEADER])
        header(found)
        contents[HEADER] = json.dumps(found).encode()
    contents.update(members or {})
    with zipfile.ZipFile(path, "w") as new:
        for name, content in contents.items():
            new.writestr(name, content)


def npy(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def find(header, name):
    return next(o for o in header["objects"] if o["class"] == name)


def attribute(header, name):
    return header["objects"][-1]["state"][name]


def test_a_newer_format_names_the_upgrade(saved):
    rewrite(saved, lambda h: h.update(version=3, garrote="7.1"))
    said = refused(
        saved, r"written by garrote 7\.1 and has format 3.*pip install --upgrade garrote"
    )
    assert f"garrote {garrote.__version__} (format 2)" in said
    with pytest.raises(ModelFileError, match="format 3"):
        load_extra(saved)


NEWER = {
    "estimator": lambda h: h.update(estimator="BayesianThing"),
    "class": lambda h: find(h, "Posterior").update({"class": "Posterior2"}),
    "field": lambda h: find(h, "Fit")["fields"].update(novelty=1),
    "parameter": lambda h: h["objects"][-1]["parameters"].update(novelty=1),
    "kind of value": lambda h: h["objects"][-1]["state"].update(gamma_={"decimal": "1"}),
}


@pytest.mark.parametrize("what", NEWER)
def test_what_only_a_later_garrote_knows_names_the_upgrade(what, saved):
    rewrite(saved, NEWER[what])
    refused(saved, "cannot read: run `pip install --upgrade garrote`")


DAMAGE = {
    "no objects": lambda h: h.update(objects=[]),
    "objects of another type": lambda h: h.update(objects={"a": 1}),
    "version as text": lambda h: h.update(version="2"),
    "version below one": lambda h: h.update(version=0),
    "texts that are numbers": lambda h: h.update(texts=[[1, 2]]),
    "no fields": lambda h: find(h, "Fit").pop("fields"),
    "a field less": lambda h: find(h, "Fit")["fields"].pop("columns"),
    "the last object is no model": lambda h: h["objects"].append(find(h, "Certificate")),
    "unfitted": lambda h: h["objects"][-1].update(state={}),
    "a reference to what comes later": lambda h: find(h, "Fit")["fields"].update(
        certificate={"object": len(h["objects"]) - 1}
    ),
    "a reference to nowhere": lambda h: attribute(h, "coef_").update(array=10**6),
    "a negative reference": lambda h: attribute(h, "coef_").update(array=-1),
    "two kinds": lambda h: attribute(h, "coef_").update(float="nan"),
    "a method as an answer": lambda h: h["objects"][-1]["state"].update(predict="x"),
    "a private name": lambda h: h["objects"][-1]["state"].update(__class__="x"),
    "wrong type": lambda h: find(h, "Fit")["fields"].update(strength="high"),
    "wrong class": lambda h: find(h, "Path")["fields"].update(scale={"object": 0}),
    "wrong count": lambda h: h["objects"][-1]["state"].update(n_features_in_=21),
    "count of nothing": lambda h: h["objects"][-1]["state"].update(n_features_in_="20"),
    "coefficient as text": lambda h: h["objects"][-1]["state"].update(coef_="none"),
    "bad number": lambda h: find(h, "Fit")["fields"].update(strength={"float": "1e400"}),
    "bad scalar": lambda h: find(h, "Fit")["fields"].update(strength={"numpy": ["float64", [1]]}),
    "a short array of another shape": lambda h: find(h, "array").update(shape=[17]),
    "a short array of another type": lambda h: find(h, "array").update(dtype="object"),
    "unhashable key": lambda h: h["objects"][-1]["state"].update(cv_results_={"dict": [[[], 1]]}),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_header_that_makes_no_sense_is_refused(what, saved):
    rewrite(saved, DAMAGE[what])
    refused(saved, r"is damaged \(.*\); save the model again or copy the file anew")


def test_a_header_that_is_no_object_is_refused(saved):
    rewrite(saved, members={HEADER: b"[" * 100_000})
    refused(saved, "is damaged")
    rewrite(saved, members={HEADER: b"[1, 2]"})
    refused(saved, "not a JSON object")
    rewrite(saved, members={HEADER: b'{"format": NaN}'})
    refused(saved, "NaN")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(19), np.zeros((20, 1)), np.zeros(20, dtype=np.float32), np.zeros(20, dtype="U3"),
        np.array(1.0), np.zeros(20, dtype="M8[s]"), np.zeros(20, dtype="i4,f8"),
    ],
    ids=lambda a: f"{a.shape} {a.dtype}",
)  # fmt: skip
def test_an_array_of_another_shape_or_type_is_refused(array, saved):
    with zipfile.ZipFile(saved) as members:
        mean = find(json.loads(members.read(HEADER)), "Posterior")["fields"]["mean"]["array"]
    rewrite(saved, members={f"arrays/{mean}.npy": npy(array)})
    refused(saved, "is damaged")


def test_positions_beyond_the_columns_are_refused(saved):
    whole = saved.read_bytes()

    def shift(header, by):
        support = find(header, "Spread")["fields"]["columns"]["object"]
        found = header["objects"][support]
        assert found["dtype"] == "int64"
        found["values"] = [value + by for value in found["values"]]
        found["dtype"] = np.array(found["values"]).dtype.name

    for by in (20, -20, 0.5):
        saved.write_bytes(whole)
        rewrite(saved, lambda header, by=by: shift(header, by))
        refused(saved, "Spread.columns does not hold positions of 20 columns")


def test_a_missing_array_is_named(saved):
    rewrite(saved, drop=["arrays/3.npy"])
    refused(saved, r"arrays/3\.npy is missing")


def test_pickled_objects_are_never_read(saved, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    content = io.BytesIO()
    np.save(content, np.array([Trap()], dtype=object), allow_pickle=True)
    rewrite(saved, members={"arrays/0.npy": content.getvalue()})
    refused(saved, "is damaged")
    assert not (tmp_path / "sprung").exists()


def test_a_name_in_a_file_reaches_no_other_class(saved):
    whole = saved.read_bytes()
    for name in ("os.system", "KFold", "ndarray", "ModelFileError", "Encoder", "Any", "dataclass"):
        saved.write_bytes(whole)
        rewrite(saved, lambda h, name=name: find(h, "Scale").update({"class": name}))
        refused(saved, "cannot read")


def test_other_members_are_ignored(data, fitted, saved):
    rewrite(saved, members={"../../evil": b"x", "/tmp/evil": b"y", "arrays/999999.npy": b"z"})
    assert answers(garrote.load(saved), data[0]) == answers(fitted, data[0])


def test_an_array_that_states_more_than_its_member_has_is_refused(saved):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({10**15},), }}".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"\0" * 8
    rewrite(saved, members={"arrays/0.npy": content})
    refused(saved, "has 136 bytes, not an array of float64")


def test_a_member_that_states_more_than_it_can_hold_is_refused(saved):
    """A bomb: the directory of the zip claims 4 GB for the header."""
    content = bytearray(saved.read_bytes())
    entry = content.index(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = struct.pack("<I", 2**32 - 2)
    saved.write_bytes(content)
    refused(saved, "states 4,294,967,294 bytes")
    content[entry + 24 : entry + 28] = struct.pack("<I", 2**27)
    saved.write_bytes(content)
    refused(saved, "states 134,217,728 bytes")


def test_members_that_overlap_are_refused(saved):
    content = bytearray(saved.read_bytes())
    entry = content.index(b"PK\x01\x02")
    content[entry + 20 : entry + 24] = struct.pack("<I", len(content) + 1)
    saved.write_bytes(content)
    refused(saved, "larger than the whole")


def test_compression_of_another_kind_is_refused(saved):
    with zipfile.ZipFile(saved) as old:
        contents = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_LZMA) as new:
        for name, content in contents.items():
            new.writestr(name, content)
    refused(saved, "cannot hold")


# --- fuzz


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A model that is small to load, its file, and data."""
    X, y, _ = sparse_regression(n=40, d=5, seed=3)
    model = VariationalGarrote(method=Anneal(gammas=3), gamma=-4.0).fit(X, y)
    path = tmp_path_factory.mktemp("small") / "model.garrote"
    model.save(path)
    return answers(model, X), path.read_bytes(), X


def loads_equal_or_is_refused(content, small, path):
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zipfile remarks on names that occur twice
            model = load_model(path)
    except ModelFileError as error:
        refusal = str(error)
    else:
        assert answers(model, small[2]) == small[0]
        return True
    assert "\n" not in refusal
    return False


def test_a_truncated_file_is_always_refused(small, tmp_path):
    whole = small[1]
    cuts = {*range(64), *range(len(whole) - 64, len(whole)), *range(64, len(whole), 97)}
    for cut in sorted(cuts):
        assert not loads_equal_or_is_refused(whole[:cut], small, tmp_path / "cut"), cut


def test_a_damaged_byte_is_refused_or_makes_no_difference(small, tmp_path):
    whole, rng = small[1], np.random.default_rng(0)
    directory = whole.index(b"PK\x01\x02")
    # Bytes of the zip's own bookkeeping, then any.
    places = [
        *range(60),
        *rng.integers(directory, len(whole), 300),
        *range(len(whole) - 22, len(whole)),
    ]
    places += rng.integers(0, len(whole), 300).tolist()
    refusals = 0
    for place in places:
        content = bytearray(whole)
        content[place] ^= 1 << int(rng.integers(8))
        refusals += not loads_equal_or_is_refused(bytes(content), small, tmp_path / "flipped")
    assert refusals > len(places) // 3


def test_garbage_of_any_kind_is_refused_or_makes_no_difference(small, tmp_path):
    whole, rng = small[1], np.random.default_rng(1)
    for _ in range(150):
        start, stop = np.sort(rng.integers(0, len(whole), 2))
        for content in (
            whole[:start] + rng.bytes(int(stop - start)) + whole[stop:],
            whole[:start] + whole[stop:],
            whole[:start] + b"\0" * int(stop - start) + whole[stop:],
            b"PK\x03\x04" + rng.bytes(int(start)),
        ):
            loads_equal_or_is_refused(content, small, tmp_path / "garbage")


def test_a_mutated_header_is_refused_or_gives_a_model_that_is_whole(small, tmp_path):
    """With a valid checksum: what the header says is changed, not how it is packed."""
    path, rng = tmp_path / "mutated", np.random.default_rng(2)
    path.write_bytes(small[1])
    with zipfile.ZipFile(path) as members:
        header = members.read(HEADER)
    tokens = re.findall(rb'"[^"]*"|-?[0-9.e+-]+|[\[\]{},:]|true|false|null', header)
    assert b"".join(tokens) == header
    for _ in range(300):
        changed = list(tokens)
        place, other = rng.integers(len(tokens), size=2)
        changed[place] = tokens[other]
        path.write_bytes(small[1])
        rewrite(path, members={HEADER: b"".join(changed)})
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = load_model(path)
        except ModelFileError:
            continue
        assert type(model) is VariationalGarrote
        assert model.coef_.shape == (5,)


# --- files changed in meaning


def test_a_changed_number_is_noticed(saved):
    header, members = members_of(saved.read_bytes())
    place = f"arrays/{attribute(header, 'coef_')['array']}.npy"
    coef = np.load(io.BytesIO(members[place]))
    coef[3] += 1e-9
    saved.write_bytes(file_of(header, {**members, place: npy(coef)}))
    refused(saved, f"{place} was changed after it was written")
    find(header, "Posterior")["fields"]["noise_variance"] = 0.5
    saved.write_bytes(file_of(header, members))
    refused(saved, r"header\.json was changed after it was written")
    with pytest.raises(ModelFileError, match="was changed after it was written"):
        load_extra(saved)


def test_a_file_from_before_there_were_digests_still_loads(data, fitted, saved):
    header, members = members_of(saved.read_bytes())
    saved.write_bytes(without_digests(header, members))
    assert answers(garrote.load(saved), data[0]) == answers(fitted, data[0])
    assert load_extra(saved) == {}
    members.pop(HEADER_DIGEST)
    saved.write_bytes(file_of(header, members))
    refused(saved, r"header\.sha256 is missing")


SMALL = sparse_regression(n=40, d=5, seed=3)[:2]
EVERY_ESTIMATOR = {
    "VariationalGarrote": lambda X, y: VariationalGarrote(method=Anneal(gammas=3), gamma=-4.0).fit(
        X, y
    ),
    "VariationalGarroteClassifier": lambda X, y: estimators.VariationalGarroteClassifier(
        method=AnnealBound(gammas=3), gamma=-4.0
    ).fit(X, y > 0),
    "SparseRegressor": lambda X, y: SparseRegressor(alpha=0.1, method=FollowPath(alphas=3)).fit(
        X, y
    ),
    "SparseClassifier": lambda X, y: estimators.SparseClassifier(
        alpha=0.05, method=FollowPath(alphas=3)
    ).fit(X, np.array(["a", "b", "c"])[np.digitize(y, [-1.0, 1.0])]),
    "SpikeSlabRegressor": lambda X, y: estimators.SpikeSlabRegressor(
        GaussianSlab(1.0), Sample(200), inclusion=ExpectedSize(2.0), random_state=0
    ).fit(X, y),
    "SpikeSlabClassifier": lambda X, y: estimators.SpikeSlabClassifier().fit(X, y > 0),
    "SingleEffectsRegressor": lambda X, y: estimators.SingleEffectsRegressor().fit(X, y),
    "SingleEffectsClassifier": lambda X, y: estimators.SingleEffectsClassifier().fit(X, y > 0),
    "ShrinkageClassifier": lambda X, y: estimators.ShrinkageClassifier(
        method=Gibbs(200, 50), random_state=0
    ).fit(X, y > 0),
    "ShrinkageRegressor": lambda X, y: estimators.ShrinkageRegressor(
        method=Gibbs(200, 50), random_state=0
    ).fit(X, y),
    "RelevanceRegressor": lambda X, y: estimators.RelevanceRegressor().fit(X, y),
    "RelevanceClassifier": lambda X, y: estimators.RelevanceClassifier().fit(X, y > 0),
    "RelevanceVectorRegressor": lambda X, y: estimators.RelevanceVectorRegressor().fit(X, y),
    "RelevanceVectorClassifier": lambda X, y: estimators.RelevanceVectorClassifier().fit(X, y > 0),
    "SmoothSVC": lambda X, y: estimators.SmoothSVC(calibration=3).fit(X, y > 0),
    "SmoothSVR": lambda X, y: estimators.SmoothSVR().fit(X, y),
    "KernelFeatures": lambda X, y: estimators.KernelFeatures().fit(X),
    "NonNegativeGarrote": lambda X, y: estimators.NonNegativeGarrote(alpha=0.1).fit(X, y),
    "GreedyRegressor": lambda X, y: estimators.GreedyRegressor(Splicing(3)).fit(X, y),
    "GreedyClassifier": lambda X, y: estimators.GreedyClassifier(n_features=1).fit(X, y > 0),
    "StabilitySelection": lambda X, y: estimators.StabilitySelection(
        SparseRegressor(method=FollowPath(alphas=3)), n_resamples=4, n_features=2
    ).fit(X, y),
    "Bolasso": lambda X, y: estimators.Bolasso(SparseRegressor(alpha=0.1), n_resamples=4).fit(X, y),
    "Knockoffs": lambda X, y: estimators.Knockoffs(
        SparseRegressor(alpha=0.1, method=FollowPath(alphas=3)),
        q=0.6,
        knockoffs=ModelX("empirical", X.mean(axis=0)),
    ).fit(X, y),
}


def all_answers(model, X):
    """Return what a model of any kind predicts; ask it also for everything else."""
    if hasattr(model, "selection_"):
        str(model.summary()), model.summary()._repr_html_(), model.selection_.to_json()
        str(model.selection_.table()), str(model.selection_.table(all_variables=True))
        model.transform(X)
    if not hasattr(model, "predict"):
        return [model.transform(X)]
    found = [model.predict(X)]
    if "return_std" in inspect.signature(model.predict).parameters:
        found += [*model.predict(X, return_std=True)]
    return found + ([model.predict_proba(X)] if hasattr(model, "predict_proba") else [])


def check_changes(name, path, choose):
    """Every change is noticed by its digest; without one it is refused, or the model answers.

    Of results a value that is not of its field's declared type is refused.
    """
    X, y = SMALL
    model = EVERY_ESTIMATOR[name](X, y)
    shapes = [(a.shape, a.dtype) for a in all_answers(model, X)]
    model.save(path)
    header, members = members_of(path.read_bytes())
    chosen, classes = choose(changes(header, members)), _known_classes()
    survived = 0
    for change in chosen:
        other, parts = change.make()
        path.write_bytes(file_of(other, parts))
        with pytest.raises(ModelFileError) as refusal:
            load_model(path)
        assert "\n" not in str(refusal.value)
        path.write_bytes(without_digests(other, parts))
        try:
            back = load_model(path)
        except ModelFileError as error:
            assert "\n" not in str(error), change.name  # noqa: PT017
            continue
        survived += 1
        assert is_admitted(change, classes), change.name
        assert [(a.shape, a.dtype) for a in all_answers(back, X)] == shapes, change.name
    return survived / len(chosen)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", estimators.__all__)
def test_a_model_changed_in_meaning_is_refused_or_answers(name, tmp_path):
    check_changes(name, tmp_path / "model", one_of_each)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", estimators.__all__)
def test_any_model_changed_in_meaning_is_refused_or_answers(name, tmp_path):
    assert check_changes(name, tmp_path / "model", list) < 0.35


# --- the page


def test_the_example_in_the_readme_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    last = next(k for k, block in enumerate(blocks) if "garrote.load" in block)
    names: dict = {}
    for block in blocks[: last + 1]:
        exec(block, names)  # the page is ours
    np.testing.assert_array_equal(
        names["same"].predict(names["X"]), names["model"].predict(names["X"])
    )


def test_the_names_are_where_the_command_line_looks_for_them():
    assert garrote.load is persistence.load_model
    assert garrote.load.__name__ == "load"
