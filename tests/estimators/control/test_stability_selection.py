"""Stability selection: frequencies as plain refits count them, bounds, bases, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import garrote
from garrote import (
    GreedyRegressor,
    SparseClassifier,
    SparseRegressor,
    StabilitySelection,
    VariationalGarrote,
)
from garrote.paths import FollowPath
from garrote.penalties import GroupLasso
from garrote.selecting.control.bounds import BOUNDS
from garrote.selecting.control.resampling import RowUnits, draw_resamples

ALPHAS = np.geomspace(0.6, 0.05, 12)
FEW = {"n_resamples": 12, "random_state": 3}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 15)) * np.linspace(0.5, 3.0, 15)
    return X, X[:, 2] / X[:, 2].std() - X[:, 7] / X[:, 7].std() + rng.standard_normal(90)


def halves(rows, seed=3, count=12, strata=None, groups=None):
    streams = np.random.SeedSequence(seed).spawn(count)
    return draw_resamples("pairs", count, streams, RowUnits.of(np.ones(rows), strata, groups))


def entered(X, y, part, alphas):
    """Return which columns scikit-learn's lasso has at each alpha, in one half of the rows."""
    rows = part > 0
    scaled = (X[rows] - X[rows].mean(axis=0)) / X[rows].std(axis=0)
    fits = [Lasso(alpha=a, tol=1e-10, max_iter=100_000).fit(scaled, y[rows]) for a in alphas]
    return np.array([fit.coef_ for fit in fits])


def first_to_enter(coef, count):
    """Return the first columns, those of larger coefficients before others of the same alpha."""
    inside = coef != 0
    came = np.flatnonzero(inside.any(axis=0))
    entry = inside.argmax(axis=0)
    order = sorted(came, key=lambda j: (entry[j], -abs(coef[entry[j], j])))
    return order[:count], entry


def test_frequencies_are_those_of_plain_lassos_in_every_half(data):
    X, y = data
    base = SparseRegressor(method=FollowPath(alphas=ALPHAS))
    model = StabilitySelection(base, n_features=4, **FEW).fit(X, y)
    along = np.zeros((len(ALPHAS), X.shape[1]))
    for part in halves(len(y)):
        chosen, entry = first_to_enter(entered(X, y, part, ALPHAS), 4)
        for j in chosen:
            along[entry[j] :, j] += 1
    np.testing.assert_array_equal(model.frequency_, along[-1] / 12)
    found = model.frequencies_
    np.testing.assert_array_equal(found.along.toarray(), along[: len(found.strengths)])
    np.testing.assert_allclose(found.strengths, ALPHAS[: len(found.strengths)])


def test_an_alpha_of_the_base_selects_what_is_in_there(data):
    X, y = data
    model = StabilitySelection(SparseRegressor(alpha=0.3), **FEW).fit(X, y)
    plain = [entered(X, y, part, [0.3])[0] != 0 for part in halves(len(y))]
    np.testing.assert_array_equal(model.frequency_, np.mean(plain, axis=0))
    assert model.n_features_per_half_ == np.mean(np.sum(plain, axis=1))
    assert "an estimate" in " ".join(model.error_control_.asks)


@pytest.mark.parametrize(
    "base",
    [SparseRegressor(), SparseRegressor(penalty="mcp"), Lasso(alpha=0.2), GreedyRegressor()],
    ids=lambda base: type(base).__name__,
)
def test_threads_change_nothing(data, base):
    one = StabilitySelection(base, **FEW).fit(*data)
    two = StabilitySelection(base, n_jobs=2, **FEW).fit(*data)
    np.testing.assert_array_equal(one.frequency_, two.frequency_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_wide_tables_share_passes_and_give_what_plain_lassos_give():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 120))
    y = 2 * X[:, 5] + rng.standard_normal(60)
    base = SparseRegressor(method=FollowPath(alphas=ALPHAS))
    model = StabilitySelection(base, n_features=5, **FEW).fit(X, y)
    counts = np.zeros(120)
    for part in halves(60):
        counts[first_to_enter(entered(X, y, part, ALPHAS), 5)[0]] += 1
    np.testing.assert_array_equal(model.frequency_, counts / 12)


def test_the_bound_is_that_of_its_formula_and_size_and_threshold_follow(data):
    model = StabilitySelection(n_features=3, threshold=0.75, **FEW).fit(*data)
    assert model.expected_false_ == BOUNDS["r-concave"].formula(3, 15, 0.75, 6)
    model = StabilitySelection(expected_false=0.5, n_resamples=40).fit(*data)
    assert model.expected_false_ <= 0.5
    model = StabilitySelection(n_features=3, expected_false=0.4, n_resamples=40).fit(*data)
    assert model.expected_false_ <= 0.4
    assert model.threshold_ > 0.5


