"""Columns as a file that other programs open: CSV, or an Excel workbook."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from garrote.files.writing import replacing
from garrote.tables.formats.engine import polars
from garrote.tables.formats.workbooks import write_workbook


def write_columns(path: str | os.PathLike[str], columns: Mapping[str, Sequence[Any]]) -> None:
    """Write texts and numbers by the suffix of a file, .xlsx or else CSV; NaN becomes a blank cell."""
    name = Path(path).name
    with replacing(path) as stream:
        if name.lower().endswith(".xlsx"):
            write_workbook(stream, columns, name)
        else:
            polars().DataFrame(columns, strict=False).fill_nan(None).write_csv(stream)
