"""Reading needs little more than the matrix; what states more than it holds takes no memory."""

import gzip
import re
import struct
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import polars as pl
import pytest

from garrote.limits import memory
from garrote.tables import TableError, Wanted, read_table
from garrote.tables.formats import room


def test_archives_are_checked(tmp_path):
    path = str(tmp_path / "t.npz")
    np.savez(path, Z=np.ones((3, 2)), y=np.ones(3))
    with pytest.raises(TableError, match="no array X: it has 'Z', 'y'"):
        read_table(path, Wanted("y"))
    np.savez(path, X=np.ones(3), y=np.ones(3))
    with pytest.raises(TableError, match=r"array X has shape \(3,\)"):
        read_table(path, Wanted("y"))
    np.savez(path, X=np.array([[object()]], dtype=object), y=np.ones(1))
    with pytest.raises(TableError, match="type object"):
        read_table(path, Wanted("y"))
    np.savez(path, X=np.eye(3), y=np.ones(3), names=["a", "b"])
    with pytest.raises(TableError, match="names has 2 names where X has 3 columns"):
        read_table(path, Wanted("y"))
    np.savez(path, X=np.eye(3), y=np.ones(4))
    with pytest.raises(TableError, match="array y has 4 values where X has 3 rows"):
        read_table(path, Wanted("y"))
    np.savez(path, X=np.eye(3, dtype=">i2"), y=np.arange(3.0), weights=np.ones(3), site=list("aba"))
    table = read_table(path, Wanted("y", include=("*",), weights="weights", groups="site"))
    assert table.names == ("x0", "x1", "x2")
    assert table.X.tolist() == np.eye(3).tolist()
    assert table.groups.tolist() == [0, 1, 0]


def refused_cheaply(source, wanted, message, most):
    """Refuse a table, with less memory than so many bytes, in one sentence that names it."""
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match=message) as refusal:
            read_table(source, wanted)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(refusal.value).startswith("t.")
    assert "\n" not in str(refusal.value)
    assert taken < most


def npy_bytes(shape, descr="<f8", data=b""):
    """Return a .npy that may state anything."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + data


def archive_of(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return str(path)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"X": npy_bytes((2, 10**9))}, "has 128 bytes, not an array of float64"),
        ({"X": npy_bytes((0, 10**9))}, r"1,000,000,000 columns need 7,000\.0 GB of memory"),
        ({"X": npy_bytes((1, 10**8), "|i1", b"\0" * 10**8)}, "100,000,000 columns need 700"),
        (
            {"X": npy_bytes((2, 1), data=b"\0" * 16), "y": npy_bytes((10**12,))},
            "y.npy has 128 bytes, not an array of float64",
        ),
        ({"X": b"\x93NUMPY\x01\0" + struct.pack("<H", 9000) + b"(" * 9000}, "cannot be read"),
        ({"X": npy_bytes((-2, -1), data=b"\0" * 16)}, "not an array"),
    ],
    ids=["wide", "no rows", "a bomb", "beside", "deep header", "negative"],
)
def test_an_archive_that_states_what_it_cannot_hold_takes_no_memory(tmp_path, members, message):
    refused_cheaply(archive_of(tmp_path / "t.npz", **members), Wanted("y"), message, 1e7)


def test_arrays_beside_x_that_are_of_no_use_are_not_loaded(tmp_path, monkeypatch):
    source = str(tmp_path / "t.npz")
    np.savez(source, X=np.arange(6.0).reshape(3, 2), y=np.arange(3.0), other=np.zeros(10**6))
    monkeypatch.setattr(room, "free_memory", lambda: 100_000)
    assert read_table(source, Wanted("y")).X.shape == (3, 2)
    np.savez(source, X=np.zeros((10_000, 2)), y=np.zeros(10_000))
    with pytest.raises(TableError, match=r"10,000 x 2 numbers need .* are free: give --include"):
        read_table(source, Wanted("y"))
    np.savez(source, X=np.zeros((20_000, 2)), y=np.zeros(20_000))
    with pytest.raises(TableError, match="the arrays beside X need"):
        read_table(source, Wanted("y"))


def test_an_encrypted_archive_says_so(tmp_path):
    source = tmp_path / "t.npz"
    np.savez(source, X=np.zeros((2, 2)), y=np.zeros(2))
    content = bytearray(source.read_bytes())
    for sign, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        for found in re.finditer(re.escape(sign), bytes(content)):
            content[found.start() + place] |= 1
    source.write_bytes(content)
    with pytest.raises(TableError, match=r"t\.npz: X\.npy is encrypted: .* without a password"):
        read_table(str(source), Wanted("y"))


def test_half_a_character_in_a_name_or_a_cell_is_named(tmp_path):
    source = str(tmp_path / "t.npz")
    np.savez(source, X=np.zeros((2, 2)), y=np.arange(2.0), names=np.array(["a", "b\ud800"]))
    with pytest.raises(TableError, match=r"name of column 2, 'b\\ud800', has half of a character"):
        read_table(source, Wanted("y"))
    np.savez(source, X=np.zeros((2, 1)), y=np.array(["u", "\udfff"]), names=np.array(["a"]))
    with pytest.raises(TableError, match="text with half of a character") as refusal:
        read_table(source, Wanted("y", labels=True))
    assert "codec" not in str(refusal.value)


@pytest.mark.parametrize("line", ["1," * 5_000_000 + "1\n", "a b " * 2_500_000 + "\n1 2\n"])
def test_a_line_of_millions_of_fields_takes_no_memory(csv, monkeypatch, line):
    monkeypatch.setattr(room, "free_memory", lambda: 8 << 30)
    message = r"t\.csv: 5,000,001 columns need 35\.0 GB of memory, and 8\.6 GB are free"
    refused_cheaply(csv(line), Wanted("x1"), message, 1.5e8)


def test_free_memory_is_that_of_the_machine_or_of_the_container(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   5 kB\n")
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.free_memory() == 5120
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free_memory() == 5120
    (tmp_path / "memory.max").write_text("3000\n")
    assert memory.free_memory() == 2000
    (tmp_path / "meminfo").unlink()
    (tmp_path / "memory.max").unlink()
    assert memory.free_memory() is None


def test_columns_of_a_two_dimensional_response_are_targets(tmp_path):
    path = str(tmp_path / "t.npz")
    Y = np.arange(6.0).reshape(3, 2)
    np.savez(path, X=np.eye(3), Y=Y, site=list("aba"), other=np.ones((4, 2)))
    with pytest.raises(TableError, match=r"no column 'Y' for --target.*Y has two dim.*Y0 to Y1$"):
        read_table(path, Wanted("Y"))
    table = read_table(path, Wanted("Y1", groups="site"))
    assert table.y.tolist() == [1, 3, 5]
    assert table.names == ("x0", "x1", "x2")
    assert table.groups.tolist() == [0, 1, 0]
    np.savez(path, X=np.eye(3), Y=Y, names=["a", "Y0", "c"], y=np.ones(3))
    assert read_table(path, Wanted("y")).names == ("a", "Y0", "c")


MEASURE = """
import resource, sys
from garrote.tables import Wanted, read_table

