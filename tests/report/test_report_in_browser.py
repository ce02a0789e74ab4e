"""The report in headless Chromium: it works, it is quiet, and it asks nothing of anyone."""

from itertools import pairwise

import pytest

from garrote import report
from garrote.report import write_report
from report_documents import (
    HOSTILE,
    OPTIONAL,
    bayesian,
    diabetes,
    enormous,
    hostile,
    nothing_selected,
    penalised,
    tiny_effects,
    with_levels,
    without_optional_parts,
)

pytestmark = pytest.mark.browser

# On a machine with a browser each of these pictures is in the page of the diabetes table.
PICTURES = ("path", "branch", "validation", "prediction", "correlation")


def slide(page, position):
    page.locator("#strength").fill(str(position))


def column(page, place):
    return page.locator(f"#table tbody tr:not([hidden]) :nth-child({place}):is(td, th)")


def names(page):
    return page.locator("#table tbody tr:not([hidden]) th bdi").all_inner_texts()


def numbers(page, place):
    texts = column(page, place).all_inner_texts()
    cleaned = (t.replace("−", "-").replace("<", "").replace(">", "").strip() for t in texts)
    return [float(t) for t in cleaned if t != "–"]


def sort_by(page, key):
    page.click(f"#table thead button[data-key={key}]")
    head = page.locator("#table thead th").filter(has=page.locator(f"[data-key={key}]"))
    return head.get_attribute("aria-sort")


def overflow(page):
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def brightness(page, selector, key):
    colour = page.evaluate(
        "([selector, key]) => getComputedStyle(document.querySelector(selector))[key]",
        [selector, key],
    )
    return sum(map(float, colour.strip("rgba()").split(",")[:3])) / 765


# --- every picture is drawn, or says why not


@pytest.mark.parametrize("reach", [0.00463, -4.7, 463.0, -4.1e9])
def test_branches_are_drawn_where_the_next_round_number_is_beyond_them(opened, reach):
    document = diabetes()
    path = document["path"]
    count = len(path["strengths"])
    path["hysteresis"] = [path["strengths"][0], path["strengths"][-1]]
    path["energies"] = {"forward": [0.0] * count, "backward": [reach / 1.15] * count}
    with opened(document) as page:
        labels = page.locator("#branch-picture svg text.tick[text-anchor=end]").all_text_contents()
        found = [float(label.replace("−", "-")) for label in labels]
        assert any(0 < value / reach <= 1 for value in found), found


def test_branches_that_differ_only_between_the_strengths_shown_are_drawn(opened):
    document = diabetes()
    path = document["path"]
    count = 301  # a hundred of them are shown
    grid = [path["strengths"][0] + k for k in range(count)]
    path.update(
        strengths=grid, chosen=0, hysteresis=[grid[1], grid[1]],
        probability=[path["probability"][0]] * count, effect=[path["effect"][0]] * count,
        expected_size=[1.0] * count,
        energies={"forward": [0.0] * count, "backward": [float(k == 1) for k in range(count)]},
    )  # fmt: skip
    document["validation"] = document["predictions"] = None
    with opened(document) as page:
        assert page.locator("#branch-picture svg").count() == 1


@pytest.mark.parametrize("method", ["draw", "move"])
def test_a_picture_that_fails_says_so_in_its_place_and_stops_no_other(opened, monkeypatch, method):
    whole = report.part
    broken = f'\nBranchPicture.prototype.{method} = () => {{ throw new Error("on purpose"); }};\n'
    monkeypatch.setattr(
        report, "part", lambda name: whole(name) + (broken if name == "pictures.js" else "")
    )
    with opened(diabetes(), expected=["on purpose"]) as page:
        said = page.locator("#branch-picture .failure").all_inner_texts()
        assert said == [
            "The picture of the two branches could not be drawn (on purpose); nothing else on this "
            "page depends on it."
        ]
        assert page.locator("#branch-picture svg").count() == 0
        others = [name for name in PICTURES if name != "branch"]
        for name in others:
            assert page.locator(f"#{name}-picture svg").count() == 1
        slide(page, 3)
        assert page.locator("#path-picture .here").get_attribute("data-at") == "3"
        page.set_viewport_size({"width": 700, "height": 900})
        page.wait_for_function("document.querySelector('#path-picture svg').clientWidth < 700")
        assert page.locator("#branch-picture .failure").count() == 1


