"""The map from the source texts: every name exists, every study is in it, every equation has a row."""

import pytest

from garrote.experiments import STUDIES
from garrote.experiments.texts import TEXTS, Entry
from garrote.experiments.texts.places import in_lines, resolve

# The last equation of each text, and the chapter that its numbers begin with.
EQUATIONS = {
    "vg": ("", 28),
    "vo": ("", 46),
    "iba": ("", 25),
    "lecture": ("6.", 5),
    "murphy": ("13.", 207),
}
FIGURES = {"vg": ("", 12), "vo": ("", 4), "iba": ("", 2), "murphy": ("13.", 24)}
TABLES = {"vg": ("", 4), "vo": ("", 1), "murphy": ("13.", 3)}
ROWS = [(name, entry) for name, text in TEXTS.items() for entry in text.entries]


@pytest.mark.parametrize("text", TEXTS)
def test_every_name_of_the_map_exists(text):
    for entry in TEXTS[text].entries:
        for name in entry.names:
            assert resolve(name) is not None, entry


def test_a_name_that_is_gone_is_noticed():
    with pytest.raises(AttributeError, match="NoSuchPenalty"):
        resolve("garrote.penalties.NoSuchPenalty")
    with pytest.raises(AttributeError, match="no_such_room"):
        resolve("garrote.no_such_room.thing")


def test_the_map_and_the_studies_name_each_other():
    named = {study for _, entry in ROWS for study in entry.study_names}
    assert named <= set(STUDIES)
    # Four are garrote's own, and one is of a paper that is no source text.
    own = {"calibration", "calibration-grid", "error-control", "phase-diagram"}
    assert set(STUDIES) - named == own | {"htt-risks"}


def test_a_study_stands_beside_its_own_figure_or_table():
    for name, study in ((name, s) for name, e in ROWS for s in e.study_names):
        assert study.startswith(f"{name}-"), study


@pytest.mark.parametrize(
    ("kind", "numbers"), [("Eq", EQUATIONS), ("Figure", FIGURES), ("Table", TABLES)]
)
def test_every_equation_figure_and_table_has_one_row(kind, numbers):
    for text, (chapter, last) in numbers.items():
        for number in range(1, last + 1):
            found = TEXTS[text].find(f"{kind} {chapter}{number}")
            assert len(found) == 1, (text, kind, number, found)
        assert TEXTS[text].find(f"{kind} {chapter}{last + 1}") == []


def test_no_place_stands_twice():
    places = [(name, entry.place) for name, entry in ROWS]
    assert len(set(places)) == len(places)


def test_what_is_not_there_says_so():
    missing = {entry.place for entry in TEXTS["murphy"].missing}
    assert "Figure 13.12" in missing
    assert "Eq. 13.31" not in missing
    assert [*in_lines(Entry("Eq. 1", "a bound"))] == ["Eq. 1: a bound", "  not yet"]


@pytest.mark.parametrize(
    ("text", "wanted", "places"),
    [
        ("murphy", "13.31", ["Eq. 13.31"]),
        ("murphy", "Eq. (13.21)", ["Eqs. 13.20-13.25"]),
        ("murphy", "figure 13.16b", ["Figure 13.16"]),
        ("murphy", "Section 13.4.4.5", ["sections 13.4.4.1-13.4.4.5"]),
        ("murphy", "section 13.2.3", [f"section 13.2.3{part}" for part in ("", ".1", ".2", ".3")]),
        ("murphy", "13.9", ["Eqs. 13.5-13.9", "Figure 13.9", "exercise 13.9"]),
        ("vg", "8", ["Eq. 8", "Figure 8"]),
        ("vg", "appendix B", ["appendix B"]),
        ("vg", "99", []),
        ("lecture", "eq 6.4", ["Eq. 6.4"]),
    ],
)
def test_places_are_found_by_their_number(text, wanted, places):
    assert [entry.place for entry in TEXTS[text].find(wanted)] == places


@pytest.mark.parametrize("wanted", ["figure", "lasso", "13.1 13.2", "eq figure 3"])
def test_what_is_no_number_is_refused(wanted):
    with pytest.raises(ValueError, match="is no number of an equation"):
        TEXTS["murphy"].find(wanted)
