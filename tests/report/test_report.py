"""The report as text: what it says, what it refuses, and that nothing in a name can harm it."""

import copy
import hashlib
import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from garrote import SparseRegressor, SpikeSlabRegressor, VariationalGarrote
from garrote.cli.main import main
from garrote.datasets import load_diabetes_quadratic
from garrote.paths import Anneal
from garrote.report import check_document, pictures, render_report, sections, write_report
from garrote.report.rows import forest_scale
from garrote.report.wording import amount, probability, readable
from report_documents import (
    HOSTILE,
    OPTIONAL,
    bayesian,
    classified,
    diabetes,
    enormous,
    fine_mapped,
    hostile,
    models_of,
    nothing_selected,
    penalised,
    several_classes,
    tiny_effects,
    validated,
    with_levels,
    without_optional_parts,
)

LIMIT = 2_000_000
DOCUMENTATION = Path(__file__).resolve().parents[2] / "docs" / "json.md"


class Elements(HTMLParser):
    """Collects the elements of a page, the text of its parts, and its attributes."""

    def __init__(self, page):
        super().__init__()
        self.found, self.texts, self._open = [], {}, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_data(self, data):
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def all(self, tag):
        return [attributes for found, attributes in self.found if found == tag]


def answer_of(page):
    body = re.search(r'<div class="answer" id="answer">(.*?)</div>', page, re.S)[1]
    text = re.sub(r"<[^>]*>", "", body)
    return " ".join(text.replace("&#39;", "'").split())


def section(page, heading):
    return re.search(rf'<h2 id="{heading}">.*?(?=<h2 id=|</main>)', page, re.S)


# --- what it says


def test_the_answer_names_the_variables_the_certainty_and_the_error():
    said = answer_of(render_report(diabetes()))
    assert said == (
        "7 of 64 variables explain progression: bmi, ltg, bp, hdl, sex, age*sex and bmi*bp; their "
        "probabilities are 0.753 to 1.000, which among correlated variables are too sure. On rows "
        "it had not seen the model's squared error is 2937, against 5982 without any variable "
        "(51 % less)."
    )


def refitted(found, rare=()):
    """Return the diabetes document with averaged probabilities, and refits that found so many again."""
    document = diabetes()
    document["evidence"] = "posterior inclusion probability"
    for variable in document["variables"]:
        variable["found_again"] = found.get(variable["name"], 20)
    document["stability"] = {
        "refits": 20,
        "share": 0.9,
        "rare": [{"name": name, "position": 0, "found_again": found[name]} for name in rare],
    }
    return document


def test_nothing_is_nearly_certain_that_refits_do_not_bear_out():
    said = answer_of(render_report(refitted({})))
    assert "five of them are nearly certain (probability above 0.99), the least sure is bmi" in said
    fewer = answer_of(render_report(refitted({"bmi": 17, "ltg": 18})))
    assert "four of them are nearly certain" in fewer
    without = {**refitted({}), "stability": None}
    assert "their probabilities are 0.753 to 1.000. On rows" in answer_of(render_report(without))


def test_the_table_says_in_how_many_refits_a_variable_came_back():
    page = render_report(refitted({"bmi": 3}))
    assert "Found again</button>" in page
    assert "3&nbsp;of&nbsp;20" in page
    assert "Found again" not in render_report(diabetes())


def test_the_answer_says_who_did_not_come_back():
    said = answer_of(render_report(refitted({"bmi": 3, "ltg": 8}, ["bmi", "ltg"])))
    assert (
        "But fits to random 90 % of the rows find some of these in fewer than half: bmi in 3 of 20 and "
        "ltg in 8 of 20."
    ) in said


def test_the_answer_says_first_that_it_has_not_converged():
    assert answer_of(render_report({**diabetes(), "converged": False})).startswith("Not converged:")