# --- a penalised path


def test_the_slider_of_a_penalised_path_moves_effects_and_leaves_the_entries(opened):
    document = penalised()
    with opened(document) as page:
        assert page.locator("#path-controls").count() == 0
        assert page.locator("#path-picture .key").count() == document["n_selected"]
        assert not page.locator("#table thead th.wide").first.is_visible()
        entry, effect = column(page, 2).first.inner_text(), column(page, 3).first.inner_text()
        slide(page, 8)
        shown = document["path"]["expected_size"][8]
        assert page.locator("#size").inner_text() == f"{shown:.0f}"
        assert len(names(page)) == shown
        assert column(page, 2).first.inner_text() == entry
        assert column(page, 3).first.inner_text() != effect
        assert "intervals" not in page.locator("#elsewhere").inner_text()


# --- the table


def test_the_table_sorts_by_every_column_in_both_directions(opened):
    with opened(diabetes()) as page:
        page.select_option("#show", "all")
        assert sort_by(page, "name") == "ascending"
        assert names(page)[:2] == ["age", "age*bmi"]
        assert sort_by(page, "name") == "descending"
        assert names(page)[-1] == "age"
        for key, place in (("probability", 2), ("effect", 3), ("unit", 4), ("standard_error", 5)):
            assert sort_by(page, key) == "descending"
            found = numbers(page, place)
            assert len(found) > 20
            assert found == sorted(found, reverse=True)
            assert sort_by(page, key) == "ascending"
            assert numbers(page, place) == sorted(found)
        sort_by(page, "lower")
        lower = [
            float(t.split(" to ")[0].replace("−", "-")) for t in column(page, 6).all_inner_texts()
        ]
        assert lower == sorted(lower, reverse=True)
        sort_by(page, "size")
        sizes = [abs(value) for value in numbers(page, 4)]
        assert sizes == sorted(sizes, reverse=True)
        assert page.locator("#table thead th[aria-sort=none]").count() == 6


def test_the_table_filters_by_name_and_selection(opened):
    with opened(diabetes()) as page:
        assert names(page) == ["bmi", "ltg", "bp", "hdl", "sex", "age*sex", "bmi*bp"]
        page.fill("#filter", "BMI")
        assert names(page) == ["bmi", "bmi*bp"]
        assert page.inner_text("#count") == "2 of 64 shown"
        page.select_option("#show", "all")
        assert len(names(page)) == 11
        assert page.is_hidden("#nothing")
        page.fill("#filter", "no such name")
        assert names(page) == []
        assert page.inner_text("#nothing").strip() == "No variable matches."


def test_levels_stand_below_their_variable_and_fold_away(opened):
    with opened(with_levels()) as page:
        shown = names(page)
        at = shown.index("site")
        assert [name for name in shown[at : at + 5] if name != "Aachen"] == [
            "site",
            "Bonn",
            "Koeln",
            "Trier",
        ]
        page.click("#table .fold")
        assert not {"Bonn", "Koeln", "Trier"} & set(names(page))
        assert page.locator("#table .fold").get_attribute("aria-expanded") == "false"
        page.click("#table .fold")
        sort_by(page, "name")
        shown = names(page)
        assert shown[shown.index("site") + 2] == "Bonn"
        page.fill("#filter", "Koeln")
        assert names(page)[0] == "site"


def test_levels_follow_the_slider_and_curves_are_drawn(opened):
    with opened(with_levels()) as page:
        effect = page.locator("#table tr.level .effect").first
        before = effect.inner_text()
        slide(page, 2)
        assert effect.inner_text() != before
        assert page.locator("#table tr.level .interval").first.inner_text() == "–"
        page.click("#return")
        assert effect.inner_text() == before
        assert page.locator("#curves-picture path.curve").count() == 1
        assert page.locator("#curves-picture path.band").count() == 1


def test_controls_work_from_the_keyboard(opened):
    with opened(diabetes()) as page:
        page.focus("#table thead button[data-key=effect]")
        page.keyboard.press("Enter")
        effects = numbers(page, 3)
        assert effects == sorted(effects, reverse=True)
        page.focus("#strength")
        before = page.inner_text("#value")
        page.keyboard.press("ArrowLeft")
        assert page.inner_text("#value") != before


# --- the slider


