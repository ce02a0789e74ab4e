"""Every format gives back what was written; what is cut, damaged or misnamed is refused."""

import bz2
import gzip
import io
import lzma
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from garrote.cli.main import main
from garrote.tables import SUFFIXES, TableError, Wanted, read_new_rows, read_table
from table_files import store

FORMATS = ["csv", "tsv", "semicolon", "bar", "spaces", "comma", "parquet", "arrow", "npz", "npz-F"]


finite = st.floats(-1e150, 1e150)


tables_of_numbers = st.tuples(st.integers(1, 12), st.integers(2, 6)).flatmap(
    lambda shape: arrays(float, shape, elements=finite)
)


@given(values=tables_of_numbers, form=st.sampled_from(FORMATS))
def test_every_format_gives_back_the_numbers_written(values, form, tmp_path_factory):
    names = [f"v{j}" for j in range(values.shape[1] - 1)] + ["y"]
    source = store(tmp_path_factory.mktemp("t"), form, names, values)
    table = read_table(source, Wanted("y"))
    assert np.array_equal(table.X, values[:, :-1])
    assert np.array_equal(table.y, values[:, -1])
    assert table.X.flags.f_contiguous
    assert table.X.dtype == np.float64
    assert table.names == tuple(names[:-1])
    assert table.response == "y"
    assert np.array_equal(read_new_rows(source, table.coding), table.X)


hostile_name = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).map(
    str.strip
)


@given(names=st.lists(hostile_name, min_size=2, max_size=5, unique=True))
def test_any_name_is_kept_as_it_is(names, tmp_path_factory):
    names = [name for name in dict.fromkeys(names) if name and not name.isspace()]
    names = [f"_{name}" for name in names] + ["^.*$", "*", "y"]
    names = list(dict.fromkeys(names))
    frame = pl.DataFrame({name: [1.0 + j, 2.0, 3.5] for j, name in enumerate(names)})
    folder = tmp_path_factory.mktemp("t")
    frame.write_parquet(folder / "t.parquet")
    frame.write_csv(folder / "t.csv", quote_style="always")
    for file in ("t.parquet", "t.csv"):
        table = read_table(str(folder / file), Wanted("y"))
        assert list(table.names) == names[:-1]
        assert np.array_equal(table.X, frame.to_numpy()[:, :-1])


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_compressed_text_is_read(csv, suffix, pack):
    table = read_table(csv(pack(b"a,y\n1,2\n3,4\n"), f"t.csv.{suffix}"), Wanted("y"))
    assert table.X.tolist() == [[1], [3]]
    broken = csv(pack(b"a,y\n" + b"1,2\n3,5\n" * 5000)[:-30], f"broken.csv.{suffix}")
    with pytest.raises(TableError, match=r"broken.* is damaged or cut off"):
        read_table(broken, Wanted("y"))


def cuts_that_are_read(path, content, cuts):
    """Return how much of the end of a file can be missing without anyone noticing."""
    found = []
    for cut in cuts:
        path.write_bytes(content[:-cut])
        try:
            read_table(str(path), Wanted("y"))
        except TableError as error:
            if str(error).startswith(f"{path.name} is damaged or cut off: "):
                continue
        found.append(cut)
    return found


def bgzip(text, block=4000):
    """Return text as bgzip packs it: members that state their size, and an empty one at the end."""
    packed = b""
    for start in [*range(0, len(text), block), len(text)]:
        raw = zlib.compressobj(6, zlib.DEFLATED, -15)
        part = text[start : start + block]
        body = raw.compress(part) + raw.flush()
        head = bytes.fromhex("1f8b08040000000000ff0600424302 00") + struct.pack(
            "<H", len(body) + 25
        )
        packed += head + body + struct.pack("<II", zlib.crc32(part), len(part))
    return packed