def test_the_answer_for_nothing_one_and_many_selected():
    assert answer_of(render_report(nothing_selected())).startswith(
        "None of 64 variables was selected to explain progression; the nearest to it is bmi"
    )
    one = diabetes()
    one["n_selected"] = 1
    for variable in one["variables"][1:]:
        variable["selected"] = False
    said = answer_of(render_report(one))
    assert said.startswith("1 of 64 variables explains progression: bmi; its probability is 1.000")
    many = diabetes()
    many["n_selected"] = 64
    for variable in many["variables"]:
        variable["selected"] = True
    assert "64 of 64 variables explain progression: foremost bmi, ltg, bp, hdl and sex; their" in (
        answer_of(render_report(many))
    )


def test_the_answer_speaks_of_covariates_and_of_a_missing_validation():
    document = diabetes()
    document.update(always_in=["sex"], n_selected=6, validation=None)
    said = answer_of(render_report(document))
    assert said.startswith("Beside the covariate sex, 6 of 63 variables explain progression: bmi,")
    assert said.endswith("was not measured: there was no validation.")


def test_an_error_no_better_than_the_null_models_is_not_praised():
    document = diabetes()
    document["validation"]["null"] = document["validation"]["mean"][document["path"]["chosen"]]
    assert "no better than the 2937 without any variable" in answer_of(render_report(document))


def test_the_null_model_of_a_fit_with_covariates_contains_them():
    for covariates, words in ((["sex"], "covariate"), (["sex", "age"], "covariates")):
        page = render_report({**diabetes(), "always_in": covariates})
        assert f"against 5982 with the {words} alone (51 % less)" in answer_of(page)
        assert "without any variable" not in page


def test_every_listed_variable_has_a_row_without_any_script():
    document = diabetes()
    page = render_report(document)
    names = re.findall(r'<th scope="row"><bdi[^>]*>([^<]*)</bdi>', page)
    assert names == [v["name"] for v in document["variables"]]
    assert "24.9" in page
    assert "18.9 to 31.0" in page


def test_the_part_on_branches_says_what_they_mean_for_trust():
    document = diabetes()
    path = document["path"]
    assert "both passes found the same solution, which speaks" in render_report(document)
    path["chosen"] = path["energies"]["forward"].index(min(path["energies"]["forward"][11:12]))
    said = render_report(document)
    assert "the backward pass ended in another solution, worse by 11" in said
    assert "the one shown is clearly the better of the two" in said
    assert "more starts would tell" not in said
    path["energies"]["backward"][11] = path["energies"]["forward"][11] + 0.5
    said = render_report(document)
    assert "worse by 0.5: two sets of variables explain the data almost equally well" in said
    assert "A third solution could be better still; more starts would tell" in said
    path["hysteresis"] = None
    said = render_report(document)
    assert "the answer does not depend on the direction" in said
    assert 'id="branch-picture"' not in said
    path["energies"] = {}
    assert section(render_report(document), "branches") is None


def test_interchangeable_columns_come_first_among_the_stand_ins():
    document = diabetes()
    document["interchangeable"] = {"bp": ["pressure"]}
    items = re.findall(r"<li><bdi class=\"variable\".*?</li>", render_report(document))
    assert "bp" in items[0]
    assert "interchangeable" in items[0]
    assert "hdl" in items[1]


def test_effects_of_very_different_size_get_an_axis_each():
    document = diabetes()
    for variable in document["variables"]:
        variable["deviation"] = None  # as in documents of older versions
    assert "each is drawn on its own" not in render_report(document)
    for key in ("effect", "standard_error", "lower", "upper"):
        document["variables"][0][key] *= 1e4
    assert "each is drawn on its own" in render_report(document)


def test_the_method_is_cited_and_an_unknown_one_has_only_the_library():
    document = diabetes()
    assert "Machine Learning 96, 269-294" in render_report(document)
    del document["provenance"]["reference"]
    assert "Machine Learning 96, 269-294" in render_report(document)
    other = render_report({**document, "method": "Another"})
    assert "Machine Learning 96" not in other
    assert "garrote 0.1.0" in other


def test_the_citation_comes_with_the_selection():
    document = {**diabetes(), "method": "Another"}
    document["provenance"]["reference"] = "Somebody (2031), Something better"
    assert "<li>Somebody (2031), Something better</li>" in render_report(document)