def test_the_slider_moves_the_table_and_every_picture(opened):
    document = diabetes()
    path = document["path"]
    with opened(document) as page:
        dots = "[...document.querySelectorAll('#prediction-picture .dot')]"
        points = f"{dots}.map(dot => dot.getAttribute('cy'))"
        before = page.evaluate(points), page.inner_text("#agreement"), page.inner_text("#size")
        at = 30
        slide(page, at)
        assert page.inner_text("#value") == "−18.47"
        assert page.inner_text("#size") == f"{path['expected_size'][at]:.1f}"
        assert names(page) == [
            name
            for name, p in zip(path["variables"], path["probability"][at], strict=True)
            if p > 0.5
        ]
        assert numbers(page, 3) == [round(path["effect"][at][k], 1) for k in range(2)]
        assert column(page, 5).all_inner_texts() == ["–", "–"]
        assert "stated at the chosen gamma = −3.583 only" in page.inner_text("#elsewhere")
        for picture in ("path", "branch", "validation"):
            assert page.get_attribute(f"#{picture}-picture .here", "data-at") == str(at)
        assert page.evaluate(points) != before[0]
        assert page.inner_text("#agreement") != before[1]
        assert page.inner_text("#size") != before[2]
        bold = page.locator("#correlation-picture .name.strong title").all_text_contents()
        assert set(bold) == {"\u2068bmi\u2069", "\u2068ltg\u2069"}
        assert page.get_attribute("#strength", "aria-valuetext").startswith("gamma −18.47, 2.0")


def test_the_button_returns_to_the_chosen_strength_and_its_numbers(opened):
    with opened(diabetes()) as page:
        page.select_option("#show", "all")
        before = page.inner_text("#table"), page.inner_text("#agreement")
        assert page.is_disabled("#return")
        slide(page, 3)
        assert page.inner_text("#table") != before[0]
        page.click("#return")
        assert page.is_disabled("#return")
        # The page's script writes numbers as the page's own text does.
        assert (page.inner_text("#table"), page.inner_text("#agreement")) == before
        assert page.is_hidden("#elsewhere")


def test_a_click_into_a_picture_moves_the_slider(opened):
    with opened(diabetes()) as page:
        page.click("#validation-picture .plot", position={"x": 8, "y": 150})
        assert page.input_value("#strength") == "0"


def test_the_path_shows_probabilities_or_effects(opened):
    with opened(diabetes()) as page:
        curve = "#path-picture [data-column='0'] .line"
        before = page.get_attribute(curve, "d")
        page.click("#path-controls [data-mode=effect]")
        assert page.get_attribute(curve, "d") != before
        assert "progression per unit" in page.inner_html("#path-picture")
        assert page.get_attribute("#path-controls [data-mode=effect]", "aria-pressed") == "true"


def test_the_names_at_the_curves_do_not_overlap(opened):
    for width in (360, 1000):
        with opened(diabetes(), viewport={"width": width, "height": 800}) as page:
            boxes = page.evaluate(
                "[...document.querySelectorAll('#path-picture .name')].map(n => n.getBBox())"
                ".map(b => [b.y, b.y + b.height, b.x + b.width])"
            )
            edge = page.evaluate(
                "document.querySelector('#path-picture svg').viewBox.baseVal.width"
            )
            assert len(boxes) > 15
            boxes.sort()
            for upper, lower in pairwise(boxes):
                assert lower[0] - upper[0] > 12
            assert max(box[2] for box in boxes) <= edge + 1


# --- documents of all kinds


@pytest.mark.parametrize(
    "make",
    [
        diabetes,
        bayesian,
        tiny_effects,
        without_optional_parts,
        nothing_selected,
        hostile,
        enormous,
        with_levels,
    ],
)
@pytest.mark.parametrize("width", [360, 1200])
def test_a_page_is_quiet_and_fits_its_window(opened, make, width):
    with opened(make(), viewport={"width": width, "height": 800}) as page:
        page.select_option("#show", "all")
        assert overflow(page) <= 0
        if page.locator("#strength").count():
            slide(page, 0)
        if page.locator("#path-controls").count():  # which a penalised path has not
            page.click("#path-controls [data-mode=effect]")
        assert overflow(page) <= 0


