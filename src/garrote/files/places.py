"""Whether there is a file to read, asked before anything slow is imported."""

from pathlib import Path


def why_not_there(source: str) -> str:
    """Say what is wrong with the name of a file to read; "" if there is such a file, or a pipe."""
    given = Path(source)
    if given.is_dir():
        return f"{source} is a folder: name one file in it"
    if not given.exists():
        return f"{source} does not exist: check the name and the current folder"
    return ""
