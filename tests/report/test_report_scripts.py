"""The scripts of the report's page, without a page: where an axis has its numbers."""

import json
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest

from conftest import NO_NODE
from garrote.report.rows import Scale

# Every leading pair of digits at every magnitude that a free energy or a response may have.
LEADING = (np.arange(100, 1000) / 100).tolist()
POWERS = range(-12, 13)


@pytest.fixture(scope="module")
def evaluate():
    """Return a function that evaluates an expression among the functions of the page's scripts."""
    node = shutil.which("node")
    if node is None:
        pytest.skip(NO_NODE)
    page = files("garrote.report").joinpath("page")
    scripts = "\n".join(page.joinpath(f"{name}.js").read_text() for name in ("drawing", "pictures"))

    def run(expression, data):
        code = (
            f"{scripts}\nconst given = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
            f"console.log(JSON.stringify({expression}));"
        )
        done = subprocess.run(
            [node, "-e", code],
            input=json.dumps(data), capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert not done.stderr, done.stderr
        return json.loads(done.stdout)

    return run


def as_number(text):
    return float(text.replace("−", "-"))


def check_ticks(ticks, low, high, fewest):
    values = [tick["value"] for tick in ticks]
    reach = max(abs(low), abs(high))
    assert len(values) >= fewest, (low, high, ticks)
    assert min(values) >= low - 1e-6 * reach
    assert max(values) <= high + 1e-6 * reach
    texts = [tick["text"] for tick in ticks]
    assert len(set(texts)) == len(texts), (low, high, ticks)
    assert all(abs(as_number(t) - v) <= 1e-9 * reach for t, v in zip(texts, values, strict=True)), (
        low,
        high,
        ticks,
    )


@pytest.mark.parametrize("count", [2, 4, 5, 6])
def test_every_axis_has_two_numbers_that_say_where_they_stand(evaluate, count):
    spans = [(0, 1), (-1, 1), (-0.43, 0.57), (0.91, 1.9), (-1, -0.08), (100, 101)]
    sizes = [m * 10.0**k for m in LEADING[::7] for k in POWERS]
    ends = [(low * size, high * size) for size in sizes for low, high in spans]
    found = evaluate(f"given.map(([low, high]) => roundTicks(low, high, {count}))", ends)
    for (low, high), ticks in zip(ends, found, strict=True):
        check_ticks(ticks, low, high, fewest=2)
        assert len(ticks) <= 3 * count


def test_the_axis_of_branches_has_a_number_on_each_side_at_any_reach(evaluate):
    reaches = [m * 10.0**k for m in LEADING for k in POWERS]
    for reach, ticks in zip(reaches, evaluate("given.map(branchTicks)", reaches), strict=True):
        check_ticks(ticks, -reach, reach, fewest=5)
        assert {-t["value"] for t in ticks} == {t["value"] for t in ticks}


def test_branches_that_are_one_have_an_axis_too(evaluate):
    assert evaluate("branchTicks(given)", 0) == [{"value": 0, "text": "0"}]


def test_the_axis_of_strengths_has_numbers_on_every_grid(evaluate):
    """Also where all strengths are nearly the same."""
    grids = [
        (a * m * 10.0**k, b * m * 10.0**k)
        for m in LEADING[::9] for k in range(-8, 5) for a, b in [(-1, -0.1), (1, 1e-3), (1, 1.00003)]
    ]  # fmt: skip
    expression = "given.map(([a, b]) => new Steps([a, (a + b) / 2, b], 0, 400).ticks(44))"
    for (a, b), ticks in zip(grids, evaluate(expression, grids), strict=True):
        assert ticks, (a, b)
        assert all(abs(as_number(t["text"]) / t["value"] - 1) < 1e-9 for t in ticks), ticks


def test_the_axis_of_effects_has_a_number_beside_zero():
    for low, high in [(-0.43, 0.57), (-0.5, 0.5), (0.0, 1.0), (-1.0, -0.0)]:
        for size in (m * 10.0**k for m in LEADING[::5] for k in POWERS[::3]):
            ticks = Scale(low * size, high * size, True, None).ticks()
            assert len(ticks) >= 2, (low * size, high * size)