@pytest.mark.parametrize("width", [1000, 390])
def test_a_table_with_refits_and_long_intervals_is_not_cut_at_its_right_edge(opened, width):
    document = bayesian()
    for variable in document["variables"]:
        variable["found_again"] = 20
        for key in ("effect", "standard_error", "lower", "upper"):
            if variable[key] is not None:
                variable[key] *= 12345.678
    document["stability"] = {"refits": 20, "share": 0.9, "rare": []}
    with opened(document, viewport={"width": width, "height": 900}) as page:
        assert page.locator("#table.refitted").count() == 1
        beyond = "e => e.scrollWidth - e.clientWidth"
        assert page.locator(".scroll:has(#table)").evaluate(beyond) == 0


def test_the_page_follows_its_window(opened):
    with opened(diabetes()) as page:
        for width in (320, 420, 600, 650, 700, 770, 800, 1400, 360):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_function("innerWidth === " + str(width))
            assert overflow(page) <= 0, width
            assert (
                page.evaluate(
                    "(e => e.scrollWidth - e.clientWidth)(document.querySelector('.scroll'))"
                )
                <= 0
            ), width


@pytest.mark.parametrize("part", OPTIONAL)
def test_a_page_makes_sense_without_a_part(opened, part):
    document = {**diabetes(), part: None}
    if part == "path":
        for key in ("mean", "standard_error"):
            document["validation"][key] = document["validation"][key][:1]
        document["predictions"]["predicted"] = document["predictions"]["predicted"][:1]
    with opened(document) as page:
        present = {p for p in PICTURES if page.locator(f"#{p}-picture svg").count()}
    missing = {
        "path": {"path", "branch", "validation"},
        "validation": {"validation"},
        "predictions": {"prediction"},
        "stand_ins": {"correlation"},
    }
    assert present == set(PICTURES) - missing[part]


def test_the_picture_of_models_has_a_cell_for_every_variable_of_every_model(opened):
    document = bayesian()
    found = document["models"]
    shown = found["effect"][:30]
    with opened(document) as page:
        for sign, positive in (("positive", True), ("negative", False)):
            cells = page.locator(f"#models-picture .effect-{sign}:has(title)")
            effects = [e for row in shown for e in row if e is not None and (e > 0) == positive]
            assert cells.count() == len(effects) > 0
        widths = page.evaluate(
            "[...document.querySelectorAll('#models-picture rect title')].filter("
            "(t) => t.textContent.includes('bmi')).map((t) => t.parentNode.getBBox().width)"
        )
        expected = [
            chance
            for chance, row in zip(found["probability"], shown, strict=False)
            if row[found["variables"].index("bmi")] is not None
        ]
        ratio = (widths[0] + 1) / (widths[4] + 1)
        assert ratio == pytest.approx(expected[0] / expected[4], rel=0.02)
        bold = page.locator("#models-picture text.strong title").all_text_contents()
        selected = {v["name"] for v in document["variables"] if v["selected"]} - {"sex"}
        assert {name.strip("\u2068\u2069") for name in bold} == selected


def test_hostile_names_are_text_in_the_table_and_the_pictures(opened):
    with opened(hostile()) as page:
        page.select_option("#show", "all")
        shown = names(page)
        assert shown[0] == HOSTILE[0]
        assert {"{{7*7}}", "__proto__", "constructor", "(no name)"} <= set(shown)
        assert page.evaluate("document.querySelectorAll('script').length") == 2
        tips = page.locator("#path-picture title").all_text_contents()
        assert f"\u2068{HOSTILE[0]}\u2069" in tips
        tips = page.locator("#models-picture title").all_text_contents()
        assert f"\u2068{HOSTILE[0]}\u2069" in tips
        page.fill("#filter", "<script>")
        assert HOSTILE[0] in names(page)
        sort_by(page, "name")