def test_the_source_the_command_the_covariates_and_the_folds_are_told():
    document = {**diabetes(), "always_in": ["sex", "age"]}
    document["provenance"].update(
        source="table.csv", command=["garrote", "select", "my table.csv", "--target", "y"]
    )
    method = section(render_report(document), "method")[0].replace("&#39;", "'")
    assert "<dt>Data</dt><dd><bdi>table.csv</bdi>" in method
    assert "garrote select 'my table.csv' --target y</bdi></pre>" in method
    assert "<dt>Covariates</dt><dd><bdi>sex, age</bdi>" in method
    folds = document["validation"]["folds"]
    assert f"<dt>Folds</dt><dd><bdi>{folds}</bdi>" in method
    assert 'class="command"' not in render_report(diabetes())


def test_settings_of_every_kind_are_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 12))
    y = X[:, 0] + 0.1 * rng.standard_normal(40)
    model = VariationalGarrote(
        covariates=[3, 4], cv=KFold(4), prior_log_odds=np.zeros(12), signs={0: 1}, callback=print,
        method=Anneal(gammas=[-9.0, -5.0, -2.0], n_starts=2), random_state=np.random.RandomState(1),
    ).fit(X, y)  # fmt: skip
    document = json.loads(model.selection_.to_json())
    settings = document["provenance"]["settings"]
    assert settings["covariates"] == ["x3", "x4"]
    assert settings["cv"].startswith("KFold(n_splits=4")
    assert settings["prior_log_odds"] == "ndarray of shape (12,)"
    assert settings["method"].startswith("Anneal(solver='coordinate', gammas=[-9.0, -5.0, -2.0], ")
    assert settings["signs"] == "{0: 1}"
    assert "n_starts=2" in settings["method"]
    assert settings["random_state"] == "RandomState(MT19937)"
    assert "callback" not in settings
    assert "<dt>covariates</dt><dd><bdi>x3, x4</bdi>" in render_report(document)


def test_the_seed_the_fingerprint_and_the_certificate_are_told():
    document = diabetes()
    method = section(render_report(document), "method")[0]
    assert document["provenance"]["seed"] == 7
    assert "<dt>Seed</dt><dd><bdi>7</bdi>" in method
    assert document["provenance"]["fingerprint"] in method
    assert "Every fit behind it reached its tolerance" in method


@pytest.mark.parametrize(
    ("picture", "words", "lost"),
    [
        ("path", "the path", {"path", "branch", "validation"}),
        ("validation", "the validation error", {"validation"}),
        ("predictions", "predictions and observations", {"prediction"}),
        ("stand_ins", "the correlations", {"correlation"}),
    ],
)
def test_a_picture_that_cannot_be_made_is_told_of_in_its_place(monkeypatch, picture, words, lost):
    def fail(*given):
        raise KeyError("on purpose")

    whole = render_report(diabetes())
    monkeypatch.setattr(pictures, f"_{picture}", fail)
    with pytest.warns(UserWarning, match="could not be drawn: KeyError: 'on purpose'"):
        page = render_report(diabetes())
    said = f"The picture of {words} could not be drawn (KeyError: &#39;on purpose&#39;); nothing"
    assert page.count(said) == 1
    assert "could not be drawn (" not in re.sub("<script>.*?</script>", "", whole, flags=re.DOTALL)
    for name in ("path", "branch", "validation", "prediction", "correlation"):
        assert (f'id="{name}-picture"' in page) == (name not in lost)


def test_a_title_replaces_the_heading():
    page = render_report(diabetes(), title="My <study>")
    assert "<title>My &lt;study&gt;</title>" in page
    assert "<h1>My &lt;study&gt;</h1>" in page


