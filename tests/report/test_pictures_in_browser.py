"""Pictures of classes, held-out rows and loci in headless Chromium: nothing overflows or overlaps."""

import pytest

from report_documents import (
    bayesian,
    diabetes,
    fine_mapped,
    penalised,
    several_classes,
    validated,
)

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 800}}
DOCUMENTS = {
    "fine_mapped": fine_mapped,
    "several_classes": several_classes,
    "validated": validated,
    "bayesian": bayesian,
    "penalised": penalised,
}

# Pairs of an axis' label and a number of it that cross, by their boxes on the page.
CROSSINGS = """() => {
  const crossed = [];
  for (const svg of document.querySelectorAll("figure svg")) {
    const boxes = (kind) => [...svg.querySelectorAll(`text.${kind}`)]
      .map((text) => [text.textContent, text.getBoundingClientRect()]);
    const labels = boxes("label"), ticks = boxes("tick");
    labels.forEach(([label, a]) => ticks.forEach(([tick, b]) => {
      const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
      if (!apart) crossed.push(`${label} | ${tick}`);
    }));
    ticks.forEach(([one, a], k) => ticks.slice(k + 1).forEach(([other, b]) => {
      const above = a.bottom - 3 <= b.top || b.bottom - 3 <= a.top;
      const apart = above || a.right <= b.left || b.right <= a.left;
      if (!apart) crossed.push(`${one} | ${other}`);
    }));
  }
  return crossed;
}"""


def overflow(page):
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("width", [320, 390, 1000])
def test_no_page_overflows_and_no_axis_crosses_its_numbers(opened, name, width):
    document = DOCUMENTS[name]()
    document["response"] = "a response of a name that takes some room"
    with opened(document, viewport={"width": width, "height": 800}) as page:
        assert overflow(page) <= 0
        assert page.evaluate(CROSSINGS) == []


@pytest.mark.parametrize("factor", [1e-9, 1e6, 1e12])
@pytest.mark.parametrize("width", [390, 1000])
def test_numbers_of_any_length_leave_room_for_the_label_of_their_axis(opened, factor, width):
    document = diabetes()
    validation, predictions = document["validation"], document["predictions"]
    for key in ("mean", "standard_error"):
        validation[key] = [v and factor * v for v in validation[key]]
    validation["null"] *= factor
    predictions["observed"] = [factor * v for v in predictions["observed"]]
    predictions["predicted"] = [[factor * v for v in row] for row in predictions["predicted"]]
    path = document["path"]
    path["effect"] = [[factor * v for v in row] for row in path["effect"]]
    with opened(document, viewport={"width": width, "height": 800}) as page:
        page.locator("#path-controls button[data-mode=effect]").click()
        assert page.evaluate(CROSSINGS) == []


@pytest.mark.parametrize("width", [700, 850, 900, 1000])
def test_the_table_of_variables_in_very_different_units_fits_the_page(opened, width):
    document = bayesian()
    for k, variable in enumerate(document["variables"]):
        factor = 10.0 ** (3 - k)
        variable["deviation"] /= factor
        for key in ("effect", "standard_error", "lower", "upper"):
            variable[key] = variable[key] and factor * variable[key]
    document["models"] = None
    with opened(document, viewport={"width": width, "height": 800}) as page:
        beyond = "(e => e.scrollWidth - e.clientWidth)(document.querySelector('.scroll'))"
        assert page.evaluate(beyond) <= 0


def test_the_table_names_the_class_and_sorts_by_it(opened):
    with opened(several_classes()) as page:
        page.click("#table thead button[data-key=class]")
        shown = page.locator("#table tbody tr:not([hidden]) td.of-class").all_inner_texts()
        assert shown == sorted(shown)
        assert set(shown) <= {"ant", "bee", "cat"}
    with opened(several_classes(), **PHONE) as page:
        assert page.locator("#table td.of-class").first.is_hidden()
        assert page.locator("#table .narrow").first.is_visible()


def test_dots_and_numbers_for_one_deviation_follow_the_slider(opened):
    document = several_classes()
    name, unit = document["variables"][0]["name"], document["variables"][0]["deviation"]
    with opened(document) as page:
        row = page.locator("#table tbody tr").filter(has_text=name).first

        def number(kind):
            return float(row.locator(f".{kind}").inner_text().replace("−", "-"))

        page.locator("#strength").fill(str(len(document["path"]["strengths"]) - 1))
        assert number("unit") == pytest.approx(unit * number("effect"), rel=1e-2)
        dot = float(row.locator("circle").get_attribute("cx").rstrip("%"))
        assert 0 <= dot <= 100


def test_a_locus_has_its_sets_in_colours(opened):
    with opened(fine_mapped()) as page:
        figure = page.locator("#locus-picture svg")
        assert figure.count() == 1
        # Probabilities and z-scores of every variable.
        assert figure.locator("circle.point").count() == 2 * 40 + 2
        tips = figure.locator("circle.f0 title").all_text_contents()
        assert any("set 1" in tip for tip in tips)


def test_calibration_is_drawn_with_its_folds(opened):
    with opened(several_classes()) as page:
        figure = page.locator("#calibration-picture svg")
        assert figure.locator("path.fold").count() == 5
        assert figure.locator("circle.spot").count() == figure.locator("line.whisker").count() > 2


def test_how_columns_were_read_is_folded_away(opened):
    check = {"findings": [], "reading": ["a comma was a decimal point"], "command": ""}
    with opened({**diabetes(), "check": check}) as page:
        note = page.get_by_text("A comma was a decimal point")
        assert note.is_hidden()
        page.get_by_text("How columns were read").click()
        assert note.is_visible()
