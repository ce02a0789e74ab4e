"""Tables on disk, in every format that is read."""

import numpy as np
import polars as pl
import pytest


def write(path, content, encoding="utf-8"):
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return str(path)


@pytest.fixture
def csv(tmp_path):
    """Write text to a file and return its name."""
    return lambda content, name="t.csv", encoding="utf-8": write(tmp_path / name, content, encoding)


def lines(names, rows, delimiter, comma=False):
    def cell(value):
        return repr(float(value)).replace(".", ",") if comma else repr(float(value))

    body = [delimiter.join(map(cell, row)) for row in rows]
    return "\n".join([delimiter.join(names), *body]) + "\n"


def store(folder, form, names, values):
    """Write a table of numbers, whose last column is the target, in one of the formats."""
    delimiters = {
        "csv": ",",
        "tsv": "\t",
        "semicolon": ";",
        "bar": "|",
        "spaces": "  ",
        "comma": ";",
    }
    if form in delimiters:
        return write(
            folder / f"{form}.txt", lines(names, values, delimiters[form], form == "comma")
        )
    path = folder / f"t.{form.partition('-')[0]}"
    frame = pl.DataFrame({name: values[:, j] for j, name in enumerate(names)})
    if form == "parquet":
        frame.write_parquet(path, row_group_size=3)
    elif form == "arrow":
        frame.write_ipc(path)
    else:
        X = np.asfortranarray(values[:, :-1]) if form == "npz-F" else values[:, :-1].copy()
        np.savez(path, X=X, names=np.array(names[:-1]), **{names[-1]: values[:, -1]})
    return str(path)
