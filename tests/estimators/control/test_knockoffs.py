"""Knockoffs around any base: answers, settings, what is refused, and the rules of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, LogisticRegression

import garrote
from garrote import (
    GreedyRegressor,
    Knockoffs,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabRegressor,
    VariationalGarrote,
)
from garrote.designs import DenseDesign
from garrote.estimators.control import knockoff_rows
from garrote.estimators.control.knockoff_statistics import KnockoffStatistic
from garrote.knockoffs import ModelX
from garrote.results.certificates import KNOCKOFFS
from knockoff_tables import make_table
from scikit_checks import scikit_learn_checks

QUICK = SparseRegressor(alpha="bic")
X, Y, TRUTH = make_table(0.5, 3, n_rows=400, n_columns=30, n_effects=15, effect=0.7)


def fitted(**settings):
    return Knockoffs(**{"base": QUICK, "q": 0.2} | settings).fit(X, Y)


# Of the few columns that these checks give none may be selected at q = 0.1.
@pytest.mark.filterwarnings("ignore:No features were selected")
@scikit_learn_checks(
    Knockoffs(QUICK), variants=[Knockoffs(), Knockoffs(QUICK, n_copies=2, separation="sdp")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("knockoffs", ["model-x", "fixed"])
@pytest.mark.parametrize(
    ("base", "statistic"),
    [
        (QUICK, "lasso-difference"),
        (SparseRegressor(alpha=None, method="homotopy"), "signed-max"),
        (GreedyRegressor("forward", n_features=40), "signed-max"),
        (VariationalGarrote(cv=3), "probability"),
        (
            SpikeSlabRegressor(method="mean-field", prior=garrote.priors.GaussianSlab()),
            "probability",
        ),
        (Lasso(0.05), "lasso-difference"),
    ],
    ids=["lasso", "entries", "greedy entries", "garrote", "spikes", "other library"],
)
def test_large_effects_are_found_around_every_base(knockoffs, base, statistic):
    found = fitted(base=base, statistic=statistic, knockoffs=knockoffs)
    selected = found.get_support()
    assert selected[TRUTH].mean() > 0.7
    assert selected[~TRUTH].mean() < 0.5
    assert found.statistics_.shape == (1, 30)
    assert found.certificate_.kind == KNOCKOFFS
    assert found.certificate_.value < 1e-4
    assert found.selection_.converged


@pytest.mark.parametrize("separation", ["mvr", "sdp", "equicorrelated"])
def test_what_is_selected_is_what_reaches_the_threshold_and_has_a_q_value_below_q(separation):
    found = fitted(separation=separation)
    reached = found.statistics_[0] >= found.thresholds_[0]
    assert (found.get_support() == reached).all()
    assert (found.get_support() == (found.q_values_ <= 0.2)).all()
    assert (found.selection_.probability == found.q_values_).all()
    assert (found.get_support() == (found.e_values_ > 0)).all()


def test_the_strongest_variables_come_first_in_the_table_and_q_values_are_named():
    found = fitted().selection_
    table = found.table(all_variables=True).columns
    assert table["q-value"] == sorted(table["q-value"])
    assert found.control.promise.startswith("the false discovery rate, the expected share")
    assert found.control.asks[0].startswith("that holds if rows are independent draws")
    document = found.to_dict()
    assert document["unlisted"]["largest_probability"] is None
    assert {v["name"] for v in document["variables"] if v["selected"]} == {
        f"x{j}" for j in np.flatnonzero(found.selected)
    }


def test_the_answer_does_not_depend_on_the_number_of_jobs_and_does_on_the_seed():
    one, two, other = (
        fitted(n_copies=3, n_jobs=jobs, random_state=seed).statistics_
        for jobs, seed in ((1, 0), (3, 0), (1, 1))
    )
    np.testing.assert_array_equal(one, two)
    assert np.abs(one - other).max() > 1e-3


def test_several_copies_are_selected_from_by_the_mean_of_their_e_values():
    found = fitted(n_copies=4, q=0.4)
    expected = np.zeros(30)
    for statistics in found.statistics_:
        sizes = np.sort(np.abs(statistics[statistics != 0]))
        t = next(
            t for t in sizes if (1 + (statistics <= -t).sum()) <= 0.2 * (statistics >= t).sum()
        )
        expected += (statistics >= t) * 30 / (1 + (statistics <= -t).sum()) / 4
    np.testing.assert_allclose(found.e_values_, expected)
    assert found.get_support()[TRUTH].mean() > 0.7
    assert "averaged" in found.selection_.rule


def test_columns_of_a_group_are_in_or_out_together():
    numbers = np.arange(30) // 2
    labels = [f"pair {g}" for g in numbers]
    found = Knockoffs(q=0.5, column_groups=labels).fit(X, Y)
    assert found.statistics_.shape == (1, 15)
    selected = found.get_support()
    assert (selected[::2] == selected[1::2]).all()
    assert found.selection_.by_variable.selected.sum() == selected.sum() / 2
    assert found.selection_.by_variable.names[0] == "pair 0"
    assert selected[TRUTH].mean() > 0.7


def test_groups_do_not_depend_on_how_their_columns_are_coded_where_the_base_does_not():
    turn = np.eye(30)
    turn[:3, :3] = np.random.default_rng(0).standard_normal((3, 3))
    groups = np.maximum(np.arange(30) - 2, 0)
    one, other = (
        Knockoffs(q=0.5, column_groups=groups, knockoffs="fixed").fit(table, Y)
        for table in (X, X @ turn)
    )
    np.testing.assert_allclose(one.separations_, other.separations_, rtol=1e-3)


@pytest.mark.parametrize("base", [None, SparseClassifier(alpha="bic"), LogisticRegression(C=0.1)])
def test_labels_are_explained_by_a_classifier(base):
    words = np.where(np.median(Y) < Y, "yes", "no")
    found = Knockoffs(base, q=0.3).fit(X, pd.Series(words, name="answer"))
    assert found.get_support()[TRUTH].mean() > 0.4
    assert found.selection_.response == "answer = yes"
    assert found.selection_.effect_scale == "log odds"


def test_sparse_matrices_frames_and_designs_are_what_arrays_are():
    names = [f"v{j}" for j in range(30)]
    one = fitted()
    for table in (scipy.sparse.csr_array(X), pd.DataFrame(X, columns=names), DenseDesign(X)):
        other = clone(one).fit(table, Y)
        np.testing.assert_allclose(other.statistics_, one.statistics_, atol=1e-10)
        assert other.transform(table).shape == (400, one.get_support().sum())
    named = clone(one).fit(pd.DataFrame(X, columns=names), Y)
    assert list(named.get_feature_names_out()) == [
        f"v{j}" for j in np.flatnonzero(one.get_support())
    ]


def test_rows_of_weight_zero_are_out():
    weights = np.random.default_rng(0).uniform(0.5, 2, 400)
    weights[::4] = 0.0
    kept = weights > 0
    for knockoffs in ("model-x", "fixed"):
        model = Knockoffs(QUICK, 0.2, knockoffs=knockoffs)
        one = clone(model).fit(X, Y, weights).statistics_
        other = clone(model).fit(X[kept], Y[kept], weights[kept]).statistics_
        np.testing.assert_allclose(one, other, atol=1e-10)


def test_an_offset_is_a_known_part_of_the_response():
    known = np.random.default_rng(0).standard_normal(400)
    for knockoffs in ("model-x", "fixed"):
        model = Knockoffs(QUICK, 0.2, knockoffs=knockoffs)
        one = clone(model).fit(X, Y + known, offset=known).statistics_
        np.testing.assert_allclose(one, clone(model).fit(X, Y).statistics_, atol=1e-8)


def test_columns_that_cannot_be_told_from_others_are_never_selected_and_named():
    table = X.copy()
    first, second = np.flatnonzero(TRUTH)[:2]
    table[:, 29] = table[:, first]
    table[:, second] = 4.0
    for knockoffs in ("model-x", "fixed"):
        found = Knockoffs(QUICK, 0.3, knockoffs=knockoffs).fit(table, Y)
        assert not found.get_support()[second]
        assert found.selection_.constant == (f"x{second}",)
        assert found.get_support()[TRUTH].mean() > 0.5
    assert not found.get_support()[[first, 29]].any()
    note = next(note for note in found.selection_.warnings if "cannot be told" in note)
    assert f"x{first}" in note
    assert "x29" in note


def test_fewer_than_twice_as_many_rows_as_columns_have_rows_added():
    found = Knockoffs(q=0.3, knockoffs="fixed").fit(X[:45], Y[:45])
    assert "17 rows that were added" in found.assumption_
    assert found.certificate_["exchange"] < 1e-10


def test_a_known_law_is_taken_as_it_is():
    law = np.eye(30) + 0.1
    found = fitted(knockoffs=ModelX(law, np.zeros(30)))
    assert found.assumption_ == "rows are independent draws of the Gaussian law that was given"
    assert clone(found).knockoffs == ModelX(law, np.zeros(30)) != ModelX(law)


class FavoursTheFirst(BaseEstimator):
    """A base for which the first of two equal columns matters, whatever the response."""

    def fit(self, X, y):
        self.coef_ = np.repeat([1.0, 0.0], X.shape[1] // 2)
        return self


def test_a_base_that_favours_columns_by_their_order_finds_nothing():
    signs = np.sign(
        [Knockoffs(FavoursTheFirst(), random_state=s).fit(X, Y).statistics_ for s in range(20)]
    )
    assert (np.abs(signs) == 1).all()
    assert abs(signs.mean()) < 4 / np.sqrt(signs.size)


def test_notes_say_what_the_rate_does_not_cover():
    few = Knockoffs(QUICK, q=0.1).fit(X[:, :5], Y).selection_
    assert any("at least 10 variables must be found" in note for note in few.warnings)
    assert not few.selected.any()
    modified = fitted(plus=False).selection_
    assert modified.control.promise.startswith("the modified false discovery rate")


def test_a_fitted_model_is_saved_and_loaded(tmp_path):
    found = Knockoffs(
        VariationalGarrote(cv=3), 0.2, "probability", column_groups=np.arange(30)
    ).fit(X, Y)
    found.save(tmp_path / "model.garrote")
    loaded = garrote.load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(loaded.statistics_, found.statistics_)
    assert loaded.get_params(deep=False).keys() == found.get_params(deep=False).keys()
    assert isinstance(loaded.base, VariationalGarrote)
    assert loaded.selection_.to_json() == found.selection_.to_json()
    assert str(loaded.summary()) == str(found.summary())


def test_the_report_tells_of_q_values(tmp_path):
    found = fitted().selection_
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "q-value" in page
    assert "It is no probability" in page.replace("\n", " ")


def test_pictures_rank_variables_by_what_q_values_lack_of_one():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from garrote.displays import InclusionDisplay

    found = fitted()
    shown = InclusionDisplay.from_estimator(found)
    assert shown.evidence == "1 - q-value"
    np.testing.assert_allclose(shown.probability, np.sort(1 - found.q_values_)[::-1])
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"q": 0}, "q, the false discovery rate, must be between 0 and 1, got 0"),
        ({"q": 1.0}, "between 0 and 1, got 1.0"),
        ({"q": "small"}, "between 0 and 1, got 'small'"),
        ({"statistic": "best"}, "statistic must be one of .*got 'best'"),
        ({"knockoffs": "deep"}, "knockoffs must be one of .*got 'deep'"),
        ({"separation": "far"}, "separation must be one of .*got 'far'"),
        ({"knockoffs": DenseDesign}, "or an object of garrote.knockoffs"),
        ({"n_copies": 0}, "n_copies must be an integer >= 1, got 0"),
        ({"n_copies": 2, "plus": False}, "takes e-values, which plus=False has none of"),
        ({"knockoffs": ModelX(np.eye(3))}, "30 x 30 finite numbers"),
        ({"base": RandomForestRegressor(2)}, "RandomForestRegressor has no coef_"),
        ({"statistic": "signed-max", "base": Lasso()}, "Lasso has no path on which columns enter"),
        ({"statistic": "probability"}, "SparseRegressor states no probabilities of columns"),
        (
            {"base": SparseRegressor(family="poisson"), "knockoffs": "fixed"},
            "for numbers with Gaussian",
        ),
        ({"base": SparseClassifier(), "knockoffs": "fixed"}, "for numbers with Gaussian noise"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings, said):
    y = Y > 0 if isinstance(settings.get("base"), SparseClassifier) else Y
    with pytest.raises(ValueError, match=said):
        Knockoffs(**{"base": QUICK} | settings).fit(
            X, np.abs(y).round() if "base" in settings else y
        )


def test_what_is_no_estimator_is_refused():
    for base in (SparseRegressor, "lasso", 3):
        with pytest.raises(TypeError, match="base must be an estimator"):
            Knockoffs(base).fit(X, Y)


def test_too_few_rows_and_three_classes_are_refused():
    with pytest.raises(ValueError, match="at least 32 of positive weight for 30 columns, got 31"):
        Knockoffs(QUICK, knockoffs="fixed").fit(X[:31], Y[:31])
    with pytest.raises(ValueError, match="3 classes"):
        Knockoffs().fit(X, np.array(["a", "b", "c"])[np.arange(400) % 3])


def test_what_the_base_does_not_take_is_refused_before_any_work():
    with pytest.raises(ValueError, match=r"Lasso.fit takes no offset"):
        Knockoffs(Lasso()).fit(X, Y, offset=np.ones(400))


def test_fixed_copies_have_no_groups_of_rows():
    with pytest.raises(ValueError, match="leave groups out"):
        Knockoffs(QUICK, knockoffs="fixed").fit(X, Y, groups=np.arange(400) // 2)


def test_tables_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(knockoff_rows, "BLOCK_BYTES", 1000)
    with pytest.raises(ValueError, match=r"knockoffs of 400 x 30 take 0\.0 GiB of dense tables"):
        fitted()


def test_no_random_state_is_one_that_can_be_repeated():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 6))
    y = X[:, 0] + X[:, 1] + rng.standard_normal(100)
    one, two, named = (Knockoffs(q=0.5, random_state=s).fit(X, y) for s in (None, None, 0))
    np.testing.assert_array_equal(one.statistics_, two.statistics_)
    np.testing.assert_array_equal(one.statistics_, named.statistics_)


class Sizes(KnockoffStatistic):
    """Sizes of coefficients of standardised columns, once more."""

    def read(self, model, units):
        return np.abs(model.coef_ * units)

    def compare(self, original, copy, groups):
        return original - copy


def test_a_statistic_is_an_object_and_may_be_ones_own():
    one, other = (fitted(statistic=each) for each in (Sizes(), "lasso-difference"))
    np.testing.assert_allclose(one.statistics_, other.statistics_, atol=1e-12)
    with pytest.raises(ValueError, match=r"must be one of .*got 3"):
        fitted(statistic=3)
