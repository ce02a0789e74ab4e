"""The code on a page of the manual: what it prints, beside what the page shows.

Blocks of ``python`` are run one after the other, those with prompts as doctests; a block of ``text``
that follows one shows what it printed. A ``console`` block has commands after ``$ ``, each with what it
prints: to standard output or, where it is refused, to standard error. Everything happens in the working
directory.
"""

import doctest
import io
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

from garrote.cli.main import main

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
# A command goes on in the next line where a line ends in a backslash.
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", flags=re.MULTILINE)


class Shown(NamedTuple):
    """What a page shows at ``start`` to ``end`` of its text, and what was printed."""

    start: int
    end: int
    printed: str


def run_page(text: str, name: str = "page") -> list[Shown]:
    """Run all code of a page; an error of its Python, or of an example with prompts, is raised."""
    names: dict[str, Any] = {"__name__": name}
    shown: list[Shown] = []
    printed = ""
    for block in _BLOCK.finditer(text):
        language, code = block[1], block[2]
        if language == "text" and printed:
            shown.append(Shown(block.start(2), block.end(2), printed))
        printed = ""
        if language == "console":
            shown += _run_commands(code, block.start(2))
        elif language == "python" and ">>> " in code:
            _run_doctest(code, names, name)
        elif language == "python":
            printed = _run_python(code, names, name)
    return shown


def refreshed(text: str, name: str = "page") -> str:
    """Return a page that shows what its code prints now."""
    for start, end, printed in reversed(run_page(text, name)):
        lines = (line.rstrip() for line in printed.strip("\n").splitlines())
        text = text[:start] + "".join(f"{line}\n" for line in lines) + text[end:]
    return text


def _run_python(code: str, names: dict[str, Any], name: str) -> str:
    with redirect_stdout(io.StringIO()) as out:
        exec(compile(code, name, "exec"), names)  # the page is ours
    return out.getvalue()


def _run_doctest(code: str, names: dict[str, Any], name: str) -> None:
    test = doctest.DocTestParser().get_doctest(code, names, name, name, 0)
    runner = doctest.DebugRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, clear_globs=False)
    names.update(test.globs)


def _run_commands(code: str, offset: int) -> Iterator[Shown]:
    for part in _COMMAND.finditer(code):
        program, *arguments = shlex.split(part[1].replace("\\\n", " "))
        if program != "garrote":
            raise ValueError(f"only garrote is run here: {part[1]}")
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code_of_exit = main(arguments)
        printed = err.getvalue() if code_of_exit == 1 else out.getvalue()
        yield Shown(offset + part.start(2), offset + part.end(2), printed)
