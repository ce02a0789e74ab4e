"""Pictures and reports of the tutorials, made by the code on their pages when these are built.

A page ``tutorials/x.md`` is run in ``tutorials/made/x``, and shows pictures and links to reports from
there. As with the gallery, it is run again when its text has changed.
"""

import os
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any

from page_code import run_page


def _make(app: Any) -> None:
    os.environ.setdefault("MPLBACKEND", "Agg")
    for page in sorted((Path(app.srcdir) / "tutorials").glob("*.md")):
        made = _folder(app, page.stem)
        copy = made / "page.txt"
        if copy.exists() and copy.read_text() == page.read_text():
            continue
        made.mkdir(parents=True, exist_ok=True)
        with chdir(made):
            run_page(page.read_text(), page.name)
        copy.write_text(page.read_text())


def _copy_reports(app: Any, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        for report in (Path(app.srcdir) / "tutorials" / "made").glob("*/*.html"):
            goal = Path(app.outdir) / report.relative_to(app.srcdir)
            goal.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(report, goal)


def _folder(app: Any, name: str) -> Path:
    return Path(app.srcdir) / "tutorials" / "made" / name


def setup(app: Any) -> dict[str, bool]:
    """Run the pages before they are read, and put their reports beside them at the end."""
    app.connect("builder-inited", _make)
    app.connect("build-finished", _copy_reports)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
