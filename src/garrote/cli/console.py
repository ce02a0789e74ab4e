"""What a person sees: paragraphs within 80 columns on stdout, progress and warnings on stderr."""

import string
import sys
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from garrote.summaries import visible

WIDTH = 80


def say(text: str = "", file: TextIO | None = None) -> None:
    """Print a paragraph, wrapped."""
    print(_wrapped(text) if text else "", file=file, flush=True)


def item(text: str, file: TextIO | None = None) -> None:
    """Print an item of a list, wrapped."""
    print(_wrapped(f"  - {text}", "    "), file=file, flush=True)


def warn(text: str) -> None:
    """Print a warning, wrapped, where it does not mix with results."""
    print(_wrapped(f"Warning: {text}", "  "), file=sys.stderr)


def _wrapped(text: str, indent: str = "") -> str:
    """Return a paragraph; what cannot be broken, such as a file name, may run over."""
    return textwrap.fill(
        visible(text, kept=string.whitespace),
        WIDTH,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


@contextmanager
def progress() -> Iterator[Any]:
    """Give a callback that shows how far a fit is; None where nobody is watching."""
    stream = sys.stderr
    if not stream.isatty():
        yield None
        return

    def show(event: Any) -> None:
        share = event.done / max(1, event.total)
        bar = "#" * round(30 * share)
        stream.write(f"\r{event.stage:<10} [{bar:<30}] {event.done}/{event.total}\x1b[K")
        stream.flush()

    try:
        yield show
    finally:
        stream.write("\r\x1b[K")
        stream.flush()


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say what is being done, while it is, to those who watch."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{visible(what)[: WIDTH - 4]} ...\x1b[K")
        sys.stderr.flush()
    yield
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


@contextmanager
def warnings_kept(quiet: bool = True) -> Iterator[list[str]]:
    """Keep the library's warnings as sentences, to be said in their place.

    What a fit will cost is said at once, unless ``quiet``, and not again.
    """
    from garrote.limits.costs import CostWarning

    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        keep = caught.append

        def show(message: Any, category: type[Warning], *place: Any) -> None:
            if not issubclass(category, CostWarning):
                keep(warnings.WarningMessage(message, category, *place))
            elif not quiet:
                print(_wrapped(str(message)), file=sys.stderr, flush=True)

        warnings.showwarning = show  # type: ignore[assignment]
        yield texts
    texts += dict.fromkeys(str(entry.message) for entry in caught if _is_ours(entry))


def _is_ours(entry: warnings.WarningMessage) -> bool:
    """Tell a word to the user from the deprecations that libraries say to each other."""
    quiet = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning)
    return not issubclass(entry.category, quiet)