@pytest.mark.parametrize(
    "settings", [{"method": Anneal(gammas=[-5.0]), "gamma": -5.0}, {"gamma": -1e5}]
)
def test_a_fit_of_a_single_strength_and_an_empty_one_have_a_report(settings, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    model = VariationalGarrote(**settings).fit(X, X[:, 0] + 0.1 * rng.standard_normal(40))
    model.selection_.report(tmp_path / "report.html")
    assert "Which variables explain" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("enumerate", ("All models were summed", "No model was left out", "computed for it alone")),
        ("sample", ("were sampled; any of them may be off by about", "to 0.5", "of two chains")),
        ("mean-field", ("violates its own equations", "Every fit behind it", "residuals imply")),
    ],
)
def test_a_method_without_a_path_speaks_its_own_language(method, said):
    page = render_report(bayesian(method))
    words = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.S)
    for part in said:
        assert part in words
    for strange in ("gamma", "slider", "free energy", "how far the answer is from its own"):
        assert strange not in words
    assert re.match(r"Beside the covariate sex, \d of 9 variables explain", answer_of(page))
    assert "Murphy (2012)" in words
    assert "Kappen" not in words


@pytest.mark.parametrize(
    ("penalty", "said"),
    [
        (
            "lasso",
            ("No other coefficients have an objective", "how much lower the objective could"),
        ),
        ("mcp", ("No coefficient can be improved given all others", "The objective is not convex")),
    ],
)
def test_a_penalised_model_does_not_speak_of_probabilities(penalty, said):
    page = render_report(penalised(penalty))
    words = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.S)
    for part in (*said, "How early a variable enters", "It is no probability.", "entry at most"):
        assert part in words
    stated = words.replace("It is no probability.", "").replace('data-key="probability"', "")
    for strange in ("probab", "certain", "How sure", "expected", "gamma", "own equations"):
        assert strange not in stated
    assert "in the order in which they enter as the penalty falls" in answer_of(page)


def test_effects_on_a_label_are_log_odds_of_the_class_that_is_named():
    words = render_report(classified())
    assert "Which variables explain <bdi>state = worse</bdi>?" in words
    assert "by how much the log odds of <bdi>state = worse</bdi>" in words
    assert "Tibshirani (1996)" in words


@pytest.mark.parametrize("method", ["enumerate", "sample"])
def test_the_most_probable_models_are_listed_with_their_variables(method):
    document = bayesian(method)
    page = render_report(document)
    rows = re.findall(r"<tr><td class=.number.>(.*?)</tr>", section(page, "models")[0])
    found = document["models"]
    assert len(rows) == 10
    for row, effects, size in zip(rows, found["effect"], found["size"], strict=False):
        said = set(re.findall(r"<bdi>(.*?)</bdi>", row))
        inside = zip(found["variables"], effects, strict=True)
        assert said == {name for name, effect in inside if effect is not None}
        assert len(said) == size
        assert f">{size}</td>" in row
    assert probability(found["probability"][0]) in rows[0]
    assert "sex" not in section(page, "models")[0]


@pytest.mark.parametrize(
    ("chances", "words"),
    [
        (
            [0.97, 0.01],
            "One model has nearly all of the probability. The 2 shown have 0.980 in all.",
        ),
        ([0.6, 0.2], "more probable than all others together"),
        ([0.1, 0.1], "No single model is probable: the best has 0.100."),
    ],
)
def test_the_report_says_what_to_make_of_the_best_model(chances, words):
    document = {**diabetes(), "models": models_of(["a", "b"], 2)}
    document["models"]["probability"] = chances
    assert words in section(render_report(document), "models")[0]


def test_models_larger_than_the_list_and_empty_ones_are_described():
    found = models_of(["a", "b"], 3)
    found["size"][0] = 5
    said = section(render_report({**diabetes(), "models": found}), "models")[0]
    assert "<bdi>b</bdi> and 3 not listed" in said
    assert "no variable" in said


@pytest.mark.parametrize("found", [None, KeyError])
def test_documents_without_models_have_no_such_section(found):
    page = render_report(damaged(models=found))
    assert section(page, "models") is None
    assert "models-picture" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)


def test_the_reservation_of_a_sampled_answer_speaks_of_sampling():
    said = answer_of(render_report({**bayesian("sample"), "converged": False}))
    assert said.startswith("Not converged: sampled inclusion probabilities may still be far off")


