"""A variable of several columns is one: in headline, table, sets, refits, models and displays."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from garrote import SparseRegressor, SpikeSlabRegressor, compare
from garrote.displays import InclusionDisplay, ModelsDisplay
from garrote.penalties import GroupLasso
from garrote.report import render_report
from garrote.results.credible_sets import CredibleSet
from garrote.results.selections.groups import VariableGroups

COLUMNS = ["age", "site=B", "site=C", "site=D", "dose"]
GROUPS = VariableGroups.of_labels(["age", "site", "site", "site", "dose"], COLUMNS)


def table():
    rng = np.random.default_rng(0)
    n = 120
    site = rng.integers(0, 4, n)
    X = np.column_stack([rng.normal(size=n), *(site == k for k in (1, 2, 3)), rng.normal(size=n)])
    y = X[:, 0] + np.array([0.0, 2.0, -1.0, 1.0])[site] + 0.5 * rng.normal(size=n)
    return pd.DataFrame(X, columns=COLUMNS), pd.Series(y, name="y")


@pytest.fixture(scope="module")
def selection():
    model = SparseRegressor(GroupLasso([0, 1, 1, 1, 2]), rule="1se", stability=4)
    return model.fit(*table()).selection_.annotated(groups=GROUPS)


@pytest.fixture(scope="module")
def sampled():
    model = SpikeSlabRegressor(method="enumerate").fit(*table())
    return model.selection_.annotated(groups=GROUPS)


def test_the_headline_counts_variables(selection):
    assert selection.headline.startswith("2 of 3 variables selected")
    assert selection.n_selected == 2
    assert selection.by_variable.names == ("age", "site", "dose")


def test_the_table_has_levels_below_their_variable(selection):
    shown = selection.table(all_variables=True)
    rows = list(zip(shown.columns["variable"], shown.columns["level"], strict=True))
    at = rows.index(("site", ""))
    assert [level for _, level in rows[at : at + 4]] == ["", "B", "C", "D"]
    assert shown.columns["entry"][at + 1] is None
    assert shown.columns["effect"][at] is None
    assert shown.columns["effect"][at + 1] > 1.0
    assert len(rows) == 3 + 3
    assert "site" in str(selection)
    assert "site" in selection._repr_html_()


def test_refits_count_variables(selection):
    assert selection.by_variable.stability.found.shape == (3,)
    assert "every selected variable came back" in selection.stability_in_words


def test_sets_of_one_variable_are_no_sets_of_several(selection):
    ones = np.ones(3)
    one = CredibleSet(np.array([1, 2, 3]), tuple(COLUMNS[1:4]), ones / 3, 1.0, 1.0, 1.0, 1.0)
    two = CredibleSet(np.array([0, 1, 2]), tuple(COLUMNS[:3]), ones / 3, 1.0, 1.0, 1.0, 1.0)
    found = replace(selection, credible_sets=(one, two))
    assert [s.names for s in found.shared_sets] == [("age", "site")]
    assert found.to_dict()["credible_sets"][1]["positions"] == [0, 1]


def test_a_covariate_of_several_columns_is_one(selection):
    fixed = replace(selection, always_in=tuple(COLUMNS[1:4]))
    assert fixed.headline.startswith("1 of 2 variables selected beside 1 always in")
    assert fixed.to_dict()["always_in"] == ["site"]


def test_the_document_lists_variables_with_their_levels(selection):
    document = selection.to_dict()
    assert (document["n_variables"], document["n_selected"]) == (3, 2)
    site = next(v for v in document["variables"] if v["name"] == "site")
    assert (site["position"], site["effect"], site["kind"]) == (1, None, "levels")
    assert [level["column"] for level in site["levels"]] == COLUMNS[1:4]
    page = render_report(document)
    assert "3 levels" in page
    assert page.count('class="level selected"') == 3


def test_a_document_from_before_there_were_groups_is_still_read(selection):
    document = replace(selection, groups=None).to_dict()
    for variable in document["variables"]:
        for key in ("kind", "reference", "parents", "levels"):
            del variable[key]
    del document["curves"]
    assert "2 of 3" not in render_report(document)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"levels": [{"name": "B"}]}, "'levels' of entry 0"), ({"kind": 3}, "'kind'")],
)
def test_damaged_levels_are_refused(selection, change, said):
    document = selection.to_dict()
    document["variables"][0] |= change
    with pytest.raises(ValueError, match=said):
        render_report(document)


def test_displays_have_one_bar_or_row_a_variable(sampled):
    bars = InclusionDisplay.from_selection(sampled)
    assert sorted(bars.names) == ["age", "dose", "site"]
    assert "3 columns" in [text.get_text() for text in bars.texts_]
    rows = ModelsDisplay.from_selection(sampled)
    assert "site" in rows.names
    assert "site=B" not in rows.names
    best = sampled.by_variable.models
    assert best.size[0] == np.count_nonzero(~np.isnan(best.effect[0]))
    plt.close("all")


def test_a_comparison_counts_variables():
    methods = {
        "group lasso": SparseRegressor(GroupLasso([0, 1, 1, 1, 2]), rule="1se"),
        "lasso": SparseRegressor(rule="1se"),
    }
    X, y = table()
    found = compare(X, y, methods, cv=3)
    selections = tuple(one.annotated(groups=GROUPS) for one in found.selections)
    found = replace(found, selections=selections)
    shown = found.variables()
    at = shown.columns["variable"].index("site")
    assert shown.columns["level"][at : at + 4] == ["", "B", "C", "D"]
    assert shown.columns["methods"][at] == 2
    assert found.table().columns["selected"][1] == 2


def test_levels_are_named_without_their_variable():
    found = VariableGroups.of_labels(["colour"] * 2 + ["x"], ["colour_red", "C(colour)[T.b]", "x"])
    assert found.labels == ("red", "C(colour)[T.b]", "x")
    assert found.to_dict(0) == {"kind": "levels", "reference": None, "parents": []}
