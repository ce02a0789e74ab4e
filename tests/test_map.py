"""The map in CONTRIBUTING.md is the tree as it is: every room, its sentence, its layer, its measures."""

import ast
import re
import tomllib
from collections import Counter

from conftest import ROOT

PACKAGE = ROOT / "src" / "garrote"
MOST_FILES = 15
MOST_LAYERS = 14
MOST_MODULES_AT_THE_ROOT = 12
MOST_LINES_OF_A_FUNCTION = 60


def rooms():
    """Return every package, and every module at the root, with the first line of its docstring."""
    packages = {f"{p.parent.relative_to(PACKAGE)}/": p for p in PACKAGE.rglob("*/__init__.py")}
    modules = {p.name: p for p in PACKAGE.glob("*.py") if not p.stem.startswith("__")}
    return {
        name: (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
        for name, path in (packages | modules).items()
    }


def map_lines():
    """Return the map's lines, each a room and a sentence, as (room, sentence)."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    block = re.search(r"## The map\n.*?```text\n(.*?)```", page, flags=re.DOTALL)
    assert block, "CONTRIBUTING.md has no map"
    return [tuple(re.split(r"\s{2,}", line, maxsplit=1)) for line in block[1].splitlines() if line]


def test_the_map_shows_every_room_with_the_sentence_that_opens_it():
    assert dict(map_lines()) == rooms()


def test_the_map_is_in_the_order_of_the_layers():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert len(layers) <= MOST_LAYERS
    order = [re.findall(r"garrote\.(\w+)", layer) for layer in layers]
    on_the_map = [room.partition("/")[0].removesuffix(".py") for room, _ in map_lines()]
    positions = [next(k for k, layer in enumerate(order) if name in layer) for name in on_the_map]
    assert positions == sorted(positions)
    assert sorted({name for layer in order for name in layer}) == sorted(set(on_the_map))


def test_no_room_is_crowded():
    def files(folder):
        return [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]

    crowded = {room: len(files(PACKAGE / room)) for room, _ in map_lines() if room.endswith("/")}
    assert {room: n for room, n in crowded.items() if n > MOST_FILES} == {}
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_MODULES_AT_THE_ROOT


def test_every_room_has_its_tests_and_tests_have_no_others():
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    packages = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("__init__.py")}
    assert sorted(map(str, folders ^ packages)) == []


def test_no_two_files_of_tests_have_one_name():
    """pytest imports them by name alone, and does not run the second of two."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert {name: times for name, times in names.items() if times > 1} == {}


def test_every_function_fits_a_screen():
    functions = {
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.name}": node.end_lineno - node.lineno + 1
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    long = {name: lines for name, lines in functions.items() if lines > MOST_LINES_OF_A_FUNCTION}
    assert long == {}
