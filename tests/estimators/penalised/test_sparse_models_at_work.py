"""Penalised models as parts of something larger: pipelines, searches, files, other kinds of input."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import garrote
from garrote import SparseClassifier, SparseRegressor
from garrote.paths import FollowPath
from garrote.penalties import MCP, Bridge, ElasticNet

FAMILIES = ("gaussian", "binomial", "poisson", "labels")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 8))
    eta = 1.2 * X[:, 0] - 0.9 * X[:, 3]
    responses = {
        "gaussian": eta + 0.5 * rng.standard_normal(150),
        "binomial": (eta + rng.logistic(size=150) > 0).astype(float),
        "poisson": rng.poisson(np.exp(0.6 * eta)).astype(float),
        "labels": np.where(eta + rng.logistic(size=150) > 0, "yes", "no"),
    }
    return X, responses


def make(family, penalty="lasso", alpha="cv", **settings):
    if family == "labels":
        return SparseClassifier(penalty, alpha, **settings)
    return SparseRegressor(penalty, alpha, family=family, **settings)


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_and_offsets_reach_every_fold(data, family):
    X, responses = data
    y = responses[family]
    rng = np.random.default_rng(1)
    counts, known = rng.integers(1, 3, 150), 0.4 * X[:, 5]
    rows = np.repeat(np.arange(150), counts)
    # Repeats of a row share its fold, so that both ways see the same training and held-out rows.
    fold = np.arange(150) % 4
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    repeated = [
        (np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(4)
    ]
    alphas = np.geomspace(0.3, 0.01, 12)
    one = make(family, method=FollowPath(alphas=alphas), cv=splits).fit(
        X, y, sample_weight=counts, offset=known
    )
    two = make(family, method=FollowPath(alphas=alphas), cv=repeated).fit(
        X[rows], y[rows], offset=known[rows]
    )
    for name in ("mean_error", "null_error"):
        np.testing.assert_allclose(one.cv_results_[name], two.cv_results_[name], rtol=1e-6)
    assert one.alpha_ == two.alpha_
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-6)
    without = make(family, method=FollowPath(alphas=alphas), cv=splits).fit(
        X, y, sample_weight=counts
    )
    assert not np.allclose(without.coef_, one.coef_, atol=1e-3)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_offset_of_another_length_is_refused_everywhere(data, family):
    X, responses = data
    with pytest.raises(ValueError, match="offset must have 150 entries like X has rows, got"):
        make(family, alpha=0.1).fit(X, responses[family], offset=np.zeros(3))
    model = make(family, alpha=0.1).fit(X, responses[family], offset=X[:, 5])
    with pytest.raises(ValueError, match="offset must have 10 entries like X has rows, got"):
        model.predict(X[:10], offset=np.zeros(3))
    nothing = model.predict(X, offset=np.zeros(150))
    assert not np.array_equal(nothing, model.predict(X, offset=5 * X[:, 5]))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", ["float32", "sparse", "sparse float32"])
def test_other_kinds_of_input_give_the_same_fit(data, family, kind):
    X, responses = data
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    other = X.astype(np.float32) if "float32" in kind else X
    other = scipy.sparse.csr_array(other) if "sparse" in kind else other
    one = make(family, rule="1se", method=FollowPath(alphas=20)).fit(X, responses[family])
    two = make(family, rule="1se", method=FollowPath(alphas=20)).fit(other, responses[family])
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-5)
    if family == "labels":
        np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(other), atol=1e-5)
    else:
        np.testing.assert_allclose(one.predict(X), two.predict(other), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("refit", [True, 0.5])
def test_refits_and_relaxed_paths_are_cross_validated(data, family, refit):
    X, responses = data
    y = responses[family]
    model = make(family, refit=refit, method=FollowPath(alphas=20), rule="1se").fit(X, y)
    plain = make(family, alpha=model.alpha_, method=FollowPath(alphas=20)).fit(X, y)
    full = make(family, alpha=model.alpha_, method=FollowPath(alphas=20), refit=True).fit(X, y)
    np.testing.assert_array_equal(model.get_support(), plain.get_support())
    expected = refit * full.coef_ + (1 - refit) * plain.coef_
    np.testing.assert_allclose(model.coef_, expected, atol=1e-5)
    assert np.abs(model.coef_).sum() > np.abs(plain.coef_).sum()


@pytest.mark.parametrize("family", FAMILIES)
def test_one_standard_error_is_sparser_and_a_whole_path_ends_at_its_last_alpha(data, family):
    X, responses = data
    least = make(family, method=FollowPath(alphas=20)).fit(X, responses[family])
    within = make(family, method=FollowPath(alphas=20), rule="1se").fit(X, responses[family])
    assert within.alpha_ >= least.alpha_
    assert within.get_support().sum() <= least.get_support().sum()
    whole = make(family, alpha=None, method=FollowPath(alphas=20)).fit(X, responses[family])
    assert whole.alpha_ == whole.path_.strengths[-1]
    assert not hasattr(whole, "cv_results_")
    last = whole.path_.coefficients()[[-1]].toarray()
    np.testing.assert_array_equal(np.atleast_2d(whole.coef_), last)


@pytest.mark.parametrize("penalty", ["l1", "lasso", MCP(), Bridge(0.5), ElasticNet(0.7)])
@pytest.mark.parametrize("family", ["gaussian", "labels"])
def test_select_from_model_keeps_what_is_not_0(data, penalty, family):
    X, responses = data
    model = make(family, penalty, alpha=0.2)
    chosen = SelectFromModel(model, threshold=1e-10).fit(X, responses[family])
    np.testing.assert_array_equal(
        chosen.get_support(), clone(model).fit(X, responses[family]).get_support()
    )
    if penalty == "l1":
        named = SelectFromModel(model).fit(X, responses[family])
        assert named.threshold_ == 1e-5
        np.testing.assert_array_equal(named.get_support(), chosen.get_support())


@pytest.mark.parametrize("family", FAMILIES)
def test_models_are_cloned_pickled_saved_and_searched(data, family, tmp_path):
    X, responses = data
    y = responses[family]
    model = make(family, MCP(gamma=2.5), alpha=0.1, refit=0.5)
    assert clone(model).get_params() == model.get_params()
    model.fit(X, y)
    model.save(tmp_path / "model.garrote")
    for again in (pickle.loads(pickle.dumps(model)), garrote.load(tmp_path / "model.garrote")):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.penalty == MCP(gamma=2.5)
    grid = {"penalty": ["lasso", MCP(), ElasticNet(0.5)], "alpha": [0.02, 0.1]}
    search = GridSearchCV(make(family), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0


@pytest.mark.parametrize("family", FAMILIES)
def test_data_frames_keep_their_names_through_a_pipeline(data, family):
    pandas = pytest.importorskip("pandas")
    X, responses = data
    names = [f"gene {j}" for j in range(8)]
    frame = pandas.DataFrame(X, columns=names)
    pipeline = make_pipeline(
        StandardScaler(), make(family, rule="1se", method=FollowPath(alphas=20))
    )
    pipeline.set_output(transform="pandas")
    out = pipeline.fit(frame, responses[family]).transform(frame)
    assert {"gene 0", "gene 3"} <= set(out.columns)
    assert set(out.columns) == set(pipeline[-1].selection_.table().columns["variable"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"penalty_factor": {"gene 9": 0.0}}, "unknown column 'gene 9'"),
        (
            {"bounds": ({"gene 2": 0.5}, None)},
            "bounds must contain 0, but column 'gene 2' has 0.5 to inf",
        ),
        ({"penalty_factor": {"gene 1": -2.0}}, "got -2 at column 'gene 1'"),
    ],
)
def test_errors_name_the_column_of_a_data_frame(data, settings, said):
    pandas = pytest.importorskip("pandas")
    X, responses = data
    frame = pandas.DataFrame(X, columns=[f"gene {j}" for j in range(8)])
    with pytest.raises(ValueError, match=said):
        SparseRegressor(**settings).fit(frame, responses["gaussian"])
