"""Files that must stay as they are while they are read."""

from collections.abc import Sequence
from pathlib import Path


class Watched:
    """Some files, and what they were when they were opened."""

    def __init__(self, paths: Sequence[Path]):
        self._paths = list(paths)
        self._state = [_state(path) for path in self._paths]

    def check(self) -> None:
        """Refuse to go on if a file has changed."""
        for path, state in zip(self._paths, self._state, strict=True):
            try:
                same = _state(path) == state
            except OSError as error:
                raise ValueError(
                    f"{path.name} went away while it was read: {error.strerror}"
                ) from None
            if not same:
                raise ValueError(
                    f"{path.name} has changed since it was opened, so that passes over it would not see "
                    "the same rows: open it again once it is whole"
                )


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
