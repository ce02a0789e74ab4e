"""From ``sys.argv`` to an exit code: dispatch, one-line errors, interrupts."""

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from garrote.cli.arguments import parse
from garrote.cli.errors import FAILED, INTERRUPTED, USAGE, CommandError, UsageError

# An interrupted command that has not ended by then (inside a long product, say) is ended.
_PATIENCE = 0.8


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    debug = False
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - open as long as the process
    if isinstance(sys.stdout, io.TextIOWrapper):  # what a terminal has no letters for is escaped
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        debug = options.debug
        with _ended_when_interrupted():
            return int(import_module(f"garrote.cli.commands.{options.command}").run(options))
    except SystemExit as finished:  # --help and --version
        return int(finished.code or 0)
    except UsageError as error:
        return _failed(error, USAGE, f"see {error.help}")
    except KeyboardInterrupt:
        return _failed("interrupted; no file is half-written", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has left: `garrote ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (CommandError, ValueError, ImportError, OSError, MemoryError) as error:
        if debug:
            raise
        return _failed(error or "out of memory", FAILED)


def _failed(error: object, code: int, hint: str = "") -> int:
    from garrote.summaries import visible

    text = visible(" ".join(str(error).split())) or type(error).__name__
    print(f"garrote: {text}{f' ({hint})' if hint else ''}", file=sys.stderr)
    return code


@contextmanager
def _ended_when_interrupted() -> Iterator[None]:
    """End the process soon after Ctrl-C, even where no Python code runs that could hear it."""
    if os.name == "nt" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    def watch() -> None:
        if os.read(heard, 1) and not done.wait(_PATIENCE):
            print("garrote: interrupted", file=sys.stderr, flush=True)
            os._exit(INTERRUPTED)
        os.close(heard)

    def keep_quiet(unraisable: Any) -> None:
        # Callbacks of compiled code cannot raise; the watch ends the process instead.
        if unraisable.exc_type is not KeyboardInterrupt:
            sys.__unraisablehook__(unraisable)

    heard, told = os.pipe()
    os.set_blocking(told, False)
    done = threading.Event()
    before = signal.signal(signal.SIGINT, interrupt)
    waker = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    hook, sys.unraisablehook = sys.unraisablehook, keep_quiet
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()
        sys.unraisablehook = hook
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGINT, before)
        os.close(told)
