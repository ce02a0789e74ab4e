"""Several selectors side by side: the same folds for all, and what each says."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from garrote import (
    ShrinkageRegressor,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    compare,
)
from garrote.estimators.comparing import METHODS, default_methods
from garrote.paths import FollowPath
from garrote.report.comparison import comparison_sentences, render_comparison
from garrote.report.wording import unmarked


def regression(rows=60, noise=0.5):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 6)) * [1, 100, 1, 1, 1, 1]
    return X, X[:, 0] + 0.01 * X[:, 1] + noise * rng.standard_normal(rows)


@pytest.fixture(scope="module")
def found():
    X, y = regression()
    frame = pd.DataFrame(X, columns=["a<b>", "b", "c", "d", "e", "f"])
    methods = {"lasso": SparseRegressor(rule="1se"), "sums": SpikeSlabRegressor()}
    return compare(frame, pd.Series(y, name="yield"), methods, cv=3)


def text_of(page):
    return " ".join(re.sub(r"<[^>]*>", " ", page[page.index("<main>") :]).split())


def test_every_method_is_measured_on_the_same_folds(found):
    X, y = regression()
    model = SpikeSlabRegressor().fit(X, y).validate(X, y, cv=3)
    alone = model.selection_.validation
    k = found.methods.index("sums")
    np.testing.assert_allclose(found.fold_errors[k + 1].mean(), alone.mean[0])
    np.testing.assert_allclose(found.fold_errors[0].mean(), alone.null)
    np.testing.assert_allclose(found.density.mean[[k + 1, 0]], alone.density.mean[:2])
    over = found.table().columns["over null"]
    assert over[0] == 0
    assert np.isclose(over[k + 1], alone.density.advantage(1)[0])


def test_agreement_is_by_variable(found):
    table = found.variables().columns
    assert set(table["variable"][:2]) == {"a<b>", "b"}
    assert table["methods"][:2] == [2, 2]
    for name, one in zip(found.methods, found.selections, strict=True):
        for variable, effect in zip(table["variable"], table[name], strict=True):
            j = found.names.index(variable)
            assert np.isnan(effect) == (not one.selected[j])
    assert (found.found_again[:, :2] == 1).all()
    assert found.found_again.max() <= 1


def test_the_page_has_all_of_it_and_names_are_text(found):
    page = render_comparison(found)
    assert "a&lt;b&gt;" in page
    assert "<script" not in page
    said = text_of(page)
    assert "Which variables explain yield , by two methods?" in said
    assert "All two methods select" in said
    assert "3/3" in said
    again = render_comparison(found, title="Mine")
    assert "Mine" in again


def test_nothing_is_called_best_that_is_not(found):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((40, 4)), rng.standard_normal(40)
    full = SparseRegressor("none")
    nothing = compare(X, y, {"all": full, "again": full}, cv=3)
    assert "none predicts better than the null model" in comparison_sentences(nothing)[1]
    assert "predicted best by" in comparison_sentences(found)[1]


def with_gains(found, *gains):
    """Return a comparison whose methods are denser than the null model by a mean, with an error of 1."""
    rows = len(found.density.weights)
    noise = np.resize([1.0, -1.0], rows) * np.sqrt(rows - 1)
    density = np.array(
        [np.zeros(rows), *(gain + (-1) ** k * noise for k, gain in enumerate(gains))]
    )
    count = len(gains)
    return replace(
        found,
        methods=found.methods[:count],
        selections=found.selections[:count],
        density=replace(
            found.density,
            models=found.density.models[: count + 1],
            density=density,
            weights=np.ones(rows),
        ),
    )


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        ((2.1, -2.1), "best by lasso, by their log predictive density, clearly better than by any "
                      "other and than without any variable."),
        ((1.9, -2.2), "within two standard errors of it is the null model."),
        ((2.1, -1.8), "within two standard errors of it is sums."),
        ((1.9, 1.8), "within two standard errors of it are the null model and sums."),
        ((-0.1, -0.2), "none predicts better than the null model"),
        ((2.1,), "predicted clearly better by lasso than without any variable"),
        ((1.9,), "predicted not clearly better by lasso than without any variable"),
        ((-0.1,), "On held-out rows lasso predicts no better than the null model"),
    ],
)  # fmt: skip
def test_clearly_better_is_by_two_standard_errors_and_than_the_null_model_too(found, gains, said):
    made = with_gains(found, *gains)
    assert np.isclose(made.density.advantage(0, 1)[1], 1.0)
    sentence = unmarked(comparison_sentences(made)[1])
    assert said in sentence
    assert ("than by any other" in sentence) == ("than by any other" in said)


def test_one_method_is_spoken_of_as_one(found):
    one = with_gains(found, 3.0)
    assert re.match(
        r"lasso selects (a<b> and b|b and a<b>)", unmarked(comparison_sentences(one)[0])
    )
    assert "by one method?" in render_comparison(one)
    none = replace(one.selections[0], selected=np.zeros(6, dtype=bool))
    said = comparison_sentences(replace(one, selections=(none,)))
    assert unmarked(said[0]) == "lasso selects no variable."


def test_labels_have_accuracies_and_a_method_that_fails_is_told_of():
    X, y = regression(90)
    words = np.array(["low", "mid", "high"])[np.digitize(y, [-1, 1])]
    short = FollowPath(alphas=12)
    methods = {"lasso": SparseClassifier(method=short), "sums": SpikeSlabClassifier()}
    found = compare(X, words, methods, cv=3)
    assert found.methods == ("lasso",)
    assert found.failures[0][0] == "sums"
    assert "Only binary" in found.failures[0][1]
    assert "sums could not be fitted" in render_comparison(found)
    assert found.table().columns["accuracy"][1] > found.table().columns["accuracy"][0]


def test_covariates_weights_offsets_and_groups_reach_every_method():
    X, y = regression()
    offset, groups = np.linspace(-1, 1, 60), np.arange(60) // 3
    weights = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    methods = {
        "lasso": SparseRegressor(penalty_factor={3: 0.0}),
        "sums": SpikeSlabRegressor(covariates=[3]),
    }
    found = compare(X, y + offset, methods, weights, cv=3, offset=offset, groups=groups)
    assert all(one.always_in == ("x3",) for one in found.selections)
    assert found.selected[:, 3].all()
    shared = [set(groups[found_rows]) for found_rows in _rows_by_fold(found, weights)]
    assert not shared[0] & shared[1]


def _rows_by_fold(found, weights):
    """Return the rows of each fold, as groups of three with some weight were dealt out."""
    from sklearn.model_selection import GroupKFold

    splits = GroupKFold(3).split(np.zeros((60, 1)), groups=np.arange(60) // 3)
    tests = [test[weights[test] > 0] for _, test in splits]
    assert [np.count_nonzero(found.density.fold == k) for k in range(3)] == [len(t) for t in tests]
    return tests


def test_what_cannot_be_compared_is_refused():
    X, y = regression()
    with pytest.raises(ValueError, match="regressors and classifiers"):
        compare(X, y, {"a": SparseRegressor(), "b": SparseClassifier()})
    with pytest.raises(ValueError, match="methods is empty"):
        compare(X, y, {})
    with pytest.raises(ValueError, match="no method could be fitted; a:"):
        compare(X, y, {"a": SparseRegressor("wrong")})


def test_default_methods_are_one_of_each_kind():
    for labels in (False, True):
        made = default_methods(labels, 3)
        assert tuple(made) == METHODS
        assert {type(model).__name__.endswith("Classifier") for model in made.values()} == {labels}
        assert made["shrinkage"].random_state == 3
    assert isinstance(default_methods(False)["shrinkage"], ShrinkageRegressor)
