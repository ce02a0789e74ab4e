"""A report on selection frequencies never calls them probabilities, and states the bound."""

import re

import numpy as np
import pytest

from garrote import StabilitySelection
from garrote.report import render_report


@pytest.fixture(scope="module")
def document():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 10))
    y = X[:, 3] - X[:, 6] + rng.standard_normal(80)
    model = StabilitySelection(n_resamples=20, n_features=3, threshold=0.75).fit(X, y)
    return model.selection_.to_dict()


def test_the_page_states_the_bound_and_speaks_of_frequencies(document):
    page = render_report(document)
    text = " ".join(re.sub(r"<script.*?</script>|<[^>]+>", " ", page, flags=re.DOTALL).split())
    assert "Frequency" in text
    assert document["control"]["promise"][3:] in text
    assert "nearly certain" not in text
    for found in re.finditer("probabilit", text):
        around = text[max(0, found.start() - 30) : found.end() + 10]
        assert "not the probability" in around or "selects with probability q / D" in around


def test_a_page_follows_its_slider(opened, document):
    with opened(document) as page:
        first = page.locator("tr.selected").count()
        page.fill("#strength", "0")
        assert page.locator("tr.selected").count() < first
        assert page.locator("#path-controls").count() == 0
