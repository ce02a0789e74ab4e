"""What the report says of classes, standard deviations, warnings and rows held out."""

import re

import numpy as np
import pandas as pd
import pytest

from garrote import SparseRegressor
from garrote.cli.main import main
from garrote.report import check_document, render_report
from garrote.report.held_out import confusion_table, folds_table, held_out_sentences
from garrote.report.rows import forest_scale, table_row
from report_documents import classified, diabetes, fine_mapped, several_classes, validated


def text_of(page):
    body = page[page.index("<main>") : page.index("</main>")]
    return " ".join(re.sub(r"<[^>]*>", " ", body).replace("&#39;", "'").split())


def answer_of(page):
    return text_of("<main>" + re.search(r'id="answer">(.*?)</div>', page, re.S)[1] + "</main>")


def test_the_answer_counts_variables_by_class():
    document = several_classes()
    counts = document["classes"]["counts"]
    assert document["classes"]["names"] == ["ant", "bee", "cat"]
    assert 0 < min(counts) <= max(counts) <= document["n_selected"]
    said = answer_of(render_report(document))
    told = f"{counts[0]} for ant , {counts[1]} for bee and {counts[2]} for cat"
    assert f"of 6 variables matter for some class of animal : {told}" in said
    first = document["variables"][0]
    assert f"foremost {first['name']} ( {first['class']} )" in said


def test_variables_that_matter_for_every_class_are_said_to():
    document = several_classes()
    document["classes"]["counts"] = [document["n_selected"]] * 3
    assert "matter for all three classes of animal" in answer_of(render_report(document))


def test_the_class_of_a_variable_is_that_of_its_largest_effect():
    by_name = {v["name"]: v for v in several_classes()["variables"]}
    # Each of the first three columns raises the score of one class.
    assert [by_name[name]["class"] for name in "abc"] == ["ant", "bee", "cat"]


def test_several_responses_are_named_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    Y = np.column_stack([X[:, 0], 2 * X[:, 1]]) + 0.3 * rng.standard_normal((60, 2))
    document = SparseRegressor().fit(X, Y).selection_.to_dict()
    assert document["classes"]["kind"] == "response"
    assert "for some response of y" in answer_of(render_report(document)) or (
        "for all two responses" in answer_of(render_report(document))
    )


def test_effects_of_one_deviation_share_an_axis_whatever_the_units():
    document = several_classes()
    scale = forest_scale(document["variables"])
    assert scale.per_deviation
    assert scale.common
    units = {v["name"]: v for v in document["variables"]}
    rows = {n: table_row(v, scale, frozenset(), 60) for n, v in units.items()}
    raw = [abs(units[n]["effect"]) for n in "abc"]
    assert max(raw) > 40 * min(raw)
    for name in "abc":
        value = units[name]["effect"] * units[name]["deviation"]
        assert rows[name]["at"] == pytest.approx(scale.percent(value, 1.0))
        assert float(rows[name]["per_deviation"].replace("−", "-")) == pytest.approx(
            value, rel=1e-3
        )


def test_deviations_are_those_of_the_weighted_columns():
    rng = np.random.default_rng(0)
    X, y, weights = (
        rng.standard_normal((50, 3)) * [1, 5, 9],
        rng.standard_normal(50),
        rng.random(50),
    )
    found = SparseRegressor(standardize=False).fit(X, y, weights).selection_.deviation
    mean = np.average(X, axis=0, weights=weights)
    np.testing.assert_allclose(found, np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights)))


def test_z_scores_have_no_second_scale():
    page = render_report(fine_mapped())
    assert "Per SD" not in page
    assert 'id="locus-picture"' in page


def test_all_warnings_are_on_the_page():
    document = {**diabetes(), "warnings": [f"warning {k}" for k in range(40)]}
    said = text_of(render_report(document))
    assert all(f"Warning {k}." in said for k in range(40))


def test_a_table_with_lost_rows_says_so_and_folds_how_columns_were_read(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.standard_normal(60), "kind": rng.choice(["x", "z"], 60)})
    frame["y"] = frame.a + 0.1 * rng.standard_normal(60)
    frame.loc[3, "a"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "out.html"
    words = ["select", str(tmp_path / "t.csv"), "--target", "y", "--encode", "--missing", "drop"]
    assert main([*words, "--report", str(out)]) == 0
    page = out.read_text()
    folded = page[page.index("<details") : page.index("</details>")]
    assert "1 row" in page[: page.index("<details")]
    assert "kind" in folded


def test_labels_have_accuracy_auc_confusion_and_folds():
    document = classified()
    labels = document["validation"]["labels"]
    accuracy = np.trace(np.sum(labels["confusion"], axis=0)) / np.sum(labels["confusion"])
    said = held_out_sentences(document)[0]
    assert f"names the class of {100 * accuracy:.0f}\u00a0%" in said
    assert f"AUC is {np.mean(labels['auc']):.2f}" in said
    table = folds_table(document)
    assert [row[0] for row in table["rows"]] == ["accuracy", "AUC"]
    assert [len(row[2]) for row in table["rows"]] == [5, 5]
    confusion = confusion_table(document)
    assert confusion["names"] == ["better", "worse"]
    counts = [
        [float(c["count"].replace(",", "")) for c in row["cells"]] for row in confusion["rows"]
    ]
    assert np.sum(counts) == 442
    page = render_report(document)
    assert "Who is taken for whom" in page
    assert "Fold by fold" in page
    assert "chosen by these same folds" in page
    assert "chosen by these same folds" not in render_report(validated())


def test_densities_are_compared_and_small_differences_are_not_claimed():
    document = validated()
    density = document["validation"]["density"]
    said = held_out_sentences(document)[0]
    gain, error = density["advantage"][1], density["advantage_error"][1]
    assert f"{gain:.3f} ± {error:.3f} more than that of the null model" in said
    density["advantage"][2], density["advantage_error"][2] = 0.001, 0.01
    assert (
        "not clearly different (+0.001 ± 0.010) from that of the lasso"
        in held_out_sentences(document)[0]
    )
    page = text_of(render_report(document))
    assert "all of the method was run again without each of them" in page
    assert "log predictive density, lasso" in page


@pytest.mark.parametrize("part", ["labels", "density"])
def test_damaged_scores_are_refused(part):
    document = classified() if part == "labels" else validated()
    found = document["validation"][part]
    key = "confusion" if part == "labels" else "by_fold"
    found[key] = [found[key][0][:1]]
    with pytest.raises(ValueError, match=key):
        check_document(document)


def test_documents_of_older_versions_are_still_read():
    document = diabetes()
    for key in ("classes", "locus"):
        document.pop(key)
    for key in ("labels", "density"):
        document["validation"].pop(key)
    for variable in document["variables"]:
        variable.pop("deviation")
        variable.pop("class")
    assert "Per SD" not in render_report(document)