def test_the_policy_stops_a_script_that_would_be_added(browser, tmp_path):
    write_report(diabetes(), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    added = "<script>window.broken = 1</script><img src=x onerror='window.broken = 2'></main>"
    (tmp_path / "report.html").write_text(text.replace("</main>", added), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    assert page.evaluate("window.broken") is None
    assert page.locator("#path-picture svg").count() == 1
    page.close()


@pytest.mark.parametrize("make", [diabetes, tiny_effects])
@pytest.mark.parametrize("width", [375, 1000])
def test_neighbours_in_the_table_do_not_touch(opened, make, width):
    """Words and the marks beside them: probability and bar, effect and interval, axis and heading."""
    gaps = """
    () => {
      const box = (node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return range.getBoundingClientRect();
      };
      const found = [];
      for (const row of document.querySelectorAll("#table tbody tr[data-row]:not([hidden])")) {
        const [number, bar] = row.querySelectorAll(".evidence span, .evidence .track");
        found.push(bar.getBoundingClientRect().left - box(number).right);
        const marks = row.querySelector("td.forest .reach").getBoundingClientRect();
        const numbers = [...row.querySelectorAll("td.number")].filter((n) => n.offsetWidth);
        found.push(marks.left - box(numbers.at(-1)).right);
        found.push(box(numbers[0]).left - bar.getBoundingClientRect().right);
      }
      const heads = [...document.querySelectorAll("#table thead button")].filter((n) => n.offsetWidth);
      const before = box(heads.at(-2)).right;
      const table = document.getElementById("table").getBoundingClientRect();
      for (const text of document.querySelectorAll(".axis text")) {
        if (!text.getBBox().width) continue;
        const { left, right } = text.getBoundingClientRect();
        // The table's edge cuts off what is beyond it; 3 is what is asked of all gaps.
        found.push(left - before, 3 + table.right - right);
      }
      return found;
    }
    """
    with opened(make(), viewport={"width": width, "height": 800}) as page:
        found = page.evaluate(gaps)
        assert len(found) > 20
        assert min(found) >= 3


# --- dark, on paper, without script


def test_the_page_follows_the_colour_scheme_and_paper_is_light(opened):
    with opened(diabetes(), color_scheme="light") as page:
        assert brightness(page, "body", "backgroundColor") > 0.95
    with opened(diabetes(), color_scheme="dark") as page:
        assert brightness(page, "body", "backgroundColor") < 0.2
        assert brightness(page, "#path-picture .strong", "fill") > 0.8
    with opened(diabetes(), color_scheme="dark", media="print") as page:
        assert brightness(page, "body", "backgroundColor") > 0.95
        assert brightness(page, "body", "color") < 0.2


def test_paper_has_all_sections_and_no_controls(opened):
    with opened(diabetes(), media="print", viewport={"width": 680, "height": 900}) as page:
        for selector in (".slider", "nav", "#filter", "#show", "#path-controls"):
            assert page.is_hidden(selector)
        for picture in PICTURES:
            assert page.is_visible(f"#{picture}-picture svg")
        assert overflow(page) <= 0


def test_paper_keeps_a_picture_with_its_words(opened):
    with opened(diabetes(), media="print") as page:
        rules = "(e => ['breakBefore', 'breakInside'].map(k => getComputedStyle(e)[k]))"
        for picture in PICTURES:
            found = page.evaluate(f"{rules}(document.getElementById('{picture}-picture'))")
            assert found == ["avoid", "avoid"]
        lead = page.evaluate("getComputedStyle(document.querySelector('h2 + p')).breakInside")
        assert lead == "avoid"
        for selector in ("h2", "h2 + p"):
            found = page.evaluate(
                f"[...document.querySelectorAll('main {selector}')]"
                ".map(e => getComputedStyle(e).breakAfter)"
            )
            assert set(found) == {"avoid"}


def test_without_script_the_answer_and_the_table_are_there(opened):
    with opened(diabetes(), java_script_enabled=False) as page:
        assert len(names(page)) == 64
        assert page.is_hidden(".slider")
        assert page.is_hidden("#filter")
        assert "7 of 64 variables" in page.inner_text("#answer")
        assert "drawn by a script" in page.inner_text("#path-picture")


def test_text_has_enough_contrast(opened):
    """WCAG AA: 4.5 to 1 for text, in both schemes."""
    luminance = """
    (selector) => {
      const light = (colour) => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((c) => {
          const s = c / 255;
          return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const element = document.querySelector(selector);
      const style = getComputedStyle(element);
      const text = light(element instanceof SVGElement ? style.fill : style.color);
      const paper = light(getComputedStyle(document.body).backgroundColor);
      return (Math.max(text, paper) + 0.05) / (Math.min(text, paper) + 0.05);
    }
    """
    document = {**diabetes(), "warnings": ["small sample"]}
    for scheme in ("light", "dark"):
        with opened(document, color_scheme=scheme) as page:
            for selector in ("body", ".note", ".kicker", "nav a", ".attention h2", "#table th bdi",
                             "figure .tick", "figure .remark", "figure .label"):  # fmt: skip
                assert page.evaluate(luminance, selector) >= 4.5, (scheme, selector)
