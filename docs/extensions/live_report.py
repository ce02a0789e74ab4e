"""The report of ``garrote demo``, made anew with every build, beside the pages that link to it."""

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from garrote.cli.main import main


def _write(app: Any, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        with redirect_stdout(StringIO()):
            code = main(["demo", "--report", str(app.outdir / "demo-report.html")])
        if code:
            raise RuntimeError(f"garrote demo ended with exit code {code}")


def setup(app: Any) -> dict[str, bool]:
    """Write the report when the pages are done."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
