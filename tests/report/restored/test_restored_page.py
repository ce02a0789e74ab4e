import numpy as np
import pytest

from garrote.report.restored import Plate, write_restoration

GREY = np.tile(np.arange(0, 256, 4, dtype=np.uint8), (40, 1))
PLATES = [
    Plate("Before", "As it was <given>.", GREY),
    Plate("After", "As it was restored.", np.repeat(GREY[:, :, None], 3, axis=2)),
]


def write(path, **settings):
    given = {"heading": "The picture <b>", "source": "a&b.png", **settings}
    write_restoration(path, PLATES, ["64 x 40 pixels."], [("Noise", "3")], **given)
    return path.read_text(encoding="utf-8")


def test_what_users_name_is_text_and_no_markup(tmp_path):
    text = write(tmp_path / "page.html", warnings=["<script>alert(1)</script>"])
    assert "The picture &lt;b&gt;" in text
    assert "a&amp;b.png" in text
    assert "&lt;script&gt;" in text
    assert "<script" not in text


def test_large_pictures_are_shown_in_steps(tmp_path):
    large = [Plate("Before", "", np.zeros((10, 3300), np.uint8))]
    write_restoration(tmp_path / "page.html", large, [], [], heading="Large")
    assert 'width="1100" height="4"' in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_page_that_fails_leaves_the_one_before(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("before")
    with pytest.raises(TypeError):
        write_restoration(path, [Plate("no", "pixels", np.zeros((2, 2, 7)))], [], [], heading="x")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.browser
def test_a_browser_shows_all_plates_and_asks_for_nothing(browser, tmp_path):
    write(tmp_path / "page.html")
    page = browser.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    widths = page.eval_on_selector_all("img", "found => found.map(one => one.naturalWidth)")
    assert widths == [64, 64]
    assert page.locator("h2").all_inner_texts() == ["Before", "After", "How it was made"]
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    page.close()
