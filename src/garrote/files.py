"""Output files that are either whole or untouched, whatever interrupts their writing."""

import os
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write to a temporary name in the same folder, then rename.

    An interrupted or failed run leaves a file that was there before as it was.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: name a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist: make it first")
    temporary = target.with_name(f".{target.name[:100]}.{os.getpid()}.part")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