def test_the_uncertainty_of_a_covariate_is_not_said_to_be_nothing():
    for method in ("enumerate", "sample", "mean-field"):
        sex = next(v for v in bayesian(method)["variables"] if v["name"] == "sex")
        assert 0 < sex["standard_error"] < abs(sex["effect"])


def test_numbers_of_the_axis_are_short_and_apart():
    for document in (diabetes(), tiny_effects()):
        ticks = forest_scale(document["variables"]).ticks()
        shown = [tick for tick in ticks if tick.text]
        assert "0" in [tick.text for tick in shown if tick.always]
        assert len(shown) > 1
        assert all(len(tick.text) <= 6 for tick in shown)
        for left, right in pairwise(shown):
            assert right.at - left.at > 3 * (len(left.text) + len(right.text))
    assert "0.00000" not in render_report(tiny_effects())


# --- safety


def test_the_policy_forbids_all_but_this_style_and_this_script():
    page = render_report(hostile())
    policy = next(a["content"] for a in Elements(page).all("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)[1]
        known = b64encode(hashlib.sha256(inside.encode("utf-8")).digest()).decode("ascii")
        assert f"{tag}-src 'sha256-{known}'" in policy


def test_nothing_in_the_page_leads_to_another_file():
    for document in (diabetes(), hostile()):
        elements = Elements(render_report(document))
        for tag, attributes in elements.found:
            assert tag not in {"img", "link", "iframe", "object", "embed", "base", "form"}
            assert "src" not in attributes
            assert attributes.get("href", "#").startswith("#")
            assert not any(key.startswith("on") or key == "style" for key in attributes)


@pytest.mark.parametrize("name", [*HOSTILE, "<b>", "</title><b>", '"<b>'])
def test_a_hostile_name_adds_no_element(name):
    """One at a time: the comment that one name opens could hide what another does."""

    def tags(given):
        document = diabetes()
        document.update(response=given, method=given, evidence=given, rule=given)
        document.update(always_in=[given], constant=[given], warnings=[given], intervals=given)
        document["interchangeable"] = {given: [given]}
        document["provenance"].update(
            settings={given: given}, source=given, command=[given], reference=given or "none"
        )
        for variable in (document["variables"][0], document["stand_ins"]["near"][0]["others"][0]):
            variable["name"] = given
        return [tag for tag, _ in Elements(render_report(document, title=given or "plain")).found]

    assert tags(name) == tags("plain")


def test_hostile_names_stay_readable():
    page = render_report(hostile())
    assert "&lt;script&gt;window.broken = 1&lt;/script&gt;" in page
    assert "{{7*7}}" in page
    assert "\u202e" not in page
    assert r"\u202eevil" in page
    assert "\x00" not in page
    assert "<title>Which variables explain &lt;/script&gt;" in page


def test_the_embedded_data_are_json_that_cannot_end_their_element():
    page = render_report(hostile())
    embedded = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]
    assert not set("<>&") & set(embedded)
    names = json.loads(embedded)["names"]
    assert names[0] == HOSTILE[0]
    assert names[HOSTILE.index("__proto__")] == "__proto__"
    assert names[HOSTILE.index("")] == "(no name)"


def test_columns_of_one_name_keep_their_own_curves():
    document = diabetes()
    for variable in document["variables"]:
        variable["name"] = "same"
    for part in (document["path"], document["stand_ins"]):
        part["variables"] = ["same"] * len(part["variables"])
    page = render_report(document)
    embedded = re.search(r'id="data">(.*?)</script>', page, re.S)[1]
    assert json.loads(embedded)["path"]["columns"] == list(range(40))


@pytest.mark.parametrize("make", [diabetes, hostile, enormous])
def test_the_file_stays_below_two_megabytes(make, tmp_path):
    write_report(make(), tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < LIMIT


def test_a_model_of_100_000_variables_has_a_small_report(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 100_000))
    y = 4 * X[:, 5] - 4 * X[:, 77] + rng.standard_normal(40)
    model = VariationalGarrote(gamma=-14.0, method=Anneal(gammas=[-24.0, -14.0])).fit(X, y)
    model.selection_.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(page) < LIMIT
    assert "2 of 100,000 variables explain" in page
    assert re.search(r"\d\d,\d{3} other variables not listed, each of probability at most", page)


def test_a_document_that_is_too_large_says_what_is_left_out():
    page = render_report(enormous())
    assert re.search(r"2,\d00 further listed variables in the JSON document only", page)
    embedded = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    assert len(embedded["path"]["strengths"]) <= 101
    assert embedded["path"]["strengths"][embedded["path"]["chosen"]] == 333.0


def test_names_lose_what_is_hidden_and_numbers_never_reach_certainty():
    assert readable("a\u202eb\n") == r"a\u202eb\n"
    assert readable("  ") == readable("") == "(no name)"
    assert len(readable("x" * 10_000, 100)) <= 100
    assert [probability(p) for p in (1.0, 0.99999, 0.5, 1e-9, 0.0, None)] == [
        "1.000", ">0.999", "0.500", "<0.001", "0.000", "–",
    ]  # fmt: skip
    assert [amount(v) for v in (2936.6, -0.00012347, 0.0, 1.5e9, 24.94144)] == [
        "2937", "−0.0001235", "0", "1.500e9", "24.94",
    ]  # fmt: skip
    assert amount(-0.001, 1) == "0.0"


# --- what it refuses


def damaged(**changes):
    document = diabetes()
    for where, value in changes.items():
        *parents, key = where.split("__")
        place = document
        for parent in parents:
            place = place[parent]
        if value is KeyError:
            del place[key]
        else:
            place[key] = value
    return document


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: [1], "not the JSON document of a selection"),
        (lambda: {"a": 1}, "no 'schema'"),
        (lambda: damaged(schema="other/1"), "schema is 'other/1'; expected 'garrote.selection/1'"),
        (lambda: damaged(schema=None), "schema is 'None'"),
        (lambda: damaged(schema="garrote.selection/2"), "update garrote"),
        (lambda: damaged(variables=KeyError), "has no 'variables'"),
        (lambda: damaged(variables={}), "'variables' of the document must be a list"),
        (lambda: damaged(variables=[{}]), "entry 0 of 'variables' has no 'name'"),
        (lambda: damaged(variables=diabetes()["variables"][:1] * 2), "have the same 'position'"),
        (lambda: damaged(converged=1), "'converged' of the document must be true or false, got 1"),
        (lambda: damaged(noise_variance=float("nan")), "must be a number or null, got nan"),
        (lambda: damaged(warnings=[3]), "'warnings' must hold a text, got 3"),
        (lambda: damaged(path__chosen=50), "beyond its 50 strengths"),
        (lambda: damaged(path__chosen=True), "must be a whole number, got True"),
        (lambda: damaged(path__effect=[]), "has 0 rows where 50 belong"),
        (lambda: damaged(path__strengths=["a"] * 50), "must hold a number, got 'a'"),
        (lambda: damaged(path__energies={"forward": [1.0]}), "has 1 entries where 50 belong"),
        (lambda: damaged(validation__mean=[1.0]), "has 1 entries where 50 belong"),
        (lambda: damaged(predictions__observed=[1.0]), "where 1 belong"),
        (lambda: damaged(models={}), "'models' has no 'probability'"),
        (
            lambda: damaged(models={**models_of(["a"], 2), "effect": [[1.0]]}),
            "has 1 rows where 2 belong",
        ),
        (lambda: damaged(stand_ins__near=[{}]), "'near' of 'stand_ins' has no 'variable'"),
    ],
)
def test_a_damaged_document_is_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        check_document(make())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_refused_document_leaves_the_old_file_and_no_other(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("before")
    with pytest.raises(ValueError, match="schema"):
        write_report({}, target)
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["report.html"]


def test_an_interrupted_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("before")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report(diabetes(), target)
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent' does not exist"):
        write_report(diabetes(), tmp_path / "absent" / "report.html")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_report(diabetes(), tmp_path)


def test_the_same_document_gives_the_same_page():
    document = diabetes()
    before = copy.deepcopy(document)
    assert render_report(document) == render_report(json.loads(json.dumps(document)))
    assert document == before


def test_every_optional_part_may_be_missing():
    for part in OPTIONAL:
        if part != "path":
            assert "<h1>" in render_report({**diabetes(), part: None})
    page = render_report(without_optional_parts())
    for absent in ("path", "branches", "predictions", "stand-ins"):
        assert section(page, absent) is None
    assert "There was no validation." in page


def test_without_jinja2_the_error_names_the_command():
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from garrote.report import render_report\n"
        "import json; document = json.load(sys.stdin)\n"
        "try: render_report(document)\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(diabetes()), text=True, capture_output=True
    )
    assert 'pip install "garrote[report]"' in done.stdout, done.stderr