def test_a_share_of_false_ones_sets_the_threshold_and_says_what_it_is_not(data):
    model = StabilitySelection(false_share=0.3, n_resamples=40).fit(*data)
    found = model.selection_
    assert found.control.bound <= 0.3 * found.n_selected
    assert "set after frequencies were seen" in str(found)


def test_where_no_threshold_keeps_the_bound_nothing_is_selected(data):
    X, y = data
    model = StabilitySelection(Lasso(alpha=1e-4), expected_false=0.01, n_resamples=6).fit(X, y)
    assert not model.get_support().any()
    assert any("no threshold keeps" in text for text in model.selection_.warnings)
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_effects_are_those_of_least_squares_on_the_selected_columns(data):
    X, y = data
    model = StabilitySelection(**FEW, n_features=3).fit(X, y)
    chosen = model.get_support(indices=True)
    assert chosen.tolist() == [2, 7]
    design = np.column_stack([np.ones(len(y)), X[:, chosen]])
    plain = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[chosen], plain[1:], rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), design @ plain, rtol=1e-8)
    left = y - design @ plain
    assert model.selection_.noise_variance == pytest.approx(left @ left / (len(y) - 3))
    assert model.selection_.evidence_noun == "frequency"


def test_groups_of_columns_are_one_variable(data):
    X, y = data
    groups = np.arange(15) // 3
    model = StabilitySelection(SparseRegressor(GroupLasso(groups)), n_features=2, **FEW).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 6, 7, 8]
    assert all(len(set(model.frequency_[groups == g])) == 1 for g in range(5))
    assert "D = 5" in model.error_control_.promise


def test_columns_without_a_penalty_are_always_in_and_not_counted(data):
    model = StabilitySelection(SparseRegressor(penalty_factor={0: 0.0}), **FEW).fit(*data)
    found = model.selection_
    assert found.always_in == ("x0",)
    assert found.n_selected == 2
    assert "D = 14" in found.control.promise


def test_rows_of_a_group_are_drawn_together_and_weights_reach_the_base(data):
    X, y = data
    groups = np.arange(90) // 6
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 90)
    base = SparseRegressor(alpha=0.2, standardize=False)
    model = StabilitySelection(base, **FEW).fit(X, y, weights, groups=groups)
    counts = np.zeros(15)
    for part in halves(90, groups=groups):
        rows = part > 0
        lasso = Lasso(alpha=0.2, tol=1e-10).fit(X[rows], y[rows], sample_weight=weights[rows])
        counts += lasso.coef_ != 0
    np.testing.assert_array_equal(model.frequency_, counts / 12)


@pytest.mark.parametrize("kind", ["sparse", "frame", "list"])
def test_other_kinds_of_tables_give_the_same(data, kind):
    X, y = data
    plain = StabilitySelection(**FEW).fit(X, y)
    given = {
        "sparse": scipy.sparse.csr_array(X),
        "frame": pd.DataFrame(X, columns=[f"c{j}" for j in range(15)], index=np.arange(90) + 5),
        "list": X.tolist(),
    }[kind]
    model = StabilitySelection(**FEW).fit(given, y)
    np.testing.assert_allclose(model.frequency_, plain.frequency_)
    theirs = StabilitySelection(Lasso(alpha=0.2), **FEW).fit(given, y)
    assert theirs.get_support(indices=True).tolist() == [2, 7]


def test_labels_are_halved_class_by_class(data):
    X, y = data
    labels = np.where(y > 1.0, "high", "low")
    ours = StabilitySelection(SparseClassifier(), n_features=3, **FEW).fit(X, labels)
    assert {2, 7} >= set(ours.get_support(indices=True)) != set()
    assert set(ours.predict(X)) <= {"high", "low"}
    assert ours.predict_proba(X).shape == (90, 2)
    theirs = LogisticRegression(penalty="l1", solver="liblinear", C=0.3)
    assert StabilitySelection(theirs, **FEW).fit(X, labels).frequency_[2] > 0.7


def test_counts_are_those_of_the_family():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 8))
    y = rng.poisson(np.exp(0.7 * X[:, 1]))
    model = StabilitySelection(SparseRegressor(family="poisson"), **FEW).fit(X, y)
    assert model.get_support(indices=True).tolist() == [1]
    assert model.selection_.effect_scale == "log rate"
    assert (model.predict(X) > 0).all()


