"""Messages that Python users can meet speak of Python, not of the command line."""

import ast
import re
from pathlib import Path

import garrote

ROOT = Path(garrote.__file__).parent
# What only the command line calls, or what runs at the command line itself.
OF_THE_COMMAND_LINE = {"cli", "tables", "experiments", "report"}
# Options of other programs follow their names.
_OPTION = re.compile(r"(?<!pip install )(?<!plink2 )(?<![\w-])--[a-z][a-z-]+")


def test_no_text_outside_the_command_line_names_one_of_its_options():
    found = []
    for file in ROOT.rglob("*.py"):
        place = file.relative_to(ROOT)
        if place.parts[0] in OF_THE_COMMAND_LINE or place.name == "data_check.py":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found += [(str(place), option) for option in _OPTION.findall(node.value)]
    assert found == []
