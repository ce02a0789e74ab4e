"""Whether results could be written in the end: asked before any work."""

import os
from importlib.util import find_spec
from pathlib import Path

from garrote.cli.errors import CommandError


def check_target(path: str | None, option: str) -> None:
    """Refuse a file that could not be written."""
    if path is None or path == "-":
        return
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise CommandError(f"{option} names a folder, {path!r}: name a file in it")
    if not folder.is_dir():
        raise CommandError(f"{option}: there is no folder {str(folder)!r}: make it first")
    if not os.access(folder, os.W_OK):
        raise CommandError(f"{option}: the folder {str(folder)!r} cannot be written to")


def check_library(module: str, purpose: str, extra: str) -> None:
    """Refuse to start what could not be finished for want of a library."""
    if find_spec(module) is None:
        raise CommandError(f"{purpose} needs {module}: run pip install 'garrote[{extra}]'")
