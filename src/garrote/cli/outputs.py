"""Whether files are there, and results could be written and destroy nothing: asked before any work."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from garrote.cli.errors import CommandError
from garrote.files.places import why_not_there


def check_sources(inputs: Sequence[str]) -> None:
    """Refuse files that are not there; "-" is standard input."""
    for name in inputs:
        if name not in ("", "-") and (wrong := why_not_there(name)):
            raise CommandError(wrong)


def check_targets(outputs: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """Refuse files that could not be written, or that are inputs or each other's places."""
    taken = {os.path.realpath(name): "the file that is read" for name in inputs if name != "-"}
    for option, path in outputs.items():
        if path is None or (path == "-" and option in ("--json", "--output")):
            continue
        if path == "-":
            raise CommandError(f"{option} cannot go to standard output: name a file")
        _check_folder(path, option)
        place = os.path.realpath(path)
        if place in taken:
            raise CommandError(f"{option} {path} is also {taken[place]}: name another file")
        taken[place] = f"the file of {option}"


def _check_folder(path: str, option: str) -> None:
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise CommandError(f"{option} names a folder, {path!r}: name a file in it")
    if not folder.is_dir():
        raise CommandError(f"{option}: there is no folder {str(folder)!r}: make it first")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        said = error.strerror or error
        raise CommandError(
            f"{option}: the folder {str(folder)!r} cannot be written to ({said})"
        ) from None


def check_table(path: str | None) -> None:
    """Refuse a table of results that is neither CSV nor a workbook, or that could not be written."""
    if path is None:
        return
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".xlsx"):
        raise CommandError(f"--table {path} must end in .csv or .xlsx, which say what is written")
    if suffix == ".xlsx":
        check_library("xlsxwriter", "writing a workbook", "excel")


def check_library(module: str, purpose: str, extra: str) -> None:
    """Refuse to start what could not be finished for want of a library."""
    if find_spec(module) is None:
        raise CommandError(f'{purpose} needs {module}: run pip install "garrote[{extra}]"')