@pytest.mark.parametrize("suffix", ["csv.gz", "csv.bz2", "csv.xz", "csv.bgz", "arrow"])
def test_a_stream_that_was_cut_is_never_taken_for_whole(tmp_path, suffix):
    rows = "".join(f"{i},{i % 7}\n" for i in range(3000)).encode()
    text, cuts = b"a,y\n" + rows, [*range(1, 40)]
    packers = {"csv.gz": gzip.compress, "csv.bz2": bz2.compress, "csv.xz": lzma.compress}
    if suffix == "csv.bgz":
        content = bgzip(text)
        starts = [m.start() for m in re.finditer(b"\x1f\x8b\x08\x04", content)][1:]
        cuts += [len(content) - start for start in starts]  # between two members
    elif suffix == "arrow":
        stream = io.BytesIO()
        pl.DataFrame({"a": range(3000), "y": [i % 7 for i in range(3000)]}).write_ipc_stream(stream)
        content = stream.getvalue()
    else:
        content = packers[suffix](text)
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(content)
    assert len(read_table(str(path), Wanted("y")).y) == 3000
    assert cuts_that_are_read(path, content, cuts) == []


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_the_last_of_several_members_that_was_cut_is_missed(tmp_path, form, pack):
    delimiter = {"csv": ",", "tsv": "\t"}[form]
    rows = [delimiter.join(pair).encode() for pair in zip("a123456789", "y987654321", strict=True)]
    text = b"\n".join(rows) + b"\n"
    content = pack(text[:11]) + pack(text[11:25]) + pack(text[25:])
    suffix = {gzip.compress: "gz", bz2.compress: "bz2", lzma.compress: "xz"}[pack]
    path = tmp_path / f"t.{form}.{suffix}"
    path.write_bytes(content)
    assert read_table(str(path), Wanted("y")).y.tolist() == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert cuts_that_are_read(path, content, range(1, 13)) == []


@pytest.mark.parametrize("cut", [1, 4, 8])
def test_a_cut_stream_is_refused_in_a_sentence_from_a_file_and_from_standard_input(
    tmp_path, monkeypatch, capsys, cut
):
    content = gzip.compress(b"a,y\n" + b"1,2\n3,5\n" * 20)[:-cut]
    path = tmp_path / "t.csv.gz"
    path.write_bytes(content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    for source, label in [(str(path), "t.csv.gz"), ("-", "standard input")]:
        assert main(["select", source, "--target", "y"]) != 0
        said = capsys.readouterr().err.strip()
        assert f"{label} is damaged or cut off" in said
        assert "\n" not in said


def test_zstd_is_read(csv):
    packed = bytes.fromhex("28b52ffd0468710000612c790a312e352c320a332c340a2c2a784c")
    table = read_table(csv(packed, "t.csv.zst"), Wanted("y"))
    assert table.X.tolist() == [[1.5], [3.0]]
    path = Path(csv(packed, "t.csv.zst"))
    assert cuts_that_are_read(path, packed, range(1, 13)) == []


def test_types_of_parquet_are_respected(tmp_path):
    from datetime import date, datetime, timedelta
    from decimal import Decimal

    frame = pl.DataFrame(
        {
            "int": [2**60, 1, 2],
            "dec": [Decimal("1.25"), Decimal("2.50"), Decimal("-3.00")],
            "flag": [True, False, True],
            "small": pl.Series([1, 2, 3], dtype=pl.UInt8),
            "half": pl.Series([1.5, 2.5, 3.5], dtype=pl.Float32),
            "cat": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
            "digits": ["1", "2", "1"],
            "day": [date(1970, 1, 2)] * 3,
            "moment": pl.Series([datetime(1970, 1, 1, 12)] * 3).dt.replace_time_zone("UTC"),
            "span": [timedelta(1)] * 3,
            "y": [1.0, 2.0, 3.0],
        }
    )
    for source, writer in (("t.parquet", frame.write_parquet), ("t.feather", frame.write_ipc)):
        source = str(tmp_path / source)
        writer(source)
        with pytest.raises(TableError, match=r"'span' \(Duration.*'cat' .*'digits' .*'day' "):
            read_table(source, Wanted("y"))
        with pytest.raises(TableError, match=r"'span' .*; give --exclude"):
            read_table(source, Wanted("y", encode=True))
        table = read_table(source, Wanted("y", encode=True, exclude=("span",)))
        wanted = {"int": 2.0**60, "dec": 1.25, "flag": 1, "small": 1, "half": 1.5, "cat=v": 0}
        wanted |= {"digits=2": 0, "day:days": 1, "moment:days": 0.5}
        first = dict(zip(table.names, table.X[0], strict=True))
        assert {name: first[name] for name in wanted} == wanted


def test_nested_columns_are_refused_in_every_part(tmp_path):
    source = str(tmp_path / "t.parquet")
    pl.DataFrame({"a": [1.0, 2.0], "nest": [[1], [2]], "y": [1, 2]}).write_parquet(source)
    for changes in ({"groups": "nest"}, {"weights": "nest"}, {"encode": True}):
        with pytest.raises(TableError, match=r"'nest' \(List"):
            read_table(source, Wanted("y", **changes))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n \n\n", "blank"),
        (b"a,y\n", "has a header but no rows"),
        (b"a,a,y\n1,2,3\n", "columns 1, 2 are all 'a'"),
        (b"a,b,y\n1,2,3\n4,5\n", "line 3 has 2 fields where the first line has 3"),
        (b"a,b,y\n\n1,2,3\n4,5,6,7\n", "line 4 has 4 fields where the first line has 3"),
        (b"a,b,y\n4,5\n1,2,3,4\n", "line 2 has 2 fields"),
        (b'a,b,y\n1,"x,3\n4,5,6\n', "in line 2 is never closed"),
        (b'a,b,y\n1,5" pipe,3\n4,5,6\n', "in line 2 is never closed"),
        (b'a,b,y\n1,"x" z,3\n4,5,6\n', "lines 2 to 4 could not be split into 3 fields"),
        ("größe,y\n1,2\n".encode() + b"\xe9,3\n", "the header is UTF-8 but later lines are not"),
        (b"y\n1\n", "no column that could be a variable"),
        (b"a,y\n1,2\ninf,3\n", "'a' is infinite in line 3"),
        (b"a,y\n1,2\n3,1e999\n", "'y' is infinite in line 3"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary file"),
        (b"a,y\n" + b"1,2\n" * 2000 + b"\0\0\n", "zero bytes"),
        (b"PAR1" + b"junk" * 20, "damaged"),
        (b"PK\x03\x04junk", "damaged"),
        (b"ARROW1\0\0junk", "damaged"),
        (b"\xff\xff\xff\xff\x10\0\0\0junk", "damaged"),
        (b"\x93NUMPY\x01\0", "numpy.savez"),
    ],
)
def test_files_that_are_no_tables_are_refused(csv, content, message):
    with pytest.raises(TableError, match=message) as refusal:
        read_table(csv(content), Wanted("y"))
    assert str(refusal.value).startswith("t.csv")
    assert "\n" not in str(refusal.value)