# --- the documentation of the JSON


def documented():
    """Return the keys of each table of the documentation, by its heading."""
    keys, heading = {}, ""
    for line in DOCUMENTATION.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:].strip()
        elif found := re.match(r"\| `(\w+)` \|", line):
            keys.setdefault(heading, set()).add(found[1])
    return keys


def test_the_documented_keys_are_those_that_the_command_writes(tmp_path):
    X, y, names = load_diabetes_quadratic()
    frame = pd.DataFrame(X, columns=list(names)).assign(progression=y)
    frame.to_csv(tmp_path / "table.csv", index=False)
    words = [
        "select",
        str(tmp_path / "table.csv"),
        "--target",
        "progression",
        "--method",
        "garrote",
        "--stability",
        "2",
    ]
    assert main([*words, "--json", str(tmp_path / "out.json")]) == 0
    document = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    summary = SparseRegressor().fit_zscores([5.0, 1.0], np.eye(2), 100).selection_.to_dict()
    assert documented() == {
        "The document": set(document),
        "variables": set(document["variables"][0]),
        "levels": set(with_levels()["variables"][0]["levels"][0]),
        "curves": set(with_levels()["curves"][0]),
        "classes": set(several_classes()["classes"]),
        "unlisted": set(document["unlisted"]),
        "certificate": set(document["certificate"]),
        "path": set(document["path"]),
        "validation": set(document["validation"]),
        "labels": set(several_classes()["validation"]["labels"]),
        "density": set(validated()["validation"]["density"]),
        "predictions": set(document["predictions"]),
        "stand_ins": set(document["stand_ins"]),
        "near": set(document["stand_ins"]["near"][0]),
        "models": set(bayesian()["models"]),
        "credible_sets": set(document["credible_sets"][0]),
        "locus": set(fine_mapped()["locus"]),
        "consistency": set(summary["consistency"]),
        "check": set(document["check"]),
        "provenance": set(document["provenance"]) | set(summary["provenance"]),
    }
    # An estimator knows no file and no command, and rows have no mismatch.
    without = set(diabetes()["provenance"])
    assert documented()["provenance"] - without == {"source", "command", "mismatch"}


