"""The demo prints a selection by name, and needs the core dependencies only."""

import subprocess
import sys

from garrote import demo

OPTIONAL = ["matplotlib", "pandas", "polars", "typer", "rich", "jinja2", "torch", "dask"]


def test_demo_prints_the_selection_by_name(capsys):
    demo.main()
    text = capsys.readouterr().out
    assert "442 patients, 64 variables" in text
    assert "bmi" in text
    assert "ltg" in text
    assert "certificate" in text
    assert max(map(len, text.splitlines())) <= 100


def test_demo_imports_nothing_but_the_core():
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {OPTIONAL}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from garrote import demo\n"
        "demo.main()\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
