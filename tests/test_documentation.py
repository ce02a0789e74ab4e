"""What the documentation prints is what happens: docstrings, pages and the gallery are run."""

import ast
import doctest
import math
import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

import garrote
from garrote.cli.arguments import COMMANDS
from garrote.cli.main import main
from garrote.estimators.registry import SELECTORS
from garrote.experiments.texts import TEXTS
from page_code import refreshed, run_page

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PUBLIC_MODULES = (
    "garrote",
    "garrote.displays",
    "garrote.datasets",
    "garrote.orthogonal",
    "garrote.proximal",
)

# A number that is not the end of a name: x12 is a word.
_NUMBER = re.compile(r"(?<![A-Za-z_\d.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@pytest.fixture(autouse=True)
def figures_without_a_screen():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def documented_modules():
    """The modules with examples in docstrings; others need not be imported to know."""
    paths = sorted((SOURCES / "garrote").rglob("*.py"))
    shown = [path.relative_to(SOURCES) for path in paths if ">>> " in path.read_text()]
    return [".".join(path.with_suffix("").parts) for path in shown]


@pytest.mark.parametrize("name", documented_modules())
def test_docstring_examples_give_what_they_print(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted > 0
    assert results.failed == 0


def page_id(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_code_on_pages_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    for start, end, printed in run_page(text, page_id(page)):
        assert_printed(printed, text[start:end])
    shown = re.findall(r"\bmade/[\w-]+/([\w.-]+)", text)
    assert [name for name in shown if not (tmp_path / name).exists()] == []


def test_a_page_is_refreshed_by_what_its_code_prints():
    page = (
        "```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n\n```console\n$ garrote methods x\n```\n"
    )
    fresh = refreshed(page)
    assert "```text\n42\n```" in fresh
    assert refreshed(fresh) == fresh


def test_the_readme_shows_what_the_demo_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    after = (ROOT / "README.md").read_text().partition("what `garrote demo` prints:")[2]
    shown = re.search(r"^```text\n(.*?)^```$", after, flags=re.DOTALL | re.MULTILINE)
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert_printed(out, shown[1])
    assert max(map(len, out.splitlines())) <= 80
    assert err == ""
    assert "bmi" in Path("garrote-demo.html").read_text()


def assert_printed(printed, shown):
    """Compare words exactly, numbers roughly: rounding differs from machine to machine.

    Certificates are all alike below 1e-4, and seconds are nobody's promise.
    """
    assert words_of(printed) == words_of(shown), f"printed:\n{printed}\nshown:\n{shown}"
    for actual, stated in zip(numbers_of(printed), numbers_of(shown), strict=True):
        assert math.isclose(actual, stated, rel_tol=0.02, abs_tol=1e-4), (
            f"{actual} was printed, {stated} is shown:\n{printed}"
        )


def words_of(text):
    return re.sub(r"[-\s]+", " ", _NUMBER.sub("#", text)).split()


def numbers_of(text):
    return [float(number) for number in _NUMBER.findall(re.sub(r"\d+\.?\d* s\b", "", text))]


@pytest.mark.parametrize("script", EXAMPLES, ids=page_id)
def test_gallery_scripts_are_short_and_run(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(script.read_text().splitlines()) <= 40
    assert ast.get_docstring(ast.parse(script.read_text()))
    runpy.run_path(str(script))


def test_every_method_is_shown_at_work_in_the_gallery():
    shown = "".join(script.read_text() for script in EXAMPLES)
    missing = [name for name, method in SELECTORS.items() if f"{method.estimator}(" not in shown]
    assert missing == []


@pytest.mark.parametrize("module", [*PUBLIC_MODULES, "garrote.report", "garrote.tables"])
def test_every_public_name_is_in_the_reference(module):
    page = (ROOT / "docs" / "api.md").read_text()
    listed = set(re.findall(r"^   (\w+)$", page, flags=re.MULTILINE))
    home = import_module(module)
    public = {name for name in home.__all__ if callable(getattr(home, name))}
    assert sorted(public - listed) == []


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_every_public_class_and_function_has_an_example(module):
    home = import_module(module)
    without = [name for name in home.__all__ if ">>> " not in (getattr(home, name).__doc__ or "")]
    assert without == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_section(command):
    page = (ROOT / "docs" / "command-line.md").read_text()
    assert f"## garrote {command}\n\n```{{command-options}} {command}\n" in page


def test_the_page_of_texts_has_a_table_of_each():
    page = (ROOT / "docs" / "texts.md").read_text()
    shown = re.findall(r"^```\{texts-table\} (\w+)$", page, flags=re.MULTILINE)
    assert sorted(shown) == sorted(TEXTS)


def test_the_stated_version_is_the_installed_one():
    assert f'version = "{garrote.__version__}"' in (ROOT / "pyproject.toml").read_text()
