"""What a reader sees of credible sets: in the table, the headline, the page and the command."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from garrote import SingleEffectsRegressor
from garrote.cli.main import main
from garrote.report import render_report
from simulated import near_copies


@pytest.fixture(scope="module")
def copies():
    return near_copies()


@pytest.fixture(scope="module")
def selection(copies):
    model = SingleEffectsRegressor()
    return model.fit(*copies, feature_names=[f"v{j}" for j in range(12)]).selection_


def test_the_table_says_which_set_a_variable_is_in(selection):
    frame = selection.table(all_variables=True).to_frame().set_index("variable")
    assert frame.loc["v2", "set"] == frame.loc["v5", "set"] == frame.loc["v7", "set"] == 1
    assert frame.loc["v9", "set"] == 2
    assert pd.isna(frame.loc["v0", "set"])
    sets = selection.sets_table()
    assert sets.columns["size"] == [3, 1]
    assert sets.columns["one of"][1] == "v9"


def test_a_table_without_shared_sets_has_no_such_column(copies):
    alone = SingleEffectsRegressor().fit(copies[0][:, [2, 9]], copies[1])
    assert "set" not in alone.selection_.table().columns


def test_the_summary_and_the_document_name_the_set(selection):
    assert "one of these 3: v5, v2, v7" in str(selection.summary())
    assert "one of these 3" in str(selection)
    document = json.loads(selection.to_json())
    first, second = document["credible_sets"]
    assert sorted(first["variables"]) == ["v2", "v5", "v7"]
    assert sorted(first["positions"]) == [2, 5, 7]
    assert second["purity"] == 1
    assert first["log_bayes_factor"] > 0


def test_the_headline_and_the_answer_count_a_set_of_which_none_is_selected(selection):
    assert selection.headline == "1 of 12 variables selected, and one of a set of 3"
    assert str(selection).startswith(selection.headline)
    page = re.sub(r"<[^>]*>", "", render_report(json.loads(selection.to_json())))
    assert "Beside it one of v5, v2 and v7 (probability" in page
    sure = replace(selection, selected=np.isin(np.arange(12), [5, 9]))
    assert sure.headline == "2 of 12 variables selected"
    page = re.sub(r"<[^>]*>", "", render_report(json.loads(sure.to_json())))
    assert re.search(r"2 of 12 variables explain y: (v9 and )?v5 \(or v2 or v7\)", page)
    assert "has an effect; the others" not in render_report(json.loads(sure.to_json()))
    nothing = replace(selection, selected=np.zeros(12, dtype=bool))
    page = re.sub(r"<[^>]*>", "", render_report(json.loads(nothing.to_json())))
    assert "But one of v5, v2 and v7 (probability" in page


def test_the_page_tells_of_the_set_and_of_hostile_names_only_as_text(selection):
    document = json.loads(selection.to_json())
    page = render_report(document)
    assert "Which could stand in for which" in page
    assert "one of these three" in page
    document["credible_sets"][0]["variables"][0] = "<script>window.broken = 1</script>"
    assert "<script>window.broken" not in render_report(document)
    document["credible_sets"] = document["credible_sets"][1:]
    assert "Which could stand in" not in render_report(document)
    del document["credible_sets"]  # as documents of older versions
    assert "Which could stand in" not in render_report(document)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda one: one.pop("purity"), "has no 'purity'"),
        (lambda one: one["positions"].pop(), "'positions' of entry 0 of 'credible_sets' has 2"),
        (lambda one: one["variables"].append(3), "'variables' of entry 0 of 'credible_sets'"),
    ],
)
def test_a_damaged_set_is_refused(selection, damage, said):
    document = json.loads(selection.to_json())
    damage(document["credible_sets"][0])
    with pytest.raises(ValueError, match=said):
        render_report(document)


def test_the_command_says_one_of_these_three(copies, tmp_path, capsys):
    frame = pd.DataFrame(copies[0], columns=[f"v{j}" for j in range(12)]).assign(y=copies[1])
    frame.to_csv(tmp_path / "table.csv", index=False)
    words = ["select", str(tmp_path / "table.csv"), "--target", "y"]
    words += ["--method", "single-effects", "--set", "effects=5"]
    assert main([*words, "--report", str(tmp_path / "out.html")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "One of these 3: v5, v2, v7" in said
    assert "Which could stand in for which" in (tmp_path / "out.html").read_text()


def test_a_selection_is_annotated_with_notes_before_its_own(selection):
    told = selection.annotated(["read this"], {"source": "a.csv"}, response="z")
    assert told.warnings == ("read this", *selection.warnings)
    assert told.provenance == {**selection.provenance, "source": "a.csv"}
    assert told.response == "z"
    assert selection.response == "y"
