"""What can go wrong at the command line, and the exit code of each."""

import difflib
from collections.abc import Iterable

DONE, FAILED, USAGE, NOT_CONVERGED, INTERRUPTED = 0, 1, 2, 3, 130


class UsageError(Exception):
    """The command line itself is wrong; the message says what to type instead."""

    def __init__(self, message: str, command: str | None = None):
        super().__init__(message)
        self.help = f"garrote {command} --help" if command else "garrote --help"


class CommandError(Exception):
    """The command cannot do what it was told; the message names the file or column."""


def suggestion(wrong: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" where a known word is close, else nothing."""
    close = difflib.get_close_matches(wrong, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
