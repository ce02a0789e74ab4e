"""Which files compiled code is made of, and their fingerprint.

The machine code of a kernel depends on its own file, on the bodies that generic functions choose, and on
what these files import: rules, designs, constants. An edit elsewhere, in a report or an estimator,
leaves all of it as it is.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parent
# What a file has that defines kernels, generic functions or bodies of these.
_COMPILED = re.compile(rb"garrote\._jit|^@\w+\.register\b", re.MULTILINE)
_IMPORT = re.compile(
    rb"^[ \t]*(?:from (garrote[\w.]*) import (\([^)]*\)|[^\n]*)|import (garrote[\w.]*))",
    re.MULTILINE,
)


@cache
def fingerprint() -> str:
    """Return a fingerprint of all files that compiled code is made of."""
    digest = hashlib.blake2b(digest_size=6)
    for file in kernel_files():
        digest.update(str(file.relative_to(_ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def kernel_files() -> list[Path]:
    """Return the files with kernels and their bodies, and all files of garrote that these import."""
    texts = {file: file.read_bytes() for file in _ROOT.rglob("*.py")}
    wanted = [file for file, text in texts.items() if _COMPILED.search(text)]
    found: set[Path] = set()
    while wanted:
        file = wanted.pop()
        if file not in found:
            found.add(file)
            wanted += [other for other in _imported(texts[file]) if other in texts]
    return sorted(found)


def _imported(text: bytes) -> Iterator[Path]:
    """Yield where the modules may lie that a file imports."""
    for package, names, module in _IMPORT.findall(text):
        place = _ROOT.joinpath(*(package or module).decode().split(".")[1:])
        yield from (place / "__init__.py", place.with_suffix(".py"))
        yield from (place / f"{name.decode()}.py" for name in re.findall(rb"\w+", names))