def peak():
    if sys.platform == "linux":  # where ru_maxrss begins with what the process had that started this one
        return 1024 * int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

read_table(sys.argv[1], Wanted("y"))  # what the libraries need of themselves
before = peak()
table = read_table(sys.argv[2], Wanted("y"))
print(peak() - before - table.X.nbytes, *table.X.shape, table.X[-1, -1], table.y.sum())
"""


@pytest.mark.parametrize("form", ["csv", "parquet", "npz"])
def test_reading_needs_little_more_than_the_matrix(tmp_path, form):
    rows, columns = 100_000, 200
    block = np.random.default_rng(0).integers(-99, 99, (2000, columns + 1)) / 8
    names = [*(f"v{j}" for j in range(columns)), "y"]
    large, small = (tmp_path / f"{size}.{form.partition('-')[0]}" for size in ("large", "small"))
    for path, repeats in ((large, rows // len(block)), (small, 1)):
        save_blocks(path, form, names, block, repeats)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(small), str(large)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    beside, *rest = map(float, done.stdout.split())
    assert rest == [rows, columns, block[-1, -2], block[:, -1].sum() * (rows // len(block))]
    # Blocks of a fixed size; a second copy of the matrix alone would be 160 MB more.
    assert 0 < beside < 150e6


def save_blocks(path, form, names, block, repeats):
    frame = pl.DataFrame({name: block[:, j] for j, name in enumerate(names)})
    if form.startswith("csv"):
        text = frame.write_csv(include_header=False).encode()
        with gzip.open(path, "wb", 1) if form.endswith("gz") else path.open("wb") as file:
            file.write(",".join(names).encode() + b"\n")
            for _ in range(repeats):
                file.write(text)
    elif form.startswith("npz"):
        X = np.tile(block[:, :-1], (repeats, 1))
        X = np.asfortranarray(X) if form == "npz-F" else X
        np.savez(path, X=X, y=np.tile(block[:, -1], repeats), names=names[:-1])
    else:
        whole = pl.concat([frame] * repeats)
        whole.write_parquet(path) if form == "parquet" else whole.write_ipc(path)