def test_a_warning_that_begins_with_a_name_keeps_its_letters():
    rng = np.random.default_rng(0)
    bmi = rng.standard_normal(100)
    frame = pd.DataFrame({"bmi": bmi, "weight": bmi + 0.2 * rng.standard_normal(100)})
    selection = SpikeSlabRegressor().fit(frame, bmi + 0.2 * rng.standard_normal(100)).selection_
    said = sections.warnings(selection.to_dict())
    assert any(text.startswith("bmi is hard to tell from weight") for text in said)


def test_what_was_found_in_the_table_comes_first_with_the_command():
    document = diabetes()
    found = {"topic": "leak", "text": "is <b> computed from y?", "remedy": {}, "blocks": False}
    check = {"findings": [found], "reading": ["'a' was coded"], "command": "garrote select <x>"}
    page = render_report({**document, "check": check})
    assert "Is &lt;b&gt; computed from y?" in page
    assert "<code>garrote select &lt;x&gt;</code>" in page
    assert page.index('id="check"') < page.index('<nav aria-label="Sections">')
    assert "<summary>How columns were read (1)</summary>" in page
    assert 'id="check"' not in render_report({**document, "check": None})
    with pytest.raises(ValueError, match="'reading' of 'check' must be a list"):
        render_report({**document, "check": {**check, "reading": "all"}})