def test_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(TableError, match=r"absent\.csv does not exist"):
        read_table(str(tmp_path / "absent.csv"), Wanted("y"))
    with pytest.raises(TableError, match="is a folder"):
        read_table(str(tmp_path), Wanted("y"))
    with pytest.raises(TableError, match="no file was named"):
        read_table("", Wanted("y"))


@pytest.mark.parametrize("suffix", sorted(s for s, form in SUFFIXES.items() if form != "text"))
def test_a_file_that_is_not_what_its_name_says_is_refused(csv, suffix):
    with pytest.raises(TableError, match=r"is not a.* or is damaged"):
        read_table(csv("a,y\n1,2\n", f"t{suffix}"), Wanted("y"))


@pytest.mark.parametrize("form", ["parquet", "arrow", "npz", "npz-F"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_truncated_file_is_refused(tmp_path, form, share):
    values = np.random.default_rng(0).standard_normal((500, 4))
    source = store(tmp_path, form, ["a", "b", "c", "y"], values)
    content = (tmp_path / source).read_bytes()
    (tmp_path / source).write_bytes(content[: int(share * len(content))])
    with pytest.raises(TableError, match="damaged"):
        read_table(source, Wanted("y"))


def test_closed_standard_input_is_said_so(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(TableError, match="standard input is closed: send a table to it"):
        read_table("-", Wanted("y"))


@pytest.mark.parametrize("form", ["text", "parquet", "arrow", "stream", "npz"])
def test_standard_input_is_read(monkeypatch, form):
    frame = pl.DataFrame({"a": [1.0, 3.0], "y": [2.0, 4.0]})
    buffer = io.BytesIO()
    {
        "text": frame.write_csv,
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
        "stream": frame.write_ipc_stream,
        "npz": lambda file: np.savez(file, X=[[1.0], [3.0]], y=[2.0, 4.0], names=["a"]),
    }[form](buffer)
    buffer.seek(0)
    monkeypatch.setattr("sys.stdin", type("Pipe", (), {"buffer": buffer}))
    table = read_table("-", Wanted("y"))
    assert table.X.tolist() == [[1], [3]]
    assert table.names == ("a",)
    assert table.source == "standard input"


def test_a_pipe_is_read():
    code = (
        "import sys; from garrote.tables import read_table, Wanted;"
        "sys.exit(read_table('/dev/stdin', Wanted('y')).X.tolist() != [[1], [3]])"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"a,y\n1,2\n3,4\n", timeout=60)
    assert done.returncode == 0


def test_a_missing_polars_is_named(csv):
    source = csv("a,y\n1,2\n")
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "from garrote.tables import read_table, Wanted\n"
        f"try: read_table({source!r}, Wanted('y'))\n"
        "except ImportError as error: sys.exit('pip install \"garrote[cli]\"' not in str(error))\n"
        "sys.exit(1)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
