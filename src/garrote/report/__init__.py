"""One self-contained HTML file that tells what was selected and how."""

import os
from typing import Any


def write_report(document: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the report of `Selection.to_dict`."""
    raise NotImplementedError