def test_a_pipeline_s_last_step_says_what_it_selects(data):
    base = make_pipeline(StandardScaler(), Lasso(alpha=0.3))
    model = StabilitySelection(base, **FEW).fit(*data)
    assert model.get_support(indices=True).tolist() == [2, 7]


def test_estimators_with_evidence_select_those_of_the_most(data):
    model = StabilitySelection(VariationalGarrote(gamma=-5.0), n_features=2, **FEW).fit(*data)
    assert (model.frequencies_.sizes <= 2).all()
    assert model.get_support(indices=True).tolist() == [2, 7]


def test_files_bring_back_model_and_base(data, tmp_path):
    X, y = data
    model = StabilitySelection(SparseRegressor("mcp", alpha=0.3), **FEW).fit(X, y)
    model.save(tmp_path / "model.garrote")
    again = garrote.load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.get_params()["base__penalty"] == "mcp"
    assert again.selection_.control == model.selection_.control
    with pytest.raises(TypeError, match="joblib"):
        StabilitySelection(Lasso(alpha=0.3), **FEW).fit(X, y).save(tmp_path / "other.garrote")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"scheme": "thirds"}, "scheme must be one of"),
        ({"n_resamples": 1}, "n_resamples"),
        ({"n_resamples": 7}, "must be even for scheme='pairs', got 7: take 8"),
        ({"threshold": 0.5}, "above 0.5 and at most 1, got 0.5"),
        ({"threshold": 1.1}, "above 0.5 and at most 1, got 1.1"),
        ({"expected_false": 0}, "positive number, got 0"),
        ({"false_share": 1.0}, "between 0 and 1, got 1.0"),
        ({"false_share": 0.1, "threshold": 0.7}, "leave threshold and expected_false out"),
        ({"n_features": 0}, "n_features"),
        ({"n_features": 16}, r"n_features = 16 asks for more than there are: X has 15"),
        ({"n_features": 3, "threshold": 0.7, "expected_false": 1}, "give two of them"),
        ({"bound": "markov"}, "bound must be one of"),
        ({"bound": "r-concave", "scheme": "half"}, "for scheme='pairs', not for 'half'"),
        ({"scheme": "bootstrap"}, "give n_features, or a base with an alpha"),
        ({"scheme": "bootstrap", "expected_false": 1}, "no bound on false selections"),
        ({"expected_false": 1e-9}, "cannot be kept with a threshold of 0.75 and 15"),
        ({"base": Lasso(alpha=0.1), "n_features": 3}, "Lasso has neither"),
        ({"base": Lasso(alpha=0.1), "threshold": 0.7, "expected_false": 1}, "give one of them"),
        ({"base": SparseRegressor("ridge")}, "selects every variable in every resample"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(data, settings, said):
    with pytest.raises(ValueError, match=said):
        StabilitySelection(**settings).fit(*data)


@pytest.mark.parametrize("base", [KNeighborsRegressor(), Lasso, "lasso", 3])
def test_a_base_that_selects_nothing_is_refused(data, base):
    with pytest.raises(
        TypeError, match=r"no selection_, get_support\(\) or coef_|must be an estimator"
    ):
        StabilitySelection(base, **FEW).fit(*data)


def test_a_base_that_selects_everything_is_told_of(data):
    found = StabilitySelection(Ridge(), **FEW).fit(*data).selection_
    assert any("selects every variable" in text for text in found.warnings)
    assert found.n_selected == 0


def test_too_few_rows_classes_and_groups_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="there are 3 rows of positive weight"):
        StabilitySelection().fit(X[:3], y[:3])
    with pytest.raises(ValueError, match="there are 2 groups"):
        StabilitySelection().fit(X, y, groups=np.arange(90) % 2)
    with pytest.raises(ValueError, match="groups has 3 entries for 90 rows"):
        StabilitySelection().fit(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="class 'rare' has 1 row"):
        StabilitySelection(SparseClassifier()).fit(X, ["rare"] + ["often"] * 89)
    with pytest.raises(ValueError, match="no row of one of the classes"):
        StabilitySelection(SparseClassifier()).fit(
            X, ["rare"] * 6 + ["often"] * 84, groups=np.arange(90) // 6
        )
    with pytest.raises(ValueError, match="takes no offset"):
        StabilitySelection(Lasso(), **FEW).fit(X, y, offset=y)
