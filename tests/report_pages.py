"""Fixtures that open a page of the report in headless Chromium."""

import shutil
from contextlib import contextmanager

import pytest

from conftest import BROWSERS
from garrote.report import write_report


@pytest.fixture(scope="session")
def browser():
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip("no Chromium was found: run scripts/install_browser.sh")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open the page of a document; whatever it complains of, asks for or pops up fails the test.

    Only what is expected, by a word of it, it must complain of.
    """

    @contextmanager
    def open_page(document, *, media=None, expected=(), **context):
        write_report(document, tmp_path / "report.html")
        address = (tmp_path / "report.html").as_uri()
        complaints, requests = [], []
        context = browser.new_context(**{"viewport": {"width": 1000, "height": 900}, **context})
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.emulate_media(media=media)
        page.goto(address)
        yield page
        assert {word for word in expected if word in "\n".join(complaints)} == {*expected}
        assert not [c for c in complaints if not any(word in c for word in expected)]
        assert requests == [address]
        assert page.evaluate("window.broken") is None
        context.close()

    return open_page
